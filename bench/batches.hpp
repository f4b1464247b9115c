// Time per operation where one interruption by the kernel would spoil a mean: the operations run in batches, the clock
// is read between batches only, and the median of the batches stands for all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bench/stopwatch.hpp"

namespace troupe::bench {

/// The middle one; of an even number the upper of the two. Needs at least one.
inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Nanoseconds per operation. The first tenth of the batches is for warming up and does not count.
template <class Operation>
double median_ns(int batches, int per_batch, const Operation& operation) {
  std::vector<double> times;
  for (int batch = -batches / 10; batch < batches; ++batch) {
    const Stopwatch stopwatch;
    for (int i = 0; i < per_batch; ++i) operation();
    if (batch >= 0) times.push_back(stopwatch.ns_per(per_batch));
  }
  return median_of(std::move(times));
}

}  // namespace troupe::bench
