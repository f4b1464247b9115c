// The bits against those that others publish, the functions against the standard library's in higher precision, and
// the methods against what they must give.
#include "troupe/op/random_functions.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

#if __has_include(<Random123/philox.h>)
#include <Random123/philox.h>
#endif

#include "troupe/core/sanitized.hpp"

namespace troupe::random {
namespace {

using Words = std::array<std::uint32_t, 4>;

Words words_of(const Block& block) { return {block.words[0], block.words[1], block.words[2], block.words[3]}; }
Words philox_of(const Words& counter, std::uint64_t key) {
  return words_of(philox({key, counter[3]}, counter[0] | std::uint64_t{counter[1]} << 32, counter[2]));
}

// As in the file kat_vectors of Random123.
TEST(Philox, gives_the_known_answers) {
  EXPECT_EQ(philox_of({0, 0, 0, 0}, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_of({~0U, ~0U, ~0U, ~0U}, ~std::uint64_t{0}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_of({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0'a4093822),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, gives_what_random123_gives) {
#if __has_include(<Random123/philox.h>)
  std::mt19937 engine(1);
  const auto draw = [&] { return static_cast<std::uint32_t>(engine()); };
  r123::Philox4x32_R<10> theirs;
  for (int i = 0; i < 1000; ++i) {
    const Words counter{draw(), draw(), draw(), draw()};
    const std::array<std::uint32_t, 2> key{draw(), draw()};
    const r123::Philox4x32_R<10>::ctr_type found =
        theirs({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
    const Words ours = philox_of(counter, key[0] | std::uint64_t{key[1]} << 32);
    ASSERT_EQ(ours, (Words{found[0], found[1], found[2], found[3]})) << i;
  }
#else
  GTEST_SKIP() << "Random123 (librandom123-dev) is not installed";
#endif
}

/// How many units in the last place `got` is off.
template <class F>
double ulps(F got, long double want) {
  if (got == want) return 0;
  const F near = std::fabs(static_cast<F>(want));
  const long double unit = std::nextafter(near, std::numeric_limits<F>::infinity()) - near;
  return static_cast<double>(std::fabs(got - want) / unit);
}

TEST(RandomMath, logarithms_are_within_2_ulp) {
  std::mt19937_64 engine(2);
  double worst = 0;
  float worst_f32 = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double x = i % 2 == 0 ? fine_unit(engine()) : open_unit(engine()) * std::ldexp(1.0, i % 60);
    worst = std::max(worst, ulps(log(x), std::log(static_cast<long double>(x))));
    const float y = fine_unit(static_cast<std::uint32_t>(engine()));
    worst_f32 = std::max(worst_f32, static_cast<float>(ulps(log(y), std::log(static_cast<long double>(y)))));
  }
  EXPECT_LE(worst, 2);
  EXPECT_LE(worst_f32, 2);
  EXPECT_EQ(log(1.0), 0);
  EXPECT_EQ(log(1.0F), 0);
}

TEST(RandomMath, exponentials_are_within_2_ulp) {
  std::mt19937_64 engine(3);
  double worst = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double x = (open_unit(engine()) - 0.5) * (i % 2 == 0 ? 4 : 1400);
    worst = std::max(worst, ulps(exp(x), std::exp(static_cast<long double>(x))));
  }
  EXPECT_LE(worst, 2);
  EXPECT_EQ(exp(0.0), 1);
  EXPECT_EQ(exp(800.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(exp(std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
  EXPECT_EQ(exp(-800.0), 0);
  EXPECT_EQ(exp(-740.0), std::exp(-740.0)) << "a subnormal number";
}

TEST(RandomMath, sines_and_cosines_are_within_3_ulp) {
  std::mt19937_64 engine(4);
  const long double turn = 2 * std::acos(-1.0L);
  double worst = 0;
  double worst_f32 = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t turns = i < 100 ? std::uint64_t(i) << 46 | 1 : engine() >> 11;
    const long double angle = turn * static_cast<long double>(turns) * 0x1p-53L;
    const SineCosine<double> got = sine_cosine(turns);
    // Near a multiple of pi, the angle itself is not exact: what is left of it is.
    if (std::fabs(std::sin(angle)) > 1e-3L) worst = std::max(worst, ulps(got.sine, std::sin(angle)));
    if (std::fabs(std::cos(angle)) > 1e-3L) worst = std::max(worst, ulps(got.cosine, std::cos(angle)));
    const auto narrow = static_cast<std::uint32_t>(turns >> 21);
    const long double other = turn * static_cast<long double>(narrow) * 0x1p-32L;
    const SineCosine<float> got_f32 = sine_cosine(narrow);
    if (std::fabs(std::sin(other)) > 1e-6L) worst_f32 = std::max(worst_f32, ulps(got_f32.sine, std::sin(other)));
    if (std::fabs(std::cos(other)) > 1e-6L) worst_f32 = std::max(worst_f32, ulps(got_f32.cosine, std::cos(other)));
  }
  EXPECT_LE(worst, 3);
  EXPECT_LE(worst_f32, 3);
  EXPECT_EQ(sine_cosine(std::uint64_t{0}).sine, 0);
  EXPECT_EQ(sine_cosine(std::uint64_t{1} << 51).cosine, 0) << "a quarter of a turn";
  EXPECT_EQ(sine_cosine(std::uint32_t{3} << 30).sine, -1);
  EXPECT_NEAR(sine_cosine(std::uint64_t{1}).sine, static_cast<double>(turn) * 0x1p-53, 1e-31);
}

TEST(RandomMath, integers_become_doubles_without_loss) {
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32,
        (std::uint64_t{1} << 53) - 1, std::uint64_t{0x0009'3456'789A'BCDE}})
    EXPECT_EQ(to_double(number), static_cast<double>(number)) << number;
}

TEST(RandomMath, products_have_128_bits) {
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(product(most, most).high, most - 1);
  EXPECT_EQ(product(most, most).low, 1U);
  EXPECT_EQ(product(0x1234'5678'9ABC'DEF0, 0x0FED'CBA9'8765'4321).high, 0x0121'FA00'AD77'D742U);
}

TEST(RandomMath, factorials) {
  long double sum = 0;
  for (int k = 0; k < 200; ++k) {
    if (k > 1) sum += std::log(static_cast<long double>(k));
    EXPECT_NEAR(log_factorial(k), static_cast<double>(sum), 1e-12 * std::max(1.0, static_cast<double>(sum))) << k;
  }
}

TEST(RandomMath, normal_quantiles_are_those_below_which_the_part_is) {
  EXPECT_EQ(normal_quantile(0.5), 0);
  for (double part = 0x1p-53; part < 0.5; part = part * 1.3 + 1e-18) {
    const double quantile = normal_quantile(part);
    const double below = std::erfc(-quantile / std::sqrt(2.0)) / 2;
    // As far off as the quantile itself is by few units in the last place.
    EXPECT_NEAR(below / part, 1, 1e-14 + std::fabs(quantile * quantile) * 0x1p-51) << part;
    if (part > 0.001) {
      EXPECT_NEAR(normal_quantile(1 - part), -quantile, 1e-13) << part;
    }
  }
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-15);
}

TEST(RandomUnits, never_reach_their_ends) {
  for (const std::uint64_t bits : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    EXPECT_GT(open_unit(bits), 0);
    EXPECT_LT(open_unit(bits), 1);
    EXPECT_GT(fine_unit(bits), 0);
    EXPECT_LT(fine_unit(bits), 1);
    EXPECT_GT(fine_unit(static_cast<std::uint32_t>(bits)), 0);
    EXPECT_LT(fine_unit(static_cast<std::uint32_t>(bits)), 1);
    EXPECT_TRUE(std::isfinite(cauchy(0, 1, bits)));
    EXPECT_GT(exponential(1, bits), 0);
    EXPECT_TRUE(std::isfinite(normal_pair(bits, bits).cosine));
  }
  EXPECT_EQ(fine_unit(std::uint64_t{0}), 0x1p-64);
  EXPECT_EQ(between(1.0F, 1.0F, std::nextafter(2.0F, 0.0F), 1.0F), std::nextafter(2.0F, 0.0F));
}

/// The sum of (found - expected)^2 / expected.
double chi_squared(const std::vector<int>& counts, double expected) {
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(RandomBelow, is_unbiased_where_multiplying_alone_is_not) {
  // Of 3 2^30 numbers: without rejection, every third would come twice as often.
  const std::uint32_t range = 3U << 30;
  std::vector<int> counts(3);
  for (std::uint64_t position = 0; position < 30'000; ++position) {
    const Block block = philox({5, 0}, position / 4, kWords);
    const std::uint32_t found = below(range, block.words[position % 4], OwnNumbers({5, 0}, position));
    ASSERT_LT(found, range);
    ++counts[found % 3];
  }
  EXPECT_LT(chi_squared(counts, 10'000), 13.8) << "1 in 1000 of 2 degrees of freedom";
  std::vector<int> wide(3);
  const std::uint64_t wide_range = std::uint64_t{3} << 62;
  for (std::uint64_t position = 0; position < 30'000; ++position) {
    OwnNumbers own({6, 0}, position);
    const std::uint64_t found = below(wide_range, own.next(), own);
    ASSERT_LT(found, wide_range);
    ++wide[found % 3];
  }
  EXPECT_LT(chi_squared(wide, 10'000), 13.8);
}

TEST(RandomChance, looks_at_64_bits) {
  const OwnNumbers own({1, 0}, 1);
  EXPECT_FALSE(happens(chance_of(0), 0, own));
  EXPECT_TRUE(happens(chance_of(1), ~0U, own));
  EXPECT_TRUE(happens(chance_of(0.5), 0x7FFF'FFFF, own));
  EXPECT_FALSE(happens(chance_of(0.5), 0x8000'0000, own));
  int happened = 0;  // half of a word's last step: only further bits tell
  for (std::uint64_t position = 0; position < 1000; ++position)
    happened += happens(chance_of(0x1p-33), 0, OwnNumbers({1, 0}, position)) ? 1 : 0;
  EXPECT_NEAR(happened, 500, 60);
}

TEST(RandomPoisson, ends_where_rounding_has_left_nothing_to_add) {
  const double last = open_unit(~std::uint64_t{0});
  double most = 0;
  for (double rate = 0.01; rate < 10; rate += 0.01) most = std::max(most, small_poisson(poisson_numbers(rate), last));
  EXPECT_GT(most, 40);
  EXPECT_LT(most, 60);
}

TEST(RandomBeta, is_a_number_from_0_to_1_for_the_smallest_shapes) {
  int ones = 0;
  for (std::uint64_t position = 0; position < 1000; ++position) {
    const double found = beta(0x1p-1000, 0x1p-1000, OwnNumbers({4, 0}, position));
    ASSERT_TRUE(found >= 0 && found <= 1) << found;
    ones += found == 1 ? 1 : 0;
  }
  EXPECT_NEAR(ones, 500, 60);
}

TEST(RandomPermutation, is_one_for_every_count) {
  for (std::uint64_t count = 1; count < 300; ++count) {
    const Permutation places({9, 0}, count, count);
    std::vector<bool> seen(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t place = places(i);
      ASSERT_LT(place, count);
      ASSERT_FALSE(seen[place]) << place << " comes twice of " << count;
      seen[place] = true;
    }
  }
}

/// How often each order of `count` elements comes in `draws` permutations.
std::map<std::vector<std::uint64_t>, int> orders(std::uint64_t count, int draws) {
  std::map<std::vector<std::uint64_t>, int> all;
  for (int draw = 0; draw < draws; ++draw) {
    const Permutation places({11, 0}, static_cast<std::uint64_t>(draw), count);
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = 0; i < count; ++i) order.push_back(places(i));
    ++all[order];
  }
  return all;
}

TEST(RandomPermutation, gives_every_order_as_often_as_the_others) {
  const int per_order = kSanitized ? 50 : 400;
  struct Case {
    std::uint64_t count;
    std::size_t orders;
    double limit;  // 1 in 1000
  };
  for (const Case& each : {Case{2, 2, 10.8}, Case{3, 6, 20.5}, Case{4, 24, 49.7}, Case{5, 120, 170.0}}) {
    const auto found = orders(each.count, per_order * static_cast<int>(each.orders));
    EXPECT_EQ(found.size(), each.orders);
    std::vector<int> counts;
    for (const auto& [order, count] : found) counts.push_back(count);
    EXPECT_LT(chi_squared(counts, per_order), each.limit) << each.count;
  }
}

TEST(RandomPermutation, works_with_the_largest_counts) {
  const std::uint64_t count = (std::uint64_t{1} << 63) - 1;
  const Permutation places({12, 0}, 0, count);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_LT(places(count - 1 - i), count);
}

}  // namespace
}  // namespace troupe::random
