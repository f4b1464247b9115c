// What the kernels of reductions do. A thread reads 16 bytes at a time and several times before it computes; whether
// these are terms of one output or of several is what the two ways differ in.
#pragma once

#include "troupe/backend/cuda/tensor/reduce_sharing.hpp"
#include "troupe/backend/cuda/tensor/tensor_reduce.cuh"

namespace troupe::cuda {

template <Reduction function, class T>
class ReduceThread {
 public:
  using A = Kept<function, T>;
  static constexpr int kItems = group_items(sizeof(T));
  static constexpr int kAtOnce = sizeof(T) == 1 ? 2 : 4;  // groups that a thread reads before it computes

  /// Lanes that are neighbours take the groups of terms of an output in turn.
  __device__ static void reduce_rows(const ReduceArguments& m, const GroupPlace<2>& place, Bytes16* memory) {
    const unsigned lane = threadIdx.x % m.lanes;
    const long long chunk = blockIdx.y;
    A all[kItems];
    clear(all);
    if (place.items > 0) {
      const T* const in = static_cast<const T*>(m.in) + place.at[0];
      const long long end = min(m.reduced.groups, (chunk + 1) * m.chunk_steps);
      long long group = chunk * m.chunk_steps + lane;
      if (m.is_whole) {
        const long long whole = m.reduced.rows.rank == 0 ? min(end, m.reduced.row_items / kItems) : end;
        group = take_whole<kItems>(all, in, group, whole, m);
      }
      for (; group < end; group += m.lanes) {
        const GroupPlace<1> terms = place_of_group<kItems>(m.reduced, group);
        take(all, load_group<T, kItems>(in, terms.at[0], m.reduced.strides[0], Way::strided, terms.items), terms.items);
      }
    }
#pragma unroll
    for (int i = 1; i < kItems; ++i) all[0] = tensor::combine<function>(all[0], all[i]);
    all[0] = combine_neighbours<function>(all[0], min(m.lanes, 32U));
    if (m.lanes > 32) {
      A mine[1] = {all[0]};
      combine_lanes<function>(mine, m.lanes / 32, 32, memory);
      all[0] = mine[0];
    }
    if (lane == 0 && place.items > 0) give<function, T>(m.end, chunk, place.first, place.at[1], all[0]);
  }

  /// Neighbours take neighbouring groups of outputs; lanes, which lie apart from one another, their terms in turn.
  __device__ static void reduce_columns(const ReduceArguments& m, const GroupPlace<2>& place, Bytes16* memory) {
    const unsigned width = kReduceThreads / m.lanes;
    const unsigned lane = threadIdx.x / width;
    const long long chunk = blockIdx.y;
    A all[kItems];
    clear(all);
    if (place.items > 0) {
      const T* const in = static_cast<const T*>(m.in) + place.at[0];
      const long long end = min(m.reduced.groups, (chunk + 1) * m.chunk_steps);
      long long term = chunk * m.chunk_steps + lane;
      if (m.is_whole && place.items == kItems) term = take_whole<1>(all, in, term, end, m);
      for (; term < end; term += m.lanes)
        take(all,
             load_group<T, kItems>(in, place_of_group<1>(m.reduced, term).at[0], m.kept.strides[0], Way::strided,
                                   place.items),
             place.items);
    }
    if (m.lanes > 1) combine_lanes<function>(all, m.lanes, width, memory);
    if (lane != 0) return;
#pragma unroll
    for (int i = 0; i < kItems; ++i)
      if (i < place.items)
        give<function, T>(m.end, chunk, place.first + i, place.at[1] + i * m.kept.strides[1], all[i]);
  }

  /// Neighbours take neighbouring outputs; lanes their chunks in turn.
  __device__ static void reduce_chunks(const CombineArguments& m, long long output, long long at, Bytes16* memory) {
    const unsigned width = kReduceThreads / m.lanes;
    const unsigned lane = threadIdx.x / width;
    const bool is_there = output < m.end.outputs;
    A all[1] = {tensor::nothing<function, A>()};
    const A* const partials = static_cast<const A*>(m.end.partials);
#pragma unroll 4
    for (long long chunk = lane; is_there && chunk < m.end.chunks; chunk += m.lanes)
      all[0] = tensor::combine<function>(all[0], partials[chunk * m.end.outputs + output]);
    if (m.lanes > 1) combine_lanes<function>(all, m.lanes, width, memory);
    if (lane == 0 && is_there) write_result<function, T>(m.end, at, all[0]);
  }

 private:
  __device__ static void clear(A (&all)[kItems]) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) all[i] = tensor::nothing<function, A>();
  }

  __device__ static void take(A (&all)[kItems], const Group<T, kItems>& group, int items) {
#pragma unroll
    for (int i = 0; i < kItems; ++i)
      if (i < items)
        all[i] = tensor::combine<function>(all[i], tensor::term<function>(to_kept<function>(group.items[i])));
  }

  /// Sums of 16-bit floats: so many are added in f32 before they are f64, which takes the GPU longer than to read them.
  static constexpr bool kAddsInF32 = function == Reduction::sum && detail::kIsSmallFloat<T>;

  /// Takes `kAtOnce` whole groups.
  __device__ static void take_all(A (&all)[kItems], const Group<T, kItems> (&groups)[kAtOnce]) {
    if constexpr (kAddsInF32) {
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        const float sum = (to_number(groups[0].items[i]) + to_number(groups[1].items[i])) +
                          (to_number(groups[2].items[i]) + to_number(groups[3].items[i]));
        if (isfinite(sum)) {
          all[i] += sum;
        } else {  // some is infinite or NaN, or f32 is too small for their sum
#pragma unroll
          for (int g = 0; g < kAtOnce; ++g) all[i] += to_number(groups[g].items[i]);
        }
      }
    } else {
#pragma unroll
      for (int g = 0; g < kAtOnce; ++g) take(all, groups[g], kItems);
    }
  }

  /// A lane's steps before `end`, from `next` on, of which each is a whole group and read in one access; `items` of the
  /// reduced axes are one step. Gives the next one that is not before `end`.
  template <int items>
  __device__ static long long take_whole(A (&all)[kItems], const T* in, long long next, long long end,
                                         const ReduceArguments& m) {
    const bool is_line = m.reduced.rows.rank == 0;  // what a lane takes next is always as far away
    const long long apart = m.reduced.strides[0] * items * m.lanes;
    const T* line = in + next * m.reduced.strides[0] * items;
    const auto read = [&](long long ahead) {
      Group<T, kItems> group;
      const T* const from =
          is_line ? line + ahead * apart : in + place_of_group<items, true>(m.reduced, next + ahead * m.lanes).at[0];
      group.raw = *reinterpret_cast<const decltype(group.raw)*>(from);
      return group;
    };
#pragma unroll 1
    for (; next + (kAtOnce - 1) * m.lanes < end; next += kAtOnce * m.lanes, line += kAtOnce * apart) {
      Group<T, kItems> groups[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) groups[i] = read(i);
      take_all(all, groups);
    }
#pragma unroll 1
    for (; next < end; next += m.lanes, line += apart) take(all, read(0), kItems);
    return next;
  }
};

/// For combine_lanes: half of the threads, a group of numbers each.
template <class T>
inline constexpr int kMemory =
    kReduceThreads / 2 * group_items(sizeof(T)) * sizeof(tensor::Accumulator<Reduction::sum, T>) / sizeof(Bytes16);

template <class T>
__device__ void reduce_rows(const ReduceArguments& m) {
  __shared__ Bytes16 memory[kMemory<T>];
  const long long output = static_cast<long long>(blockIdx.x) * (kReduceThreads / m.lanes) + threadIdx.x / m.lanes;
  GroupPlace<2> place{};
  if (output < m.end.outputs) place = place_of_group<1>(m.kept, output);
  with_reduction<T>(m.end.function,
                    [&](auto function) { ReduceThread<decltype(function)::value, T>::reduce_rows(m, place, memory); });
}

template <class T>
__device__ void reduce_columns(const ReduceArguments& m) {
  __shared__ Bytes16 memory[kMemory<T>];
  const unsigned width = kReduceThreads / m.lanes;
  const long long group = static_cast<long long>(blockIdx.x) * width + threadIdx.x % width;
  GroupPlace<2> place{};
  if (group < m.kept.groups) place = place_of_group<group_items(sizeof(T))>(m.kept, group);
  with_reduction<T>(m.end.function, [&](auto function) {
    ReduceThread<decltype(function)::value, T>::reduce_columns(m, place, memory);
  });
}

template <class T>
__device__ void reduce_chunks(const CombineArguments& m) {
  __shared__ Bytes16 memory[kMemory<T>];
  const unsigned width = kReduceThreads / m.lanes;
  const long long output = static_cast<long long>(blockIdx.x) * width + threadIdx.x % width;
  const long long at = output < m.end.outputs ? offsets_of(m.out, output).at[0] : 0;
  with_reduction<T>(m.end.function, [&](auto function) {
    ReduceThread<decltype(function)::value, T>::reduce_chunks(m, output, at, memory);
  });
}

}  // namespace troupe::cuda

#define TROUPE_REDUCE_KERNEL(name, Arguments, dtype, T)                                                              \
  extern "C" __global__ void __launch_bounds__(troupe::cuda::kReduceThreads, troupe::cuda::reduce_blocks(sizeof(T))) \
      troupe_##name##_##dtype(troupe::cuda::Arguments m) {                                                           \
    troupe::cuda::name<T>(m);                                                                                        \
  }
#define TROUPE_REDUCE(dtype, T)                                   \
  TROUPE_REDUCE_KERNEL(reduce_rows, ReduceArguments, dtype, T)    \
  TROUPE_REDUCE_KERNEL(reduce_columns, ReduceArguments, dtype, T) \
  TROUPE_REDUCE_KERNEL(reduce_chunks, CombineArguments, dtype, T)
