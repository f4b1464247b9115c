// The kernels of the dnn family. A thread takes one element, or several that lie far apart: right for any number of
// threads.
#include "troupe/backend/cuda/kernels/device_math.cuh"

namespace troupe::cuda {
namespace {

template <class T>
__device__ void scale(const T* x, T* y, double alpha, double beta, const Layout& layout) {
  for (long long i = first_index(); i < layout.count; i += index_step()) {
    const Offsets at = offsets(layout, i);
    y[at.b] = static_cast<T>(alpha) * x[at.a] + static_cast<T>(beta);
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

extern "C" __global__ void troupe_scale_f32(const float* x, float* y, double alpha, double beta, Layout layout) {
  scale(x, y, alpha, beta, layout);
}
extern "C" __global__ void troupe_scale_f64(const double* x, double* y, double alpha, double beta, Layout layout) {
  scale(x, y, alpha, beta, layout);
}
