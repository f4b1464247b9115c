// Preconditioners, made row by row, in order: a row of factors needs those before it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "troupe/backend/host/sparse/iterate_vectors.hpp"
#include "troupe/backend/host/sparse/sparse_host.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

template <class T>
bool is_usable(const T& pivot) noexcept {
  return pivot != T{} && std::isfinite(std::abs(pivot));
}

/// The place of a row's diagonal element.
template <class I>
std::int64_t diagonal_of(const sparse::Lines<I>& lines, std::int64_t row) noexcept {
  return sparse::first_not_below(lines.indices, lines.offsets[row], lines.offsets[row + 1], row);
}

/// L (without its ones) and U, in place of the matrix. `places` is all -1 before and after.
template <class T, class I>
sparse::Finding factor_ilu0(const sparse::Lines<I>& lines, T* values, std::int64_t* places) {
  for (std::int64_t row = 0; row < lines.count; ++row) {
    const std::int64_t begin = lines.offsets[row], end = lines.offsets[row + 1], diagonal = diagonal_of(lines, row);
    for (std::int64_t i = begin; i < end; ++i) places[lines.indices[i]] = i;
    for (std::int64_t i = begin; i < diagonal; ++i) {
      const std::int64_t other = lines.indices[i];
      const std::int64_t pivot = diagonal_of(lines, other);
      values[i] /= values[pivot];
      for (std::int64_t k = pivot + 1; k < lines.offsets[other + 1]; ++k)
        if (const std::int64_t at = places[lines.indices[k]]; at >= 0)
          values[at] = sparse::plus_product(values[at], -values[i], values[k]);
    }
    for (std::int64_t i = begin; i < end; ++i) places[lines.indices[i]] = -1;
    if (!is_usable(values[diagonal])) return {sparse::Fault::zero_pivot, row, 0, 0};
  }
  return {};
}

/// row `a` times the adjoint of row `b` of L, before column `end`.
template <class T, class I>
T product_of_rows(const sparse::Lines<I>& lines, const T* values, std::int64_t a, std::int64_t b, std::int64_t end) {
  T sum{};
  std::int64_t i = lines.offsets[a], k = lines.offsets[b];
  while (i < lines.offsets[a + 1] && k < lines.offsets[b + 1] && lines.indices[i] < end && lines.indices[k] < end) {
    if (lines.indices[i] < lines.indices[k]) {
      ++i;
    } else if (lines.indices[k] < lines.indices[i]) {
      ++k;
    } else {
      sum = sparse::plus_product(sum, values[i++], sparse::conjugated(values[k]));
      ++k;
    }
  }
  return sum;
}

/// L in place of the lower triangle, and zeros above.
template <class T, class I>
sparse::Finding factor_ic0(const sparse::Lines<I>& lines, T* values) {
  for (std::int64_t row = 0; row < lines.count; ++row) {
    const std::int64_t diagonal = diagonal_of(lines, row);
    for (std::int64_t i = lines.offsets[row]; i < diagonal; ++i) {
      const std::int64_t other = lines.indices[i];
      values[i] = (values[i] - product_of_rows(lines, values, row, other, other)) / values[diagonal_of(lines, other)];
    }
    const auto pivot = std::real(values[diagonal] - product_of_rows(lines, values, row, row, row));
    if (!(pivot > 0) || !std::isfinite(pivot)) return {sparse::Fault::pivot_not_positive, row, 0, 0};
    values[diagonal] = T(std::sqrt(pivot));
    std::fill(values + diagonal + 1, values + lines.offsets[row + 1], T{});
  }
  return {};
}

template <class T, class I>
sparse::Finding find_missing_diagonal(const sparse::Lines<I>& lines, const T* values) {
  for (std::int64_t row = 0; row < lines.count; ++row)
    if (const sparse::Finding found = sparse::check_diagonal(lines, values, row);
        found.fault == sparse::Fault::no_diagonal)
      return found;
  return {};
}

/// Factors begin as a copy of the matrix. One that is zero on its diagonal may have them, one with a gap there has not.
/// After a fault, what the rows from there on have is of no use.
template <class Op, class F>
Result<void> factor(const Op& op, const HostViews& here, const F& f) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    const sparse::Lines<I> lines = lines_of<I>(op.matrix, here);
    const T* const values = here.data<T>(op.matrix.values);
    T* const out = here.data<T>(op.out);
    Vectors<T>(here.team(), lines.stored).copy(values, out);
    sparse::Finding found = find_missing_diagonal(lines, values);
    if (found.fault == sparse::Fault::none) found = TROUPE_TRY((f.template operator()<T, I>(lines, out)));
    sparse::write_verdict(found, 0, here.data<std::int32_t>(op.verdict));
    return {};
  });
}

}  // namespace

Result<void> run_op(const op::SparseJacobi& op, const HostViews& here) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    const sparse::Lines<I> lines = lines_of<I>(op.matrix, here);
    const T* const values = here.data<T>(op.matrix.values);
    T* const out = here.data<T>(op.out);
    sparse::Finding found;
    for (std::int64_t row = 0; row < lines.count; ++row) {
      out[row] = T{};
      if (found.fault == sparse::Fault::none) found = sparse::check_diagonal(lines, values, row);
      if (found.fault != sparse::Fault::none) continue;
      out[row] = T{1} / values[diagonal_of(lines, row)];
      if (!is_usable(out[row])) found = {sparse::Fault::zero_pivot, row, 0, 0};
    }
    sparse::write_verdict(found, 0, here.data<std::int32_t>(op.verdict));
    return {};
  });
}

Result<void> run_op(const op::SparseIlu0& op, const HostViews& here) {
  return factor(op, here, [&]<class T, class I>(const sparse::Lines<I>& lines, T* out) -> Result<sparse::Finding> {
    const Scratch memory =
        TROUPE_TRY(make_scratch((lines.count + 1) * static_cast<std::int64_t>(sizeof(std::int64_t))));
    auto* const places = reinterpret_cast<std::int64_t*>(memory.get());
    std::fill_n(places, lines.count, -1);
    return factor_ilu0(lines, out, places);
  });
}

Result<void> run_op(const op::SparseIc0& op, const HostViews& here) {
  return factor(op, here, [&]<class T, class I>(const sparse::Lines<I>& lines, T* out) -> Result<sparse::Finding> {
    return factor_ic0(lines, out);
  });
}

}  // namespace troupe::host
