// From an op to what does it on the GPU. A family that the GPU can do is a file beside this one, `<family>_ops.hpp`,
// with a `run_op` for each of its ops; what runs code of the user's is here.
#pragma once

#include <functional>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/cuda/blas_ops.hpp"
#include "troupe/backend/cuda/matmul_ops.hpp"
#include "troupe/backend/cuda/memory_ops.hpp"
#include "troupe/backend/cuda/op_tools.hpp"
#include "troupe/backend/cuda/programs.hpp"
#include "troupe/backend/cuda/solver_ops.hpp"
#include "troupe/backend/cuda/sparse_ops.hpp"
#include "troupe/backend/cuda/tensor_ops.hpp"
#include "troupe/backend/host/plugins.hpp"
#include "troupe/backend/op_notes.hpp"
#include "troupe/op/families.hpp"

namespace troupe::cuda {

class CudaOps {
 public:
  CudaOps(const CudaContext& context, CudaMemory& memory, const backend::Setup& setup)
      : tools_(context, memory), log_(setup.log), after_loading_(setup.after_loading), programs_(context, memory) {}

  /// Puts one op on a lane's stream. From the thread that drains the ring.
  template <class Op>
  Result<void> submit(const backend::Work& work, const Op& op, CUstream stream) noexcept {
    backend::at_static_op(work.lane, work.ticket, Op::kName);
    try {
      const LaneTools on(tools_, stream, work.lane);
      Result<void> result;
      if constexpr (requires { run(op, on); })
        result = run(op, on);
      else
        result = run_op(op, on);
      backend::at_no_op();
      return result;
    } catch (...) {
      backend::at_no_op();
      return fail(current_exception_as_error());
    }
  }
  /// Loads the kernels and makes the handle of a lane. Any thread.
  Result<void> warm(std::uint32_t lane, CUstream stream);

 private:
  Result<void> run(const op::PluginCall& op, const LaneTools& on);
  Result<void> run(const op::Launch& op, const LaneTools& on);

  OpTools tools_;
  const LogSink log_;
  const std::function<void()> after_loading_;
  Programs programs_;
  host::Plugins plugins_;
};

}  // namespace troupe::cuda
