// Errors are values: a handler that returns an error has replied, and its actor goes on as before. TROUPE_TRY and
// CO_TRY pass an error on, `value()` throws it as an Exception. Only a handler that *throws* fails its actor.
#include <cmath>
#include <cstdio>

#include "troupe/troupe.hpp"

using namespace troupe;

struct Root {
  double of = 0;
  using Reply = double;
};

Result<double> square_root(double x) {
  if (x < 0) return fail(ErrorKind::invalid_argument, "a negative number has no real root");
  return std::sqrt(x);
}

class Calculator {
 public:
  Result<double> on(Root message) { return TROUPE_TRY(square_root(message.of)) + 0.0; }
};

// CO_TRY gives the value, or ends the task with the error.
Task<Result<double>> sum_of_roots(Ref<Calculator> calculator, double x, double y) {
  const double a = CO_TRY(co_await calculator.ask<Root>(x));
  const double b = CO_TRY(co_await calculator.ask<Root>(y));
  co_return a + b;
}

int main() {
  System system;
  Ref<Calculator> calculator = value(system.spawn<Calculator>({.name = "calculator"}));

  const Result<double> good = system.run(sum_of_roots(calculator, 9, 16));
  std::printf("roots of 9 and 16: %g\n", good.value_or(NAN));

  const Result<double> bad = system.run(sum_of_roots(calculator, 9, -16));
  if (bad) return 1;
  std::printf("roots of 9 and -16: %s\n", bad.error().to_string().c_str());

  bool thrown = false;
  try {
    (void)value(calculator.ask<Root>(-1.0).get());  // for those who prefer exceptions
  } catch (const Exception& exception) {
    thrown = exception.error().kind() == ErrorKind::invalid_argument;
    std::printf("thrown: %s\n", exception.what());
  }

  const bool holds = good == 7.0 && bad.error().kind() == ErrorKind::invalid_argument && thrown;
  return holds && system.stats().restarts == 0 ? 0 : 1;  // nobody failed
}
