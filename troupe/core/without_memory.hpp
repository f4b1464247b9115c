// For code that must go on when there is no memory: the recovery of a device, the failure of an actor, and whatever
// must not throw.
#pragma once

#include <chrono>
#include <new>
#include <thread>

#include "troupe/core/result.hpp"

namespace troupe::inline v0::detail {

/// How long to wait for somebody to give memory back.
inline constexpr auto kMemoryPause = std::chrono::milliseconds(1);

/// An error with the sentence that `words` gives, or with its kind's default sentence when there is no memory.
template <class Words>
Error describe(ErrorKind kind, const Words& words) noexcept {
  try {
    return Error(kind, words());
  } catch (const std::bad_alloc&) {
    return Error(kind);
  }
}

/// For the few steps that need a little memory and must happen unless `is_over()`: calls `step`, and calls it again
/// after a pause for as long as there is no memory. `step` must change nothing before it has its memory. Whether it
/// happened.
template <class Step, class IsOver>
bool await_memory_unless(const Step& step, const IsOver& is_over) noexcept {
  for (;;) {
    try {
      step();
      return true;
    } catch (const std::bad_alloc&) {
      if (is_over()) return false;
      std::this_thread::sleep_for(kMemoryPause);
    }
  }
}
/// For those that must happen.
template <class Step>
void await_memory(const Step& step) noexcept {
  (void)await_memory_unless(step, [] { return false; });
}

}  // namespace troupe::inline v0::detail
