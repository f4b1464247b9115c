// Reductions of expressions: which terms a thread computes and how they are put together, for the kernel that
// interprets as for compiled ones, so that both give the same bits. A `Source` computes a group of elements. Which terms
// are put together, and in which order, depends on the shapes alone.
#pragma once

#include "troupe/backend/cuda/tensor/expression_arguments.hpp"
#include "troupe/backend/cuda/tensor/expression_thread.cuh"
#include "troupe/backend/cuda/tensor/tensor_reduce.cuh"

namespace troupe::cuda {

/// Where a group of elements begins in each input.
using InputPlaces = ArrayOffsets<ExpressionReduceArguments::kMaxInputs>;

/// `Source::load(m, at, strides, items, numbers)` computes the elements of a group.
template <Reduction function, class Source>
class ExpressionReduce {
 public:
  using C = typename Source::Number;
  using A = Kept<function, C>;
  static constexpr int kItems = reduced_items(sizeof(C));
  static constexpr int kMemory = kReduceThreads / 2 * kItems * sizeof(A) / sizeof(Bytes16);

  /// Lanes that are neighbours take the groups of terms of an output in turn.
  __device__ static void rows(const ExpressionReduceArguments& m, Bytes16* memory) {
    const unsigned lane = threadIdx.x % m.lanes;
    const long long output = static_cast<long long>(blockIdx.x) * (kReduceThreads / m.lanes) + threadIdx.x / m.lanes;
    A all[kItems];
    clear(all);
    if (output < m.outputs) {
      const auto begin = place_of_group<1>(m.kept, m.first + output);
      const long long end = min(m.reduced.groups, (blockIdx.y + 1) * m.chunk_steps);
#pragma unroll 2
      for (long long group = blockIdx.y * m.chunk_steps + lane; group < end; group += m.lanes) {
        const auto terms = place_of_group<kItems>(m.reduced, group);
        take(all, m, sum_of(begin, terms), m.reduced.strides, terms.items);
      }
    }
#pragma unroll
    for (int i = 1; i < kItems; ++i) all[0] = tensor::combine<function>(all[0], all[i]);
    A mine[1] = {combine_neighbours<function>(all[0], min(m.lanes, 32U))};
    if (m.lanes > 32) combine_lanes<function>(mine, m.lanes / 32, 32, memory);
    if (lane == 0 && output < m.outputs) partial(m, output) = mine[0];
  }

  /// Neighbours take neighbouring groups of outputs; lanes, which lie apart from one another, their terms in turn.
  __device__ static void columns(const ExpressionReduceArguments& m, Bytes16* memory) {
    const unsigned width = kReduceThreads / m.lanes;
    const unsigned lane = threadIdx.x / width;
    const long long group = static_cast<long long>(blockIdx.x) * width + threadIdx.x % width;
    A all[kItems];
    clear(all);
    GroupPlace<ExpressionReduceArguments::kMaxInputs> place{};
    if (group < m.groups) {
      place = place_of_group<kItems>(m.kept, m.first + group);
      const long long end = min(m.reduced.groups, (blockIdx.y + 1) * m.chunk_steps);
#pragma unroll 2
      for (long long term = blockIdx.y * m.chunk_steps + lane; term < end; term += m.lanes)
        take(all, m, sum_of(place, place_of_group<1>(m.reduced, term)), m.kept.strides, place.items);
    }
    if (m.lanes > 1) combine_lanes<function>(all, m.lanes, width, memory);
    if (lane != 0 || group >= m.groups) return;
    const long long first = place_of_group<kItems>(m.kept, m.first).first;
#pragma unroll
    for (int i = 0; i < kItems; ++i)
      if (i < place.items) partial(m, place.first - first + i) = all[i];
  }

 private:
  __device__ static void clear(A (&all)[kItems]) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) all[i] = tensor::nothing<function, A>();
  }
  template <int n>
  __device__ static InputPlaces sum_of(const GroupPlace<n>& a, const GroupPlace<n>& b) {
    InputPlaces sum;
#pragma unroll
    for (int v = 0; v < n; ++v) sum.at[v] = a.at[v] + b.at[v];
    return sum;
  }
  __device__ static A& partial(const ExpressionReduceArguments& m, long long output) {
    return static_cast<A*>(m.partials)[blockIdx.y * m.outputs + output];
  }
  __device__ static void take(A (&all)[kItems], const ExpressionReduceArguments& m, const InputPlaces& at,
                              const long long* strides, int items) {
    C numbers[kItems];
    Source::load(m, at, strides, items, numbers);
#pragma unroll
    for (int i = 0; i < kItems; ++i)
      if (i < items) all[i] = tensor::combine<function>(all[i], tensor::term<function>(to_kept<function>(numbers[i])));
  }
};

/// A group of elements of an input, as numbers.
template <class C, class T, int n>
__device__ inline void load_numbers(const ExpressionReduceArguments& m, int input, const InputPlaces& at,
                                    const long long* strides, int items, C (&numbers)[n]) {
  const Group<T, n> group = load_group<T, n>(m.in[input], at.at[input], strides[input], m.ways[input], items);
#pragma unroll
  for (int i = 0; i < n; ++i) numbers[i] = converted<C>(group.items[i]);
}

}  // namespace troupe::cuda
