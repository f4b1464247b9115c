// Time per operation, as every measurement here reports it: the clock is read twice around all of them, never inside
// the loop, where reading it would be part of what is measured.
#pragma once

#include <chrono>

namespace troupe::bench {

class Stopwatch {
 public:
  double ns() const {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - started_).count();
  }
  /// Nanoseconds per operation when `count` of them have run.
  double ns_per(int count) const { return ns() / count; }

 private:
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace troupe::bench
