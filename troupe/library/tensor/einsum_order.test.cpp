#include "troupe/library/tensor/einsum_order.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "troupe/core/seed.test.hpp"
#include "troupe/core/shape.hpp"

namespace troupe {
namespace {

EinsumLetters bits_of(const std::string& letters) {
  EinsumLetters bits = 0;
  for (const char letter : letters) bits |= bit_of(letter);
  return bits;
}

EinsumProduct product_of(const std::vector<std::string>& operands, const std::string& output, double extent = 10) {
  EinsumProduct product{.operands = {}, .output = bits_of(output), .extents = {}};
  for (const std::string& operand : operands) product.operands.push_back(bits_of(operand));
  product.extents.fill(extent);
  return product;
}
void set_extent(EinsumProduct& product, char letter, double extent) {
  product.extents[static_cast<std::size_t>(std::countr_zero(bit_of(letter)))] = extent;
}

double size_of(const EinsumProduct& product, EinsumLetters letters) {
  double size = 1;
  for (; letters != 0; letters &= letters - 1)
    size *= product.extents[static_cast<std::size_t>(std::countr_zero(letters))];
  return size;
}

/// The letters that an item keeps: those of the output and of the others.
EinsumLetters kept(EinsumLetters item, const std::vector<EinsumLetters>& others, EinsumLetters output) {
  for (const EinsumLetters other : others) output |= other;
  return item & output;
}

/// By trying every order.
double fewest_multiplications(const EinsumProduct& product, const std::vector<EinsumLetters>& items) {
  if (items.size() == 1) return 0;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t j = i + 1; j < items.size(); ++j) {
      std::vector<EinsumLetters> rest;
      for (std::size_t k = 0; k < items.size(); ++k)
        if (k != i && k != j) rest.push_back(items[k]);
      std::vector<EinsumLetters> beside_i = rest, beside_j = rest;
      beside_i.push_back(items[j]);
      beside_j.push_back(items[i]);
      const EinsumLetters both = kept(items[i], beside_i, product.output) | kept(items[j], beside_j, product.output);
      const EinsumLetters result = kept(both, rest, product.output);
      if (!rest.empty() && std::popcount(result) > kMaxRank) continue;
      rest.push_back(result);
      best = std::min(best, size_of(product, both) + fewest_multiplications(product, rest));
    }
  return best;
}

/// Each operand and each result is used once, and the last result is the output.
void expect_complete(const EinsumProduct& product, const EinsumSteps& order) {
  ASSERT_EQ(order.steps.size(), product.operands.size() - 1);
  std::set<std::size_t> used;
  std::size_t next = product.operands.size();
  for (const EinsumStep& step : order.steps) {
    EXPECT_TRUE(step.first < next && step.second < next);
    EXPECT_TRUE(used.insert(step.first).second && used.insert(step.second).second);
    EXPECT_LE(std::popcount(step.result), kMaxRank);
    ++next;
  }
  EXPECT_EQ(order.steps.back().result, product.output);
}

TEST(EinsumOrder, multiplies_a_chain_from_its_thin_end) {
  const EinsumProduct product = product_of({"ij", "jk", "kl", "l"}, "i", 100);
  const EinsumSteps order = *order_of(product);
  expect_complete(product, order);
  EXPECT_EQ(order.multiplications, 3 * 100 * 100) << "vectors all the way";
}

TEST(EinsumOrder, multiplies_two_small_ones_before_a_large_one) {
  EinsumProduct product = product_of({"ij", "jk", "kl"}, "il");
  set_extent(product, 'i', 1000);
  set_extent(product, 'l', 2);
  const EinsumSteps order = *order_of(product);
  EXPECT_EQ(order.steps[0].first + order.steps[0].second, 1U + 2U);
  EXPECT_EQ(order.multiplications, 10 * 10 * 2 + 1000 * 10 * 2);
}

TEST(EinsumOrder, counts_no_axis_that_is_summed_before) {
  const EinsumSteps order = *order_of(product_of({"ix", "jy", "kz"}, "ijk"));
  EXPECT_EQ(order.multiplications, 10 * 10 + 10 * 10 * 10);
}

TEST(EinsumOrder, has_the_fewest_multiplications_of_all_orders) {
  const std::uint64_t seed = test_seed();
  std::mt19937_64 random(seed);
  const auto number = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  for (int round = 0; round < 300; ++round) {
    EinsumProduct product = product_of({}, "");
    for (int left = number(2, 6); left > 0; --left) {
      std::string letters;
      for (int axes = number(0, 4); axes > 0; --axes) letters += static_cast<char>('a' + number(0, 9));
      product.operands.push_back(bits_of(letters));
    }
    EinsumLetters all = 0;
    for (const EinsumLetters operand : product.operands) all |= operand;
    product.output = all & static_cast<EinsumLetters>(number(0, 1023)) & bits_of("abcdefgh");
    for (char letter = 'a'; letter <= 'j'; ++letter) set_extent(product, letter, number(1, 9));
    const std::optional<EinsumSteps> order = order_of(product);
    const double fewest = fewest_multiplications(product, product.operands);
    ASSERT_EQ(order.has_value(), fewest < std::numeric_limits<double>::infinity()) << "seed " << seed;
    if (!order) continue;
    expect_complete(product, *order);
    EXPECT_EQ(order->multiplications, fewest) << "round " << round << ", seed " << seed;
  }
}

TEST(EinsumOrder, of_many_operands_is_a_good_one) {
  std::vector<std::string> chain;
  for (char letter = 'a'; letter < 'z'; ++letter) chain.push_back({letter, static_cast<char>(letter + 1)});
  EinsumProduct product = product_of(chain, "az");
  expect_complete(product, *order_of(product));
  EXPECT_EQ(order_of(product)->multiplications, 24 * 1000.0) << "24 products of matrices, whatever the order";
  for (char letter = 'b'; letter <= 'z'; letter = static_cast<char>(letter + 2)) set_extent(product, letter, 2);
  const EinsumSteps order = *order_of(product);
  expect_complete(product, order);
  EXPECT_LE(order.multiplications, 24 * 10 * 2 * 2) << "the long axes go first";
}

TEST(EinsumOrder, is_none_where_results_have_too_many_axes) {
  EXPECT_FALSE(order_of(product_of({"abpqrstu", "cdpqrvwx", "efstuvwx"}, "abcdef", 2)));
  EXPECT_TRUE(order_of(product_of({"abpqrstu", "cdpqrvwx", "efstuvwx"}, "ace", 2)))
      << "what is summed at once does not count";
}

}  // namespace
}  // namespace troupe
