// Pools and their gradients. A thread makes an element of the result, or several that lie far apart: forward of what
// its window sees, backward of the windows that see it. So nothing is added from two threads, and sums have one order.
#include "troupe/backend/cuda/dnn/dnn_place.cuh"
#include "troupe/backend/cuda/kernels/group_access.cuh"
#include "troupe/backend/cuda/kernels/kernel_index.cuh"

namespace troupe::cuda {
namespace {

/// Calls `f(d, h, w)` for all of three ranges, in row-major order.
template <class F>
__device__ void each_of(const dnn::Seen (&seen)[3], const F& f) {
  for (long long d = seen[0].begin; d < seen[0].end; d += seen[0].step)
    for (long long h = seen[1].begin; h < seen[1].end; h += seen[1].step)
      for (long long w = seen[2].begin; w < seen[2].end; w += seen[2].step) f(d, h, w);
}

__device__ inline void store_index(const DnnPoolArguments& m, long long at, long long index) {
  if (m.wide_indices)
    static_cast<long long*>(m.indices.data)[at] = index;
  else
    static_cast<int*>(m.indices.data)[at] = static_cast<int>(index);
}
__device__ inline long long load_index(const DnnPoolArguments& m, long long at) {
  return m.wide_indices ? static_cast<const long long*>(m.indices.data)[at]
                        : static_cast<const int*>(m.indices.data)[at];
}

template <class T>
__device__ void max_pool(const DnnPoolArguments& m) {
  using C = detail::ComputeType<T>;
  for (long long i = first_index(); i < m.count; i += index_step()) {
    const DnnPlace to = dnn_place(i, m.channels, m.axes[0].out, m.axes[1].out, m.axes[2].out);
    const T* const x = static_cast<const T*>(m.x.data) + plane_of(m.x, to);
    const dnn::Seen seen[3] = {dnn::seen_by(m.axes[0], to.space[0]), dnn::seen_by(m.axes[1], to.space[1]),
                               dnn::seen_by(m.axes[2], to.space[2])};
    C best = -std::numeric_limits<C>::infinity();
    long long where = -1;
    each_of(seen, [&](long long d, long long h, long long w) {
      const C number = to_number(x[d * m.x.strides[2] + h * m.x.strides[3] + w * m.x.strides[4]]);
      if (where >= 0 && !(number > best) && !(number != number && best == best)) return;
      best = number;
      where = (d * m.axes[1].in + h) * m.axes[2].in + w;
    });
    static_cast<T*>(m.y.data)[offset_of(m.y, to)] = from_number<T>(best);
    if (m.indices.data) store_index(m, offset_of(m.indices, to), where);
  }
}

/// What the windows around an element of x give back: `share(place, seen)` of each that sees it.
template <class T, class Share>
__device__ void give_back(const DnnPoolArguments& m, const Share& share) {
  using C = detail::ComputeType<T>;
  for (long long i = first_index(); i < m.count; i += index_step()) {
    const DnnPlace at = dnn_place(i, m.channels, m.axes[0].in, m.axes[1].in, m.axes[2].in);
    const dnn::Seen around[3] = {dnn::windows_around(m.axes[0], at.space[0]),
                                 dnn::windows_around(m.axes[1], at.space[1]),
                                 dnn::windows_around(m.axes[2], at.space[2])};
    C sum = 0;
    each_of(around, [&](long long d, long long h, long long w) {
      const dnn::Seen seen[3] = {dnn::seen_by(m.axes[0], d), dnn::seen_by(m.axes[1], h), dnn::seen_by(m.axes[2], w)};
      if (!dnn::sees(seen[0], at.space[0]) || !dnn::sees(seen[1], at.space[1]) || !dnn::sees(seen[2], at.space[2]))
        return;
      DnnPlace from = at;
      from.space[0] = d;
      from.space[1] = h;
      from.space[2] = w;
      sum += share(at, from, seen);
    });
    static_cast<T*>(m.x.data)[offset_of(m.x, at)] = from_number<T>(sum);
  }
}

template <class T>
__device__ void max_pool_gradient(const DnnPoolArguments& m) {
  using C = detail::ComputeType<T>;
  give_back<T>(m, [&](const DnnPlace& at, const DnnPlace& from, const dnn::Seen(&)[3]) -> C {
    const long long mine = (at.space[0] * m.axes[1].in + at.space[1]) * m.axes[2].in + at.space[2];
    if (load_index(m, offset_of(m.indices, from)) != mine) return 0;
    return to_number(static_cast<const T*>(m.y.data)[offset_of(m.y, from)]);
  });
}

/// By what the sum of a window is divided; 0 when it sees nothing.
__device__ inline long long divisor_of(const DnnPoolArguments& m, const dnn::Seen (&seen)[3]) {
  const long long count = dnn::count_of(seen[0]) * dnn::count_of(seen[1]) * dnn::count_of(seen[2]);
  if (count == 0 || !m.counts_padding || m.axes[0].adaptive) return count;
  return m.axes[0].extent * m.axes[1].extent * m.axes[2].extent;
}

template <class T>
__device__ void average_pool(const DnnPoolArguments& m) {
  using C = detail::ComputeType<T>;
  for (long long i = first_index(); i < m.count; i += index_step()) {
    const DnnPlace to = dnn_place(i, m.channels, m.axes[0].out, m.axes[1].out, m.axes[2].out);
    const T* const x = static_cast<const T*>(m.x.data) + plane_of(m.x, to);
    const dnn::Seen seen[3] = {dnn::seen_by(m.axes[0], to.space[0]), dnn::seen_by(m.axes[1], to.space[1]),
                               dnn::seen_by(m.axes[2], to.space[2])};
    C sum = 0;
    each_of(seen, [&](long long d, long long h, long long w) {
      sum += to_number(x[d * m.x.strides[2] + h * m.x.strides[3] + w * m.x.strides[4]]);
    });
    const long long divisor = divisor_of(m, seen);
    static_cast<T*>(m.y.data)[offset_of(m.y, to)] = from_number<T>(divisor == 0 ? C(0) : sum / static_cast<C>(divisor));
  }
}

template <class T>
__device__ void average_pool_gradient(const DnnPoolArguments& m) {
  using C = detail::ComputeType<T>;
  give_back<T>(m, [&](const DnnPlace&, const DnnPlace& from, const dnn::Seen(&seen)[3]) -> C {
    return to_number(static_cast<const T*>(m.y.data)[offset_of(m.y, from)]) / static_cast<C>(divisor_of(m, seen));
  });
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_DNN_POOL(name, dtype, T) \
  extern "C" __global__ void troupe_dnn_##name##_##dtype(DnnPoolArguments m) { name<T>(m); }
#define TROUPE_DNN_POOLS(dtype, T)             \
  TROUPE_DNN_POOL(max_pool, dtype, T)          \
  TROUPE_DNN_POOL(max_pool_gradient, dtype, T) \
  TROUPE_DNN_POOL(average_pool, dtype, T)      \
  TROUPE_DNN_POOL(average_pool_gradient, dtype, T)
TROUPE_DNN_POOLS(f32, float)
TROUPE_DNN_POOLS(f64, double)
TROUPE_DNN_POOLS(f16, troupe::f16)
TROUPE_DNN_POOLS(bf16, troupe::bf16)
