// Activations and their slopes. A thread takes one element, or several that lie far apart: right for any number of
// threads.
#include "troupe/backend/cuda/dnn/dnn_arguments.hpp"
#include "troupe/backend/cuda/kernels/group_access.cuh"
#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/op/dnn_functions.hpp"

namespace troupe::cuda {
namespace {

template <class T, bool is_gradient>
__device__ void activate(const DnnActivateArguments& m) {
  using C = detail::ComputeType<T>;
  const auto function = static_cast<DnnActivation>(m.function);
  const C alpha = static_cast<C>(m.alpha);
  for (long long i = first_index(); i < m.axes.count; i += index_step()) {
    const ArrayOffsets<3> at = offsets_of(m.axes, i);
    const C x = to_number(static_cast<const T*>(m.x)[at.at[0]]);
    C y;
    if constexpr (is_gradient)
      y = to_number(static_cast<const T*>(m.dy)[at.at[1]]) * dnn::slope(function, x, alpha);
    else
      y = dnn::activated(function, x, alpha);
    static_cast<T*>(m.out)[at.at[2]] = from_number<T>(y);
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_DNN_ACTIVATE(dtype, T)                                                                       \
  extern "C" __global__ void troupe_dnn_activate_##dtype(DnnActivateArguments m) { activate<T, false>(m); } \
  extern "C" __global__ void troupe_dnn_activate_gradient_##dtype(DnnActivateArguments m) { activate<T, true>(m); }
TROUPE_DNN_ACTIVATE(f32, float)
TROUPE_DNN_ACTIVATE(f64, double)
TROUPE_DNN_ACTIVATE(f16, troupe::f16)
TROUPE_DNN_ACTIVATE(bf16, troupe::bf16)
