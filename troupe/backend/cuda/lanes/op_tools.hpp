// What an op can use when it is put on a lane: the lane's stream, the vault as the GPU sees it, our own kernels, the
// lane's handles of the libraries, and scratch memory in the stream's order. All of it is cache: made when it is first
// needed, or ahead of time in a standby. When making something fails, perhaps for want of memory, the next op tries
// again, so that a bad moment does not cripple a worker for good.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>

#include "troupe/backend/cuda/blas/cublas.hpp"
#include "troupe/backend/cuda/dnn/cudnn.hpp"
#include "troupe/backend/cuda/fft/cufft.hpp"
#include "troupe/backend/cuda/jit/kernel_prints.hpp"
#include "troupe/backend/cuda/jit/programs.hpp"
#include "troupe/backend/cuda/kernels/kernel_arguments.hpp"
#include "troupe/backend/cuda/kernels/kernel_table.hpp"
#include "troupe/backend/cuda/kernels/own_kernels.hpp"
#include "troupe/backend/cuda/lanes/stream_scratch.hpp"
#include "troupe/backend/cuda/matmul/cublas_lt.hpp"
#include "troupe/backend/cuda/memory/cuda_memory.hpp"
#include "troupe/backend/cuda/solver/cusolver.hpp"
#include "troupe/backend/cuda/sparse/cusparse.hpp"
#include "troupe/backend/cuda/tensor/compiled_expressions.hpp"
#include "troupe/backend/cuda/tensor/cutensor.hpp"
#include "troupe/backend/plugin/plugin_caller.hpp"
#include "troupe/backend/run_table.hpp"
#include "troupe/wire/channel.hpp"

namespace troupe::cuda {

/// Made on first use; after that each use is one load.
template <class T>
class MadeOnce {
 public:
  /// `make` gives a `Result<std::unique_ptr<T>>`. From any thread.
  template <class Make>
  Result<T*> get(const Make& make) {
    if (T* const made = made_.load(std::memory_order_acquire)) [[likely]]
      return made;
    const std::lock_guard lock(mutex_);
    if (!owner_) owner_ = TROUPE_TRY(make());
    made_.store(owner_.get(), std::memory_order_release);
    return owner_.get();
  }

 private:
  std::atomic<T*> made_{nullptr};
  std::mutex mutex_;
  std::unique_ptr<T> owner_;
};

/// The handles of one lane. A library's handle is a class with `static Result<std::unique_ptr<H>> create(CUstream)`; a
/// new one is a name here.
using LaneHandles = std::tuple<MadeOnce<Cublas>, MadeOnce<CublasLt>, MadeOnce<Cudnn>, MadeOnce<Cufft>,
                               MadeOnce<Cusolver>, MadeOnce<Cusparse>, MadeOnce<Cutensor>>;

/// A worker's caches, for all of its lanes.
class OpTools {
 public:
  OpTools(const CudaContext& context, CudaMemory& memory, const backend::Setup& setup)
      : context_(context),
        memory_(memory),
        programs_(context, memory),
        plugins_(setup),
        expressions_(context, setup),
        prints_(context, setup) {}

  const CudaContext& context() const noexcept { return context_; }
  CudaMemory& memory() const noexcept { return memory_; }
  Programs& programs() noexcept { return programs_; }
  backend::PluginCaller& plugins() noexcept { return plugins_; }
  CompiledExpressions& expressions() noexcept { return expressions_; }
  KernelPrints& prints() noexcept { return prints_; }
  Result<const OwnKernels*> kernels() {
    return kernels_.get([this] { return OwnKernels::load(context_); });
  }
  template <KernelNames Names>
  Result<CUfunction> kernel(Names kernel, KernelTypes types) {
    return kernel_tables_.of<Names>().find(context_, kernel, types);
  }
  template <class Handle>
  Result<Handle*> handle(std::uint32_t lane, CUstream stream) {
    return std::get<MadeOnce<Handle>>(handles_[lane]).get([stream] { return Handle::create(stream); });
  }

 private:
  const CudaContext& context_;
  CudaMemory& memory_;
  MadeOnce<const OwnKernels> kernels_;
  KernelTables kernel_tables_;
  std::array<LaneHandles, wire::kMaxLanes> handles_;
  Programs programs_;
  backend::PluginCaller plugins_;
  CompiledExpressions expressions_;
  KernelPrints prints_;  // these two are last: their threads end first
};

class LaneTools {
 public:
  LaneTools(OpTools& tools, CUstream stream, std::uint32_t lane, bool& has_begun) noexcept
      : tools_(tools), stream_(stream), lane_(lane), has_begun_(has_begun) {}

  /// From now on the op may write.
  void begin() const noexcept { has_begun_ = true; }

  const CudaContext& context() const noexcept { return tools_.context(); }
  const Driver& driver() const noexcept { return tools_.context().driver(); }
  CUstream stream() const noexcept { return stream_; }
  std::uint32_t lane() const noexcept { return lane_; }

  /// Where the GPU has the view's first element; 0 when it has none.
  CUdeviceptr at(const op::View& view) const noexcept {
    return op::element_count(view) == 0 ? 0 : tools_.memory().at(view.address);
  }
  /// The same for those who know its type.
  template <class T = void>
  T* data(const op::View& view) const noexcept {
    return reinterpret_cast<T*>(at(view));
  }
  /// Whether it has elements, in the GPU's own memory and not in the machine's.
  bool is_on_gpu(const op::View& view) const noexcept {
    return op::element_count(view) != 0 && tools_.memory().shared_at(view.address) == nullptr;
  }
  /// A matrix, or the first one of a batch: needs a view of rank 2 or more.
  Matrix matrix(const op::View& view) const noexcept {
    const int rows = view.shape.rank() - 2;
    return {at(view), view.dtype, view.shape[rows], view.shape[rows + 1], view.strides[rows], view.strides[rows + 1]};
  }

  Programs& programs() const noexcept { return tools_.programs(); }
  backend::PluginCaller& plugins() const noexcept { return tools_.plugins(); }
  CompiledExpressions& expressions() const noexcept { return tools_.expressions(); }
  KernelPrints& prints() const noexcept { return tools_.prints(); }
  Result<const OwnKernels*> kernels() const { return tools_.kernels(); }
  /// `kernel(BlasKernel::scale, DType::f32)`. The driver's error when there is none for these types.
  template <KernelNames Names>
  Result<CUfunction> kernel(Names kernel, KernelTypes types = {}) const {
    return tools_.kernel(kernel, types);
  }
  /// With a thread for each of `count` elements, or fewer that take several each. Nothing when there are none.
  Result<void> launch(CUfunction kernel, std::int64_t count, std::span<void*> arguments) const;
  /// With so many blocks of threads, so many layers of them (at most 65535), and one argument. Nothing when there are
  /// no blocks. `unsupported` when there are 2^31 or more.
  Result<void> launch_blocks(CUfunction kernel, std::int64_t blocks, unsigned threads, void* argument,
                             std::int64_t layers = 1) const;

  /// This lane's handle of a library.
  template <class Handle>
  Result<Handle*> handle() const {
    return tools_.handle<Handle>(lane_, stream_);
  }
  /// `out_of_memory` when there is not as much left.
  Result<StreamScratch> scratch(std::uint64_t size_bytes) const;

 private:
  OpTools& tools_;
  CUstream stream_;
  std::uint32_t lane_;
  bool& has_begun_;
};

/// How each op is put on a lane: every room of a family adds its ops.
using RunTable = backend::OpRunTable<LaneTools>;

}  // namespace troupe::cuda
