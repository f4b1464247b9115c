// How it becomes known that an op is done. A choice for those who know it from other systems and want to compare; the
// default is the fastest, and all of them give the same answers.
#pragma once

#include <cstdint>

namespace troupe::inline v0 {

enum class CompletionPolicy : std::uint8_t {
  timeline,  // the GPU writes the lane's counter itself
  polled,    // a thread of the worker asks the events of the lanes, again and again
  host_fn,   // the driver calls a function of the worker
  blocking,  // threads of the worker sleep until the driver wakes them
  kLast = blocking,
};

}  // namespace troupe::inline v0
