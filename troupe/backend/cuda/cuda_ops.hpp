// From an op's bytes to what does it on the GPU: this backend's one table of what it can do. Kernels and handles are
// caches: made when they are first needed, or ahead of time in a standby.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/cuda/cublas.hpp"
#include "troupe/backend/cuda/cuda_memory.hpp"
#include "troupe/backend/cuda/kernel_arguments.hpp"
#include "troupe/backend/cuda/own_kernels.hpp"
#include "troupe/backend/cuda/programs.hpp"
#include "troupe/backend/host/plugins.hpp"
#include "troupe/backend/op_notes.hpp"
#include "troupe/op/families.hpp"

namespace troupe::cuda {

class CudaOps {
 public:
  CudaOps(const CudaContext& context, CudaMemory& memory, const backend::Setup& setup)
      : context_(context), memory_(memory), log_(setup.log), after_loading_(setup.after_loading), programs_(context) {}

  /// Puts one op on a lane's stream. From the thread that drains the ring.
  template <class Op>
  Result<void> submit(const backend::Work& work, const Op& op, CUstream stream) noexcept {
    backend::at_static_op(work.lane, work.ticket, Op::kName);
    try {
      Result<void> result = run(op, On{stream, work.lane});
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
  struct On {
    CUstream stream;
    std::uint32_t lane;
  };
  Result<void> run(const op::Nop&, const On&) { return {}; }
  Result<void> run(const op::Ready&, const On&) { return {}; }
  Result<void> run(const op::Fill& op, const On& on);
  Result<void> run(const op::Copy& op, const On& on);
  Result<void> run(const op::Cast& op, const On& on);
  Result<void> run(const op::Axpy& op, const On& on);
  Result<void> run(const op::Gemm& op, const On& on);
  Result<void> run(const op::PluginCall& op, const On& on);
  Result<void> run(const op::Launch& op, const On& on);

  CUdeviceptr here(const op::View& view) const noexcept;
  Matrix matrix(const op::View& view) const noexcept;
  Result<const OwnKernels*> kernels();
  Result<void> launch(CUfunction kernel, std::int64_t count, const On& on, std::span<void*> arguments);
  Result<Cublas*> blas(const On& on);
  Result<void> multiply_slowly(const op::Gemm& op, const Matrix& a, const Matrix& b, const Matrix& c, const On& on);

  const CudaContext& context_;
  CudaMemory& memory_;
  const LogSink log_;
  const std::function<void()> after_loading_;
  Programs programs_;
  host::Plugins plugins_;

  // Made by whoever needs it first, or ahead of time by `warm`. When that fails, for want of memory perhaps, the next
  // one tries again: a worker is not to be crippled for good by a bad moment.
  std::mutex kernels_mutex_;
  std::optional<OwnKernels> kernels_;
  std::mutex mutex_;  // of what follows
  std::array<std::unique_ptr<Cublas>, wire::kMaxLanes> blas_;
};

}  // namespace troupe::cuda
