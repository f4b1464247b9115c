// The reference for a GPU: the same done with the CUDA driver and cuBLAS in this process, as fast as we know how. Every
// op is followed by a flag that the GPU writes into registered memory, and this thread spins on it: there is no faster
// way to learn of an op's end. A context, made once; between measurements nothing of it runs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "bench/copy_way.hpp"

namespace troupe::bench {

class RawGpu;
/// On the GPU with that UUID.
std::shared_ptr<RawGpu> open_raw_gpu(const std::string& gpu);

/// All of it in the thread that made it. Throws when CUDA answers with an error. Exists only where
/// TROUPE_CUDA_BACKEND does.
class RawCuda {
 public:
  explicit RawCuda(std::shared_ptr<RawGpu> gpu);
  ~RawCuda();
  RawCuda(const RawCuda&) = delete;
  RawCuda& operator=(const RawCuda&) = delete;

  /// Nanoseconds from the launch of a kernel that does nothing until its flag is seen, one at a time.
  double empty_ns(int count);
  /// The same without the kernel: a flag alone.
  double flag_ns(int count);
  /// The same when a host function stores the flag.
  double empty_with_host_function_ns(int count);
  /// Nanoseconds per kernel when `count` of them, each with its flag, are launched and the last is waited for.
  double empty_pipelined_ns(int count);

  /// Nanoseconds for cublasSgemm on square matrices, one at a time and pipelined, as above.
  double gemm_ns(int n, int count);
  double gemm_pipelined_ns(int n, int count);

  /// Nanoseconds to allocate and free a block from CUDA's own pool, which keeps what it has.
  double allocate_and_free_ns(std::size_t size_bytes, int count);

  /// Nanoseconds for one copy: asynchronous, with its flag, for pinned memory, else the call that waits.
  double copy_ns(CopyWay way, std::size_t size_bytes, int count);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace troupe::bench
