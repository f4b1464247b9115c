// What cuFFT does not do: the factor of a norm. A thread takes one element, or several that lie far apart: right for
// any number of threads.
#include "troupe/backend/cuda/kernels/device_math.cuh"

namespace troupe::cuda {
namespace {

template <class T>
__device__ void scale(T* y, double factor, const Layout& layout) {
  for (long long i = first_index(); i < layout.count; i += index_step())
    y[offsets(layout, i).a] *= static_cast<T>(factor);
}

/// Of complex numbers, two parts each.
template <class T>
__device__ void scale_pairs(T* y, double factor, const Layout& layout) {
  for (long long i = first_index(); i < layout.count; i += index_step()) {
    T* const number = y + 2 * offsets(layout, i).a;
    number[0] *= static_cast<T>(factor);
    number[1] *= static_cast<T>(factor);
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe;        // for the types of the elements
using namespace troupe::cuda;  // for the names that the worker looks up

extern "C" __global__ void troupe_fft_scale_f32(float* y, double factor, Layout layout) { scale(y, factor, layout); }
extern "C" __global__ void troupe_fft_scale_f64(double* y, double factor, Layout layout) { scale(y, factor, layout); }
extern "C" __global__ void troupe_fft_scale_f16(f16* y, double factor, Layout layout) {
  for (long long i = first_index(); i < layout.count; i += index_step()) {
    f16& number = y[offsets(layout, i).a];
    number = f16(static_cast<float>(number) * static_cast<float>(factor));
  }
}
extern "C" __global__ void troupe_fft_scale_c64(float* y, double factor, Layout layout) {
  scale_pairs(y, factor, layout);
}
extern "C" __global__ void troupe_fft_scale_c128(double* y, double factor, Layout layout) {
  scale_pairs(y, factor, layout);
}
