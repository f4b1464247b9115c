#include "troupe/backend/host/matmul/matmul_ops.hpp"

#include <algorithm>
#include <span>

#include "troupe/backend/host/blas/blas_kernels.hpp"
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"
#include "troupe/backend/host/team/try_each.hpp"
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
Result<OwnMatrix> converted(const HostView& view, DType dtype, Team& team) {
  if (view.dtype == dtype) return OwnMatrix{nullptr, view};
  OwnMatrix made = TROUPE_TRY(make_matrix(dtype, view.shape));
  TROUPE_TRY(cast(view, made.view, team));
  return made;
}

/// a b, in the type that it is summed in: in `into` when that has the type, else in memory of our own.
Result<OwnMatrix> product(double alpha, const HostView& a, const HostView& b, const HostView& into, Team& team) {
  const DType wide = wide_type(a.dtype);
  const OwnMatrix left = TROUPE_TRY(converted(a, wide, team));
  const OwnMatrix right = TROUPE_TRY(converted(b, wide, team));
  OwnMatrix sums = into.dtype == wide ? OwnMatrix{nullptr, into} : TROUPE_TRY(make_matrix(wide, into.shape));
  TROUPE_TRY(gemm(op::Scalar(alpha), op::Scalar(0.0), left.view, right.view, sums.view, team));
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
void read_row(const HostView& view, std::int64_t i, std::span<W> into) noexcept {
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
void write_row(const HostView& view, std::int64_t i, std::span<const W> row) noexcept {
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

/// The matrices of an op, or those of one product of its batch; null where the op has none.
struct Matrices {
  HostView a = {};
  HostView b = {};
  HostView c = {};
  HostView bias = {};
  HostView pre = {};
  HostView d = {};
};

/// How many products a batch has.
std::int64_t products_of(const op::View& d) noexcept {
  std::int64_t count = 1;
  for (int i = 0; i < d.shape.rank() - 2; ++i) count *= d.shape[i];
  return count;
}

/// The matrix of one product; an array without elements has no place in memory.
HostView matrix_at(const HostView& batch, std::int64_t index) {
  const int axes = batch.shape.rank() - 2;
  std::int64_t offset = 0;
  for (int i = axes - 1; i >= 0; --i) {
    offset += index % batch.shape[i] * batch.strides[i];
    index /= batch.shape[i];
  }
  return {batch.data ? batch.data + offset * size_bytes(batch.dtype) : nullptr, batch.dtype,
          Shape{batch.shape[axes], batch.shape[axes + 1]}, Strides{batch.strides[axes], batch.strides[axes + 1]}};
}

/// Calls `f(matrices, index)` for each product.
template <class Op, class F>
Result<void> for_each_product(const Op& op, const HostViews& here, const F& f) {
  const int rank = op.d.shape.rank();
  const std::int64_t count = products_of(op.d);
  const Grain grain = grain_of_products(here.team(), count, op.d.shape[rank - 2], op.d.shape[rank - 1],
                                        op.a.shape[op.a.shape.rank() - 1]);
  return try_each(here.team(), count, grain, [&](std::int64_t i) -> Result<void> {
    Matrices on{.a = matrix_at(here(op.a), i), .b = matrix_at(here(op.b), i), .d = matrix_at(here(op.d), i)};
    if constexpr (requires { op.has_c; }) {
      if (op.has_c) on.c = matrix_at(here(op.c), i);
      if (op.has_bias) on.bias = here(op.bias);
      if (op.keeps_pre) on.pre = matrix_at(here(op.pre), i);
    } else if (op.has_pre) {
      on.pre = matrix_at(here(op.pre), i);
    }
    return f(on, i);
  });
}

/// Rows that are finished at a time.
constexpr std::int64_t kBand = 64;
std::int64_t bands_of(std::int64_t rows) noexcept { return (rows + kBand - 1) / kBand; }

/// Calls `f(band, first row, end)` for all rows of a result.
template <class F>
Result<void> for_each_band(const HostView& d, Team& team, const F& f) {
  if (!d.data) return {};
  constexpr double kNsPerElement = 2;
  const Grain grain = Grain::of_ns(kNsPerElement * static_cast<double>(kBand * d.shape[1]));
  return try_each(team, bands_of(d.shape[0]), grain,
                  [&](std::int64_t band) { return f(band, band * kBand, std::min((band + 1) * kBand, d.shape[0])); });
}

/// Some rows of numbers in memory of their own.
template <class W, std::size_t n>
struct OwnRows {
  static Result<OwnRows> make(std::int64_t columns) {
    OwnRows made{TROUPE_TRY(make_scratch(static_cast<std::int64_t>(n * sizeof(W)) * columns)), {}};
    for (std::size_t i = 0; i < n; ++i)
      made.rows[i] = {reinterpret_cast<W*>(made.memory.get()) + static_cast<std::int64_t>(i) * columns,
                      static_cast<std::size_t>(columns)};
    return made;
  }
  Scratch memory;
  std::array<std::span<W>, n> rows;
};

template <class W>
Result<void> finish(const op::Matmul& op, const Matrices& on, const HostView& sums, Team& team) {
  return for_each_band(on.d, team, [&](std::int64_t, std::int64_t begin, std::int64_t end) -> Result<void> {
    const auto own = TROUPE_TRY((OwnRows<W, 3>::make(on.d.shape[1])));
    const auto& [row, addend, bias] = own.rows;
    std::ranges::fill(bias, W(0));
    if (op.has_bias) read_row(on.bias, 0, bias);
    for (std::int64_t i = begin; i < end; ++i) {
      read_row(sums, i, row);
      if (op.has_c && op.beta != 0) {
        read_row(on.c, i, addend);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] += static_cast<W>(op.beta) * addend[j];
      }
      for (std::size_t j = 0; j < row.size(); ++j) row[j] += bias[j];
      if (op.keeps_pre) write_row<W>(on.pre, i, row);
      for (W& number : row) number = static_cast<W>(op.scale_d) * activated(op.activation, number);
      write_row<W>(on.d, i, row);
    }
    return {};
  });
}

/// `partial` has the sums of columns of each band.
template <class W>
Result<void> finish(const op::MatmulGradient& op, const Matrices& on, const HostView& sums, Team& team, W* partial) {
  return for_each_band(on.d, team, [&](std::int64_t band, std::int64_t begin, std::int64_t end) -> Result<void> {
    const auto own = TROUPE_TRY((OwnRows<W, 2>::make(on.d.shape[1])));
    const auto& [row, before] = own.rows;
    const std::span<W> columns(partial + band * on.d.shape[1], row.size());
    std::ranges::fill(columns, W(0));
    for (std::int64_t i = begin; i < end; ++i) {
      read_row(sums, i, row);
      if (op.has_pre) {
        read_row(on.pre, i, before);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] *= slope(op.activation, before[j]);
      }
      write_row<W>(on.d, i, row);
      for (std::size_t j = 0; j < row.size(); ++j) columns[j] += row[j];
    }
    return {};
  });
}

template <class W>
Result<void> gradient(const op::MatmulGradient& op, const HostViews& here) {
  const int rank = op.d.shape.rank();
  const std::int64_t columns = op.d.shape[rank - 1];
  const std::int64_t bands = bands_of(op.d.shape[rank - 2]);
  const std::int64_t all_bands = products_of(op.d) * bands;
  const Scratch memory = TROUPE_TRY(make_scratch(all_bands * columns * static_cast<std::int64_t>(sizeof(W))));
  W* const partial = reinterpret_cast<W*>(memory.get());
  TROUPE_TRY(for_each_product(op, here, [&](const Matrices& on, std::int64_t i) -> Result<void> {
    const OwnMatrix sums = TROUPE_TRY(product(op.alpha, on.a, on.b, on.d, here.team()));
    return finish<W>(op, on, sums.view, here.team(), partial + i * bands * columns);
  }));
  if (!op.sums_columns || columns == 0) return {};
  const auto own = TROUPE_TRY((OwnRows<W, 1>::make(columns)));
  const std::span<W> total = own.rows[0];
  std::ranges::fill(total, W(0));
  for (std::int64_t band = 0; band < all_bands; ++band)
    for (std::size_t j = 0; j < total.size(); ++j) total[j] += partial[band * columns + static_cast<std::int64_t>(j)];
  write_row<W>(here(op.sums), 0, total);
  return {};
}

}  // namespace

Result<void> run_op(const op::Matmul& op, const HostViews& here) {
  const bool is_plain =
      !op.has_c && !op.has_bias && !op.keeps_pre && op.scale_d == 1 && op.activation == Activation::none;
  return for_each_product(op, here, [&](const Matrices& on, std::int64_t) -> Result<void> {
    if (op.a.dtype == DType::i8) return gemm(op::Scalar(1.0), op::Scalar(0.0), on.a, on.b, on.d, here.team());
    const OwnMatrix sums = TROUPE_TRY(product(op.alpha, on.a, on.b, on.d, here.team()));
    if (!sums.memory && is_plain) return {};
    return sums.view.dtype == DType::f64 ? finish<double>(op, on, sums.view, here.team())
                                         : finish<float>(op, on, sums.view, here.team());
  });
}

Result<void> run_op(const op::MatmulGradient& op, const HostViews& here) {
  return op.a.dtype == DType::f64 ? gradient<double>(op, here) : gradient<float>(op, here);
}

void add_matmul(RunTable& table) { table.add(op::MatmulOps{}); }

}  // namespace troupe::host
