// A task waits only for what can be cut off with it.
// expect: a Task can only wait for what Troupe can cut off
#include <coroutine>

#include "troupe/troupe.hpp"

troupe::Task<int> waits() {
#ifdef TROUPE_FIXED
  co_await troupe::sleep_for(std::chrono::milliseconds(1));
#else
  co_await std::suspend_always();
#endif
  co_return 1;
}
