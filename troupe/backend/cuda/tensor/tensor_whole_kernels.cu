// The kernels of the functions that integers and bool have, and of comparisons of every type.
// What they do with each element is in tensor_elementwise.cuh.
#include "troupe/backend/cuda/tensor/tensor_elementwise.cuh"

using WholeUnary = troupe::cuda::Chosen<troupe::Unary>;
using WholeBinary = troupe::cuda::Chosen<troupe::Binary>;
using Compare = troupe::cuda::Chosen<troupe::Binary, true>;

#define TROUPE_BLOCKS(T) (sizeof(T) > 4 ? 1 : sizeof(T) == 1 ? 3 : 4)
#define TROUPE_COMPARE(dtype, T) TROUPE_ELEMENTWISE_KERNEL(compare, dtype, Compare, TROUPE_BLOCKS(T), T, bool)
#define TROUPE_WHOLE(dtype, T)                                                     \
  TROUPE_ELEMENTWISE_KERNEL(whole_unary, dtype, WholeUnary, TROUPE_BLOCKS(T), T)   \
  TROUPE_ELEMENTWISE_KERNEL(whole_binary, dtype, WholeBinary, TROUPE_BLOCKS(T), T) \
  TROUPE_COMPARE(dtype, T)
TROUPE_WHOLE(i8, std::int8_t)
TROUPE_WHOLE(u8, std::uint8_t)
TROUPE_WHOLE(i16, std::int16_t)
TROUPE_WHOLE(u16, std::uint16_t)
TROUPE_WHOLE(i32, std::int32_t)
TROUPE_WHOLE(u32, std::uint32_t)
TROUPE_WHOLE(i64, std::int64_t)
TROUPE_WHOLE(u64, std::uint64_t)
TROUPE_WHOLE(bool, bool)
TROUPE_COMPARE(f64, double)
TROUPE_COMPARE(f32, float)
TROUPE_COMPARE(f16, troupe::f16)
TROUPE_COMPARE(bf16, troupe::bf16)
TROUPE_COMPARE(c64, std::complex<float>)
TROUPE_COMPARE(c128, std::complex<double>)
