#include "troupe/backend/host/solver/finite.hpp"

#include <gtest/gtest.h>

namespace troupe::host {
namespace {

template <class T>
class FiniteOf : public ::testing::Test {};
using FiniteTypes = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(FiniteOf, FiniteTypes);

TYPED_TEST(FiniteOf, finds_a_bad_number_wherever_it_is) {
  using T = TypeParam;
  using R = detail::RealType<T>;
  using Limits = std::numeric_limits<R>;
  for (const std::size_t count : {0, 1, 7, 8, 16, 67}) {
    std::vector<T> numbers(count, T(-Limits::max()));
    for (std::size_t i = 0; i < count; i += 3) numbers[i] = T(Limits::denorm_min());
    EXPECT_TRUE(all_finite(std::span<const T>(numbers)));
    for (std::size_t i = 0; i < count; ++i)
      for (const R bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), -Limits::quiet_NaN()}) {
        std::vector<T> spoilt = numbers;
        reinterpret_cast<R*>(spoilt.data())[kPartsOf<T> * static_cast<std::int64_t>(i + 1) - 1] = bad;
        EXPECT_FALSE(all_finite(std::span<const T>(spoilt))) << i << " of " << count;
      }
  }
}

TYPED_TEST(FiniteOf, looks_at_the_lower_triangle_only) {
  using T = TypeParam;
  const T nan(std::numeric_limits<detail::RealType<T>>::quiet_NaN());
  for (int row = 0; row < 5; ++row)
    for (int column = 0; column < 5; ++column) {
      const auto m = value(Packed<T>::make(5, 5));
      m.fill(T(1));
      m.at(row, column) = nan;
      EXPECT_EQ(lower_is_finite(m, Team::of_one()), row < column);
      EXPECT_FALSE(all_finite(m, Team::of_one()));
    }
}

}  // namespace
}  // namespace troupe::host
