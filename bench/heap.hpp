// How much heap a thing costs. Asks the C library for the bytes its callers hold, instead of counting in a replaced
// operator new: a counter would slow down every other row, and would miss memory that comes from aligned_alloc, which
// is where newer versions of Asio take theirs.
#pragma once

#include <cstddef>

namespace troupe::bench {

/// The heap's growth since the meter was made, malloc's own headers included, over all threads. Other threads should
/// be at rest when it is made and read.
class HeapMeter {
 public:
  HeapMeter();
  /// `kNotMeasured` where the C library does not know: under a sanitizer, or with another malloc.
  double grown_bytes() const;

 private:
  bool counted_;
  std::size_t before_bytes_;
};

}  // namespace troupe::bench
