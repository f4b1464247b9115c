// How threads work on a row together: a warp on a short one, a block on a long one. Each thread keeps the first groups
// of elements that it has read, so that a row of usual length is read once. Only for code on the GPU.
#pragma once

#include "troupe/backend/cuda/dnn/dnn_training_arguments.hpp"
#include "troupe/backend/cuda/kernels/group_access.cuh"
#include "troupe/backend/cuda/kernels/kernel_index.cuh"

namespace troupe::cuda {
namespace {

template <class T>
inline constexpr int kItems = kGroupBytes / static_cast<int>(sizeof(T));

/// Whether whole groups of `n` elements from here on can be read in one access.
template <class T, int n = kItems<T>>
__device__ inline Way way_of(const void* row) {
  return reinterpret_cast<unsigned long long>(row) % (sizeof(T) * n) == 0 ? Way::whole : Way::strided;
}

__device__ inline bool has_finding(const DnnFirstFinding* finding) {
  return finding != nullptr && *finding != kNoDnnFinding;
}

/// What the values of all threads of a team are together; each thread has the same. A team is a warp, or the block:
/// then all threads of the block call it.
template <int team, class C, class Join>
__device__ C joined(C value, const Join& join) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value = join(value, __shfl_xor_sync(0xffff'ffffU, value, lanes));
  if constexpr (team == 32) {
    return value;
  } else {
    __shared__ C parts[team / 32];
    __syncthreads();  // whoever still reads what was there
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    C all = parts[0];
    for (int warp = 1; warp < team / 32; ++warp) all = join(all, parts[warp]);
    return all;
  }
}
template <int team, class C>
__device__ C sum_of(C value) {
  return joined<team>(value, [](C a, C b) { return a + b; });
}
template <int team, class C>
__device__ C greatest_of(C value) {
  return joined<team>(value, [](C a, C b) { return a > b ? a : b; });
}

/// A thread's groups of a row.
template <class T, int team>
class TeamRow {
 public:
  __device__ TeamRow(const T* row, long long length) : row_(row), length_(length), way_(way_of<T>(row)) {
#pragma unroll
    for (int g = 0; g < kKeptGroups; ++g)
      if (place(g) < length_) kept_[g] = load(place(g));
  }

  /// Calls `f(group, place of its first element, how many there are)`.
  template <class F>
  __device__ void each(const F& f) const {
#pragma unroll
    for (int g = 0; g < kKeptGroups; ++g)
      if (place(g) < length_) f(kept_[g], place(g), items_at(place(g)));
    for (long long at = place(kKeptGroups); at < length_; at += team * kItems<T>) f(load(at), at, items_at(at));
  }
  /// Calls `f(group, place)` for groups of this row and of another one, as long.
  template <class F>
  __device__ void each_with(const TeamRow& other, const F& f) const {
#pragma unroll
    for (int g = 0; g < kKeptGroups; ++g)
      if (place(g) < length_) f(kept_[g], other.kept_[g], place(g), items_at(place(g)));
    for (long long at = place(kKeptGroups); at < length_; at += team * kItems<T>)
      f(load(at), other.load(at), at, items_at(at));
  }

 private:
  __device__ static long long place(int group) {
    return (static_cast<long long>(group) * team + threadIdx.x % team) * kItems<T>;
  }
  __device__ int items_at(long long at) const {
    return length_ - at < kItems<T> ? static_cast<int>(length_ - at) : kItems<T>;
  }
  __device__ Group<T, kItems<T>> load(long long at) const {
    return load_group<T, kItems<T>>(row_, at, 1, way_, items_at(at));
  }

  const T* row_;
  long long length_;
  Way way_;
  Group<T, kItems<T>> kept_[kKeptGroups];
};

/// Calls `f(row)` for the rows of this thread's team.
template <int team, class F>
__device__ void each_row(long long rows, const F& f) {
  constexpr int kTeams = kDnnThreads / team;
  for (long long row = static_cast<long long>(blockIdx.x) * kTeams + threadIdx.x / team; row < rows;
       row += static_cast<long long>(gridDim.x) * kTeams)
    f(row);
}

}  // namespace
}  // namespace troupe::cuda
