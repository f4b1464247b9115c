// The kernels that take inputs of several types, by the type that they are promoted to: each element is converted as it
// is read. Comparisons have kernels of their own, for they make bool. What is done then is in tensor_elementwise.cuh.
#include "troupe/backend/cuda/tensor/tensor_elementwise.cuh"

using MixedUnary = troupe::cuda::Chosen<troupe::Unary>;
using MixedBinary = troupe::cuda::Chosen<troupe::Binary>;
using MixedCompare = troupe::cuda::Chosen<troupe::Binary, true>;
using MixedTernary = troupe::cuda::Chosen<troupe::Ternary>;

#define TROUPE_MIXED_UNARY(dtype, T) TROUPE_ELEMENTWISE_KERNEL(mixed_unary, dtype, MixedUnary, 1, T, T, true)
#define TROUPE_MIXED(dtype, T)                                                    \
  TROUPE_ELEMENTWISE_KERNEL(mixed_binary, dtype, MixedBinary, 1, T, T, true)      \
  TROUPE_ELEMENTWISE_KERNEL(mixed_compare, dtype, MixedCompare, 1, T, bool, true) \
  TROUPE_ELEMENTWISE_KERNEL(mixed_ternary, dtype, MixedTernary, 1, T, T, true)
TROUPE_MIXED(f64, double)
TROUPE_MIXED(f32, float)
TROUPE_MIXED(f16, troupe::f16)
TROUPE_MIXED(bf16, troupe::bf16)
TROUPE_MIXED(c64, std::complex<float>)
TROUPE_MIXED(c128, std::complex<double>)
TROUPE_MIXED(i8, std::int8_t)
TROUPE_MIXED(u8, std::uint8_t)
TROUPE_MIXED(i16, std::int16_t)
TROUPE_MIXED(u16, std::uint16_t)
TROUPE_MIXED(i32, std::int32_t)
TROUPE_MIXED(u32, std::uint32_t)
TROUPE_MIXED(i64, std::int64_t)
TROUPE_MIXED(u64, std::uint64_t)
TROUPE_MIXED_UNARY(f64, double)
TROUPE_MIXED_UNARY(f32, float)
TROUPE_MIXED_UNARY(f16, troupe::f16)
