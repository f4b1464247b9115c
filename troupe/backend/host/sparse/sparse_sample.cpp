// Products of dense matrices, sampled where a sparse one has elements.
#include <array>
#include <numeric>

#include "troupe/backend/host/memory/memory_kernels.hpp"
#include "troupe/backend/host/sparse/sparse_host.hpp"
#include "troupe/backend/host/sparse/sparse_ops.hpp"

namespace troupe::host {
namespace {

/// Of `count` elements each, without gaps. Sums side by side, which are added at the end.
template <class T>
T dot(const T* __restrict a, const T* __restrict b, std::int64_t count) {
  constexpr std::int64_t kSums = 64 / static_cast<std::int64_t>(sizeof(T));
  std::array<T, kSums> sums{};
  std::int64_t k = 0;
  for (; k + kSums <= count; k += kSums)
    for (std::int64_t i = 0; i < kSums; ++i) {
      T& sum = sums[static_cast<std::size_t>(i)];
      sum = sparse::plus_product(sum, a[k + i], b[k + i]);
    }
  const T rest = sparse::dot(a + k, 1, b + k, 1, count - k);
  return k == 0 ? rest : std::accumulate(sums.begin(), sums.end(), rest);
}

/// The rows of a matrix, or its columns, without gaps: where they are, or copied.
template <class T>
class DenseLines {
 public:
  /// `across` is the dimension from one line to the next.
  static Result<DenseLines> make(const HostView& matrix, int across) {
    const int along = 1 - across;
    const T* const data = reinterpret_cast<const T*>(matrix.data);
    if (matrix.strides[along] == 1 || matrix.shape[along] < 2) return DenseLines(data, matrix.strides[across], nullptr);
    const std::int64_t length = matrix.shape[along];
    Scratch memory = TROUPE_TRY(make_scratch(matrix.shape[0] * matrix.shape[1] * static_cast<std::int64_t>(sizeof(T))));
    HostView copied{.data = memory.get(), .dtype = matrix.dtype, .shape = matrix.shape, .strides = matrix.strides};
    copied.strides[along] = 1;
    copied.strides[across] = length;
    TROUPE_TRY(copy(matrix, copied));
    return DenseLines(reinterpret_cast<const T*>(copied.data), length, std::move(memory));
  }
  const T* operator[](std::int64_t line) const noexcept { return data_ == nullptr ? nullptr : data_ + line * step_; }

 private:
  DenseLines(const T* data, std::int64_t step, Scratch memory) noexcept
      : data_(data), step_(step), memory_(std::move(memory)) {}
  const T* data_;
  std::int64_t step_;
  Scratch memory_;
};

}  // namespace

Result<void> run_op(const op::SparseSddmm& op, const HostViews& here) {
  return with_types(op.matrix, [&]<class T, class I>() -> Result<void> {
    if (op.matrix.stored() == 0) return {};
    const auto rows = TROUPE_TRY(DenseLines<T>::make(here(op.a), 0));
    const auto columns = TROUPE_TRY(DenseLines<T>::make(here(op.b), 1));
    const std::int64_t length = op.a.shape[1];
    const T alpha = op.alpha.as<T>();
    const T beta = op.beta.as<T>();
    T* const values = here.data<T>(op.matrix.values);
    const I* const indices = here.data<I>(op.matrix.indices);
    const std::int64_t last_ahead = op.matrix.format == SparseFormat::bsr ? 0 : op.matrix.stored() - kElementsAhead;
    const auto& in_no_order = op.matrix.format == SparseFormat::csc ? rows : columns;
    for_each_element<I>(op.matrix, here, [&](std::int64_t row, std::int64_t column, std::int64_t place) {
      if (place < last_ahead) prefetch_elements(in_no_order[indices[place + kElementsAhead]], length);
      const T sum = length == 0 ? T{} : dot(rows[row], columns[column], length);
      values[place] = sparse::with_factors(alpha, sum, beta, values[place]);
    });
    return {};
  });
}

}  // namespace troupe::host
