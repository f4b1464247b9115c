// The kernels of sparse matrices, for what cuSPARSE does not do, or only with the host waiting for it: structures are
// checked and converted. What a thread does is in backend/sparse_steps.hpp, the very same code as on the host.
//
// Names end in the type of the indices, or in the types of values and indices: troupe_fill_dense_c64_i32.
#include "troupe/backend/cuda/kernels/kernel_arguments.hpp"
#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/backend/sparse_steps.hpp"

namespace troupe::cuda {
namespace {

using namespace troupe::backend::sparse;

/// The first line at which something was found; all ones when nothing was.
using First = unsigned long long;
constexpr First kNone = ~First{0};

__device__ inline void note(const Finding& found, long long at, First* first) {
  if (found.fault != Fault::none) atomicMin(first, static_cast<First>(at));
}

template <class I>
__device__ void check_lines(const Lines<I>& lines, long long count, First* first) {
  for (long long i = first_index(); i < count; i += index_step()) note(check_line(lines, i), i, first);
}
template <class I>
__device__ void report_lines(const Lines<I>& lines, const First* first, int format, std::int32_t* words) {
  if (first_index() != 0) return;
  write_verdict(*first == kNone ? Finding{} : check_line(lines, static_cast<std::int64_t>(*first)), format, words);
}

template <class I>
__device__ void check_elements(const Elements<I>& elements, long long count, First* first) {
  for (long long i = first_index(); i < count; i += index_step()) note(check_element(elements, i), i, first);
}
template <class I>
__device__ void report_elements(const Elements<I>& elements, const First* first, int format, std::int32_t* words) {
  if (first_index() != 0) return;
  write_verdict(*first == kNone ? Finding{} : check_element(elements, static_cast<std::int64_t>(*first)), format,
                words);
}

template <class T, class I>
__device__ void check_diagonals(const Lines<I>& lines, const T* values, First* first) {
  for (long long i = first_index(); i < lines.count; i += index_step())
    note(check_diagonal(lines, values, i), i, first);
}
template <class T, class I>
__device__ void report_diagonal(const Lines<I>& lines, const T* values, const First* first, std::int32_t* words) {
  if (first_index() != 0) return;
  write_verdict(*first == kNone ? Finding{} : check_diagonal(lines, values, static_cast<std::int64_t>(*first)), 0,
                words);
}

template <class I>
__device__ void compress_rows(const I* rows, long long stored, long long row_count, I* offsets) {
  for (long long row = first_index(); row <= row_count; row += index_step()) compress_row(rows, stored, row, offsets);
}
template <class I>
__device__ void expand_rows(const I* offsets, long long row_count, I* rows) {
  for (long long row = first_index(); row < row_count; row += index_step()) expand_row(offsets, row, rows);
}

/// Turns the counts from `offsets[1]` on into offsets, and says how many there are together. One block: each of its
/// threads adds a few counts, the block adds these sums, and so on with the next ones.
template <class I>
__device__ void sum_up(I* offsets, long long lines, long long* total) {
  constexpr int kThreads = 256;  // what a block has
  constexpr int kEach = 16;
  __shared__ long long sums[kThreads];
  if (blockIdx.x != 0) return;
  const int me = static_cast<int>(threadIdx.x);
  long long before = 0;  // all that came before this round
  for (long long base = 0; base <= lines; base += kThreads * kEach) {
    const long long begin = base + static_cast<long long>(me) * kEach;
    long long sum = 0;
    for (long long i = begin; i < begin + kEach && i <= lines; ++i) sum += i == 0 ? 0 : offsets[i];
    sums[me] = sum;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
      const long long other = me >= distance ? sums[me - distance] : 0;
      __syncthreads();
      sums[me] += other;
      __syncthreads();
    }
    long long at = before + sums[me] - sum;
    for (long long i = begin; i < begin + kEach && i <= lines; ++i) {
      at += i == 0 ? 0 : offsets[i];
      offsets[i] = static_cast<I>(at);
    }
    before += sums[kThreads - 1];
    __syncthreads();
  }
  if (me == 0) *total = before;
}

template <class I>
__device__ void count_all_blocks(const Lines<I>& csr, long long block, I* offsets) {
  for (long long row = first_index(); row < csr.count / block; row += index_step())
    offsets[row + 1] = static_cast<I>(count_blocks(csr, block, row));
}
template <class T, class I>
__device__ void fill_all_blocks(const Lines<I>& csr, const T* values, long long block, const I* block_offsets,
                                I* block_indices, T* block_values) {
  for (long long row = first_index(); row < csr.count / block; row += index_step())
    fill_blocks(csr, values, block, row, block_offsets, block_indices, block_values);
}
template <class T, class I>
__device__ void unblock_rows(const Lines<I>& bsr, const T* block_values, long long block, I* offsets, I* indices,
                             T* values) {
  for (long long row = first_index(); row <= bsr.count * block; row += index_step())
    unblock_row(bsr, block_values, block, row, offsets, indices, values);
}

template <class T, class I>
__device__ void count_dense(const StridedMatrix& dense, long long rows, long long columns, I* offsets) {
  for (long long row = first_index(); row < rows; row += index_step())
    offsets[row + 1] = static_cast<I>(
        count_nonzeros(static_cast<const T*>(dense.data) + row * dense.row_stride, dense.column_stride, columns));
}
template <class T, class I>
__device__ void fill_dense(const StridedMatrix& dense, long long rows, long long columns, const I* offsets, I* indices,
                           T* values, First* first) {
  for (long long row = first_index(); row < rows; row += index_step())
    note(fill_nonzeros(static_cast<const T*>(dense.data) + row * dense.row_stride, dense.column_stride, columns, row,
                       offsets[row], offsets[row + 1], indices, values),
         row, first);
}
__device__ void report_dense(const First* first, std::int32_t* words) {
  if (first_index() != 0) return;
  const Finding changed{Fault::other_nonzeros, static_cast<std::int64_t>(*first), 0, 0};
  write_verdict(*first == kNone ? Finding{} : changed, 0, words);
}
/// Lines are rows of `out`, whose strides are exchanged when they are columns.
template <class T, class I>
__device__ void to_dense(const Lines<I>& lines, const T* values, const StridedMatrix& out) {
  for (long long line = first_index(); line < lines.count; line += index_step())
    for (long long i = lines.offsets[line]; i < lines.offsets[line + 1]; ++i)
      static_cast<T*>(out.data)[line * out.row_stride + lines.indices[i] * out.column_stride] = values[i];
}

/// A thread for each element of y, which has any strides, as x has.
template <class T, class I, bool conjugates>
__device__ void multiply_blocks(const Lines<I>& bsr, const T* values, long long block, const StridedMatrix& x,
                                const StridedMatrix& y, long long columns, const Bytes16& alpha, const Bytes16& beta) {
  const T by_alpha = *reinterpret_cast<const T*>(&alpha);
  const T by_beta = *reinterpret_cast<const T*>(&beta);
  for (long long i = first_index(); i < bsr.count * block * columns; i += index_step()) {
    const long long row = i / columns;
    const long long column = i - row * columns;
    const T* const from = static_cast<const T*>(x.data) + column * x.column_stride;
    T& out = static_cast<T*>(y.data)[row * y.row_stride + column * y.column_stride];
    out = with_factors(by_alpha, block_row_product<conjugates>(bsr, values, block, row, from, x.row_stride), by_beta,
                       out);
  }
}

/// A thread for each element of the blocks: a row of a times a column of b.
template <class T, class I>
__device__ void sample_blocks(const Lines<I>& bsr, T* values, long long block, const StridedMatrix& a,
                              const StridedMatrix& b, long long depth, const Bytes16& alpha, const Bytes16& beta) {
  const T by_alpha = *reinterpret_cast<const T*>(&alpha);
  const T by_beta = *reinterpret_cast<const T*>(&beta);
  for (long long i = first_index(); i < bsr.stored * block * block; i += index_step()) {
    const RowAndColumn at = position_in_blocks(bsr, block, i);
    const T* const row = static_cast<const T*>(a.data) + at.row * a.row_stride;
    const T* const column = static_cast<const T*>(b.data) + at.column * b.column_stride;
    values[i] = with_factors(by_alpha, dot(row, a.column_stride, column, b.row_stride, depth), by_beta, values[i]);
  }
}

template <class T, class I>
__device__ void sort_lines(const I* offsets, long long lines, I* indices, T* values) {
  for (long long line = first_index(); line < lines; line += index_step())
    sort_line(indices + offsets[line], values + offsets[line], offsets[line + 1] - offsets[line]);
}

template <class T>
__device__ void scale(void* out, const Layout& layout, const Bytes16& factor) {
  const T by = *reinterpret_cast<const T*>(&factor);
  for (long long index = first_index(); index < layout.count; index += index_step()) {
    long long at = layout.rank == 0 ? index : 0;
    long long rest = index;
    for (int i = layout.rank - 1; i >= 0; --i) {
      at += rest % layout.shape[i] * layout.strides_a[i];
      rest /= layout.shape[i];
    }
    T& element = static_cast<T*>(out)[at];
    element = plus_product(T{}, by, element);
  }
}
template <class T>
__device__ void conjugate(const T* in, T* out, long long count) {
  for (long long i = first_index(); i < count; i += index_step()) out[i] = conjugated(in[i]);
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_KERNEL extern "C" __global__ void

#define TROUPE_BY_INDEX(index, I)                                                                                  \
  TROUPE_KERNEL troupe_check_lines_##index(Lines<I> lines, long long count, First* first) {                        \
    check_lines(lines, count, first);                                                                              \
  }                                                                                                                \
  TROUPE_KERNEL troupe_report_lines_##index(Lines<I> lines, const First* first, int format, std::int32_t* words) { \
    report_lines(lines, first, format, words);                                                                     \
  }                                                                                                                \
  TROUPE_KERNEL troupe_check_elements_##index(Elements<I> elements, long long count, First* first) {               \
    check_elements(elements, count, first);                                                                        \
  }                                                                                                                \
  TROUPE_KERNEL troupe_report_elements_##index(Elements<I> elements, const First* first, int format,               \
                                               std::int32_t* words) {                                              \
    report_elements(elements, first, format, words);                                                               \
  }                                                                                                                \
  TROUPE_KERNEL troupe_compress_rows_##index(const I* rows, long long stored, long long row_count, I* offsets) {   \
    compress_rows(rows, stored, row_count, offsets);                                                               \
  }                                                                                                                \
  TROUPE_KERNEL troupe_expand_rows_##index(const I* offsets, long long row_count, I* rows) {                       \
    expand_rows(offsets, row_count, rows);                                                                         \
  }                                                                                                                \
  TROUPE_KERNEL troupe_sum_up_##index(I* offsets, long long lines, long long* total) {                             \
    sum_up(offsets, lines, total);                                                                                 \
  }                                                                                                                \
  TROUPE_KERNEL troupe_count_blocks_##index(Lines<I> csr, long long block, I* offsets) {                           \
    count_all_blocks(csr, block, offsets);                                                                         \
  }
TROUPE_BY_INDEX(i32, std::int32_t)
TROUPE_BY_INDEX(i64, std::int64_t)

#define TROUPE_BY_TYPES(dtype, T, index, I)                                                                           \
  TROUPE_KERNEL troupe_check_diagonals_##dtype##_##index(Lines<I> lines, const T* values, First* first) {             \
    check_diagonals(lines, values, first);                                                                            \
  }                                                                                                                   \
  TROUPE_KERNEL troupe_report_diagonal_##dtype##_##index(Lines<I> lines, const T* values, const First* first,         \
                                                         std::int32_t* words) {                                       \
    report_diagonal(lines, values, first, words);                                                                     \
  }                                                                                                                   \
  TROUPE_KERNEL troupe_fill_blocks_##dtype##_##index(Lines<I> csr, const T* values, long long block,                  \
                                                     const I* block_offsets, I* block_indices, T* block_values) {     \
    fill_all_blocks(csr, values, block, block_offsets, block_indices, block_values);                                  \
  }                                                                                                                   \
  TROUPE_KERNEL troupe_unblock_rows_##dtype##_##index(Lines<I> bsr, const T* block_values, long long block,           \
                                                      I* offsets, I* indices, T* values) {                            \
    unblock_rows(bsr, block_values, block, offsets, indices, values);                                                 \
  }                                                                                                                   \
  TROUPE_KERNEL troupe_count_dense_##dtype##_##index(StridedMatrix dense, long long rows, long long columns,          \
                                                     I* offsets) {                                                    \
    count_dense<T>(dense, rows, columns, offsets);                                                                    \
  }                                                                                                                   \
  TROUPE_KERNEL troupe_fill_dense_##dtype##_##index(StridedMatrix dense, long long rows, long long columns,           \
                                                    const I* offsets, I* indices, T* values, First* first) {          \
    fill_dense(dense, rows, columns, offsets, indices, values, first);                                                \
  }                                                                                                                   \
  TROUPE_KERNEL troupe_to_dense_##dtype##_##index(Lines<I> lines, const T* values, StridedMatrix out) {               \
    to_dense(lines, values, out);                                                                                     \
  }                                                                                                                   \
  TROUPE_KERNEL troupe_multiply_blocks_##dtype##_##index(Lines<I> bsr, const T* values, long long block,              \
                                                         StridedMatrix x, StridedMatrix y, long long columns,         \
                                                         Bytes16 alpha, Bytes16 beta) {                               \
    multiply_blocks<T, I, false>(bsr, values, block, x, y, columns, alpha, beta);                                     \
  }                                                                                                                   \
  TROUPE_KERNEL troupe_multiply_conjugated_blocks_##dtype##_##index(Lines<I> bsr, const T* values, long long block,   \
                                                                    StridedMatrix x, StridedMatrix y,                 \
                                                                    long long columns, Bytes16 alpha, Bytes16 beta) { \
    multiply_blocks<T, I, true>(bsr, values, block, x, y, columns, alpha, beta);                                      \
  }                                                                                                                   \
  TROUPE_KERNEL troupe_sample_blocks_##dtype##_##index(Lines<I> bsr, T* values, long long block, StridedMatrix a,     \
                                                       StridedMatrix b, long long depth, Bytes16 alpha,               \
                                                       Bytes16 beta) {                                                \
    sample_blocks(bsr, values, block, a, b, depth, alpha, beta);                                                      \
  }                                                                                                                   \
  TROUPE_KERNEL troupe_sort_lines_##dtype##_##index(const I* offsets, long long lines, I* indices, T* values) {       \
    sort_lines(offsets, lines, indices, values);                                                                      \
  }
#define TROUPE_BY_VALUE(dtype, T)                                                                                 \
  TROUPE_BY_TYPES(dtype, T, i32, std::int32_t)                                                                    \
  TROUPE_BY_TYPES(dtype, T, i64, std::int64_t)                                                                    \
  TROUPE_KERNEL troupe_scale_##dtype(void* out, Layout layout, Bytes16 factor) { scale<T>(out, layout, factor); } \
  TROUPE_KERNEL troupe_conjugate_##dtype(const T* in, T* out, long long count) { conjugate(in, out, count); }
TROUPE_BY_VALUE(f32, float)
TROUPE_BY_VALUE(f64, double)
TROUPE_BY_VALUE(c64, std::complex<float>)
TROUPE_BY_VALUE(c128, std::complex<double>)

TROUPE_KERNEL troupe_report_dense(const First* first, std::int32_t* words) { report_dense(first, words); }
