// Our side of the GPU rows where nothing fails: one device and one worker, opened once, and what is measured on it. No
// standby, which would be started while we measure. What fails is thrown. Called from the main thread.
#pragma once

#include <cstddef>
#include <map>

#include "bench/copy_way.hpp"
#include "bench/pair.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {

class GpuOurs {
 public:
  /// With so many pool threads.
  explicit GpuOurs(int threads, CompletionPolicy completion = CompletionPolicy::timeline);
  ~GpuOurs();
  GpuOurs(const GpuOurs&) = delete;
  GpuOurs& operator=(const GpuOurs&) = delete;

  /// Nanoseconds for a kernel that does nothing, one at a time, waited for by a plain thread or by a coroutine.
  double empty_ns(int count);
  double nop_ns(int count);  // without the kernel: a flag alone
  double empty_awaited_ns(int count);
  /// Nanoseconds per such kernel when many are under way and each is answered to a coroutine, in so many actors at
  /// once.
  double empty_pipelined_ns(int count, int actors);
  /// Nanoseconds for each of so many such kernels, submitted without waiting: with a deadline each, and without.
  Pair::Figures deadline_cost_ns(int count);

  /// Nanoseconds for `blas().gemm` on square matrices of float, one at a time and pipelined.
  double gemm_ns(int n, int count);
  double gemm_pipelined_ns(int n, int count);

  /// Nanoseconds to allocate an array and drop it.
  double allocate_and_free_ns(std::size_t size_bytes, int count);

  /// Nanoseconds for one copy; pinned memory is a `HostArray`.
  double copy_ns(CopyWay way, std::size_t size_bytes, int count);

 private:
  struct Matrices {
    Array<float> a, b, c;
  };
  const Matrices& matrices_of(int n);

  System system_;
  Device device_;
  Program program_;
  std::map<int, Matrices> matrices_;
};

}  // namespace troupe::bench
