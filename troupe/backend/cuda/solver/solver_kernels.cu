// The kernels that solvers need beside cuSOLVER's: they prepare what it is given and finish what it leaves. Matrices
// are packed here, in columns without gaps, one after another; a kernel that looks at every matrix of a batch as a
// whole has a warp for each.
#include "troupe/backend/cuda/kernels/kernel_arguments.hpp"
#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/core/element.hpp"

namespace troupe::cuda {
namespace {

// As in op/solver.hpp.
constexpr int kNotPivots = -2;
constexpr int kRankDeficient = -3;
constexpr unsigned kWholeWarp = 0xffffffff;
constexpr int kWarp = 32;
constexpr int kRowsOfEach = 16;  // of a column, for each lane of a warp
constexpr int kRowsOfWarp = kRowsOfEach * kWarp;
constexpr double kHuge = 1e308;
constexpr double kRankMargin = 4;  // as the host has it: what rounding leaves of a column, in the type's last places

__device__ inline double real_of(float x) { return x; }
__device__ inline double real_of(double x) { return x; }
template <class R>
__device__ double real_of(const std::complex<R>& x) {
  return x.real();
}
__device__ inline double imaginary_of(float) { return 0; }
__device__ inline double imaginary_of(double) { return 0; }
template <class R>
__device__ double imaginary_of(const std::complex<R>& x) {
  return x.imag();
}
template <class T>
__device__ double size_of(const T& x) {
  return hypot(real_of(x), imaginary_of(x));
}
template <class T>
__device__ bool is_finite(const T& x) {
  if constexpr (detail::kIsComplex<T>)
    return isfinite(x.real()) && isfinite(x.imag());
  else
    return isfinite(x);
}
template <class T>
struct EpsilonOf {
  static constexpr double kValue = 0x1p-52;
};
template <>
struct EpsilonOf<float> {
  static constexpr double kValue = 0x1p-23;
};
template <class R>
struct EpsilonOf<std::complex<R>> : EpsilonOf<R> {};

template <class T>
__device__ T number(double real, double imaginary) {
  if constexpr (detail::kIsComplex<T>)
    return T(static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary));
  else
    return static_cast<T>(real);
}

template <class T>
__device__ void identity(T* out, long long rows, long long columns, long long batch) {
  for (long long i = first_index(); i < rows * columns * batch; i += index_step())
    out[i] = number<T>(i % rows == i / rows % columns ? 1 : 0, 0);
}

/// One triangle, the diagonal included, from columns without gaps to others, or in place. The other one becomes 0; a
/// matrix that failed becomes NaN. In place, what is kept is not touched. A warp for some rows of a column, which has
/// read all of them before it writes one: memory is waited for once.
template <class T>
__device__ void keep_triangle(const T* in, long long in_step, long long in_matrix_step, T* out, long long out_step,
                              long long out_matrix_step, long long rows, long long columns, long long batch, int lower,
                              const int* failed) {
  const long long parts = (rows + kRowsOfWarp - 1) / kRowsOfWarp;
  for (long long i = first_index(); i < batch * columns * parts * kWarp; i += index_step()) {
    const long long line = i / kWarp / parts;
    const long long matrix = line / columns;
    const long long column = line - matrix * columns;
    const long long first = (i / kWarp - line * parts) * kRowsOfWarp + i % kWarp;
    const T* const from = in + matrix * in_matrix_step + column * in_step + first;
    T* const to = out + matrix * out_matrix_step + column * out_step + first;
    const int end = static_cast<int>(rows - first);  // seen from the first row, and so are all
    const int diagonal = static_cast<int>(column - first);
    const int kept_begin = lower ? diagonal : 0;
    const int kept_end = lower ? end : min(end, diagonal + 1);
    const bool has_failed = failed && failed[matrix] != 0;
    const bool stays = in == out && !has_failed;
    T elements[kRowsOfEach];
#pragma unroll
    for (int k = 0; k < kRowsOfEach; ++k) {
      const int row = k * kWarp;
      elements[k] = number<T>(has_failed ? nan("") : 0, 0);
      if (row >= kept_begin && row < kept_end && !has_failed && !stays) elements[k] = from[row];
    }
#pragma unroll
    for (int k = 0; k < kRowsOfEach; ++k) {
      const int row = k * kWarp;
      const bool is_kept = row >= kept_begin && row < kept_end;
      if (row < end && !(is_kept && stays)) to[row] = elements[k];
    }
  }
}

/// Those of a few matrices that failed become NaN.
template <class T>
__device__ void fail_matrices(T* a, long long count, long long batch, const int* failed) {
  for (long long matrix = 0; matrix < batch; ++matrix) {
    if (failed[matrix] == 0) continue;
    for (long long i = first_index(); i < count; i += index_step()) a[matrix * count + i] = number<T>(nan(""), 0);
  }
}

/// The position of the first element of a diagonal that is zero, or with `positive` not a positive number, counted
/// from 1. Not of matrices that `failed` knows of; it may be null.
template <class T>
__device__ void check_diagonal(const T* a, long long n, long long batch, int positive, const int* failed,
                               int* verdict) {
  for (long long i = first_index(); i < n * batch; i += index_step()) {
    const long long row = i % n;
    const T element = a[i / n * n * n + row * n + row];
    const bool is_good =
        positive ? real_of(element) > 0 && is_finite(element) : real_of(element) != 0 || imaginary_of(element) != 0;
    if (is_good || (failed && failed[i / n] != 0)) continue;
    const int position = static_cast<int>(row) + 1;
    int* const word = verdict + i / n;
    int before = atomicCAS(word, 0, position);
    while (before > position) {  // another kind of failure stays
      const int seen = atomicCAS(word, before, position);
      if (seen == before) break;
      before = seen;
    }
  }
}

/// Whether one of r's columns depends on those before it, as far as the type can tell.
template <class T>
__device__ void check_rank(const T* r, long long rows, long long columns, long long batch, int* verdict) {
  const long long n = rows < columns ? rows : columns;
  for (long long i = first_index(); i < batch * kWarp; i += index_step()) {
    const T* const matrix = r + i / kWarp * rows * columns;
    double largest = 0;
    double least = kHuge;
    for (long long k = i % kWarp; k < n; k += kWarp) {
      const double size = size_of(matrix[k * rows + k]);
      largest = fmax(largest, size);
      least = fmin(least, size);
    }
    for (int step = kWarp / 2; step > 0; step /= 2) {
      largest = fmax(largest, __shfl_xor_sync(kWholeWarp, largest, step));
      least = fmin(least, __shfl_xor_sync(kWholeWarp, least, step));
    }
    const bool depends = least <= largest * kRankMargin * EpsilonOf<T>::kValue * static_cast<double>(rows);
    if (i % kWarp == 0 && depends && verdict[i / kWarp] == 0) verdict[i / kWarp] = kRankDeficient;
  }
}

/// Fails each matrix that has a NaN or an infinity in it, or in its lower triangle, with `word`; not those that failed
/// before, or that `failed` knows of, which may be null. A warp for some rows of a column.
template <class T>
__device__ void find_not_finite(const T* a, long long rows, long long columns, long long batch, int lower, int word,
                                const int* failed, int* verdict) {
  const long long parts = (rows + kRowsOfWarp - 1) / kRowsOfWarp;
  for (long long i = first_index(); i < batch * columns * parts * kWarp; i += index_step()) {
    const long long line = i / kWarp / parts;
    const long long matrix = line / columns;
    const long long column = line - matrix * columns;
    const long long first = (i / kWarp - line * parts) * kRowsOfWarp + i % kWarp;
    const T* const from = a + line * rows + first;
    const long long end = rows - first;  // seen from the first row, and so is the next
    const long long begin = lower ? column - first : 0;
    T elements[kRowsOfEach];  // all of them are on their way before one is looked at
#pragma unroll
    for (int k = 0; k < kRowsOfEach; ++k) {
      const int row = k * kWarp;
      elements[k] = number<T>(0, 0);
      if (row >= begin && row < end) elements[k] = from[row];
    }
    bool is_bad = false;
#pragma unroll
    for (int k = 0; k < kRowsOfEach; ++k) is_bad |= !is_finite(elements[k]);
    if (is_bad && !(failed && failed[matrix] != 0)) atomicCAS(verdict + matrix, 0, word);
  }
}

/// What is not a number becomes 0, so that no iteration can go on for ever, and fails its matrix with `word`. Of a
/// Hermitian matrix only the lower triangle counts, and the upper one is made from it.
template <class T>
__device__ void check_finite(T* a, long long rows, long long columns, long long batch, int hermitian, int word,
                             int* verdict) {
  for (long long i = first_index(); i < rows * columns * batch; i += index_step()) {
    const long long row = i % rows;
    const long long column = i / rows % columns;
    T* const matrix = a + i / (rows * columns) * rows * columns;
    const bool is_made = hermitian && row < column;
    T element = is_made ? matrix[row * rows + column] : a[i];
    const bool is_bad = !is_finite(element);
    if (is_bad) {
      atomicCAS(verdict + i / (rows * columns), 0, word);
      element = number<T>(0, 0);
    }
    if (is_made) element = number<T>(real_of(element), -imaginary_of(element));
    if (hermitian && row == column) element = number<T>(real_of(element), 0);
    if (is_bad || is_made || row == column) a[i] = element;
  }
}

/// Column j of q is H_1 (H_2 ( ... (H_k e_j))), with H_i = 1 - tau_i v_i v_i^H; v_i is in column i of the factors,
/// below a 1 on the diagonal and zeros above it. A warp for each column.
template <class T>
__device__ void form_q(const T* factors, const T* tau, long long rows, long long columns_of_factors,
                       long long reflectors, T* q, long long columns, long long batch) {
  for (long long i = first_index(); i < batch * columns * kWarp; i += index_step()) {
    const long long lane = i % kWarp;
    const long long column = i / kWarp % columns;
    const long long which = i / kWarp / columns;
    T* const x = q + (which * columns + column) * rows;
    for (long long row = lane; row < rows; row += kWarp) x[row] = number<T>(row == column ? 1 : 0, 0);
    for (long long k = reflectors - 1; k >= 0; --k) {
      const T* const v = factors + (which * columns_of_factors + k) * rows;
      // Of every 32 rows a lane has always the same one, and so reads only what it wrote itself.
      const long long first = lane < k ? lane + (k - lane + kWarp - 1) / kWarp * kWarp : lane;
      double real = 0;  // of v^H x
      double imaginary = 0;
      for (long long row = first; row < rows; row += kWarp) {
        const double v_real = row == k ? 1 : real_of(v[row]);
        const double v_imaginary = row == k ? 0 : imaginary_of(v[row]);
        real += v_real * real_of(x[row]) + v_imaginary * imaginary_of(x[row]);
        imaginary += v_real * imaginary_of(x[row]) - v_imaginary * real_of(x[row]);
      }
      for (int step = kWarp / 2; step > 0; step /= 2) {
        real += __shfl_xor_sync(kWholeWarp, real, step);
        imaginary += __shfl_xor_sync(kWholeWarp, imaginary, step);
      }
      const T factor = tau[which * reflectors + k];
      const double by_real = real_of(factor) * real - imaginary_of(factor) * imaginary;
      const double by_imaginary = real_of(factor) * imaginary + imaginary_of(factor) * real;
      for (long long row = first; row < rows; row += kWarp) {
        const double v_real = row == k ? 1 : real_of(v[row]);
        const double v_imaginary = row == k ? 0 : imaginary_of(v[row]);
        x[row] = number<T>(real_of(x[row]) - (by_real * v_real - by_imaginary * v_imaginary),
                           imaginary_of(x[row]) - (by_real * v_imaginary + by_imaginary * v_real));
      }
    }
  }
}

/// The product of the diagonal of each lu, with the sign of its exchanges. A singular matrix has 0.
template <class T>
__device__ void determinant(const T* lu, long long n, long long batch, const long long* wide_pivots, const int* pivots,
                            const int* info, T* out) {
  for (long long i = first_index(); i < batch * kWarp; i += index_step()) {
    const long long matrix = i / kWarp;
    double real = 1;
    double imaginary = 0;
    const auto multiply = [&](double by_real, double by_imaginary) {
      const double product = real * by_real - imaginary * by_imaginary;
      imaginary = real * by_imaginary + imaginary * by_real;
      real = product;
    };
    for (long long k = i % kWarp; k < n; k += kWarp) {
      const T element = lu[matrix * n * n + k * n + k];
      multiply(real_of(element), imaginary_of(element));
      const long long pivot = wide_pivots ? wide_pivots[matrix * n + k] : pivots[matrix * n + k];
      if (pivot != k + 1) multiply(-1, 0);
    }
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const double by_real = __shfl_xor_sync(kWholeWarp, real, step);
      const double by_imaginary = __shfl_xor_sync(kWholeWarp, imaginary, step);
      multiply(by_real, by_imaginary);
    }
    if (i % kWarp == 0) out[matrix] = info[matrix] != 0 ? number<T>(0, 0) : number<T>(real, imaginary);
  }
}

template <class T>
__device__ void conjugate(T* a, long long count) {
  for (long long i = first_index(); i < count; i += index_step()) a[i] = T(a[i].real(), -a[i].imag());
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_SOLVER_KERNELS(dtype, T)                                                                                \
  extern "C" __global__ void troupe_identity_##dtype(T* out, long long rows, long long columns, long long batch) {     \
    identity<T>(out, rows, columns, batch);                                                                            \
  }                                                                                                                    \
  extern "C" __global__ void troupe_keep_triangle_##dtype(                                                             \
      const T* in, long long in_step, long long in_matrix_step, T* out, long long out_step, long long out_matrix_step, \
      long long rows, long long columns, long long batch, int lower, const int* failed) {                              \
    keep_triangle<T>(in, in_step, in_matrix_step, out, out_step, out_matrix_step, rows, columns, batch, lower,         \
                     failed);                                                                                          \
  }                                                                                                                    \
  extern "C" __global__ void troupe_fail_matrices_##dtype(T* a, long long count, long long batch, const int* failed) { \
    fail_matrices<T>(a, count, batch, failed);                                                                         \
  }                                                                                                                    \
  extern "C" __global__ void troupe_check_diagonal_##dtype(const T* a, long long n, long long batch, int positive,     \
                                                           const int* failed, int* verdict) {                          \
    check_diagonal<T>(a, n, batch, positive, failed, verdict);                                                         \
  }                                                                                                                    \
  extern "C" __global__ void troupe_find_not_finite_##dtype(const T* a, long long rows, long long columns,             \
                                                            long long batch, int lower, int word, const int* failed,   \
                                                            int* verdict) {                                            \
    find_not_finite<T>(a, rows, columns, batch, lower, word, failed, verdict);                                         \
  }                                                                                                                    \
  extern "C" __global__ void troupe_check_rank_##dtype(const T* r, long long rows, long long columns, long long batch, \
                                                       int* verdict) {                                                 \
    check_rank<T>(r, rows, columns, batch, verdict);                                                                   \
  }                                                                                                                    \
  extern "C" __global__ void troupe_check_finite_##dtype(T* a, long long rows, long long columns, long long batch,     \
                                                         int hermitian, int word, int* verdict) {                      \
    check_finite<T>(a, rows, columns, batch, hermitian, word, verdict);                                                \
  }                                                                                                                    \
  extern "C" __global__ void troupe_determinant_##dtype(const T* lu, long long n, long long batch,                     \
                                                        const long long* wide_pivots, const int* pivots,               \
                                                        const int* info, T* out) {                                     \
    determinant<T>(lu, n, batch, wide_pivots, pivots, info, out);                                                      \
  }                                                                                                                    \
  extern "C" __global__ void troupe_form_q_##dtype(const T* factors, const T* tau, long long rows,                     \
                                                   long long columns_of_factors, long long reflectors, T* q,           \
                                                   long long columns, long long batch) {                               \
    form_q<T>(factors, tau, rows, columns_of_factors, reflectors, q, columns, batch);                                  \
  }
TROUPE_SOLVER_KERNELS(f32, float)
TROUPE_SOLVER_KERNELS(f64, double)
TROUPE_SOLVER_KERNELS(c64, std::complex<float>)
TROUPE_SOLVER_KERNELS(c128, std::complex<double>)

extern "C" __global__ void troupe_conjugate_c64(std::complex<float>* a, long long count) { conjugate(a, count); }
extern "C" __global__ void troupe_conjugate_c128(std::complex<double>* a, long long count) { conjugate(a, count); }

/// The addresses of the matrices of a batch, for functions that want each by its own.
extern "C" __global__ void troupe_addresses(char* first, long long step_bytes, long long batch, char** out) {
  for (long long i = first_index(); i < batch; i += index_step()) out[i] = first + i * step_bytes;
}

/// From the library's, counted from 1, to ours, counted from 0.
extern "C" __global__ void troupe_give_pivots(const long long* wide_pivots, const int* pivots, long long count,
                                              int* out) {
  for (long long i = first_index(); i < count; i += index_step())
    out[i] = static_cast<int>(wide_pivots ? wide_pivots[i] : pivots[i]) - 1;
}

/// The other way; pivots that no factorization has made exchange nothing and fail their matrix.
extern "C" __global__ void troupe_take_pivots(const int* in, long long n, long long batch, long long* wide_pivots,
                                              int* pivots, int* verdict) {
  for (long long i = first_index(); i < n * batch; i += index_step()) {
    int pivot = in[i];
    if (pivot < i % n || pivot >= n) {
      verdict[i / n] = kNotPivots;
      pivot = static_cast<int>(i % n);
    }
    if (wide_pivots)
      wide_pivots[i] = pivot + 1;
    else
      pivots[i] = pivot + 1;
  }
}

/// What we found comes before what the library said.
extern "C" __global__ void troupe_give_verdict(const int* own, const int* from_library, long long batch, int* out) {
  for (long long i = first_index(); i < batch; i += index_step()) out[i] = own[i] != 0 ? own[i] : from_library[i];
}
