// Troupe's conversions beside those in the CUDA toolkit's own headers, which need no GPU and no CUDA compiler.
#include <gtest/gtest.h>

#include "troupe/core/element.hpp"

#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>) && __has_include(<cuda_fp8.h>)

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <array>
#include <cmath>
#include <random>

namespace troupe {
namespace {

/// CUDA's conversions, under one name for each format.
template <class T>
struct Cuda;

template <>
struct Cuda<f16> {
  static std::uint16_t encode(float value) { return __half_raw(__float2half_rn(value)).x; }
  static std::uint16_t encode(double value) { return __half_raw(__double2half(value)).x; }
  static std::uint16_t encode(long long value) { return __half_raw(__ll2half_rn(value)).x; }
  static float decode(std::uint16_t bits) { return __half2float(__half_raw{bits}); }
};

template <>
struct Cuda<bf16> {
  static std::uint16_t encode(float value) { return __nv_bfloat16_raw(__float2bfloat16_rn(value)).x; }
  static std::uint16_t encode(double value) { return __nv_bfloat16_raw(__double2bfloat16(value)).x; }
  static std::uint16_t encode(long long value) { return __nv_bfloat16_raw(__ll2bfloat16_rn(value)).x; }
  static float decode(std::uint16_t bits) { return __bfloat162float(__nv_bfloat16_raw{bits}); }
};

template <__nv_fp8_interpretation_t format>
struct CudaFp8 {
  static std::uint8_t encode(float value) { return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, format); }
  static std::uint8_t encode(double value) { return __nv_cvt_double_to_fp8(value, __NV_SATFINITE, format); }
  static std::uint8_t encode(long long value) { return encode(static_cast<float>(value)); }  // as its classes do
  static float decode(std::uint8_t bits) { return __half2float(__nv_cvt_fp8_to_halfraw(bits, format)); }
};

template <>
struct Cuda<f8e4m3> : CudaFp8<__NV_E4M3> {};
template <>
struct Cuda<f8e5m2> : CudaFp8<__NV_E5M2> {};

template <class T>
class SmallFloatBesideCuda : public testing::Test {
 protected:
  /// False after a first difference, so that a loop can stop there.
  template <class Source>
  bool agree(Source value) {
    const auto ours = T(value).bits;
    const auto theirs = Cuda<T>::encode(value);
    if (ours == theirs) [[likely]]
      return true;
    ADD_FAILURE() << std::hexfloat << value << ": ours is " << std::hex << +ours << ", CUDA's is " << +theirs;
    return false;
  }
  bool agree_on_float(std::uint32_t bits) { return agree(std::bit_cast<float>(bits)); }
  bool agree_on_double(std::uint64_t bits) { return agree(std::bit_cast<double>(bits)); }
};

using SmallFloats = testing::Types<f16, bf16, f8e4m3, f8e5m2>;
TYPED_TEST_SUITE(SmallFloatBesideCuda, SmallFloats);

TYPED_TEST(SmallFloatBesideCuda, decodes_every_code_to_the_same_bits) {
  using Bits = typename TypeParam::Bits;
  for (std::uint32_t code = 0; code < (1u << (8 * sizeof(Bits))); ++code) {
    const auto bits = static_cast<Bits>(code);
    const auto ours = std::bit_cast<std::uint32_t>(static_cast<float>(TypeParam::from_bits(bits)));
    const auto theirs = std::bit_cast<std::uint32_t>(Cuda<TypeParam>::decode(bits));
    ASSERT_EQ(ours, theirs) << std::hex << code;
    ASSERT_TRUE(this->agree_on_float(ours)) << "on the way back";
    ASSERT_TRUE(this->agree(static_cast<double>(TypeParam::from_bits(bits)))) << "on the way back";
  }
}

TYPED_TEST(SmallFloatBesideCuda, encodes_floats_at_and_around_every_boundary_to_the_same_bits) {
  // The last 13 bits decide how a float rounds to f16, in the finest case; the coarser formats' ties are among these.
  constexpr std::array<std::uint32_t, 6> tails{0x0000, 0x0001, 0x0FFF, 0x1000, 0x1001, 0x1FFF};
  for (std::uint32_t head = 0; head < (1u << 19); ++head) {
    for (const std::uint32_t tail : tails) ASSERT_TRUE(this->agree_on_float(head << 13 | tail));
  }
}

TYPED_TEST(SmallFloatBesideCuda, encodes_floats_from_all_over_to_the_same_bits) {
  constexpr std::uint64_t stride = 127;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride) {
    ASSERT_TRUE(this->agree_on_float(static_cast<std::uint32_t>(bits)));
  }
}

TYPED_TEST(SmallFloatBesideCuda, encodes_doubles_at_and_around_every_boundary_to_the_same_bits) {
  for (std::uint32_t head = 0; head < (1u << 20); ++head) {  // a double that is a float with 12 bits to spare
    const auto tie = std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(head << 12)));
    for (const std::uint64_t bits : {tie - 1, tie, tie + 1}) ASSERT_TRUE(this->agree_on_double(bits));
  }
}

TYPED_TEST(SmallFloatBesideCuda, encodes_random_doubles_to_the_same_bits) {
  std::mt19937_64 random(20240611);
  std::uniform_int_distribution<int> exponent(-160, 140);  // beyond every format's range on both sides
  for (int i = 0; i < 1'000'000; ++i) {
    const auto significand = static_cast<double>(static_cast<std::int64_t>(random()));
    ASSERT_TRUE(this->agree(std::ldexp(significand, exponent(random) - 63)));
    ASSERT_TRUE(this->agree_on_double(random()));
  }
}

TYPED_TEST(SmallFloatBesideCuda, encodes_nans_of_both_signs_to_the_same_bits) {
  std::mt19937_64 random(20240611);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t payload = random() >> (random() % 64) | 1;  // of every length
    const std::uint64_t wide = payload & 0x000FFFFFFFFFFFFFu;
    const auto narrow = static_cast<std::uint32_t>(payload & 0x007FFFFFu);
    ASSERT_TRUE(this->agree_on_double(0x7FF0000000000000u | wide) && this->agree_on_double(0xFFF0000000000000u | wide));
    ASSERT_TRUE(this->agree_on_float(0x7F800000u | narrow) && this->agree_on_float(0xFF800000u | narrow));
  }
}

TYPED_TEST(SmallFloatBesideCuda, encodes_integers_to_the_same_bits) {
  std::mt19937_64 random(20240611);
  for (int i = 0; i < 200'000; ++i) {
    const int width = static_cast<int>(random() % 62) + 1;
    const auto value = static_cast<long long>(random() >> (64 - width));
    const long long tie = (value >> (width / 2)) << (width / 2);
    for (const long long near : {value, tie - 1, tie, tie + 1, -value, -tie}) ASSERT_TRUE(this->agree(near));
  }
}

}  // namespace
}  // namespace troupe

#else

TEST(SmallFloatBesideCuda, agrees_with_the_toolkit) { GTEST_SKIP() << "the CUDA toolkit's headers are not installed"; }

#endif
