// Products of two sparse matrices, row by row (Gustavson): first how many elements each row will have, then what they
// are.
#include <algorithm>

#include "troupe/backend/host/sparse/sparse_host.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

/// Calls `f(place in a, place in b)` for each pair of elements that meet in a row of the product.
template <class I, class F>
void for_each_pair(const sparse::Lines<I>& a, const sparse::Lines<I>& b, std::int64_t row, F&& f) {
  for (std::int64_t i = a.offsets[row]; i < a.offsets[row + 1]; ++i)
    for (std::int64_t j = b.offsets[a.indices[i]]; j < b.offsets[a.indices[i] + 1]; ++j) f(i, j);
}

}  // namespace

Result<void> run_op(const op::SparseCountProduct& op, const HostViews& here) {
  return with_index(op.a.indices.dtype, [&]<class I>() -> Result<void> {
    const sparse::Lines<I> a = lines_of<I>(op.a, here);
    const sparse::Lines<I> b = lines_of<I>(op.b, here);
    const Scratch memory = TROUPE_TRY(make_scratch(b.width * static_cast<std::int64_t>(sizeof(std::int64_t))));
    auto* const seen_in = reinterpret_cast<std::int64_t*>(memory.get());
    std::fill_n(seen_in, b.width, std::int64_t{-1});
    std::int64_t total = 0;
    for (std::int64_t row = 0; row < a.count; ++row)
      for_each_pair(a, b, row, [&](std::int64_t, std::int64_t j) {
        total += seen_in[b.indices[j]] != row ? 1 : 0;
        seen_in[b.indices[j]] = row;
      });
    *here.data<std::int64_t>(op.total) = total;
    return {};
  });
}

Result<void> run_op(const op::SparseFillProduct& op, const HostViews& here) {
  return with_types(op.a, [&]<class T, class I>() -> Result<void> {
    const sparse::Lines<I> a = lines_of<I>(op.a, here);
    const sparse::Lines<I> b = lines_of<I>(op.b, here);
    const Scratch memory = TROUPE_TRY(make_scratch(b.width * static_cast<std::int64_t>(sizeof(std::int64_t))));
    auto* const place_of = reinterpret_cast<std::int64_t*>(memory.get());  // of a column, in this row or an earlier one
    std::fill_n(place_of, b.width, std::int64_t{-1});
    I* const offsets = here.data<I>(op.c.offsets);
    offsets[0] = 0;
    I* const indices = here.data<I>(op.c.indices);
    T* const values = here.data<T>(op.c.values);
    const T* const a_values = here.data<T>(op.a.values);
    const T* const b_values = here.data<T>(op.b.values);
    for (std::int64_t row = 0; row < a.count; ++row) {
      const std::int64_t begin = offsets[row];
      std::int64_t end = begin;
      for_each_pair(a, b, row, [&](std::int64_t, std::int64_t j) {
        std::int64_t& place = place_of[b.indices[j]];
        if (place >= begin) return;
        place = end;
        indices[end++] = b.indices[j];
      });
      offsets[row + 1] = static_cast<I>(end);
      std::sort(indices + begin, indices + end);
      for (std::int64_t i = begin; i < end; ++i) {
        place_of[indices[i]] = i;
        values[i] = T{};
      }
      for_each_pair(a, b, row, [&](std::int64_t i, std::int64_t j) {
        T& sum = values[place_of[b.indices[j]]];
        sum = sparse::plus_product(sum, a_values[i], b_values[j]);
      });
    }
    return {};
  });
}

}  // namespace troupe::host
