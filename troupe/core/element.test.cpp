#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "troupe/core/shape.hpp"

namespace troupe {
namespace {

using C64 = std::complex<float>;
using C128 = std::complex<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  all.reserve(kDTypes);
  for (int i = 0; i < kDTypes; ++i) all.push_back(static_cast<DType>(i));
  return all;
}

/// The names of the types that `f` holds for, in order.
template <class F>
std::string those(F f) {
  std::string names;
  for (const DType dtype : all_dtypes()) {
    if (f(dtype)) names += (names.empty() ? "" : " ") + std::string(name(dtype));
  }
  return names;
}

TEST(DType, has_these_names) {
  EXPECT_EQ(those([](DType) { return true; }),
            "f64 f32 f16 bf16 f8e4m3 f8e5m2 i8 u8 i16 i32 u32 i64 u64 bool c64 c128 u16");
  EXPECT_EQ(name(DType::boolean), "bool");
  EXPECT_EQ(name(DType::f8e5m2), "f8e5m2");
  EXPECT_EQ(name(DType::c128), "c128");
}

TEST(DType, parses_every_name_and_nothing_else) {
  for (const DType dtype : all_dtypes()) EXPECT_EQ(value(parse_dtype(name(dtype))), dtype);
  for (const std::string wrong : {"", "f", "f65", "F32", " f32", "f32 ", "boolean", "float"}) {
    const Result<DType> result = parse_dtype(wrong);
    ASSERT_FALSE(result) << wrong;
    EXPECT_EQ(result.error().kind(), ErrorKind::invalid_argument);
    EXPECT_NE(result.error().message().find('"' + wrong + '"'), std::string::npos);
  }
}

TEST(DType, knows_its_size) {
  EXPECT_EQ(those([](DType d) { return size_bytes(d) == 1; }), "f8e4m3 f8e5m2 i8 u8 bool");
  EXPECT_EQ(those([](DType d) { return size_bytes(d) == 2; }), "f16 bf16 i16 u16");
  EXPECT_EQ(those([](DType d) { return size_bytes(d) == 4; }), "f32 i32 u32");
  EXPECT_EQ(those([](DType d) { return size_bytes(d) == 8; }), "f64 i64 u64 c64");
  EXPECT_EQ(those([](DType d) { return size_bytes(d) == 16; }), "c128");
}

TEST(DType, knows_what_it_is) {
  EXPECT_EQ(those(is_floating), "f64 f32 f16 bf16 f8e4m3 f8e5m2");
  EXPECT_EQ(those(is_complex), "c64 c128");
  EXPECT_EQ(those(is_integer), "i8 u8 i16 i32 u32 i64 u64 u16");
  EXPECT_EQ(those(is_signed), "f64 f32 f16 bf16 f8e4m3 f8e5m2 i8 i16 i32 i64 c64 c128");
}

TEST(DType, maps_each_element_type_to_its_dtype) {
  static_assert(dtype_of<double> == DType::f64 && dtype_of<float> == DType::f32);
  static_assert(dtype_of<f16> == DType::f16 && dtype_of<bf16> == DType::bf16);
  static_assert(dtype_of<f8e4m3> == DType::f8e4m3 && dtype_of<f8e5m2> == DType::f8e5m2);
  static_assert(dtype_of<std::int8_t> == DType::i8 && dtype_of<std::uint8_t> == DType::u8);
  static_assert(dtype_of<std::int16_t> == DType::i16 && dtype_of<std::uint16_t> == DType::u16);
  static_assert(dtype_of<std::int32_t> == DType::i32 && dtype_of<std::uint32_t> == DType::u32);
  static_assert(dtype_of<std::int64_t> == DType::i64 && dtype_of<std::uint64_t> == DType::u64);
  static_assert(dtype_of<bool> == DType::boolean);
  static_assert(dtype_of<C64> == DType::c64 && dtype_of<C128> == DType::c128);
  static_assert(size_bytes(dtype_of<C128>) == 16);
}

TEST(DType, accepts_no_other_types_as_elements) {
  static_assert(Element<float> && Element<bool>);
  static_assert(!Element<char> && !Element<char16_t> && !Element<long double> && !Element<void>);
  static_assert(!Element<const float> && !Element<float&> && !Element<float*> && !Element<std::complex<int>>);
}

TEST(DType, visits_with_the_type_that_maps_back) {
  for (const DType dtype : all_dtypes()) {
    EXPECT_EQ(visit(dtype, []<class T>(std::type_identity<T>) { return dtype_of<T>; }), dtype);
  }
}

TEST(DTypeDeathTest, dies_when_a_number_is_no_dtype) {
  EXPECT_DEATH(size_bytes(static_cast<DType>(kDTypes)), "a DType is one of its enumerators");
  EXPECT_DEATH(name(static_cast<DType>(255)), "a DType is one of its enumerators");
}

TEST(Convert, compiles_and_keeps_one_between_any_two_types) {
  for (const DType from : all_dtypes()) {
    for (const DType to : all_dtypes()) {
      visit(from, [&]<class From>(std::type_identity<From>) {
        visit(to, [&]<class To>(std::type_identity<To>) {
          EXPECT_EQ(convert<double>(convert<To>(convert<From>(1.0))), 1.0) << name(from) << " to " << name(to);
          EXPECT_EQ(convert<double>(convert<To>(convert<From>(0.0))), 0.0) << name(from) << " to " << name(to);
        });
      });
    }
  }
}

/// Saturation and NaN for every integer type, from one floating-point type.
template <class From>
void expect_saturation_from() {
  for (const DType dtype : all_dtypes()) {
    visit(dtype, []<class To>(std::type_identity<To>) {
      if constexpr (std::integral<To> && !std::same_as<To, bool>) {
        using Limits = std::numeric_limits<To>;
        EXPECT_EQ(convert<To>(convert<From>(kNan)), 0) << name(dtype_of<To>);
        EXPECT_EQ(convert<To>(convert<From>(-kNan)), 0) << name(dtype_of<To>);
        EXPECT_EQ(convert<To>(convert<From>(1.75)), 1) << name(dtype_of<To>);
        EXPECT_EQ(convert<To>(convert<From>(-0.75)), 0) << name(dtype_of<To>);
        EXPECT_EQ(convert<To>(convert<From>(-1.75)), Limits::is_signed ? static_cast<To>(-1) : 0);
        if constexpr (std::floating_point<From>) {
          EXPECT_EQ(convert<To>(static_cast<From>(kInfinity)), Limits::max()) << name(dtype_of<To>);
          EXPECT_EQ(convert<To>(static_cast<From>(-kInfinity)), Limits::min()) << name(dtype_of<To>);
          const From beyond = std::ldexp(From{1}, Limits::digits);
          EXPECT_EQ(convert<To>(beyond), Limits::max()) << name(dtype_of<To>);
          EXPECT_EQ(convert<To>(-beyond), Limits::min()) << name(dtype_of<To>);
          EXPECT_EQ(convert<To>(std::nextafter(-beyond, -2 * beyond)), Limits::min()) << name(dtype_of<To>);
          const From below = std::nextafter(beyond, From{0});
          EXPECT_EQ(convert<To>(below), static_cast<To>(std::floor(below))) << name(dtype_of<To>);
        }
      }
    });
  }
}

TEST(Convert, saturates_from_floating_point_to_integer_and_makes_nan_zero) {
  expect_saturation_from<double>();
  expect_saturation_from<float>();
  expect_saturation_from<f16>();
  expect_saturation_from<bf16>();
  expect_saturation_from<f8e4m3>();
  expect_saturation_from<f8e5m2>();
  EXPECT_EQ(convert<std::int8_t>(f16(-1000.0f)), -128);
  EXPECT_EQ(convert<std::uint8_t>(f8e4m3(448.0f)), 255);
  EXPECT_EQ(convert<std::int16_t>(f16(std::numeric_limits<float>::infinity())), 32767);
}

TEST(Convert, keeps_each_whole_number_in_range) {
  EXPECT_EQ(convert<std::int32_t>(2147483647.0), 2147483647);
  EXPECT_EQ(convert<std::int32_t>(-2147483648.9), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convert<std::int8_t>(127.99f), 127);
  EXPECT_EQ(convert<std::int8_t>(-128.99f), -128);
  EXPECT_EQ(convert<std::uint64_t>(0x1.FFFFFEp63f), 0xFFFFFF0000000000u);
}

TEST(Convert, rounds_integers_once_to_every_floating_point_type) {
  constexpr std::int64_t trap = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;  // a tie, but for the one
  EXPECT_EQ(convert<bf16>(trap).bits, 0x5E81);
  EXPECT_EQ(convert<bf16>(static_cast<double>(trap)).bits, 0x5E80);
  EXPECT_EQ(convert<bf16>(-trap).bits, 0xDE81);
  EXPECT_EQ(convert<bf16>(std::uint64_t{1} << 63 | std::uint64_t{1} << 55 | 1).bits, 0x5F01);
  EXPECT_EQ(convert<float>((std::int64_t{1} << 62) + (std::int64_t{1} << 38) + 1), 0x1.000002p62f);
  EXPECT_EQ(convert<double>((std::uint64_t{1} << 63) + 1024), 0x1p63);
  EXPECT_EQ(convert<double>((std::uint64_t{1} << 63) + 1025), 0x1.0000000000001p63);
  EXPECT_EQ(convert<f16>(std::int32_t{65519}).bits, 0x7BFF);
  EXPECT_EQ(convert<f16>(std::int32_t{65520}).bits, 0x7C00);
  EXPECT_EQ(convert<f8e5m2>(std::numeric_limits<std::int64_t>::min()).bits, 0xFB);
  EXPECT_EQ(convert<f8e4m3>(std::numeric_limits<std::uint64_t>::max()).bits, 0x7E);
}

TEST(Convert, rounds_between_floating_point_types_once) {
  EXPECT_EQ(convert<f16>(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3C01);
  EXPECT_EQ(convert<f16>(bf16(1e30f)).bits, 0x7C00);
  EXPECT_EQ(convert<f8e4m3>(f16::from_bits(0x7C00)).bits, 0x7E);
  EXPECT_EQ(convert<bf16>(f16::from_bits(0x0001)), bf16(0x1p-24f));
  EXPECT_EQ(convert<float>(1e300), std::numeric_limits<float>::infinity());
  EXPECT_EQ(convert<f8e5m2>(f16::from_bits(0xFE00)).bits, 0x7F);
  EXPECT_TRUE(std::isnan(convert<float>(-kNan)));
}

TEST(Convert, wraps_from_integer_to_narrower_integer) {
  EXPECT_EQ(convert<std::int8_t>(std::int32_t{200}), -56);
  EXPECT_EQ(convert<std::uint8_t>(std::int32_t{-1}), 255);
  EXPECT_EQ(convert<std::int32_t>(std::uint64_t{0x1'8000'0000}), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convert<std::uint64_t>(std::int8_t{-1}), std::numeric_limits<std::uint64_t>::max());
}

TEST(Convert, makes_bool_true_for_all_but_zero) {
  EXPECT_TRUE(convert<bool>(kNan));
  EXPECT_TRUE(convert<bool>(0.25f));
  EXPECT_TRUE(convert<bool>(std::int32_t{256}));
  EXPECT_TRUE(convert<bool>(bf16::from_bits(0x0001)));
  EXPECT_TRUE(convert<bool>(f8e4m3::from_bits(0x7F)));
  EXPECT_TRUE(convert<bool>(C64(0, 1)));
  EXPECT_TRUE(convert<bool>(C128(0, kNan)));
  EXPECT_FALSE(convert<bool>(-0.0));
  EXPECT_FALSE(convert<bool>(f16(-0.0f)));
  EXPECT_FALSE(convert<bool>(C128(-0.0, 0)));
  EXPECT_EQ(convert<f16>(true).bits, 0x3C00);
  EXPECT_EQ(convert<std::int64_t>(true), 1);
  EXPECT_EQ(convert<C64>(true), C64(1, 0));
}

TEST(Convert, takes_the_real_part_and_adds_no_imaginary_one) {
  EXPECT_EQ(convert<float>(C128(1.5, 7)), 1.5f);
  EXPECT_EQ(convert<std::int8_t>(C64(1000, -3)), 127);
  EXPECT_EQ(convert<f16>(C128(0.5, 1)).bits, 0x3800);
  EXPECT_EQ(convert<C64>(f16(2.0f)), C64(2, 0));
  EXPECT_EQ(convert<C128>(std::int64_t{-3}), C128(-3, 0));
  EXPECT_EQ(convert<C64>(C128(0.1, -0.1)), C64(0.1f, -0.1f));
}

TEST(Convert, works_at_compile_time) {
  static_assert(convert<std::int8_t>(300.0f) == 127);
  static_assert(convert<f16>(std::int64_t{1}).bits == 0x3C00);
  static_assert(convert<float>(std::complex<double>(2, 3)) == 2.0f);
}

}  // namespace
}  // namespace troupe
