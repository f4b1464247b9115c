#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/sparse/sparse_scratch.hpp"

#include <limits>
#include <optional>

#include "troupe/backend/cuda/memory/move_elements.hpp"

namespace troupe::cuda {
namespace {

constexpr std::uint64_t kAlignment = 16;  // of a sparse matrix's arrays, says cuSPARSE

op::View dense_like(const op::View& view) {
  return {.address = 0, .dtype = view.dtype, .shape = view.shape, .strides = contiguous_strides(view.shape)};
}

/// The distance of lines of `length` elements that have no gaps inside, or nothing when they have.
std::optional<std::int64_t> leading(std::int64_t lines, std::int64_t length, std::int64_t line_stride,
                                    std::int64_t element_stride) noexcept {
  if (length > 1 && element_stride != 1) return std::nullopt;
  if (lines > 1 && line_stride < std::max<std::int64_t>(length, 1)) return std::nullopt;
  return lines > 1 ? line_stride : std::max<std::int64_t>(length, 1);
}

bool is_vector(const op::View& view) noexcept { return view.shape.rank() == 1 || view.shape[1] == 1; }
GpuDense vector_at(CUdeviceptr data, std::int64_t rows) noexcept {
  return {data, rows, 1, std::max<std::int64_t>(rows, 1), false, true};
}

}  // namespace

Result<CUdeviceptr> SparseScratch::memory(std::int64_t size_bytes) {
  held_.push_back(TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(size_bytes))));
  return held_.back().address();
}

Result<CUdeviceptr> SparseScratch::aligned(CUdeviceptr address, std::int64_t size_bytes) {
  if (address % kAlignment == 0) return address;
  const CUdeviceptr copy = TROUPE_TRY(memory(size_bytes));
  TROUPE_TRY(
      TROUPE_CUDA(on_.driver(), cuMemcpyAsync, copy, address, static_cast<std::size_t>(size_bytes), on_.stream()));
  return copy;
}

Result<GpuCsr> SparseScratch::compressed(const op::SparseView& coo) {
  const DType index_type = coo.indices.dtype;
  const CUdeviceptr offsets = TROUPE_TRY(memory((coo.rows + 1) * size_bytes(index_type)));
  TROUPE_TRY(launch(SparseKernel::compress_rows, index_type, coo.rows + 1, on_.at(coo.offsets),
                    static_cast<long long>(coo.stored()), static_cast<long long>(coo.rows), offsets));
  return GpuCsr{coo.rows,           coo.columns,      coo.stored(), offsets, on_.at(coo.indices),
                on_.at(coo.values), coo.values.dtype, index_type};
}

Result<GpuCsr> SparseScratch::unblocked(const op::SparseView& bsr) {
  const DType index_type = bsr.indices.dtype;
  const DType dtype = bsr.values.dtype;
  const std::int64_t stored = op::element_count(bsr.values);
  if (index_type == DType::i32 && stored > std::numeric_limits<std::int32_t>::max())
    return fail(ErrorKind::unsupported, "the blocks have too many elements for 32-bit indices");
  const CUdeviceptr offsets = TROUPE_TRY(memory((bsr.rows + 1) * size_bytes(index_type)));
  const CUdeviceptr indices = TROUPE_TRY(memory(stored * size_bytes(index_type)));
  const CUdeviceptr values = TROUPE_TRY(memory(stored * size_bytes(dtype)));
  TROUPE_TRY(launch(SparseKernel::unblock_rows, {dtype, index_type}, bsr.rows + 1, lines_of(bsr, on_),
                    on_.at(bsr.values), static_cast<long long>(bsr.block), offsets, indices, values));
  return GpuCsr{bsr.rows, bsr.columns, stored, offsets, indices, values, dtype, index_type};
}

Result<GpuCsr> SparseScratch::csr(const op::SparseView& matrix) {
  if (matrix.format == SparseFormat::bsr) return unblocked(matrix);
  GpuCsr csr;
  if (matrix.format == SparseFormat::coo)
    csr = TROUPE_TRY(compressed(matrix));
  else
    csr = {matrix.lines(),         matrix.width(),         matrix.stored(),
           on_.at(matrix.offsets), on_.at(matrix.indices), on_.at(matrix.values),
           matrix.values.dtype,    matrix.indices.dtype,   matrix.structure};
  // The structure is an array of its own, and those begin at multiples of more; the values may be part of another.
  csr.values = TROUPE_TRY(aligned(csr.values, csr.stored * size_bytes(csr.dtype)));
  return csr;
}

Result<GpuCsr> SparseScratch::conjugated(const GpuCsr& csr) {
  GpuCsr made = csr;
  made.values = TROUPE_TRY(memory(csr.stored * size_bytes(csr.dtype)));
  TROUPE_TRY(launch(SparseKernel::conjugate, csr.dtype, csr.stored, csr.values, made.values,
                    static_cast<long long>(csr.stored)));
  return made;
}

Result<void> SparseScratch::cast_indices(CUdeviceptr from, DType from_type, CUdeviceptr to, DType to_type,
                                         std::int64_t count) const {
  AxesBuilder<2> axes;
  axes.add(count, {1, 1});
  return cast_elements(on_, from_type, from, to_type, to, axes);
}

Result<GpuCsr> SparseScratch::with_short_indices(const GpuCsr& csr) {
  if (csr.index_type == DType::i32) return csr;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (csr.rows > kMost || csr.columns > kMost || csr.stored > kMost)
    return fail(ErrorKind::unsupported, "cuSPARSE does this for up to 2^31 - 1 rows, columns and elements");
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(std::int32_t));
  GpuCsr made = csr;
  made.index_type = DType::i32;
  made.structure = 0;
  made.offsets = TROUPE_TRY(memory((csr.rows + 1) * kSize));
  made.indices = TROUPE_TRY(memory(csr.stored * kSize));
  TROUPE_TRY(cast_indices(csr.offsets, DType::i64, made.offsets, DType::i32, csr.rows + 1));
  TROUPE_TRY(cast_indices(csr.indices, DType::i64, made.indices, DType::i32, csr.stored));
  return made;
}

std::optional<GpuDense> SparseScratch::in_place(const op::View& view) const {
  // Versions of cuSPARSE have been seen to need the alignment of dense arrays, too, and to take a matrix of one column
  // or row for a vector without gaps.
  if (on_.at(view) % kAlignment != 0) return std::nullopt;
  const std::int64_t rows = view.shape[0];
  if (is_vector(view)) {
    if (rows > 1 && view.strides[0] != 1) return std::nullopt;
    return vector_at(on_.at(view), rows);
  }
  const std::int64_t columns = view.shape[1];
  if (rows == 1 && view.strides[1] != 1) return std::nullopt;
  if (const auto apart = leading(rows, columns, view.strides[0], view.strides[1]))
    return GpuDense{on_.at(view), rows, columns, *apart, true, false};
  if (const auto apart = leading(columns, rows, view.strides[1], view.strides[0]))
    return GpuDense{on_.at(view), rows, columns, *apart, false, false};
  return std::nullopt;
}

Result<void> SparseScratch::copy_elements(CUdeviceptr from, const op::View& from_view, CUdeviceptr to,
                                          const op::View& to_view) const {
  return move_elements(on_, from_view.dtype, from, to, axes_of(from_view, to_view));
}

Result<GpuDense> SparseScratch::copied(const op::View& view, bool reads) {
  const op::View packed = dense_like(view);
  const CUdeviceptr data = TROUPE_TRY(memory(op::element_count(view) * size_bytes(view.dtype)));
  if (reads) TROUPE_TRY(copy_elements(on_.at(view), view, data, packed));
  const std::int64_t rows = view.shape[0];
  if (is_vector(view)) return vector_at(data, rows);
  return GpuDense{data, rows, view.shape[1], std::max<std::int64_t>(view.shape[1], 1), true, false};
}

Result<void> SparseScratch::copy_back(const GpuDense& from, const op::View& to) const {
  return copy_elements(from.data, dense_like(to), on_.at(to), to);
}

}  // namespace troupe::cuda

#endif
