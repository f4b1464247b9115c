// The reference for transforms and random numbers on a GPU: cuFFT and cuRAND called directly in this process, with
// plans, work areas and generators made before the time counts. Nanoseconds for one op with its flag, one at a time
// (see raw_cuda.hpp).
#pragma once

#include <cstdint>
#include <memory>

#include "bench/raw_cuda.hpp"
#include "bench/signal_cases.hpp"

namespace troupe::bench {

/// All of it in the thread that made the GPU. Throws when a library answers with an error. Exists only where
/// TROUPE_CUDA_BACKEND does.
class RawSignal {
 public:
  explicit RawSignal(std::shared_ptr<RawGpu> gpu);
  ~RawSignal();
  RawSignal(const RawSignal&) = delete;
  RawSignal& operator=(const RawSignal&) = delete;

  /// The spectrum of one array, into another.
  double transform_ns(const TransformCase& of, int count);
  /// So many numbers of f32 by cuRAND's Philox.
  double fill_ns(FillKind kind, std::int64_t numbers, int count);
  /// So many bytes from one place of the GPU's memory to another.
  double copy_ns(std::int64_t bytes, int count);

 private:
  struct Libraries;
  std::shared_ptr<RawGpu> gpu_;
  std::unique_ptr<Libraries> libraries_;
};

}  // namespace troupe::bench
