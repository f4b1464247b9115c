// The same step (bench/step.hpp) with the CUDA driver and cuBLAS in this process, on one stream, as a program written
// by hand does it: nothing is waited for before the end. Exists only where TROUPE_CUDA_BACKEND does.
#pragma once

#include <memory>

#include "bench/raw_cuda.hpp"

namespace troupe::bench {

/// All of it in the thread that made it. Throws when CUDA answers with an error.
class RawStep {
 public:
  explicit RawStep(std::shared_ptr<RawGpu> gpu);
  ~RawStep();
  RawStep(const RawStep&) = delete;
  RawStep& operator=(const RawStep&) = delete;

  /// Nanoseconds for each of so many steps, handed in without waiting; the last is waited for.
  double step_ns(int steps);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace troupe::bench
