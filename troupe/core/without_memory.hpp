// For code that must go on when there is no memory: where a device recovers, where an actor's failure is decided, in
// whatever may not throw.
#pragma once

#include <chrono>
#include <new>
#include <thread>

#include "troupe/core/error.hpp"

namespace troupe::inline v0::detail {

/// Until somebody may have given memory back.
inline constexpr auto kMemoryPause = std::chrono::milliseconds(1);

/// An error with the sentence that `words` gives; without memory for it, with the sentence of its kind.
template <class Words>
Error describe(ErrorKind kind, const Words& words) noexcept {
  try {
    return Error(kind, words());
  } catch (const std::bad_alloc&) {
    return Error(kind);
  }
}

/// For the few steps that must happen and need a little memory: calls `step`, and again after a pause whenever it finds
/// none, until somebody has given some back. `step` must change nothing before it has its memory.
template <class Step>
void await_memory(const Step& step) noexcept {
  for (;;) {
    try {
      return step();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kMemoryPause);
    }
  }
}

}  // namespace troupe::inline v0::detail
