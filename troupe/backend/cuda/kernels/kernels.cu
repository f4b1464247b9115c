// The kernels of Troupe's own, for what no library does: setting elements with any strides, and adding and multiplying
// them. Compiled ahead of time for every GPU we know and as PTX for those to come; the worker carries the image.
#include "troupe/backend/cuda/kernels/device_math.cuh"

namespace troupe::cuda {
namespace {

template <class T>
__device__ void fill(void* out, const Layout& layout, const T& value) {
  for (long long i = first_index(); i < layout.count; i += index_step())
    static_cast<T*>(out)[offsets(layout, i).a] = value;
}

template <class T>
__device__ void axpy(const Bytes16& alpha, const void* x, void* y, const Layout& layout) {
  const auto factor = *reinterpret_cast<const detail::ComputeType<T>*>(&alpha);
  for (long long i = first_index(); i < layout.count; i += index_step()) {
    const Offsets at = offsets(layout, i);
    T& sum = static_cast<T*>(y)[at.b];
    const auto term = detail::to_compute(static_cast<const T*>(x)[at.a]);
    sum = static_cast<T>(plus_product(detail::to_compute(sum), factor, term));
  }
}

/// A thread for each element of c: right for every layout, and for nothing in a hurry.
template <class T>
__device__ void gemm(const GemmArguments& m) {
  using Compute = detail::ComputeType<T>;
  const auto alpha = *reinterpret_cast<const Compute*>(&m.alpha);
  const auto beta = *reinterpret_cast<const Compute*>(&m.beta);
  const auto at = [](const StridedMatrix& matrix, long long row, long long column) -> T& {
    return static_cast<T*>(matrix.data)[row * matrix.row_stride + column * matrix.column_stride];
  };
  for (long long i = first_index(); i < m.rows * m.columns; i += index_step()) {
    const long long row = i / m.columns;
    const long long column = i - row * m.columns;
    Compute sum{};
    for (long long k = 0; k < m.depth; ++k)
      sum = plus_product(sum, detail::to_compute(at(m.a, row, k)), detail::to_compute(at(m.b, k, column)));
    T& out = at(m.c, row, column);
    sum = plus_product(m.reads_c ? plus_product(Compute{}, beta, detail::to_compute(out)) : Compute{}, alpha, sum);
    out = static_cast<T>(sum);
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_BY_SIZE(size, T) \
  extern "C" __global__ void troupe_fill_##size(void* out, Layout layout, T value) { fill<T>(out, layout, value); }
TROUPE_BY_SIZE(1, unsigned char)
TROUPE_BY_SIZE(2, unsigned short)
TROUPE_BY_SIZE(4, unsigned int)
TROUPE_BY_SIZE(8, unsigned long long)
TROUPE_BY_SIZE(16, Bytes16)

#define TROUPE_AXPY(dtype, T)                                                                              \
  extern "C" __global__ void troupe_axpy_##dtype(Bytes16 alpha, const void* x, void* y, Layout layout) {     \
    axpy<T>(alpha, x, y, layout);                                                                            \
  }
#define TROUPE_GEMM(dtype, T) \
  extern "C" __global__ void troupe_gemm_##dtype(GemmArguments arguments) { gemm<T>(arguments); }
#define TROUPE_FLOATS(each)      \
  each(f64, double)              \
  each(f32, float)               \
  each(f16, troupe::f16)         \
  each(bf16, troupe::bf16)       \
  each(f8e4m3, troupe::f8e4m3)   \
  each(f8e5m2, troupe::f8e5m2)   \
  each(c64, std::complex<float>) \
  each(c128, std::complex<double>)
#define TROUPE_INTEGERS(each)   \
  each(i8, std::int8_t)         \
  each(u8, std::uint8_t)        \
  each(i16, std::int16_t)       \
  each(i32, std::int32_t)       \
  each(u32, std::uint32_t)      \
  each(i64, std::int64_t)       \
  each(u64, std::uint64_t)
TROUPE_FLOATS(TROUPE_AXPY)
TROUPE_INTEGERS(TROUPE_AXPY)
TROUPE_FLOATS(TROUPE_GEMM)
