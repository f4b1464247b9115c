// What the constructor takes comes after the options.
// expect: spawn takes the options first, then what the constructor takes: spawn<A>\(\{\}, arguments...\)
#include "troupe/troupe.hpp"

struct Get {
  using Reply = int;
};
struct Counter {
  explicit Counter(int start) : sum(start) {}
  int on(Get) { return sum; }
  int sum;
};

void use(troupe::System& system) {
#ifdef TROUPE_FIXED
  (void)system.spawn<Counter>({}, 7);
#else
  (void)system.spawn<Counter>(7);
#endif
}
