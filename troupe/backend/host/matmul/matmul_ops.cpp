#include "troupe/backend/host/matmul/matmul_ops.hpp"

#include <vector>

#include "troupe/backend/host/blas/blas_kernels.hpp"
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"
#include "troupe/core/activation.hpp"

namespace troupe::host {
namespace {

/// What is summed in.
DType wide_type(DType dtype) noexcept { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// A matrix of another type in memory of our own, row-major.
struct OwnMatrix {
  Scratch memory;
  HostView view;
};
Result<OwnMatrix> make_matrix(DType dtype, const Shape& shape) {
  OwnMatrix made{TROUPE_TRY(make_scratch(shape[0] * shape[1] * size_bytes(dtype))), {}};
  made.view = {made.memory.get(), dtype, shape, contiguous_strides(shape)};
  return made;
}

/// The matrix itself when it has the type; a copy that has it when not.
Result<OwnMatrix> converted(const HostView& view, DType dtype) {
  if (view.dtype == dtype) return OwnMatrix{nullptr, view};
  OwnMatrix made = TROUPE_TRY(make_matrix(dtype, view.shape));
  TROUPE_TRY(cast(view, made.view));
  return made;
}

/// a b, in the type that it is summed in: in `into` when that has the type, else in memory of our own.
Result<OwnMatrix> product(double alpha, const HostView& a, const HostView& b, const HostView& into) {
  const DType wide = wide_type(a.dtype);
  const OwnMatrix left = TROUPE_TRY(converted(a, wide));
  const OwnMatrix right = TROUPE_TRY(converted(b, wide));
  OwnMatrix sums = into.dtype == wide ? OwnMatrix{nullptr, into} : TROUPE_TRY(make_matrix(wide, into.shape));
  TROUPE_TRY(gemm(op::Scalar(alpha), op::Scalar(0.0), left.view, right.view, sums.view));
  return sums;
}

template <class W>
W activated(Activation activation, W number) noexcept {
  if (activation == Activation::relu) return relu(number);
  return activation == Activation::gelu_tanh ? gelu_tanh(number) : number;
}
template <class W>
W slope(Activation activation, W number) noexcept {
  if (activation == Activation::relu) return relu_slope(number);
  return activation == Activation::gelu_tanh ? gelu_tanh_slope(number) : W(1);
}

/// Row `i` of a matrix of any floating-point type, or a vector when it has one row only.
template <class W>
void read_row(const HostView& view, std::int64_t i, std::vector<W>& into) noexcept {
  const bool is_matrix = view.shape.rank() == 2;
  visit(view.dtype, [&]<class T>(std::type_identity<T>) {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
    const std::byte* from = view.data + (is_matrix ? i * view.strides[0] * kSize : 0);
    const std::int64_t step = view.strides[is_matrix ? 1 : 0] * kSize;
    for (W& element : into) {
      element = convert<W>(load<T>(from));
      from += step;
    }
  });
}
template <class W>
void write_row(const HostView& view, std::int64_t i, const std::vector<W>& row) noexcept {
  const bool is_matrix = view.shape.rank() == 2;
  visit(view.dtype, [&]<class T>(std::type_identity<T>) {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
    std::byte* to = view.data + (is_matrix ? i * view.strides[0] * kSize : 0);
    const std::int64_t step = view.strides[is_matrix ? 1 : 0] * kSize;
    for (const W element : row) {
      store(to, convert<T>(element));
      to += step;
    }
  });
}

template <class W>
void finish(const op::Matmul& op, const HostViews& here, const HostView& sums) {
  const HostView c = here(op.c);
  const HostView pre = here(op.pre);
  const HostView d = here(op.d);
  const auto columns = static_cast<std::size_t>(d.shape[1]);
  std::vector<W> row(columns);
  std::vector<W> addend(columns);
  std::vector<W> bias(columns);
  if (op.has_bias && d.data) read_row(here(op.bias), 0, bias);
  for (std::int64_t i = 0; d.data && i < d.shape[0]; ++i) {
    read_row(sums, i, row);
    if (op.has_c && op.beta != 0) {
      read_row(c, i, addend);
      for (std::size_t j = 0; j < columns; ++j) row[j] += static_cast<W>(op.beta) * addend[j];
    }
    for (std::size_t j = 0; j < columns; ++j) row[j] += bias[j];
    if (op.keeps_pre) write_row(pre, i, row);
    for (W& number : row) number = static_cast<W>(op.scale_d) * activated(op.activation, number);
    write_row(d, i, row);
  }
}

template <class W>
void finish(const op::MatmulGradient& op, const HostViews& here, const HostView& product_sums) {
  const HostView pre = here(op.pre);
  const HostView d = here(op.d);
  const auto columns = static_cast<std::size_t>(d.shape[1]);
  std::vector<W> row(columns);
  std::vector<W> before(columns);
  std::vector<W> sums(columns);
  for (std::int64_t i = 0; d.data && i < d.shape[0]; ++i) {
    read_row(product_sums, i, row);
    if (op.has_pre) {
      read_row(pre, i, before);
      for (std::size_t j = 0; j < columns; ++j) row[j] *= slope(op.activation, before[j]);
    }
    write_row(d, i, row);
    for (std::size_t j = 0; j < columns; ++j) sums[j] += row[j];
  }
  if (op.sums_columns && columns > 0) write_row(here(op.sums), 0, sums);
}

}  // namespace

Result<void> run_op(const op::Matmul& op, const HostViews& here) {
  if (op.a.dtype == DType::i8) return gemm(op::Scalar(1.0), op::Scalar(0.0), here(op.a), here(op.b), here(op.d));
  const OwnMatrix sums = TROUPE_TRY(product(op.alpha, here(op.a), here(op.b), here(op.d)));
  const bool is_done = !sums.memory && !op.has_c && !op.has_bias && !op.keeps_pre && op.scale_d == 1 &&
                       op.activation == Activation::none;
  if (is_done) return {};
  sums.view.dtype == DType::f64 ? finish<double>(op, here, sums.view) : finish<float>(op, here, sums.view);
  return {};
}

Result<void> run_op(const op::MatmulGradient& op, const HostViews& here) {
  const OwnMatrix sums = TROUPE_TRY(product(op.alpha, here(op.a), here(op.b), here(op.d)));
  sums.view.dtype == DType::f64 ? finish<double>(op, here, sums.view) : finish<float>(op, here, sums.view);
  return {};
}

void add_matmul(RunTable& table) { table.add(op::MatmulOps{}); }

}  // namespace troupe::host
