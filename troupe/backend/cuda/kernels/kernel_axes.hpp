// The axes that arrays share, and where their elements lie: known to the worker and to the code on the GPU. Axes are
// without those of extent 1, merged where they lie side by side, and the last one changes fastest. Divisions by extents
// are most of what a thread does beside its work, so they are made cheap: factors, made once on the host.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_arguments.hpp"

namespace troupe::cuda {

/// The most that a `Divisor` divides, and divides by.
inline constexpr long long kMostDivided = 0x7fffffff;

/// Divides by a multiplication and a shift.
struct Divisor {
  unsigned factor;
  unsigned shift;
};

/// Needs 1 <= extent. Beyond `kMostDivided` there is no divisor, and nothing asks for it.
constexpr Divisor divisor_of(long long extent) noexcept {
  if (extent > kMostDivided) return {0, 0};
  const auto by = static_cast<unsigned long long>(extent);
  unsigned shift = 0;
  while ((1ULL << shift) < by) ++shift;
  return {static_cast<unsigned>((((1ULL << shift) - by) << 32) / by + 1), shift};
}

constexpr unsigned divided(unsigned number, const Divisor& by) noexcept {
  return (static_cast<unsigned>((static_cast<unsigned long long>(number) * by.factor) >> 32) + number) >> by.shift;
}

/// Axes that `n` arrays share, in elements.
template <int n>
struct KernelAxes {
  long long count;  // of elements
  long long shape[kMaxKernelRank];
  long long strides[n][kMaxKernelRank];
  Divisor divisors[kMaxKernelRank];  // by the shape
  int rank;
};

/// In elements.
template <int n>
struct ArrayOffsets {
  long long at[n];
};

/// Where element `index`, in row-major order, lies in each of the arrays. `is_small` says that there are no more than
/// `kMostDivided`: then the code for more is left out, which is most of it.
template <bool is_small = false, int n>
constexpr ArrayOffsets<n> offsets_of(const KernelAxes<n>& axes, long long index) noexcept {
  ArrayOffsets<n> offsets{};
  const auto add = [&](int axis, long long place) {
    for (int v = 0; v < n; ++v) offsets.at[v] += place * axes.strides[v][axis];
  };
#ifdef __CUDACC__
#pragma unroll 1
#endif
  for (int i = axes.rank - 1; i > 0; --i) {
    if (is_small || axes.count <= kMostDivided) {
      const unsigned rest = divided(static_cast<unsigned>(index), axes.divisors[i]);
      add(i, static_cast<unsigned>(index) - rest * static_cast<unsigned>(axes.shape[i]));
      index = rest;
    } else {
      const long long rest = index / axes.shape[i];
      add(i, index - rest * axes.shape[i]);
      index = rest;
    }
  }
  if (axes.rank > 0) add(0, index);
  return offsets;
}

}  // namespace troupe::cuda
