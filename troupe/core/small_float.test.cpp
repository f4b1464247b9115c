#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "troupe/core/element.hpp"

namespace troupe {
namespace {

// The four formats once more, in numbers from their specifications, so that a slip in the header cannot hide here.
struct Layout {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::uint32_t largest;     // the code of the largest finite number
  std::uint32_t too_large;   // what a number beyond it becomes
  std::uint32_t double_nan;  // what a quiet double NaN with an empty payload becomes
  bool keeps_sign_of_double_nan;
  std::uint32_t least_nan;  // NaN from this code on; infinity between `largest` and here

  constexpr std::uint32_t sign() const { return 1u << (exponent_bits + mantissa_bits); }
};

template <class T>
constexpr Layout kLayout{};
template <>
constexpr Layout kLayout<f16>{5, 10, 15, 0x7BFF, 0x7C00, 0x7FFF, false, 0x7C01};
template <>
constexpr Layout kLayout<bf16>{8, 7, 127, 0x7F7F, 0x7F80, 0x7FFF, false, 0x7F81};
template <>
constexpr Layout kLayout<f8e4m3>{4, 3, 7, 0x7E, 0x7E, 0x7F, true, 0x7F};
template <>
constexpr Layout kLayout<f8e5m2>{5, 2, 15, 0x7B, 0x7B, 0x7E, true, 0x7D};

/// The number a finite magnitude stands for, from its fields. Also right one past the largest: the next number, if the
/// format went on.
double number(const Layout& layout, std::uint32_t magnitude) {
  const int field = static_cast<int>(magnitude >> layout.mantissa_bits);
  const int mantissa = static_cast<int>(magnitude & ((1u << layout.mantissa_bits) - 1));
  const int one = 1 << layout.mantissa_bits;
  if (field == 0) return std::ldexp(mantissa, 1 - layout.bias - layout.mantissa_bits);
  return std::ldexp(one + mantissa, field - layout.bias - layout.mantissa_bits);
}

template <class T>
class SmallFloatOf : public testing::Test {
 protected:
  using Bits = typename T::Bits;
  static constexpr Layout kL = kLayout<T>;

  SmallFloatOf() {
    for (std::uint32_t code = 0; code <= kL.largest; ++code) {
      middles_.push_back((number(kL, code) + number(kL, code + 1)) / 2);  // exact in a double
    }
  }

  /// The nearest code by search among all midpoints; ties to the even code.
  Bits nearest(double value) const {
    const double magnitude = std::fabs(value);
    const auto above = std::lower_bound(middles_.begin(), middles_.end(), magnitude);
    auto code = static_cast<std::uint32_t>(above - middles_.begin());
    if (above != middles_.end() && *above == magnitude && code % 2 != 0) ++code;
    if (code > kL.largest) code = kL.too_large;
    return static_cast<Bits>(code | (std::signbit(value) ? kL.sign() : 0));
  }

  template <class Source>
  void expect_nearest(Source value) const {
    for (const Source signed_value : {value, -value}) {
      const Bits got = T(signed_value).bits;
      const Bits want = nearest(static_cast<double>(signed_value));
      if (got == want) continue;
      FAIL() << std::hexfloat << signed_value << " became " << std::hex << +got << ", the nearest is " << +want;
    }
  }

  template <class Source>
  void expect_nearest_around(Source value) const {
    expect_nearest(value);
    expect_nearest(std::nextafter(value, std::numeric_limits<Source>::infinity()));
    expect_nearest(std::nextafter(value, Source{0}));
  }

  std::vector<double> middles_;  // between each finite code and the next
};

using SmallFloats = testing::Types<f16, bf16, f8e4m3, f8e5m2>;
TYPED_TEST_SUITE(SmallFloatOf, SmallFloats);

TYPED_TEST(SmallFloatOf, is_trivially_copyable_and_no_larger_than_its_bits) {
  EXPECT_TRUE(std::is_trivially_copyable_v<TypeParam>);
  EXPECT_TRUE(std::is_trivially_default_constructible_v<TypeParam>);
  EXPECT_TRUE(std::is_standard_layout_v<TypeParam>);
  EXPECT_EQ(sizeof(TypeParam), sizeof(typename TypeParam::Bits));
  EXPECT_FALSE((std::is_convertible_v<float, TypeParam> || std::is_convertible_v<TypeParam, float>));
}

TYPED_TEST(SmallFloatOf, decodes_every_code_and_encodes_it_back) {
  constexpr Layout layout = kLayout<TypeParam>;
  for (std::uint32_t code = 0; code < 2 * layout.sign(); ++code) {
    const auto value = TypeParam::from_bits(static_cast<typename TypeParam::Bits>(code));
    const std::uint32_t magnitude = code & (layout.sign() - 1);
    const auto decoded = static_cast<float>(value);
    if (magnitude >= layout.least_nan) {
      ASSERT_TRUE(std::isnan(decoded)) << std::hex << code;
      ASSERT_TRUE(std::isnan(static_cast<double>(value))) << std::hex << code;
      continue;
    }
    ASSERT_EQ(std::signbit(decoded), code != magnitude) << std::hex << code;
    ASSERT_EQ(static_cast<double>(value), static_cast<double>(decoded)) << std::hex << code;
    if (magnitude > layout.largest) {
      ASSERT_TRUE(std::isinf(decoded)) << std::hex << code;
      continue;
    }
    ASSERT_EQ(std::fabs(static_cast<double>(value)), number(layout, magnitude)) << std::hex << code;
    ASSERT_EQ(TypeParam(decoded).bits, code);
    ASSERT_EQ(TypeParam(static_cast<double>(value)).bits, code);
  }
}

TYPED_TEST(SmallFloatOf, rounds_to_nearest_even_around_every_midpoint) {
  for (const double middle : this->middles_) {
    this->expect_nearest_around(middle);
    ASSERT_EQ(static_cast<double>(static_cast<float>(middle)), middle) << "every midpoint is a float";
    this->expect_nearest_around(static_cast<float>(middle));
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(SmallFloatOf, rounds_a_double_once) {
  // Nearer to a midpoint than a float can tell: through float these would all look like ties.
  for (const double middle : this->middles_) {
    const double nudge = std::ldexp(middle, -40);
    this->expect_nearest(middle + nudge);
    this->expect_nearest(middle - nudge);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(SmallFloatOf, rounds_random_numbers_to_the_nearest) {
  std::mt19937_64 random(20240611);
  std::uniform_int_distribution<int> exponent(-160, 140);
  for (int i = 0; i < 300'000 && !this->HasFailure(); ++i) {
    const double value = std::ldexp(static_cast<double>(random() | 1) / 0x1p64, exponent(random));
    this->expect_nearest(value);
    const auto narrow = static_cast<float>(value);
    if (std::isfinite(narrow)) this->expect_nearest(narrow);
  }
}

TYPED_TEST(SmallFloatOf, keeps_the_sign_of_zero_and_of_what_underflows) {
  constexpr std::uint32_t sign = kLayout<TypeParam>.sign();
  EXPECT_EQ(TypeParam(0.0f).bits, 0u);
  EXPECT_EQ(TypeParam(-0.0f).bits, sign);
  EXPECT_EQ(TypeParam(-0.0).bits, sign);
  EXPECT_EQ(TypeParam(-std::numeric_limits<float>::denorm_min()).bits, sign);
  EXPECT_EQ(TypeParam(-std::numeric_limits<double>::denorm_min()).bits, sign);
  EXPECT_EQ(TypeParam(std::numeric_limits<double>::min()).bits, 0u);
}

TYPED_TEST(SmallFloatOf, treats_infinities_as_numbers_that_are_too_large) {
  constexpr Layout layout = kLayout<TypeParam>;
  for (const double huge : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::max(), 0x1.FFp127}) {
    EXPECT_EQ(TypeParam(huge).bits, layout.too_large);
    EXPECT_EQ(TypeParam(-huge).bits, layout.too_large | layout.sign());
    if (huge == std::numeric_limits<double>::max()) continue;
    EXPECT_EQ(TypeParam(static_cast<float>(huge)).bits, layout.too_large);
    EXPECT_EQ(TypeParam(static_cast<float>(-huge)).bits, layout.too_large | layout.sign());
  }
}

TYPED_TEST(SmallFloatOf, makes_every_float_nan_all_ones_without_a_sign) {
  for (const std::uint32_t nan : {0x7FFFFFFFu, 0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFF800001u, 0xFFFFFFFFu}) {
    EXPECT_EQ(TypeParam(std::bit_cast<float>(nan)).bits, kLayout<TypeParam>.sign() - 1) << std::hex << nan;
  }
}

TYPED_TEST(SmallFloatOf, makes_of_a_double_nan_what_cuda_makes) {
  constexpr Layout layout = kLayout<TypeParam>;
  EXPECT_EQ(TypeParam(std::bit_cast<double>(0x7FF8000000000000u)).bits, layout.double_nan);
  EXPECT_EQ(TypeParam(std::bit_cast<double>(0x7FF0000000000001u)).bits, layout.double_nan);
  EXPECT_EQ(TypeParam(std::bit_cast<double>(0x7FFFFFFFFFFFFFFFu)).bits, layout.sign() - 1);
  EXPECT_EQ(TypeParam(std::bit_cast<double>(0xFFF8000000000000u)).bits,
            layout.double_nan | (layout.keeps_sign_of_double_nan ? layout.sign() : 0));
}

TYPED_TEST(SmallFloatOf, rounds_integers_once) {
  for (const double middle : this->middles_) {
    if (middle < 2 || middle >= 0x1p63 || middle != std::trunc(middle)) continue;
    const auto tie = static_cast<std::int64_t>(middle);
    const auto below = this->nearest(std::nextafter(middle, 0));
    const auto above = this->nearest(std::nextafter(middle, 0x1p64));
    ASSERT_EQ(TypeParam(tie).bits, this->nearest(middle)) << tie;
    ASSERT_EQ(TypeParam(tie - 1).bits, below) << tie;
    ASSERT_EQ(TypeParam(tie + 1).bits, above) << tie;
    ASSERT_EQ(TypeParam(-tie - 1).bits, above | kLayout<TypeParam>.sign()) << tie;
    ASSERT_EQ(TypeParam(static_cast<std::uint64_t>(tie) * 2 + 1).bits,
              this->nearest(std::nextafter(middle * 2, 0x1p65)))
        << tie;
  }
  EXPECT_EQ(TypeParam(std::numeric_limits<std::int64_t>::min()).bits, this->nearest(-0x1p63));
  EXPECT_EQ(TypeParam(std::numeric_limits<std::uint64_t>::max()).bits, this->nearest(0x1p64));
}

TYPED_TEST(SmallFloatOf, compares_as_numbers) {
  EXPECT_EQ(TypeParam(-0.0f), TypeParam(0.0f));
  EXPECT_EQ(TypeParam(1.0f), TypeParam(1));
  EXPECT_NE(TypeParam(1.0f), TypeParam(-1.0f));
  EXPECT_NE(TypeParam(std::nanf("")), TypeParam(std::nanf("")));
}

TEST(SmallFloat, knows_the_landmarks) {
  EXPECT_EQ(f16(1.0f).bits, 0x3C00);
  EXPECT_EQ(bf16(1.0f).bits, 0x3F80);
  EXPECT_EQ(f8e4m3(1.0f).bits, 0x38);
  EXPECT_EQ(f8e5m2(1.0f).bits, 0x3C);
  EXPECT_EQ(f16(65519.99f).bits, 0x7BFF);
  EXPECT_EQ(f16(65520.0f).bits, 0x7C00);
  EXPECT_EQ(static_cast<float>(f8e4m3(1e9f)), 448.0f);
  EXPECT_EQ(static_cast<float>(f8e5m2(1e9f)), 57344.0f);
  EXPECT_EQ(static_cast<float>(f16::from_bits(0x0001)), 0x1p-24f);
  EXPECT_EQ(static_cast<float>(bf16::from_bits(0x0001)), 0x1p-133f);
}

TEST(SmallFloat, rounds_correctly_where_going_through_float_would_not) {
  EXPECT_EQ(f16(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3C01);
  EXPECT_EQ(f16(static_cast<float>(1.0 + 0x1p-11 + 0x1p-40)).bits, 0x3C00);
  EXPECT_EQ(bf16((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1).bits, 0x5E81);
}

TEST(SmallFloat, converts_at_compile_time) {
  static_assert(f16(0.5f).bits == 0x3800);
  static_assert(static_cast<float>(bf16(3.0)) == 3.0f);
  static_assert(static_cast<double>(f8e4m3(1000)) == 448.0);
  static_assert(f8e5m2::from_bits(0xBC) == f8e5m2(-1.0f));
}

}  // namespace
}  // namespace troupe
