// Runs decoded ops on the GPU. Each family that the GPU supports has a folder beside this file, with a `run_op` for
// each of its ops.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"

namespace troupe::cuda {

class CudaOps {
 public:
  CudaOps(const CudaContext& context, CudaMemory& memory, const backend::Setup& setup);

  /// Puts one op on a lane's stream. It was examined, and its views lie in mapped memory. From the thread that drains
  /// the ring. `has_begun` becomes true before anything is written.
  Result<void> submit(const backend::Work& work, const op::AnyOp& op, CUstream stream, bool& has_begun) noexcept;
  /// Loads the kernels and makes the handle of a lane. Any thread.
  Result<void> warm(std::uint32_t lane, CUstream stream);

 private:
  OpTools tools_;
  const RunTable table_;
};

}  // namespace troupe::cuda
