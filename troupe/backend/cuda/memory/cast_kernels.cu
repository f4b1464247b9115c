// The kernels that convert elements, with any strides, from every type to every other. Conversions are those of
// `convert`, the very same code as on the host, or the GPU's instructions where they give the same.
#include "troupe/backend/cuda/kernels/converted.cuh"
#include "troupe/backend/cuda/memory/memory_arguments.hpp"

namespace troupe::cuda {
namespace {

template <class To, class From>
__device__ void cast(const MoveArguments& m) {
  constexpr int kItems = moved_items(sizeof(To) > sizeof(From) ? sizeof(To) : sizeof(From));
  const GroupPlace<2> place = place_of_thread<kItems, kGroupThreads>(m.axes, blockIdx.x, threadIdx.x);
  if (place.items <= 0) return;
  const Group<From, kItems> in =
      load_group<From, kItems>(m.in, place.at[0], m.axes.strides[0], m.axes.ways[0], place.items);
  Group<To, kItems> out;
#pragma unroll
  for (int i = 0; i < kItems; ++i) out.items[i] = converted<To>(in.items[i]);
  store_group(out, m.out, place.at[1], m.axes.strides[1], m.axes.ways[1], place.items);
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe::cuda;  // for the names that the worker looks up

#define TROUPE_EACH_TYPE(each, ...)                                                                 \
  each(f64, double, __VA_ARGS__) each(f32, float, __VA_ARGS__) each(f16, troupe::f16, __VA_ARGS__)  \
      each(bf16, troupe::bf16, __VA_ARGS__) each(f8e4m3, troupe::f8e4m3, __VA_ARGS__)               \
          each(f8e5m2, troupe::f8e5m2, __VA_ARGS__) each(i8, std::int8_t, __VA_ARGS__)              \
              each(u8, std::uint8_t, __VA_ARGS__) each(i16, std::int16_t, __VA_ARGS__)              \
                  each(i32, std::int32_t, __VA_ARGS__) each(u32, std::uint32_t, __VA_ARGS__)        \
                      each(i64, std::int64_t, __VA_ARGS__) each(u64, std::uint64_t, __VA_ARGS__)    \
                          each(bool, bool, __VA_ARGS__) each(c64, std::complex<float>, __VA_ARGS__) \
                              each(c128, std::complex<double>, __VA_ARGS__) each(u16, std::uint16_t, __VA_ARGS__)
#define TROUPE_CAST(from, From, to, To)                                                                  \
  extern "C" __global__ void __launch_bounds__(kGroupThreads) troupe_to_##to##_##from(MoveArguments m) { \
    cast<To, From>(m);                                                                                   \
  }
TROUPE_EACH_TYPE(TROUPE_CAST, f64, double)
TROUPE_EACH_TYPE(TROUPE_CAST, f32, float)
TROUPE_EACH_TYPE(TROUPE_CAST, f16, troupe::f16)
TROUPE_EACH_TYPE(TROUPE_CAST, bf16, troupe::bf16)
TROUPE_EACH_TYPE(TROUPE_CAST, f8e4m3, troupe::f8e4m3)
TROUPE_EACH_TYPE(TROUPE_CAST, f8e5m2, troupe::f8e5m2)
TROUPE_EACH_TYPE(TROUPE_CAST, i8, std::int8_t)
TROUPE_EACH_TYPE(TROUPE_CAST, u8, std::uint8_t)
TROUPE_EACH_TYPE(TROUPE_CAST, i16, std::int16_t)
TROUPE_EACH_TYPE(TROUPE_CAST, i32, std::int32_t)
TROUPE_EACH_TYPE(TROUPE_CAST, u32, std::uint32_t)
TROUPE_EACH_TYPE(TROUPE_CAST, i64, std::int64_t)
TROUPE_EACH_TYPE(TROUPE_CAST, u64, std::uint64_t)
TROUPE_EACH_TYPE(TROUPE_CAST, bool, bool)
TROUPE_EACH_TYPE(TROUPE_CAST, c64, std::complex<float>)
TROUPE_EACH_TYPE(TROUPE_CAST, c128, std::complex<double>)
TROUPE_EACH_TYPE(TROUPE_CAST, u16, std::uint16_t)
