#if TROUPE_CUDA_BACKEND

// The ops on elements, and products. Those on matrices of which one half is meant are in blas_halves.cpp.
#include "troupe/backend/cuda/blas/blas_ops.hpp"

#include <cstring>

#include "troupe/backend/cuda/blas/blas_arguments.hpp"
#include "troupe/backend/cuda/blas/blas_kernels.hpp"
#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/backend/cuda/memory/memory_ops.hpp"
#include "troupe/backend/cuda/memory/move_elements.hpp"

namespace troupe::cuda {
namespace {

/// The elements of an array, in row-major order, as cuBLAS takes them.
struct Vector {
  CUdeviceptr data = 0;
  std::int64_t count = 0;
  std::int64_t apart = 1;
  std::optional<StreamScratch> memory;  // of a copy
};

/// Elements between one and the next in row-major order, when that is always the same and forwards.
std::optional<std::int64_t> distance(const op::View& view) noexcept {
  std::optional<std::int64_t> apart;
  std::int64_t expected = 0;
  for (int d = view.shape.rank() - 1; d >= 0; --d) {
    if (view.shape[d] == 1) continue;
    if (!apart)
      apart = view.strides[d];
    else if (view.strides[d] != expected)
      return std::nullopt;
    expected = view.strides[d] * view.shape[d];
  }
  if (!apart) return 1;  // one element
  return *apart > 0 ? apart : std::nullopt;
}

/// Copied side by side when cuBLAS would not find its way.
Result<Vector> vector_of(const op::View& view, const LaneTools& on) {
  Vector vector{.data = on.at(view), .count = op::element_count(view), .apart = 1, .memory = std::nullopt};
  if (const std::optional<std::int64_t> apart = distance(view)) {
    vector.apart = *apart;
    return vector;
  }
  vector.memory.emplace(TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(vector.count * size_bytes(view.dtype)))));
  op::View packed = view;
  packed.strides = contiguous_strides(view.shape);
  const CUdeviceptr out = vector.memory->address();
  TROUPE_TRY(move_elements(on, view.dtype, vector.data, out, axes_of(view, packed)));
  vector.data = out;
  return vector;
}

Layout layout_of(const Matrix& a, const Matrix& b) noexcept {
  Layout layout{};
  layout.count = a.rows * a.columns;
  layout.rank = 2;
  layout.shape[0] = a.rows;
  layout.shape[1] = a.columns;
  layout.strides_a[0] = a.row_stride;
  layout.strides_a[1] = a.column_stride;
  layout.strides_b[0] = b.row_stride;
  layout.strides_b[1] = b.column_stride;
  return layout;
}

Result<void> scale_elements(const LaneTools& on, const op::Scalar& alpha, DType dtype, CUdeviceptr in, CUdeviceptr out,
                            bool conjugates, bool adds, Layout layout) {
  Bytes16 factor = factor_bytes(alpha, dtype);
  std::array<void*, 6> arguments{&factor, &in, &out, &conjugates, &adds, &layout};
  return on.launch(TROUPE_TRY(on.kernel(BlasKernel::scale, dtype)), layout.count, arguments);
}

/// For what cuBLAS does not do: the smallest floats, and matrices in which no two neighbours lie side by side.
Result<void> multiply_slowly(const LaneTools& on, const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a,
                             const Matrix& b, const Matrix& c) {
  const auto strided = [](const Matrix& m) { return StridedMatrix{pointer(m.data), m.row_stride, m.column_stride}; };
  GemmArguments arguments{.a = strided(a),
                          .b = strided(b),
                          .c = strided(c),
                          .rows = c.rows,
                          .columns = c.columns,
                          .depth = a.columns,
                          .alpha = factor_bytes(alpha, c.dtype),
                          .beta = factor_bytes(beta, c.dtype),
                          .reads_c = !op::is_zero(beta)};
  std::array<void*, 1> all{&arguments};
  const CUfunction kernel =
      a.dtype == DType::i8 ? TROUPE_TRY(on.kernel(BlasKernel::gemm_i8)) : TROUPE_TRY(on.kernels())->gemm(c.dtype);
  return on.launch(kernel, c.rows * c.columns, all);
}

Result<OwnMatrix> conjugated(const LaneTools& on, const Matrix& m) {
  OwnMatrix copied = TROUPE_TRY(make_matrix(on, m.dtype, m.rows, m.columns));
  TROUPE_TRY(scale(on, op::Scalar(1.0), m, copied.matrix, true));
  return copied;
}

/// y += alpha x.
Result<void> add_elements(const LaneTools& on, const op::Scalar& alpha, DType dtype, CUdeviceptr x, CUdeviceptr y,
                          AxesBuilder<2> between) {
  const KernelAxes<2> axes = between.arranged(1);
  if (axes.count == 0) return {};
  const CUfunction kernel = TROUPE_TRY(on.kernels())->axpy(dtype);
  const std::int64_t size = size_bytes(dtype);
  const int items = axpy_items(static_cast<int>(size));
  return in_parts(axes, items, [&](const KernelAxes<2>& part, const ArrayOffsets<2>& begin) {
    const CUdeviceptr from = x + static_cast<CUdeviceptr>(begin.at[0] * size);
    const CUdeviceptr to = y + static_cast<CUdeviceptr>(begin.at[1] * size);
    AxpyArguments m{factor_bytes(alpha, dtype), pointer(from), pointer(to), grouped(part, items)};
    m.axes.ways[0] = way_of(m.axes, 0, items, from, size);
    m.axes.ways[1] = way_of(m.axes, 1, items, to, size);
    make_tiles(m.axes, kGroupThreads);
    return on.launch_blocks(kernel, blocks_of(m.axes, kGroupThreads), kGroupThreads, &m);
  });
}

}  // namespace

// ---- shared ----

Bytes16 factor_bytes(const op::Scalar& alpha, DType dtype) noexcept {
  Bytes16 bytes{};
  visit(dtype, [&]<class T>(std::type_identity<T>) {
    const auto converted = alpha.as_factor<T>();
    std::memcpy(&bytes, &converted, sizeof converted);
  });
  return bytes;
}

Result<OwnMatrix> make_matrix(const LaneTools& on, DType dtype, std::int64_t rows, std::int64_t columns) {
  const auto bytes = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns) *
                     static_cast<std::uint64_t>(size_bytes(dtype));
  StreamScratch memory = TROUPE_TRY(on.scratch(bytes));
  const Matrix matrix{memory.address(), dtype, rows, columns, columns, 1};
  return OwnMatrix{std::move(memory), matrix};
}

Result<void> scale(const LaneTools& on, const op::Scalar& alpha, const Matrix& in, const Matrix& out, bool conjugates,
                   bool adds) {
  return scale_elements(on, alpha, in.dtype, in.data, out.data, conjugates, adds, layout_of(in, out));
}

Result<void> copy(const LaneTools& on, const Matrix& in, const Matrix& out) {
  return move_elements(on, in.dtype, in.data, out.data, axes_of(in, out));
}

Result<void> cast(const LaneTools& on, const Matrix& in, const Matrix& out) {
  return cast_elements(on, in.dtype, in.data, out.dtype, out.data, axes_of(in, out));
}

Result<OwnMatrix> times_zero(const LaneTools& on, const Matrix& m) {
  OwnMatrix made = TROUPE_TRY(make_matrix(on, m.dtype, m.rows, m.columns));
  const auto bytes = static_cast<std::size_t>(m.rows * m.columns * size_bytes(m.dtype));
  if (bytes == 0) return made;
  TROUPE_TRY(
      TROUPE_CUDA(on.driver(), cuMemsetD8Async, made.matrix.data, static_cast<unsigned char>(0), bytes, on.stream()));
  TROUPE_TRY(add_elements(on, op::Scalar(0.0), m.dtype, m.data, made.matrix.data, axes_of(m, made.matrix)));
  return made;
}

Result<void> multiply(const LaneTools& on, const op::Scalar& alpha, const op::Scalar& beta, const Matrix& a,
                      const Matrix& b, const Matrix& c, const ProductKind& kind, const Batch& batch) {
  if (c.rows == 0 || c.columns == 0 || batch.count == 0) return {};
  const bool is_i8 = a.dtype == DType::i8;  // four by four, from one matrix of a batch to the next, too
  const bool is_aligned = !is_i8 || batch.count == 1 || (batch.stride_a % 4 == 0 && batch.stride_b % 4 == 0);
  const bool is_by_zero = op::is_zero(alpha) && !is_i8 && a.columns > 0;
  if (is_by_zero && batch.count == 1) {
    const OwnMatrix zeros = TROUPE_TRY(times_zero(on, a));
    return multiply(on, op::Scalar(1.0), beta, zeros.matrix, b, c, kind);
  }
  if (a.columns > 0 && is_aligned && !is_by_zero && Cublas::can_multiply(a, b, c, kind)) {
    Result<void> multiplied = TROUPE_TRY(on.handle<Cublas>())->gemm(alpha, beta, a, b, c, kind, batch);
    // Of i8 it has not all transposes.
    if (multiplied || !is_i8 || multiplied.error().kind() != ErrorKind::unsupported) return multiplied;
  }
  if (batch.count > 1) {
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const auto nth = [i](Matrix matrix, std::int64_t stride) {
        if (matrix.data != 0) matrix.data += static_cast<CUdeviceptr>(i * stride * size_bytes(matrix.dtype));
        return matrix;
      };
      TROUPE_TRY(
          multiply(on, alpha, beta, nth(a, batch.stride_a), nth(b, batch.stride_b), nth(c, batch.stride_c), kind));
    }
    return {};
  }
  if (kind.conjugates_a) {
    const OwnMatrix other = TROUPE_TRY(conjugated(on, a));
    return multiply(on, alpha, beta, other.matrix, b, c, {kind.compute, false, kind.conjugates_b});
  }
  if (kind.conjugates_b) {
    const OwnMatrix other = TROUPE_TRY(conjugated(on, b));
    return multiply(on, alpha, beta, a, other.matrix, c, {kind.compute, false, false});
  }
  return multiply_slowly(on, alpha, beta, a, b, c);
}

// ---- elements ----

Result<void> run_op(const op::Axpy& op, const LaneTools& on) {
  return add_elements(on, op.alpha, op.x.dtype, on.at(op.x), on.at(op.y), axes_of(op.x, op.y));
}

Result<void> run_op(const op::Scal& op, const LaneTools& on) {
  return visit_four("scal", op.x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const CUdeviceptr x = on.at(op.x);
    if (x == 0) return {};
    if (const std::optional<std::int64_t> apart = distance(op.x)) {
      const LibraryFactor alpha(op.alpha, op.x.dtype);
      const cudaDataType_t type = data_type(op.x.dtype);
      const cublasHandle_t handle = TROUPE_TRY(on.handle<Cublas>())->handle();
      return cublas().cublasScalEx_64(handle, op::element_count(op.x), alpha.data(), type, pointer(x), type, *apart,
                                      type);
    }
    return scale_elements(on, op.alpha, op.x.dtype, x, x, false, false, layout_of(op.x, &op.x));
  });
}

Result<void> run_op(const op::Rot& op, const LaneTools& on) {
  return visit_four("rot", op.x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    Bytes16 cosine = factor_bytes(op.cosine, op.x.dtype);
    Bytes16 sine = factor_bytes(op.sine, op.x.dtype);
    bool swaps = op.swaps;
    CUdeviceptr x = on.at(op.x);
    CUdeviceptr y = on.at(op.y);
    Layout layout = layout_of(op.x, &op.y);
    std::array<void*, 6> arguments{&cosine, &sine, &swaps, &x, &y, &layout};
    return on.launch(TROUPE_TRY(on.kernel(BlasKernel::rotate, op.x.dtype)), layout.count, arguments);
  });
}

Result<void> run_op(const op::Dot& op, const LaneTools& on) {
  return visit_four("dot", op.x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const Vector x = TROUPE_TRY(vector_of(op.x, on));
    const Vector y = TROUPE_TRY(vector_of(op.y, on));
    const cudaDataType_t type = data_type(op.x.dtype);
    Cublas* const blas = TROUPE_TRY(on.handle<Cublas>());
    const Cublas::ResultsOnGpu on_gpu(*blas);
    const auto& function = op.conjugates ? cublas().cublasDotcEx_64 : cublas().cublasDotEx_64;
    return function(blas->handle(), x.count, pointer(x.data), type, x.apart, pointer(y.data), type, y.apart,
                    pointer(on.at(op.out)), type, type);
  });
}

Result<void> run_op(const op::Measure& op, const LaneTools& on) {
  using What = op::Measure::What;
  return visit_four("a measure", op.x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const Vector x = TROUPE_TRY(vector_of(op.x, on));
    const cudaDataType_t type = data_type(op.x.dtype);
    const cudaDataType_t real = data_type(detail::real_type(op.x.dtype));
    Cublas* const blas = TROUPE_TRY(on.handle<Cublas>());
    CUdeviceptr out = on.at(op.out);
    const Cublas::ResultsOnGpu on_gpu(*blas);
    if (op.what == What::nrm2)
      return cublas().cublasNrm2Ex_64(blas->handle(), x.count, pointer(x.data), type, x.apart, pointer(out), real,
                                      real);
    if (op.what == What::asum)
      return asum<T>(cublas())(blas->handle(), x.count, reinterpret_cast<const CudaType<T>*>(x.data), x.apart,
                               reinterpret_cast<decltype(std::abs(T{}))*>(out));
    const auto& function = op.what == What::iamax ? cublas().cublasIamaxEx_64 : cublas().cublasIaminEx_64;
    TROUPE_TRY(function(blas->handle(), x.count, pointer(x.data), type, x.apart, reinterpret_cast<std::int64_t*>(out)));
    std::array<void*, 1> arguments{&out};
    return TROUPE_CUDA(on.driver(), cuLaunchKernel, TROUPE_TRY(on.kernel(BlasKernel::from_zero)), 1, 1, 1, 1, 1, 1, 0,
                       on.stream(), arguments.data(), nullptr);
  });
}

Result<void> run_op(const op::Geam& op, const LaneTools& on) {
  if (op::element_count(op.c) == 0) return {};
  return visit_four("geam", op.c.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const bool is_by_zero = op::is_zero(op.alpha) || op::is_zero(op.beta);  // cuBLAS would not read what it multiplies
    if (op.c.shape.rank() == 2 && !op.conjugates_a && !op.conjugates_b && !is_by_zero) {
      const std::optional<ByColumns> result = by_columns(on.matrix(op.c));
      const auto as_result = [&](const op::View& view) {
        const Matrix m = on.matrix(view);
        return result && result->transposes ? m.transposed() : m;
      };
      const Matrix c = as_result(op.c);
      const std::optional<ByColumns> left = by_columns(as_result(op.a));
      const std::optional<ByColumns> right = by_columns(as_result(op.b));
      if (result && left && right) {
        using C = CudaType<T>;
        const LibraryFactor alpha(op.alpha, op.c.dtype);
        const LibraryFactor beta(op.beta, op.c.dtype);
        const auto flag = [](bool transposes) { return transposes ? CUBLAS_OP_T : CUBLAS_OP_N; };
        const cublasHandle_t handle = TROUPE_TRY(on.handle<Cublas>())->handle();
        return geam<T>(cublas())(handle, flag(left->transposes), flag(right->transposes), c.rows, c.columns,
                                 static_cast<const C*>(alpha.data()), on.data<C>(op.a), left->leading,
                                 static_cast<const C*>(beta.data()), on.data<C>(op.b), right->leading, on.data<C>(op.c),
                                 result->leading);
      }
    }
    TROUPE_TRY(scale_elements(on, op.alpha, op.c.dtype, on.at(op.a), on.at(op.c), op.conjugates_a, false,
                              layout_of(op.a, &op.c)));
    return scale_elements(on, op.beta, op.c.dtype, on.at(op.b), on.at(op.c), op.conjugates_b, true,
                          layout_of(op.b, &op.c));
  });
}

// ---- products ----

Result<void> run_op(const op::Gemm& op, const LaneTools& on) {
  if (op::element_count(op.c) == 0) return {};
  Batch batch;
  if (op.c.shape.rank() == 3) batch = {op.c.shape[0], op.a.strides[0], op.b.strides[0], op.c.strides[0]};
  return multiply(on, op.alpha, op.beta, on.matrix(op.a), on.matrix(op.b), on.matrix(op.c),
                  {op.compute, op.conjugates_a, op.conjugates_b}, batch);
}

Result<void> run_op(const op::GemmGroup& op, const LaneTools& on) {
  const std::size_t count = op.matrices.size() / 3;
  if (count == 0) return {};
  const auto lies_alike = [&](std::size_t i) {
    const op::View& first = op.matrices[i % 3].view;
    const op::View& other = op.matrices[i].view;
    return first.shape == other.shape && first.strides == other.strides;
  };
  bool all_alike = !op::is_zero(op.alpha);
  for (std::size_t i = 0; i < op.matrices.size(); ++i) all_alike = all_alike && lies_alike(i);
  const auto matrix = [&](std::size_t i) { return on.matrix(op.matrices[i].view); };
  // Of many products at once, small types must be aligned for the widest loads that there are.
  const DType dtype = op.matrices[0].view.dtype;
  const bool is_small = size_bytes(dtype) < 4 || op.compute == Compute::tf32;
  for (const op::Argument& argument : op.matrices)
    all_alike = all_alike && (!is_small || on.at(argument.view) % 16 == 0);
  if (!all_alike || matrix(0).columns == 0 || !Cublas::can_multiply(matrix(0), matrix(1), matrix(2))) {
    for (std::size_t i = 0; i < op.matrices.size(); i += 3)
      TROUPE_TRY(multiply(on, op.alpha, op.beta, matrix(i), matrix(i + 1), matrix(i + 2), {.compute = op.compute}));
    return {};
  }
  if (op::element_count(op.matrices[2].view) == 0) return {};
  PointerList list{};
  list.count = static_cast<int>(op.matrices.size());
  for (std::size_t i = 0; i < op.matrices.size(); ++i)
    list.pointers[(i % 3) * count + i / 3] = pointer(on.at(op.matrices[i].view));  // all of a, then b, then c
  const StreamScratch memory = TROUPE_TRY(on.scratch(sizeof list.pointers));
  CUdeviceptr out = memory.address();
  std::array<void*, 2> arguments{&list, &out};
  TROUPE_TRY(on.launch(TROUPE_TRY(on.kernel(BlasKernel::put_pointers)), 1, arguments));
  const auto nth = [&](std::size_t i) { return out + i * count * sizeof(void*); };
  return TROUPE_TRY(on.handle<Cublas>())
      ->gemm_at(op.alpha, op.beta, matrix(0), matrix(1), matrix(2), op.compute, nth(0), nth(1), nth(2),
                static_cast<std::int64_t>(count));
}

void add_blas(RunTable& table) { table.add(op::BlasOps{}); }

}  // namespace troupe::cuda

#endif
