// A user's program: an actor, and a device that fills an array and calls a plugin. It fails unless all of them give
// what they should.
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
  value(counter.tell<Add>(2));
  const int sum = troupe::value(counter.ask<Get>().get());
  std::printf("%s says %d\n", counter.path().c_str(), sum);

#ifdef WORKER_INSIDE
  const troupe::Device device = troupe::value(system.device("host", {.isolation = troupe::Isolation::thread}));
#else
  const troupe::Device device = troupe::value(system.device("host"));  // finds its worker, wherever the program is
#endif
  const troupe::Array<float> array = troupe::value(device.array<float>({8}));
  troupe::value(device.fill(array, 3.0f).get());
  troupe::value(device.call_plugin(DOUBLER, "twice", {updates(array)}).get());
  const float element = troupe::value(device.read(array).get())[7];
  std::printf("worker %d says %g\n", device.worker_pid(), static_cast<double>(element));
  return sum == 2 && element == 6.0f ? 0 : 1;
}
