// A scope: the ops of one request, with one deadline, one error and one cancellation. No line needs a check: after its
// first error a scope runs nothing more, and whoever reads a result gets that error, with the line that caused it.
#include <cstdio>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

Task<Result<float>> multiply(Device gpu, std::int64_t n) {
  Scope on(gpu, {.deadline = 20s});
  const auto a = on.full<float>({n, n}, 1.0f);
  const auto b = on.full<float>({n, n}, 2.0f);
  const auto c = on.matmul(a, b) + 1.0f;  // operators make an expression, which is one op
  const HostArray<float> out = CO_TRY(co_await on.read(c));
  co_return out[0];
}

Task<Result<float>> multiply_what_does_not_fit(Device gpu) {
  Scope on(gpu);
  const auto a = on.full<float>({2, 3}, 1.0f);
  const auto b = on.matmul(a, a);    // line 22: this is wrong
  const auto c = on.softmax(b * 2);  // so this is not run
  const HostArray<float> out = CO_TRY(co_await on.read(c));
  co_return out[0];
}

int main() {
  System system({.log = log_nothing()});
  Device device = value(system.device(0));
  const Result<float> good = system.run(multiply(device, 100));
  std::printf("%g\n", good ? *good : 0.0f);
  const Result<float> bad = system.run(multiply_what_does_not_fit(device));
  std::printf("%s\n", bad ? "a value" : bad.error().to_string().c_str());
  return good && *good == 201 && !bad && bad.error().origin().where.line() == 22 ? 0 : 1;
}
