// Sparse and dense operands as cuSPARSE takes them: CSR, at multiples of 16 bytes; dense matrices by rows or by
// columns, vectors without gaps. Operands that are laid out so are used in place; the others are copied to scratch
// memory that lasts for one op. Also launches our own sparse kernels by their names.
#pragma once

#include <deque>
#include <optional>

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/backend/cuda/sparse/sparse_kernels.hpp"
#include "troupe/backend/sparse_steps.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::cuda {

/// What kernels are told of lines: the same for both types of indices.
using AnyLines = backend::sparse::Lines<std::int32_t>;
static_assert(sizeof(AnyLines) == sizeof(backend::sparse::Lines<std::int64_t>));

/// For the length of one op on one lane.
class SparseScratch {
 public:
  explicit SparseScratch(const LaneTools& on) noexcept : on_(on) {}

  const LaneTools& on() const noexcept { return on_; }
  /// Freed, in the stream's order, when this object is destroyed.
  Result<CUdeviceptr> memory(std::int64_t size_bytes);

  /// A kernel of sparse_kernels.cu with a thread for each of `count`; arguments as it declares them.
  template <class... Arguments>
  Result<void> launch(SparseKernel kernel, KernelTypes types, std::int64_t count, Arguments... arguments) const {
    std::array<void*, sizeof...(arguments)> all{&arguments...};
    return on_.launch(TROUPE_TRY(on_.kernel(kernel, types)), count, all);
  }

  /// The matrix as CSR: of CSC this is the transpose.
  Result<GpuCsr> csr(const op::SparseView& matrix);
  /// The same with conjugated elements.
  Result<GpuCsr> conjugated(const GpuCsr& csr);
  /// The same with i32 for indices. `unsupported` when there are too many rows, columns or elements.
  Result<GpuCsr> with_short_indices(const GpuCsr& csr);
  /// `count` indices from one type to another.
  Result<void> cast_indices(CUdeviceptr from, DType from_type, CUdeviceptr to, DType to_type, std::int64_t count) const;

  /// Where it is, if it lies as cuSPARSE wants it.
  std::optional<GpuDense> in_place(const op::View& view) const;
  /// A copy by rows; the elements are copied, too, if `reads`.
  Result<GpuDense> copied(const op::View& view, bool reads);
  Result<GpuDense> dense(const op::View& view) {
    if (const auto there = in_place(view)) return *there;
    return copied(view, true);
  }
  /// From a copy back to its view.
  Result<void> copy_back(const GpuDense& from, const op::View& to) const;

 private:
  Result<void> copy_elements(CUdeviceptr from, const op::View& from_view, CUdeviceptr to,
                             const op::View& to_view) const;
  Result<GpuCsr> compressed(const op::SparseView& coo);
  Result<GpuCsr> unblocked(const op::SparseView& bsr);
  Result<CUdeviceptr> aligned(CUdeviceptr address, std::int64_t size_bytes);

  const LaneTools& on_;
  std::deque<StreamScratch> held_;
};

inline AnyLines lines_of(const op::SparseView& matrix, const LaneTools& on) noexcept {
  return {on.data<std::int32_t>(matrix.offsets), on.data<std::int32_t>(matrix.indices), matrix.lines(), matrix.width(),
          matrix.stored()};
}
inline AnyLines lines_of(const GpuCsr& csr) noexcept {
  return {reinterpret_cast<std::int32_t*>(csr.offsets), reinterpret_cast<std::int32_t*>(csr.indices), csr.rows,
          csr.columns, csr.stored};
}

}  // namespace troupe::cuda
