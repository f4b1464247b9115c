// The kernels of Troupe's own, for what no library does: setting elements with any strides, and adding and multiplying
// them. Compiled ahead of time for every GPU we know and as PTX for those to come; the worker carries the image.
#include "troupe/backend/cuda/blas/blas_arguments.hpp"
#include "troupe/backend/cuda/kernels/device_math.cuh"
#include "troupe/backend/cuda/kernels/group_access.cuh"

namespace troupe::cuda {
namespace {

template <class T>
__device__ void fill(void* out, const Layout& layout, const T& value) {
  if (sizeof(T) == 8 && layout.rank == 0 && reinterpret_cast<unsigned long long>(out) % 16 == 0) {
    const auto word = *reinterpret_cast<const unsigned long long*>(&value);
    for (long long i = first_index(); i < layout.count / 2; i += index_step())
      static_cast<Bytes16*>(out)[i] = {word, word};
    if (layout.count % 2 != 0 && first_index() == 0) static_cast<T*>(out)[layout.count - 1] = value;
    return;
  }
  for (long long i = first_index(); i < layout.count; i += index_step())
    static_cast<T*>(out)[offsets(layout, i).a] = value;
}

template <class T>
__device__ void axpy(const AxpyArguments& m) {
  constexpr int kItems = axpy_items(sizeof(T));
  const auto factor = *reinterpret_cast<const detail::ComputeType<T>*>(&m.alpha);
  const GroupPlace<2> place = place_of_thread<kItems, kGroupThreads>(m.axes, blockIdx.x, threadIdx.x);
  if (place.items <= 0) return;
  const auto load = [&](const void* array, int v) {
    return load_group<T, kItems>(array, place.at[v], m.axes.strides[v], m.axes.ways[v], place.items);
  };
  const Group<T, kItems> x = load(m.x, 0);
  Group<T, kItems> y = load(m.y, 1);
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    y.items[i] = static_cast<T>(plus_product(detail::to_compute(y.items[i]), factor, detail::to_compute(x.items[i])));
  store_group(y, m.y, place.at[1], m.axes.strides[1], m.axes.ways[1], place.items);
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

#define TROUPE_AXPY(dtype, T) \
  extern "C" __global__ void __launch_bounds__(kGroupThreads) troupe_axpy_##dtype(AxpyArguments m) { axpy<T>(m); }
#define TROUPE_GEMM(dtype, T) \
  extern "C" __global__ void troupe_gemm_##dtype(GemmArguments arguments) { gemm<T>(arguments); }
#define TROUPE_FLOATS(each)                                                                                       \
  each(f64, double) each(f32, float) each(f16, troupe::f16) each(bf16, troupe::bf16) each(f8e4m3, troupe::f8e4m3) \
      each(f8e5m2, troupe::f8e5m2) each(c64, std::complex<float>) each(c128, std::complex<double>)
#define TROUPE_INTEGERS(each)                                                                   \
  each(i8, std::int8_t) each(u8, std::uint8_t) each(i16, std::int16_t) each(u16, std::uint16_t) \
      each(i32, std::int32_t) each(u32, std::uint32_t) each(i64, std::int64_t) each(u64, std::uint64_t)
TROUPE_FLOATS(TROUPE_AXPY)
TROUPE_INTEGERS(TROUPE_AXPY)
TROUPE_FLOATS(TROUPE_GEMM)
