// One good op of each kind for the tests over all ops, what the checks let pass, and what single elements mean. What
// they refuse, and in which words, is in refusals_primitives.test.cpp.
#include "troupe/op/primitives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "troupe/op/primitives_functions.hpp"
#include "troupe/op/samples.test.hpp"

namespace troupe::op {

void add_primitives_samples(Samples& add) {
  const auto verdict = [&] { return add.view({kPrimitivesVerdictWords}, DType::i32); };
  const auto count = [&] { return add.view({1}, DType::i64); };
  const auto offsets = [&] { return add.view({4}, DType::i64); };
  add(PrimitivesScan{.function = Combine::sum, .exclusive = true, .x = add.view({2, 3}), .y = add.view({2, 3})});
  add(PrimitivesReduce{.function = Combine::max, .x = add.view({2, 3}), .y = add.view({2})});
  add(PrimitivesArgReduce{.greatest = true, .x = add.view({2, 3}), .indices = add.view({2}, DType::i32)});
  add(PrimitivesSort{.order = SortOrder::descending,
                     .has_values = true,
                     .keys = add.view({2, 3}),
                     .sorted = add.view({2, 3}),
                     .values = add.view({2, 3}, DType::c128),
                     .moved = add.view({2, 3}, DType::c128)});
  add(PrimitivesArgSort{
      .order = SortOrder::ascending, .keys = add.view({2, 3}), .indices = add.view({2, 3}, DType::i64)});
  add(PrimitivesTopK{
      .greatest = false, .keys = add.view({2, 5}), .best = add.view({2, 3}), .indices = add.view({2, 3}, DType::i64)});
  add(PrimitivesSegmentedSort{.order = SortOrder::ascending,
                              .has_values = true,
                              .offsets = offsets(),
                              .keys = add.view({7}),
                              .sorted = add.view({7}),
                              .values = add.view({7}, DType::u8),
                              .moved = add.view({7}, DType::u8),
                              .verdict = verdict()});
  add(PrimitivesSegmentedReduce{
      .function = Combine::min, .offsets = offsets(), .x = add.view({7}), .y = add.view({3}), .verdict = verdict()});
  add(PrimitivesSegmentedScan{.function = Combine::product,
                              .exclusive = false,
                              .offsets = offsets(),
                              .x = add.view({7}),
                              .y = add.view({7}),
                              .verdict = verdict()});
  add(PrimitivesHistogram{.low = -1, .high = 2, .x = add.view({2, 3}), .counts = add.view({10}, DType::i64)});
  add(PrimitivesHistogramBounds{
      .x = add.view({2, 3}), .bounds = add.view({11}), .counts = add.view({10}, DType::i32), .verdict = verdict()});
  add(PrimitivesSelect{.has_x = true,
                       .keeps_rest = true,
                       .flags = add.view({7}, DType::boolean),
                       .x = add.view({7}),
                       .y = add.view({7}),
                       .count = count()});
  add(PrimitivesUnique{.has_lengths = true,
                       .x = add.view({7}),
                       .y = add.view({7}),
                       .lengths = add.view({7}, DType::i32),
                       .count = count()});
  add(PrimitivesSearch{
      .after_equal = true, .sorted = add.view({7}), .keys = add.view({2, 3}), .places = add.view({2, 3}, DType::i64)});
  add(PrimitivesGather{
      .x = add.view({2, 7}), .indices = add.view({2, 3}, DType::i64), .y = add.view({2, 3}), .verdict = verdict()});
  add(PrimitivesScatter{.rule = Duplicates::add,
                        .x = add.view({2, 3}),
                        .indices = add.view({2, 3}, DType::i32),
                        .y = add.view({2, 7}),
                        .verdict = verdict()});
  add(PrimitivesSets{.operation = SetOperation::unite,
                     .a = add.view({7}),
                     .b = add.view({5}),
                     .y = add.view({12}),
                     .count = count(),
                     .verdict = verdict()});
}

namespace {

using primitives::combine;
using primitives::neutral;
using primitives::rank_of;

TEST(PrimitivesChecks, let_sums_of_integers_be_wider) {
  Places at;
  PrimitivesScan scan{.function = Combine::sum, .exclusive = false, .x = at({3}, DType::i8), .y = at({3}, DType::i64)};
  EXPECT_TRUE(check(scan));
  scan.x = at({3}, DType::u32);
  EXPECT_FALSE(check(scan)) << "u32 adds up to u32 or u64";
  scan.y = at({3}, DType::u64);
  EXPECT_TRUE(check(scan));
  scan.function = Combine::max;
  EXPECT_FALSE(check(scan));
}

TEST(PrimitivesChecks, let_rows_without_elements_pass_where_they_have_a_meaning) {
  Places at;
  EXPECT_TRUE(check(PrimitivesReduce{.function = Combine::sum, .x = at({2, 0}), .y = at({2})}));
  EXPECT_TRUE(check(PrimitivesSort{
      .order = {}, .has_values = false, .keys = at({2, 0}), .sorted = at({2, 0}), .values = {}, .moved = {}}));
  EXPECT_TRUE(check(PrimitivesArgReduce{.greatest = true, .x = at({0, 0}), .indices = at({0}, DType::i64)}));
}

/// Keys in their order, equal ones in one list.
template <class T>
void expect_in_order(const std::vector<std::vector<T>>& classes) {
  for (std::size_t i = 0; i < classes.size(); ++i)
    for (const T key : classes[i]) {
      EXPECT_EQ(rank_of(key), rank_of(classes[i].front()));
      if (i > 0) {
        EXPECT_LT(rank_of(classes[i - 1].front()), rank_of(key)) << i;
      }
    }
}

template <class T>
void expect_floats_in_order() {
  using Limits = std::numeric_limits<float>;
  const float nan = Limits::quiet_NaN(), infinity = Limits::infinity();
  expect_in_order<T>({{T(-infinity)},
                      {T(-3.0F)},
                      {T(-1e-4F)},
                      {T(0.0F), T(-0.0F)},
                      {T(1e-4F)},
                      {T(2.0F)},
                      {T(infinity)},
                      {T(nan), T(-nan), T(std::copysign(nan, -1.0F))}});
}

TEST(PrimitivesRanks, of_floats_are_in_numpys_order) {
  expect_floats_in_order<f16>();
  expect_floats_in_order<bf16>();
  expect_floats_in_order<float>();
  expect_floats_in_order<double>();
}

template <class T>
void expect_all_in_order() {
  using Limits = std::numeric_limits<T>;
  for (int i = Limits::min(); i < Limits::max(); ++i)
    ASSERT_LT(rank_of(static_cast<T>(i)), rank_of(static_cast<T>(i + 1))) << i;
}

TEST(PrimitivesRanks, of_integers_are_in_their_order) {
  expect_all_in_order<std::int8_t>();
  expect_all_in_order<std::uint8_t>();
  expect_all_in_order<std::int16_t>();
  expect_all_in_order<std::uint16_t>();
  expect_in_order<std::int32_t>({{std::numeric_limits<std::int32_t>::min()}, {-1}, {0}, {7}});
  expect_in_order<std::uint64_t>({{0}, {1}, {std::numeric_limits<std::uint64_t>::max()}});
  expect_in_order<bool>({{false}, {true}});
}

TEST(PrimitivesRanks, of_all_f16_are_in_the_order_of_their_values) {
  for (unsigned a = 0; a < 0x10000; ++a)
    for (const unsigned b : {a + 1, a ^ 0x8000, a * 31 + 7}) {
      const f16 one = f16::from_bits(static_cast<std::uint16_t>(a)),
                two = f16::from_bits(static_cast<std::uint16_t>(b));
      const auto left = static_cast<float>(one), right = static_cast<float>(two);
      const bool less = left < right || (!std::isnan(left) && std::isnan(right));
      ASSERT_EQ(rank_of(one) < rank_of(two), less) << a << " " << b;
    }
}

TEST(PrimitivesCombine, gives_nan_where_there_is_one) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(combine<Combine::min>(nan, 1.0)));
  EXPECT_TRUE(std::isnan(combine<Combine::min>(1.0, nan)));
  EXPECT_TRUE(std::isnan(combine<Combine::max>(1.0, nan)));
  EXPECT_EQ(combine<Combine::max>(1.0, neutral<Combine::max, double>()), 1.0);
  EXPECT_EQ(combine<Combine::min>(1.0, neutral<Combine::min, double>()), 1.0);
}

TEST(PrimitivesCombine, wraps_integers) {
  EXPECT_EQ(combine<Combine::product>(std::int16_t{-32768}, std::int16_t{-32768}), 0);
  EXPECT_EQ(combine<Combine::sum>(std::numeric_limits<std::int32_t>::max(), 1),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(combine<Combine::sum>(std::uint8_t{200}, std::uint8_t{100}), 44);
  EXPECT_EQ(combine<Combine::bit_xor>(true, true), false);
  EXPECT_EQ((neutral<Combine::bit_and, std::int8_t>()), -1);
  EXPECT_EQ((neutral<Combine::bit_and, bool>()), true);
}

TEST(PrimitivesBins, have_their_lower_bound_and_the_last_one_both) {
  using primitives::bin_of;
  EXPECT_EQ(bin_of(0, 0, 1, 10), 0);
  EXPECT_EQ(bin_of(0.5, 0, 1, 10), 5);
  EXPECT_EQ(bin_of(1, 0, 1, 10), 9);
  EXPECT_EQ(bin_of(std::nextafter(1.0, 2.0), 0, 1, 10), -1);
  EXPECT_EQ(bin_of(-0.0, 0, 1, 10), 0);
  EXPECT_EQ(bin_of(-1e-300, 0, 1, 10), -1);
  EXPECT_EQ(bin_of(std::numeric_limits<double>::quiet_NaN(), 0, 1, 10), -1);
}

}  // namespace
}  // namespace troupe::op
