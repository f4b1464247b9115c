#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cuda_ops.hpp"

#include <algorithm>
#include <cstring>

#include "troupe/backend/cuda/kernel_image.hpp"
#include "troupe/backend/op_notes.hpp"

namespace troupe::cuda {
namespace {

constexpr unsigned kThreadsPerBlock = 256;
constexpr std::int64_t kMaxBlocks = 4096;

bool side_by_side(const op::View& view) { return is_contiguous(view.shape, view.strides); }

/// For one array (`b` null) or two of one shape.
Layout layout_of(const op::View& a, const op::View* b) {
  Layout layout{};
  layout.count = op::element_count(a);
  if (side_by_side(a) && (!b || side_by_side(*b))) return layout;
  layout.rank = a.shape.rank();
  for (int i = 0; i < layout.rank; ++i) {
    layout.shape[i] = a.shape[i];
    layout.strides_a[i] = a.strides[i];
    layout.strides_b[i] = b ? b->strides[i] : 0;
  }
  return layout;
}

/// Rows of bytes, each in one piece, the same distance apart: what a copy engine does by itself.
struct Rows {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t in_step = 0;
  std::int64_t out_step = 0;
};
std::optional<Rows> as_rows(const op::View& in, const op::View& out) {
  if (in.shape.rank() != 2 || in.strides[1] != 1 || out.strides[1] != 1) return std::nullopt;
  const std::int64_t size = size_bytes(in.dtype);
  const Rows rows{in.shape[0], in.shape[1] * size, in.strides[0] * size, out.strides[0] * size};
  if (rows.in_step < rows.bytes || rows.out_step < rows.bytes) return std::nullopt;
  return rows;
}

}  // namespace

Result<void> CudaOps::submit(const backend::Work& work, CUstream stream) noexcept {
  try {
    return op::decode<void>(work.bytes, [&]<class Op>(const op::OpHeader&, const Op& op) {
      backend::at_static_op(work.lane, work.ticket, Op::kName);
      Result<void> result = run(op, On{stream, work.lane});
      backend::at_no_op();
      return result;
    });
  } catch (...) {
    backend::at_no_op();
    return fail(current_exception_as_error());
  }
}

Result<void> CudaOps::warm(std::uint32_t lane, CUstream stream) {
  TROUPE_TRY(context_.make_current());
  TROUPE_TRY(kernel("troupe_empty"));
  TROUPE_TRY(blas({stream, lane}));
  return {};
}

Result<CUfunction> CudaOps::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second;
  const Driver& driver = context_.driver();
  if (!module_) TROUPE_TRY(TROUPE_CUDA(driver, cuModuleLoadData, &module_, kernel_image().data()));
  CUfunction function = nullptr;
  TROUPE_TRY(TROUPE_CUDA(driver, cuModuleGetFunction, &function, module_, name.c_str()));
  return kernels_[name] = function;
}

Result<Cublas*> CudaOps::blas(const On& on) {
  const std::lock_guard lock(mutex_);
  if (!blas_[on.lane]) blas_[on.lane] = TROUPE_TRY(Cublas::create(on.stream));
  return blas_[on.lane].get();
}

Result<void> CudaOps::launch(const std::string& name, std::int64_t count, const On& on, std::span<void*> arguments) {
  if (count == 0) return {};
  const CUfunction function = TROUPE_TRY(kernel(name));
  const auto blocks = static_cast<unsigned>(std::min((count + kThreadsPerBlock - 1) / kThreadsPerBlock, kMaxBlocks));
  return TROUPE_CUDA(context_.driver(), cuLaunchKernel, function, blocks, 1, 1, kThreadsPerBlock, 1, 1, 0, on.stream,
                     arguments.data(), nullptr);
}

CUdeviceptr CudaOps::here(const op::View& view) const noexcept {
  return op::element_count(view) == 0 ? 0 : memory_.at(view.address);
}

Matrix CudaOps::matrix(const op::View& view) const noexcept {
  return {here(view), view.dtype, view.shape[0], view.shape[1], view.strides[0], view.strides[1]};
}

Result<void> CudaOps::run(const op::Fill& op, const On& on) {
  Layout layout = layout_of(op.out, nullptr);
  if (layout.count == 0) return {};
  CUdeviceptr out = here(op.out);
  Bytes16 value{};
  visit(op.out.dtype, [&]<class T>(std::type_identity<T>) {
    const T converted = op.value.as<T>();
    std::memcpy(&value, &converted, sizeof converted);
  });
  const Driver& driver = context_.driver();
  const auto count = static_cast<std::size_t>(layout.count);
  const std::int64_t size = size_bytes(op.out.dtype);
  if (layout.rank == 0) {
    const auto word = static_cast<unsigned>(value.words[0]);
    switch (size) {
      case 1: return TROUPE_CUDA(driver, cuMemsetD8Async, out, static_cast<unsigned char>(word), count, on.stream);
      case 2: return TROUPE_CUDA(driver, cuMemsetD16Async, out, static_cast<unsigned short>(word), count, on.stream);
      case 4: return TROUPE_CUDA(driver, cuMemsetD32Async, out, word, count, on.stream);
      default: break;
    }
  }
  std::array<void*, 3> arguments{&out, &layout, &value};
  return launch("troupe_fill_" + std::to_string(size), layout.count, on, arguments);
}

Result<void> CudaOps::run(const op::Copy& op, const On& on) {
  Layout layout = layout_of(op.in, &op.out);
  if (layout.count == 0) return {};
  CUdeviceptr in = here(op.in);
  CUdeviceptr out = here(op.out);
  const Driver& driver = context_.driver();
  const std::int64_t size = size_bytes(op.in.dtype);
  if (layout.rank == 0)
    return TROUPE_CUDA(driver, cuMemcpyAsync, out, in, static_cast<std::size_t>(layout.count * size), on.stream);
  if (const auto rows = as_rows(op.in, op.out)) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = in;
    copy.dstDevice = out;
    copy.srcPitch = static_cast<std::size_t>(rows->in_step);
    copy.dstPitch = static_cast<std::size_t>(rows->out_step);
    copy.WidthInBytes = static_cast<std::size_t>(rows->bytes);
    copy.Height = static_cast<std::size_t>(rows->count);
    return TROUPE_CUDA(driver, cuMemcpy2DAsync, &copy, on.stream);
  }
  std::array<void*, 3> arguments{&in, &out, &layout};
  return launch("troupe_copy_" + std::to_string(size), layout.count, on, arguments);
}

Result<void> CudaOps::run(const op::Cast& op, const On& on) {
  Layout layout = layout_of(op.in, &op.out);
  CUdeviceptr in = here(op.in);
  CUdeviceptr out = here(op.out);
  int to = static_cast<int>(op.out.dtype);
  std::array<void*, 4> arguments{&in, &out, &to, &layout};
  return launch("troupe_cast_" + std::string(name(op.in.dtype)), layout.count, on, arguments);
}

Result<void> CudaOps::run(const op::Axpy& op, const On& on) {
  Layout layout = layout_of(op.x, &op.y);
  CUdeviceptr x = here(op.x);
  CUdeviceptr y = here(op.y);
  Bytes16 alpha{};
  visit(op.x.dtype, [&]<class T>(std::type_identity<T>) {
    using Compute = std::conditional_t<kIsSmallFloat<T>, float, T>;
    const auto converted = op.alpha.as<Compute>();
    std::memcpy(&alpha, &converted, sizeof converted);
  });
  std::array<void*, 4> arguments{&alpha, &x, &y, &layout};
  return launch("troupe_axpy_" + std::string(name(op.x.dtype)), layout.count, on, arguments);
}

Result<void> CudaOps::run(const op::Gemm& op, const On& on) {
  const Matrix a = matrix(op.a);
  const Matrix b = matrix(op.b);
  const Matrix c = matrix(op.c);
  if (c.rows == 0 || c.columns == 0) return {};
  if (!Cublas::can_multiply(a, b, c))
    return fail(ErrorKind::unsupported, "gemm of " + std::string(name(c.dtype)) +
                                            " on a GPU takes f64 f32 f16 bf16 c64 c128, and matrices whose rows or "
                                            "columns lie side by side: copy the others first");
  Cublas* const cublas = TROUPE_TRY(blas(on));
  return cublas->gemm(op.alpha, op.beta, a, b, c);
}

Result<void> CudaOps::run(const op::PluginCall&, const On&) {
  return fail(ErrorKind::unsupported, "plugins run on the host device only");
}

}  // namespace troupe::cuda

#endif
