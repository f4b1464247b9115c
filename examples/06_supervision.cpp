// Supervision: a handler that throws fails its actor, and the actor's supervision decides. Here it restarts: a new
// instance at the same address. The ask that failed gets the error; the asks queued behind it are answered.
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

struct Divide {
  int by = 1;
  using Reply = int;
};

class Divider {
 public:
  int on(Divide message) {
    if (message.by == 0) throw std::domain_error("divided by zero");
    return 100 / message.by;
  }
  void restarted(const Error& error) { std::printf("a new instance, because: %s\n", error.to_string().c_str()); }
};

Task<std::vector<Result<int>>> divide_by_all(Ref<Divider> divider, std::vector<int> divisors) {
  std::vector<Task<Result<int>>> asks;
  for (const int by : divisors) asks.push_back(divider.ask<Divide>(by));
  co_return co_await when_all(std::move(asks));
}

Directive decide(const Error& error) {
  return error.kind() == ErrorKind::handler_threw ? Directive::restart : Directive::stop;
}

int main() {
  System system({.log = log_nothing()});  // by default a restart is a warning on standard error
  Ref<Divider> divider = value(system.spawn<Divider>({.name = "divider", .supervision = {.decide = decide}}));
  const std::uint64_t id = divider.id();

  int answered = 0;
  for (const Result<int>& result : value(system.run(divide_by_all(divider, {1, 2, 0, 4, 5})))) {
    answered += result.has_value();
    std::printf("%s\n", result ? std::to_string(*result).c_str() : result.error().to_string().c_str());
  }
  const bool same_address = divider.id() == id && value(divider.ask<Divide>(10).get()) == 10;
  std::printf("%d of 5 answered, %lu restart, the same address: %s\n", answered,
              static_cast<unsigned long>(system.stats().restarts), same_address ? "yes" : "no");
  return answered == 4 && system.stats().restarts == 1 && same_address ? 0 : 1;
}
