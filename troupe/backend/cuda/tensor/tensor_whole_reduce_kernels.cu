// The kernels of reductions of integers and bool: what is kept of them has 64 bits, or is f64 for the mean.
// What they do is in tensor_reduce_threads.cuh.
#include "troupe/backend/cuda/tensor/tensor_reduce_threads.cuh"

TROUPE_REDUCE(i8, std::int8_t)
TROUPE_REDUCE(u8, std::uint8_t)
TROUPE_REDUCE(i16, std::int16_t)
TROUPE_REDUCE(u16, std::uint16_t)
TROUPE_REDUCE(i32, std::int32_t)
TROUPE_REDUCE(u32, std::uint32_t)
TROUPE_REDUCE(i64, std::int64_t)
TROUPE_REDUCE(u64, std::uint64_t)
TROUPE_REDUCE(bool, bool)
