#include "bench/heap.hpp"

#include <malloc.h>

#include "bench/bench.hpp"

namespace troupe::bench {
namespace {

constexpr std::size_t kProbeBytes = 1 << 14;

std::size_t heap_bytes() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Whether an allocation of known size shows in the figures.
bool heap_is_counted() {
  const std::size_t before = heap_bytes();
  char* volatile probe = new char[kProbeBytes];  // volatile: the compiler may drop an allocation nobody looks at
  const std::size_t after = heap_bytes();
  delete[] probe;
  return after >= before + kProbeBytes;
}

}  // namespace

HeapMeter::HeapMeter() : counted_(heap_is_counted()), before_bytes_(heap_bytes()) {}

double HeapMeter::grown_bytes() const {
  if (!counted_) return kNotMeasured;
  return static_cast<double>(heap_bytes()) - static_cast<double>(before_bytes_);
}

}  // namespace troupe::bench
