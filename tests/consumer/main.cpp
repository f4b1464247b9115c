// Uses the installed headers and library as a user would.
#include <cstdio>

#include "troupe/troupe.hpp"

struct Add {
  int by;
};
struct Get {
  using Reply = int;
};
struct Counter {
  void on(Add add) { sum += add.by; }
  int on(Get) { return sum; }
  int sum = 0;
};

int main() {
  troupe::System system;
  const auto counter = troupe::value(system.spawn<Counter>({.name = "counter"}));
  counter.tell<Add>(2);
  const int sum = troupe::value(counter.ask<Get>().get());
  std::printf("%s says %d\n", counter.path().c_str(), sum);
  return sum == 2 ? 0 : 1;
}
