// Every level that this CPU has computes with integers and bool what the plain definitions do, to the bit.
#include "troupe/backend/host/vectors/whole_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "troupe/core/enum_names.hpp"
#include "troupe/core/seed.test.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::host {
namespace {

constexpr std::int64_t kCount = 1003;

/// Numbers of any bits, and some that bits can be shifted by.
template <class T>
std::unique_ptr<T[]> some_numbers(std::mt19937_64& random) {
  auto numbers = std::make_unique<T[]>(kCount);  // a vector of bool would be bits
  for (std::size_t i = 0; i < kCount; ++i)
    numbers[i] = static_cast<T>(i % 2 == 0 ? random() >> 3 : random() % (8 * sizeof(T) + 2));
  return numbers;
}

/// Calls `f` with every function of a kind that `T` has, as a constant.
template <class T, class F, class Call>
void each(Call&& call) {
  const auto attempt = [&]<F function>(std::integral_constant<F, function> known) {
    if constexpr (tensor::kHas<T, function>) call(known);
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (attempt(std::integral_constant<F, static_cast<F>(i)>{}), ...);
  }(std::make_index_sequence<kFunctionsOf<F>>{});
}

template <class T>
class WholeRowsOf : public testing::Test {
 protected:
  /// What `run(out)` writes is what `expected(i)` gives, at every level.
  template <class Run, class Expected>
  void expect_rows(std::string_view function, const Run& run, const Expected& expected) {
    for (int i = 0; i < kVectorLevels; ++i) {
      const auto level = static_cast<VectorLevel>(i);
      if (!has(level)) continue;
      const auto out = std::make_unique<T[]>(kCount);
      run(std::get<NumberRows<T>>(whole_rows(level).numbers), out.get());
      for (std::size_t k = 0; k < kCount; ++k)
        ASSERT_EQ(out[k], expected(k)) << name(level) << " " << function << " of element " << k;
    }
  }
  std::mt19937_64 random{test_seed()};
  const std::unique_ptr<T[]> a = some_numbers<T>(random);
  const std::unique_ptr<T[]> b = some_numbers<T>(random);
  const std::unique_ptr<T[]> c = some_numbers<T>(random);
};
using WholeTypes = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                  std::int64_t, std::uint64_t, bool>;
TYPED_TEST_SUITE(WholeRowsOf, WholeTypes);

TYPED_TEST(WholeRowsOf, compute_functions_as_they_are_defined) {
  using T = TypeParam;
  each<T, Unary>([&]<Unary f>(std::integral_constant<Unary, f>) {
    this->expect_rows(
        enum_name<f>(),
        [&](const NumberRows<T>& rows, T* out) { rows.unary[static_cast<std::size_t>(f)](this->a.get(), out, kCount); },
        [&](std::size_t i) { return tensor::apply<f>(this->a[i]); });
  });
  each<T, Binary>([&]<Binary f>(std::integral_constant<Binary, f>) {
    this->expect_rows(
        enum_name<f>(),
        [&](const NumberRows<T>& rows, T* out) {
          rows.binary[static_cast<std::size_t>(f)](this->a.get(), this->b.get(), out, kCount);
        },
        [&](std::size_t i) { return tensor::apply<f>(this->a[i], this->b[i]); });
  });
  each<T, Ternary>([&]<Ternary f>(std::integral_constant<Ternary, f>) {
    this->expect_rows(
        enum_name<f>(),
        [&](const NumberRows<T>& rows, T* out) {
          rows.ternary[static_cast<std::size_t>(f)](this->a.get(), this->b.get(), this->c.get(), out, kCount);
        },
        [&](std::size_t i) { return tensor::apply<f>(this->a[i], this->b[i], this->c[i]); });
  });
}

template <class A>
void expect_folds() {
  std::mt19937_64 random{test_seed()};
  const auto row = some_numbers<A>(random);
  for (int i = 0; i < kVectorLevels; ++i) {
    const auto level = static_cast<VectorLevel>(i);
    if (!has(level)) continue;
    each<A, Reduction>([&]<Reduction f>(std::integral_constant<Reduction, f>) {
      for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, std::int64_t{33}, kCount}) {
        A want = tensor::nothing<f, A>();
        for (std::int64_t k = 0; k < count; ++k) want = tensor::combine<f>(want, row[static_cast<std::size_t>(k)]);
        const auto fold = std::get<FoldRows<A>>(whole_rows(level).fold).fold[static_cast<std::size_t>(f)];
        EXPECT_EQ(fold(row.get(), count), want) << name(level) << " " << enum_name<f>() << " of " << count;
      }
    });
  }
}

TEST(WholeRows, fold_integers_of_64_bits_which_wrap) {
  expect_folds<std::int64_t>();
  expect_folds<std::uint64_t>();
}

}  // namespace
}  // namespace troupe::host
