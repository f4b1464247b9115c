// Normalizations and their gradients. A block takes a row, and its threads the row's elements in turn; sums are joined
// in one order, so a row has the same bits wherever it is. Rows that lie side by side and are not too long stay in
// registers, and are read once.
#include "troupe/backend/cuda/dnn/dnn_arguments.hpp"
#include "troupe/backend/cuda/kernels/group_access.cuh"
#include "troupe/backend/cuda/kernels/kernel_index.cuh"

namespace troupe::cuda {
namespace {

/// The sum over all threads of the block, for each of them. All threads must call it.
template <class A>
__device__ A block_sum(A number) {
  __shared__ A of_warps[kDnnNormThreads / 32];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) number += __shfl_xor_sync(0xffffffffU, number, step);
  __syncthreads();  // what was read of the last sum
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = number;
  __syncthreads();
  A sum = 0;
#pragma unroll
  for (int i = 0; i < kDnnNormThreads / 32; ++i) sum += of_warps[i];
  return sum;
}

/// A parameter, which is of `T` or of what that is computed in.
template <class T>
__device__ detail::ComputeType<T> parameter(const void* from, long long at, bool wide) {
  using C = detail::ComputeType<T>;
  return wide ? static_cast<const C*>(from)[at] : to_number(static_cast<const T*>(from)[at]);
}
template <class T>
__device__ void store_parameter(void* to, long long at, bool wide, double number) {
  using C = detail::ComputeType<T>;
  if (wide)
    static_cast<C*>(to)[at] = static_cast<C>(number);
  else
    static_cast<T*>(to)[at] = from_number<T>(static_cast<C>(number));
}

template <class C>
struct RowMoments {
  C mean;
  C inverse;
};

/// Calls `f(element's offsets)` for those that this thread takes.
template <class F>
__device__ void each_inner(const DnnNormArguments& m, const F& f) {
  for (long long j = threadIdx.x; j < m.inner.count; j += kDnnNormThreads) f(offsets_of(m.inner, j));
}

template <class T>
__device__ RowMoments<detail::ComputeType<T>> moments_of(const DnnNormArguments& m, long long row,
                                                         const ArrayOffsets<kNormArrays>& first) {
  using C = detail::ComputeType<T>;
  const T* const x = static_cast<const T*>(m.x) + first.at[kNormX];
  double sum = 0, squares = 0;
  if (m.centred) {
    each_inner(m, [&](const ArrayOffsets<kNormArrays>& at) { sum += to_number(x[at.at[kNormX]]); });
    sum = block_sum(sum);
  }
  const auto count = static_cast<double>(m.inner.count);
  const double mean = sum / count;
  each_inner(m, [&](const ArrayOffsets<kNormArrays>& at) {
    const double off = static_cast<double>(to_number(x[at.at[kNormX]])) - mean;
    squares += off * off;
  });
  squares = block_sum(squares);
  const RowMoments<C> moments{static_cast<C>(mean), static_cast<C>(1 / std::sqrt(squares / count + m.epsilon))};
  if (threadIdx.x != 0) return moments;
  if (m.moments) {
    static_cast<C*>(m.moments)[2 * row] = moments.mean;
    static_cast<C*>(m.moments)[2 * row + 1] = moments.inverse;
  }
  if (m.running_mean) {
    const auto towards = [&](void* running, long long at, double now) {
      const double old = parameter<T>(running, at, m.wide_parameters != 0);
      store_parameter<T>(running, at, m.wide_parameters != 0, (1 - m.momentum) * old + m.momentum * now);
    };
    towards(m.running_mean, row * m.running_mean_stride, mean);
    towards(m.running_variance, row * m.running_variance_stride, squares / (count > 1 ? count - 1 : 1));
  }
  return moments;
}

template <class T>
__device__ void norm(const DnnNormArguments& m) {
  using C = detail::ComputeType<T>;
  const bool wide = m.wide_parameters != 0;
  for (long long row = blockIdx.x; row < m.rows.count; row += gridDim.x) {
    const ArrayOffsets<kNormArrays> first = offsets_of(m.rows, row);
    const RowMoments<C> moments = moments_of<T>(m, row, first);
    const T* const x = static_cast<const T*>(m.x) + first.at[kNormX];
    T* const out = static_cast<T*>(m.out) + first.at[kNormOut];
    each_inner(m, [&](const ArrayOffsets<kNormArrays>& at) {
      C number = (to_number(x[at.at[kNormX]]) - moments.mean) * moments.inverse;
      if (m.scale) number *= parameter<T>(m.scale, first.at[kNormScale] + at.at[kNormScale], wide);
      if (m.shift) number += parameter<T>(m.shift, first.at[kNormShift] + at.at[kNormShift], wide);
      out[at.at[kNormOut]] = from_number<T>(number);
    });
  }
}

/// Some parameters side by side; `otherwise` where there are none.
template <class T, int n>
__device__ void load_parameters(const void* from, long long at, bool wide, detail::ComputeType<T> otherwise,
                                detail::ComputeType<T> (&to)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) to[i] = from ? parameter<T>(from, at + i, wide) : otherwise;
}

/// For rows whose elements lie side by side, as those of scale and shift do, begin at multiples of 16 bytes, and fill
/// no more than the registers that are kept for them.
template <class T>
__device__ void norm_whole(const DnnNormArguments& m) {
  using C = detail::ComputeType<T>;
  constexpr int kItems = 16 / sizeof(T);
  const bool wide = m.wide_parameters != 0;
  const auto groups = static_cast<int>(m.inner.count / kItems);
  for (long long row = blockIdx.x; row < m.rows.count; row += gridDim.x) {
    const ArrayOffsets<kNormArrays> first = offsets_of(m.rows, row);
    const T* const x = static_cast<const T*>(m.x) + first.at[kNormX];
    T* const out = static_cast<T*>(m.out) + first.at[kNormOut];
    Group<T, kItems> kept[kDnnNormGroups];
    C sum = 0, squares = 0;
#pragma unroll
    for (int i = 0; i < kDnnNormGroups; ++i) {
      const int group = static_cast<int>(threadIdx.x) + i * kDnnNormThreads;
      if (group >= groups) continue;
      kept[i] = load_group<T, kItems>(x, static_cast<long long>(group) * kItems, 1, Way::whole, kItems);
#pragma unroll
      for (int j = 0; j < kItems; ++j) sum += to_number(kept[i].items[j]);
    }
    const C count = static_cast<C>(m.inner.count);
    const C mean = m.centred ? block_sum(sum) / count : C(0);
#pragma unroll
    for (int i = 0; i < kDnnNormGroups; ++i) {
      if (static_cast<int>(threadIdx.x) + i * kDnnNormThreads >= groups) continue;
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        const C off = to_number(kept[i].items[j]) - mean;
        squares += off * off;
      }
    }
    const C inverse = static_cast<C>(1 / std::sqrt(static_cast<double>(block_sum(squares) / count) + m.epsilon));
#pragma unroll
    for (int i = 0; i < kDnnNormGroups; ++i) {
      const int group = static_cast<int>(threadIdx.x) + i * kDnnNormThreads;
      if (group >= groups) continue;
      const long long at = static_cast<long long>(group) * kItems;
      C scale[kItems], shift[kItems];
      load_parameters<T>(m.scale, at, wide, C(1), scale);
      load_parameters<T>(m.shift, at, wide, C(0), shift);
      Group<T, kItems> made;
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        C number = (to_number(kept[i].items[j]) - mean) * inverse;
        if (m.scale) number *= scale[j];
        if (m.shift) number += shift[j];
        made.items[j] = from_number<T>(number);
      }
      store_group<T, kItems>(made, out, at, 1, Way::whole, kItems);
    }
  }
}

template <class T>
__device__ void norm_gradient(const DnnNormArguments& m) {
  using C = detail::ComputeType<T>;
  const bool wide = m.wide_parameters != 0;
  for (long long row = blockIdx.x; row < m.rows.count; row += gridDim.x) {
    const ArrayOffsets<kNormArrays> first = offsets_of(m.rows, row);
    const RowMoments<C> moments = moments_of<T>(m, row, first);
    const T* const x = static_cast<const T*>(m.x) + first.at[kNormX];
    const T* const back = static_cast<const T*>(m.back) + first.at[kNormBack];
    T* const out = static_cast<T*>(m.out) + first.at[kNormOut];
    const auto scaled = [&](const ArrayOffsets<kNormArrays>& at) {
      const C number = to_number(back[at.at[kNormBack]]);
      return m.scale ? number * parameter<T>(m.scale, first.at[kNormScale] + at.at[kNormScale], wide) : number;
    };
    const auto normal = [&](const ArrayOffsets<kNormArrays>& at) {
      return (to_number(x[at.at[kNormX]]) - moments.mean) * moments.inverse;
    };
    double sum = 0, product = 0;
    each_inner(m, [&](const ArrayOffsets<kNormArrays>& at) {
      const C number = scaled(at);
      sum += number;
      product += number * normal(at);
    });
    const auto count = static_cast<double>(m.inner.count);
    const C mean_back = m.centred ? static_cast<C>(block_sum(sum) / count) : C(0);
    const C mean_product = static_cast<C>(block_sum(product) / count);
    each_inner(m, [&](const ArrayOffsets<kNormArrays>& at) {
      out[at.at[kNormOut]] = from_number<T>(moments.inverse * (scaled(at) - mean_back - normal(at) * mean_product));
    });
  }
}

template <class T>
__device__ void norm_given(const DnnGivenNormArguments& m) {
  using C = detail::ComputeType<T>;
  const bool wide = m.wide_parameters != 0;
  for (long long i = first_index(); i < m.axes.count; i += index_step()) {
    const ArrayOffsets<kGivenArrays> at = offsets_of(m.axes, i);
    const C variance = parameter<T>(m.variance, at.at[kGivenVariance], wide);
    const C inverse = static_cast<C>(1 / std::sqrt(static_cast<double>(variance) + m.epsilon));
    C number = (to_number(static_cast<const T*>(m.x)[at.at[kGivenX]]) - parameter<T>(m.mean, at.at[kGivenMean], wide)) *
               inverse;
    if (m.scale) number *= parameter<T>(m.scale, at.at[kGivenScale], wide);
    if (m.shift) number += parameter<T>(m.shift, at.at[kGivenShift], wide);
    static_cast<T*>(m.out)[at.at[kGivenOut]] = from_number<T>(number);
  }
}

/// Neighbours take neighbouring parameters, `width` of them; lanes of a parameter take its terms in turn.
template <class T>
__device__ void norm_sums(const DnnNormSumArguments& m) {
  using C = detail::ComputeType<T>;
  __shared__ double of_scale[kDnnNormThreads];
  __shared__ double of_shift[kDnnNormThreads];
  const int width = m.width, lanes = kDnnNormThreads / width;
  const int thread = static_cast<int>(threadIdx.x);
  const long long mine = static_cast<long long>(blockIdx.x) * width + thread % width;
  const bool is_there = mine < m.kept.count;
  ArrayOffsets<kSumArrays> first{};
  double scale = 0, shift = 0;
  if (is_there) {
    first = offsets_of(m.kept, mine);
    for (long long i = thread / width; i < m.summed.count; i += lanes) {
      const ArrayOffsets<kSumArrays> at = offsets_of(m.summed, i);
      const C* const moments = static_cast<const C*>(m.moments) + 2 * (first.at[kSumMoments] + at.at[kSumMoments]);
      const C back = to_number(static_cast<const T*>(m.back)[first.at[kSumBack] + at.at[kSumBack]]);
      const C x = to_number(static_cast<const T*>(m.x)[first.at[kSumX] + at.at[kSumX]]);
      scale += back * ((x - moments[0]) * moments[1]);
      shift += back;
    }
  }
  of_scale[thread] = scale;
  of_shift[thread] = shift;
  for (int step = kDnnNormThreads / 2; step >= width; step /= 2) {
    __syncthreads();
    if (thread < step) {
      of_scale[thread] += of_scale[thread + step];
      of_shift[thread] += of_shift[thread + step];
    }
  }
  __syncthreads();
  if (thread >= width || !is_there) return;
  if (m.scale) store_parameter<T>(m.scale, first.at[kSumScale], m.wide_parameters != 0, of_scale[thread]);
  if (m.shift) store_parameter<T>(m.shift, first.at[kSumShift], m.wide_parameters != 0, of_shift[thread]);
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_DNN_NORM(dtype, T)                                                                                      \
  extern "C" __global__ void __launch_bounds__(kDnnNormThreads) troupe_dnn_norm_##dtype(DnnNormArguments m) {          \
    norm<T>(m);                                                                                                        \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(kDnnNormThreads) troupe_dnn_norm_whole_##dtype(DnnNormArguments m) {    \
    norm_whole<T>(m);                                                                                                  \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(kDnnNormThreads) troupe_dnn_norm_gradient_##dtype(DnnNormArguments m) { \
    norm_gradient<T>(m);                                                                                               \
  }                                                                                                                    \
  extern "C" __global__ void troupe_dnn_norm_given_##dtype(DnnGivenNormArguments m) { norm_given<T>(m); }              \
  extern "C" __global__ void __launch_bounds__(kDnnNormThreads) troupe_dnn_norm_sums_##dtype(DnnNormSumArguments m) {  \
    norm_sums<T>(m);                                                                                                   \
  }
TROUPE_DNN_NORM(f32, float)
TROUPE_DNN_NORM(f64, double)
TROUPE_DNN_NORM(f16, troupe::f16)
TROUPE_DNN_NORM(bf16, troupe::bf16)
