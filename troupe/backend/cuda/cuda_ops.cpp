#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cuda_ops.hpp"

#include <algorithm>
#include <cstring>

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

Result<void> CudaOps::warm(std::uint32_t lane, CUstream stream) {
  TROUPE_TRY(context_.make_current());
  TROUPE_TRY(kernels());
  TROUPE_TRY(blas({stream, lane}));
  return Cublas::load_usual_kernels(context_);
}

Result<const OwnKernels*> CudaOps::kernels() {
  const std::lock_guard lock(kernels_mutex_);
  if (!kernels_) kernels_ = TROUPE_TRY(OwnKernels::load(context_));
  return &*kernels_;
}

Result<Cublas*> CudaOps::blas(const On& on) {
  const std::lock_guard lock(mutex_);
  if (!blas_[on.lane]) blas_[on.lane] = TROUPE_TRY(Cublas::create(on.stream));
  return blas_[on.lane].get();
}

Result<void> CudaOps::launch(CUfunction kernel, std::int64_t count, const On& on, std::span<void*> arguments) {
  if (count == 0) return {};
  const auto blocks = static_cast<unsigned>(std::min((count + kThreadsPerBlock - 1) / kThreadsPerBlock, kMaxBlocks));
  return TROUPE_CUDA(context_.driver(), cuLaunchKernel, kernel, blocks, 1, 1, kThreadsPerBlock, 1, 1, 0, on.stream,
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
  return launch(TROUPE_TRY(kernels())->fill(size), layout.count, on, arguments);
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
  return launch(TROUPE_TRY(kernels())->copy(size), layout.count, on, arguments);
}

Result<void> CudaOps::run(const op::Cast& op, const On& on) {
  Layout layout = layout_of(op.in, &op.out);
  CUdeviceptr in = here(op.in);
  CUdeviceptr out = here(op.out);
  int to = static_cast<int>(op.out.dtype);
  std::array<void*, 4> arguments{&in, &out, &to, &layout};
  return launch(TROUPE_TRY(kernels())->cast(op.in.dtype), layout.count, on, arguments);
}

Result<void> CudaOps::run(const op::Axpy& op, const On& on) {
  Layout layout = layout_of(op.x, &op.y);
  CUdeviceptr x = here(op.x);
  CUdeviceptr y = here(op.y);
  Bytes16 alpha{};
  visit(op.x.dtype, [&]<class T>(std::type_identity<T>) {
    const auto converted = op.alpha.as_factor<T>();
    std::memcpy(&alpha, &converted, sizeof converted);
  });
  std::array<void*, 4> arguments{&alpha, &x, &y, &layout};
  return launch(TROUPE_TRY(kernels())->axpy(op.x.dtype), layout.count, on, arguments);
}

Result<void> CudaOps::run(const op::Gemm& op, const On& on) {
  const Matrix a = matrix(op.a);
  const Matrix b = matrix(op.b);
  const Matrix c = matrix(op.c);
  if (c.rows == 0 || c.columns == 0) return {};
  if (!Cublas::can_multiply(a, b, c)) return multiply_slowly(op, a, b, c, on);
  Cublas* const cublas = TROUPE_TRY(blas(on));
  return cublas->gemm(op.alpha, op.beta, a, b, c);
}

/// For what cuBLAS does not do: the smallest floats, and matrices in which no two neighbours lie side by side.
Result<void> CudaOps::multiply_slowly(const op::Gemm& op, const Matrix& a, const Matrix& b, const Matrix& c,
                                      const On& on) {
  const auto strided = [](const Matrix& m) {
    return StridedMatrix{reinterpret_cast<void*>(m.data), m.row_stride, m.column_stride};
  };
  GemmArguments arguments{.a = strided(a),
                          .b = strided(b),
                          .c = strided(c),
                          .rows = c.rows,
                          .columns = c.columns,
                          .depth = a.columns,
                          .alpha = {},
                          .beta = {},
                          .reads_c = op.reads_c()};
  visit(op.c.dtype, [&]<class T>(std::type_identity<T>) {
    const auto alpha = op.alpha.as_factor<T>();
    const auto beta = op.beta.as_factor<T>();
    std::memcpy(&arguments.alpha, &alpha, sizeof alpha);
    std::memcpy(&arguments.beta, &beta, sizeof beta);
  });
  std::array<void*, 1> all{&arguments};
  return launch(TROUPE_TRY(kernels())->gemm(op.c.dtype), c.rows * c.columns, on, all);
}

Result<void> CudaOps::run(const op::PluginCall& op, const On& on) {
  TROUPE_TRY(plugins_.load(op.path));
  after_loading_();  // an exit() of the plugin's must not get past us
  std::vector<host::HostArgument> arguments;
  for (const op::Argument& argument : op.arrays)
    arguments.push_back({.data = reinterpret_cast<void*>(here(argument.view)),
                         .dtype = argument.view.dtype,
                         .shape = argument.view.shape,
                         .strides = argument.view.strides,
                         .access = argument.access});
  return plugins_.call(op, arguments, on.stream, [this](LogLevel level, std::string_view text) {
    if (log_) log_({.level = level, .time = std::chrono::steady_clock::now(), .source = "plugin", .message = text});
  });
}

Result<void> CudaOps::run(const op::Launch& op, const On& on) {
  const std::byte* const image = op::element_count(op.image) == 0 ? nullptr : memory_.shared_at(op.image.address);
  if (!image) return fail(ErrorKind::invalid_argument, "the op names no program");
  LoadedKernel* const kernel =
      TROUPE_TRY(programs_.find(op, {image, static_cast<std::size_t>(op::element_count(op.image))}));
  TROUPE_TRY(programs_.allow_shared(*kernel, op.shared_bytes));
  std::array<CUdeviceptr, op::kMaxViews> pointers{};
  std::array<void*, op::kMaxKernelArguments> arguments{};
  std::size_t arrays = 0;
  std::size_t scalar = 0;
  for (std::size_t i = 0; i < op.order.size(); ++i) {
    const auto size = static_cast<std::size_t>(op.order[i]);
    if (arrays + (size == 0) > op.arrays.size() || scalar + size > op.scalars.size())
      return fail(ErrorKind::invalid_argument, "the record of jit.launch is corrupt");
    if (size == 0) {
      pointers[arrays] = here(op.arrays[arrays].view);
      arguments[i] = &pointers[arrays++];
    } else {
      arguments[i] = const_cast<std::byte*>(op.scalars.data() + scalar);  // the driver only reads it
      scalar += size;
    }
  }
  const CUresult answer = context_.driver().table().cuLaunchKernel(
      kernel->function, op.blocks.x, op.blocks.y, op.blocks.z, op.threads.x, op.threads.y, op.threads.z,
      op.shared_bytes, on.stream, arguments.data(), nullptr);
  if (answer == CUDA_ERROR_INVALID_VALUE || answer == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
    return fail(Error(ErrorKind::invalid_argument, "the GPU cannot run " + op.kernel + " with this grid",
                      error_of(static_cast<int>(answer), "cuLaunchKernel").origin()));
  return checked(answer, "cuLaunchKernel");
}

}  // namespace troupe::cuda

#endif
