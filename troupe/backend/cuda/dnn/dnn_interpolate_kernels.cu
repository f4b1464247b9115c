// Interpolation and its gradient. A thread makes an element of the result, or several that lie far apart: nothing is
// added from two threads, and sums have one order.
#include "troupe/backend/cuda/dnn/dnn_place.cuh"
#include "troupe/backend/cuda/kernels/group_access.cuh"
#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/op/dnn_interpolate_functions.hpp"

namespace troupe::cuda {
namespace {

template <class T>
__device__ void interpolate(const DnnInterpolateArguments& m) {
  using C = detail::ComputeType<T>;
  const auto way = static_cast<DnnInterpolation>(m.way);
  for (long long i = first_index(); i < m.count; i += index_step()) {
    const DnnPlace to = dnn_place(i, m.channels, m.out[0], m.out[1], m.out[2]);
    const T* const x = static_cast<const T*>(m.x.data) + plane_of(m.x, to);
    dnn::Taps<C> taps[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
      taps[axis] = m.in[axis] == m.out[axis]
                       ? dnn::Taps<C>{1, {to.space[axis], 0, 0, 0}, {1, 0, 0, 0}}
                       : dnn::taps_of<C>(way, m.aligns_corners != 0, m.in[axis], m.out[axis], to.space[axis]);
    C sum = 0;
    for (int d = 0; d < taps[0].count; ++d)
      for (int h = 0; h < taps[1].count; ++h)
        for (int w = 0; w < taps[2].count; ++w)
          sum +=
              taps[0].weight[d] * taps[1].weight[h] * taps[2].weight[w] *
              to_number(
                  x[taps[0].at[d] * m.x.strides[2] + taps[1].at[h] * m.x.strides[3] + taps[2].at[w] * m.x.strides[4]]);
    static_cast<T*>(m.y.data)[offset_of(m.y, to)] = from_number<T>(sum);
  }
}

/// How much of element `element` is in that of y at `place`.
template <class C>
__device__ C share_of(const DnnInterpolateArguments& m, int axis, long long place, long long element) {
  const auto taps =
      dnn::taps_of<C>(static_cast<DnnInterpolation>(m.way), m.aligns_corners != 0, m.in[axis], m.out[axis], place);
  C share = 0;
  for (int i = 0; i < taps.count; ++i)
    if (taps.at[i] == element) share += taps.weight[i];
  return share;
}

template <class T>
__device__ void interpolate_gradient(const DnnInterpolateArguments& m) {
  using C = detail::ComputeType<T>;
  for (long long i = first_index(); i < m.count; i += index_step()) {
    const DnnPlace at = dnn_place(i, m.channels, m.in[0], m.in[1], m.in[2]);
    const T* const dy = static_cast<const T*>(m.y.data) + plane_of(m.y, at);
    long long begin[3], end[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      const bool stays = m.in[axis] == m.out[axis];
      begin[axis] = stays ? at.space[axis]
                          : dnn::first_place_around(m.aligns_corners != 0, m.in[axis], m.out[axis], at.space[axis]);
      end[axis] = stays ? at.space[axis] + 1
                        : dnn::after_places_around(m.aligns_corners != 0, m.in[axis], m.out[axis], at.space[axis]);
    }
    const auto share = [&](int axis, long long place) -> C {
      return m.in[axis] == m.out[axis] ? C(1) : share_of<C>(m, axis, place, at.space[axis]);
    };
    C sum = 0;
    for (long long d = begin[0]; d < end[0]; ++d) {
      const C of_d = share(0, d);
      if (of_d == C(0)) continue;
      for (long long h = begin[1]; h < end[1]; ++h) {
        const C of_h = of_d * share(1, h);
        if (of_h == C(0)) continue;
        for (long long w = begin[2]; w < end[2]; ++w) {
          const C of_w = share(2, w);
          if (of_w != C(0))
            sum += of_h * of_w * to_number(dy[d * m.y.strides[2] + h * m.y.strides[3] + w * m.y.strides[4]]);
        }
      }
    }
    static_cast<T*>(m.x.data)[offset_of(m.x, at)] = from_number<T>(sum);
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_DNN_INTERPOLATE(dtype, T)                                                                      \
  extern "C" __global__ void troupe_dnn_interpolate_##dtype(DnnInterpolateArguments m) { interpolate<T>(m); } \
  extern "C" __global__ void troupe_dnn_interpolate_gradient_##dtype(DnnInterpolateArguments m) {             \
    interpolate_gradient<T>(m);                                                                               \
  }
TROUPE_DNN_INTERPOLATE(f32, float)
TROUPE_DNN_INTERPOLATE(f64, double)
TROUPE_DNN_INTERPOLATE(f16, troupe::f16)
TROUPE_DNN_INTERPOLATE(bf16, troupe::bf16)
