#include "troupe/backend/host/solver/lapack.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "troupe/backend/host/blas/blas_library.hpp"
#include "troupe/backend/host/solver/lapack_calls.hpp"

namespace troupe::host {
namespace {

template <class T>
class LapackOf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto found = lapack<T>(); !found) GTEST_SKIP() << found.error().message();
  }
};
using LapackTypes = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LapackOf, LapackTypes);

TYPED_TEST(LapackOf, is_found_once) { EXPECT_EQ(*lapack<TypeParam>(), *lapack<TypeParam>()); }

TYPED_TEST(LapackOf, solves_by_columns) {
  using T = TypeParam;
  const auto calls = value(LapackCalls<T>::make());
  const auto a = value(Packed<T>::make(2, 2));
  const auto b = value(Packed<T>::make(2, 1));
  a.at(0, 0) = T(0);  // so that a pivot is needed
  a.at(0, 1) = T(2);
  a.at(1, 0) = T(4);
  a.at(1, 1) = T(0);
  b.at(0, 0) = T(2);
  b.at(1, 0) = T(8);
  std::vector<int> pivots(2);
  EXPECT_EQ(calls.lu(a, pivots), 0);
  EXPECT_EQ(pivots[0], 2);
  EXPECT_EQ(calls.lu_solve(a, pivots, b), 0);
  EXPECT_EQ(b.at(0, 0), T(2));
  EXPECT_EQ(b.at(1, 0), T(1));
}

/// Scratch memory of a library still holds what the call before it had, and that may have been somebody else's.
TYPED_TEST(LapackOf, does_not_read_what_an_earlier_call_left) {
  using T = TypeParam;
  using R = detail::RealType<T>;
  constexpr int kMuch = 1000;
  const auto calls = value(LapackCalls<T>::make());
  const std::vector<T> nans(static_cast<std::size_t>(kMuch * kMuch), T(std::numeric_limits<R>::quiet_NaN()));
  std::vector<T> product(nans.size());
  const T one(1);
  const T zero(0);
  using L = BlasLibrary;
  for (const int n : {8, 31, 70}) {
    SCOPED_TRACE(n);
    const auto a = value(Packed<T>::make(n, n));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) a.at(i, j) = T(i == j ? 2 : 1);
    std::vector<R> w(static_cast<std::size_t>(n));
    open_blas()->of<T>().gemm(L::kColumnMajor, L::kNoTranspose, L::kNoTranspose, kMuch, kMuch, kMuch, L::factor<T>(one),
                              nans.data(), kMuch, nans.data(), kMuch, L::factor<T>(zero), product.data(), kMuch);
    EXPECT_EQ(value(calls.eigh(a, nullptr, w, true)), 0);
    EXPECT_NEAR(w.front(), 1, 1e-4);
    EXPECT_NEAR(w.back(), n + 1, 1e-3);
  }
}

TEST(Packed, is_refused_when_lapack_could_not_count_it) {
  const auto made = Packed<float>::make(kMostElements, 2);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind(), ErrorKind::unsupported);
  EXPECT_NE(made.error().message().find("2^28"), std::string::npos);
}

TEST(Packed, takes_and_gives_any_strides) {
  std::vector<double> rows{1, 2, 3, 4, 5, 6};
  const HostView by_rows{
      .data = reinterpret_cast<std::byte*>(rows.data()), .dtype = DType::f64, .shape = {2, 3}, .strides = {3, 1}};
  const auto packed = value(Packed<double>::from(by_rows));
  EXPECT_EQ(packed.at(1, 0), 4);
  EXPECT_EQ(packed.data()[1], 4) << "in columns";
  std::vector<double> turned(6);
  const HostView upside_down{.data = reinterpret_cast<std::byte*>(turned.data() + 3),
                             .dtype = DType::f64,
                             .shape = {2, 3},
                             .strides = {-3, 1}};
  value(packed.give(upside_down));
  EXPECT_EQ(turned, (std::vector<double>{4, 5, 6, 1, 2, 3}));
}

}  // namespace
}  // namespace troupe::host
