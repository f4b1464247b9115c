#include "troupe/op/promotion.hpp"

#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <string>

namespace troupe::op {
namespace {

static_assert(promoted({DType::i8, DType::u8, DType::f16}) == DType::f16, "floats come first");
static_assert(promoted({}) == DType::boolean);

/// `numpy.promote_types` for each pair, of bfloat16 with the package ml_dtypes. That refuses bfloat16 with f16 and with
/// integers of more than 8 bits; for these it is the smallest type that holds both.
constexpr const char* kNumPy = R"(
      bool i8   u8   i16  u16  i32  u32  i64  u64  f16  bf16 f32  f64  c64  c128
bool  bool i8   u8   i16  u16  i32  u32  i64  u64  f16  bf16 f32  f64  c64  c128
i8    i8   i8   i16  i16  i32  i32  i64  i64  f64  f16  bf16 f32  f64  c64  c128
u8    u8   i16  u8   i16  u16  i32  u32  i64  u64  f16  bf16 f32  f64  c64  c128
i16   i16  i16  i16  i16  i32  i32  i64  i64  f64  f32  f32  f32  f64  c64  c128
u16   u16  i32  u16  i32  u16  i32  u32  i64  u64  f32  f32  f32  f64  c64  c128
i32   i32  i32  i32  i32  i32  i32  i64  i64  f64  f64  f64  f64  f64  c128 c128
u32   u32  i64  u32  i64  u32  i64  u32  i64  u64  f64  f64  f64  f64  c128 c128
i64   i64  i64  i64  i64  i64  i64  i64  i64  f64  f64  f64  f64  f64  c128 c128
u64   u64  f64  u64  f64  u64  f64  u64  f64  u64  f64  f64  f64  f64  c128 c128
f16   f16  f16  f16  f32  f32  f64  f64  f64  f64  f16  f32  f32  f64  c64  c128
bf16  bf16 bf16 bf16 f32  f32  f64  f64  f64  f64  f32  bf16 f32  f64  c64  c128
f32   f32  f32  f32  f32  f32  f64  f64  f64  f64  f32  f32  f32  f64  c64  c128
f64   f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
c64   c64  c64  c64  c64  c64  c128 c128 c128 c128 c64  c64  c64  c128 c64  c128
c128  c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
)";

DType dtype_named(const std::string& text) {
  for (int i = 0; i < kDTypes; ++i)
    if (name(static_cast<DType>(i)) == text) return static_cast<DType>(i);
  ADD_FAILURE() << text << " is no type";
  return {};
}

TEST(Promotion, is_numpys) {
  std::istringstream words(kNumPy);
  constexpr std::size_t kTypes = kDTypes - 2;  // NumPy has no floats of 8 bits
  std::array<DType, kTypes> columns;
  std::string word;
  for (DType& column : columns) {
    words >> word;
    column = dtype_named(word);
  }
  for (std::size_t row = 0; row < kTypes; ++row) {
    words >> word;
    const DType a = dtype_named(word);
    EXPECT_EQ(a, columns[row]);
    for (const DType b : columns) {
      words >> word;
      EXPECT_EQ(name(promoted(a, b)), word) << name(a) << " and " << name(b);
    }
  }
}

TEST(Promotion, takes_floats_of_8_bits_for_others_where_these_hold_them) {
  using enum DType;
  EXPECT_EQ(promoted(f8e4m3, f8e5m2), f16);
  EXPECT_EQ(promoted(f8e4m3, boolean), f8e4m3);
  EXPECT_EQ(promoted(f8e4m3, bf16), bf16);
  EXPECT_EQ(promoted(f8e5m2, i8), f16);
  EXPECT_EQ(promoted(f8e5m2, i16), f32);
  EXPECT_EQ(promoted(f8e5m2, u16), f32);
  EXPECT_EQ(promoted(f8e5m2, u64), f64);
  EXPECT_EQ(promoted(f8e5m2, c64), c64);
}

/// A float of 8 bits, which no op computes with others.
bool is_tiny(DType dtype) { return dtype == DType::f8e4m3 || dtype == DType::f8e5m2; }

TEST(Promotion, does_not_depend_on_the_order_of_types) {
  for (int i = 0; i < kDTypes; ++i)
    for (int j = 0; j < kDTypes; ++j)
      for (int k = 0; k < kDTypes; ++k) {
        const auto a = static_cast<DType>(i), b = static_cast<DType>(j), c = static_cast<DType>(k);
        if (is_tiny(a) || is_tiny(b) || is_tiny(c)) continue;
        EXPECT_EQ(promoted(a, b), promoted(b, a));
        const DType all = promoted({a, b, c});
        EXPECT_EQ(all, promoted({c, a, b})) << name(a) << ", " << name(b) << " and " << name(c);
        EXPECT_TRUE(is_promoted_to(a, all) && is_promoted_to(b, all) && is_promoted_to(c, all));
      }
}

}  // namespace
}  // namespace troupe::op
