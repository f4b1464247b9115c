// For which functions and types there are kernels that put elements together. Integers are added, multiplied and
// combined by bits as unsigned ones of their size, since they wrap; a bool is a byte of 0 or 1.
#pragma once

// X(function, suffix of the name, type)
#define TROUPE_COMBINED_FLOATS(X, function) \
  X(function, f64, double)                  \
  X(function, f32, float)                   \
  X(function, f16, f16)                     \
  X(function, bf16, bf16)
#define TROUPE_COMBINED_SIZES(X, function) \
  X(function, 1, std::uint8_t)             \
  X(function, 2, std::uint16_t)            \
  X(function, 4, std::uint32_t)            \
  X(function, 8, std::uint64_t)
#define TROUPE_COMBINED_INTEGERS(X, function) \
  X(function, i8, std::int8_t)                \
  X(function, u8, std::uint8_t)               \
  X(function, i16, std::int16_t)              \
  X(function, u16, std::uint16_t)             \
  X(function, i32, std::int32_t)              \
  X(function, u32, std::uint32_t)             \
  X(function, i64, std::int64_t)              \
  X(function, u64, std::uint64_t)
#define TROUPE_COMBINED(X)           \
  TROUPE_COMBINED_FLOATS(X, sum)     \
  TROUPE_COMBINED_FLOATS(X, product) \
  TROUPE_COMBINED_FLOATS(X, min)     \
  TROUPE_COMBINED_FLOATS(X, max)     \
  TROUPE_COMBINED_SIZES(X, sum)      \
  TROUPE_COMBINED_SIZES(X, product)  \
  TROUPE_COMBINED_SIZES(X, bit_and)  \
  TROUPE_COMBINED_SIZES(X, bit_or)   \
  TROUPE_COMBINED_SIZES(X, bit_xor)  \
  TROUPE_COMBINED_INTEGERS(X, min)   \
  TROUPE_COMBINED_INTEGERS(X, max)
