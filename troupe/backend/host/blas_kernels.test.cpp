#include "troupe/backend/host/blas_kernels.hpp"

#include <gtest/gtest.h>

#include "troupe/backend/host/guarded_array.test.hpp"

namespace troupe::host {
namespace {

/// How many elements of `got` are not y + alpha x: exactly for integers, which wrap, else within rounding.
std::int64_t wrong_sums(const op::Scalar& alpha, GuardedArray& x, GuardedArray& y, GuardedArray& got) {
  const DType dtype = got.dtype();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < got.count(); ++i) {
    if (is_integer(dtype)) {
      GuardedArray exact(dtype, {});
      exact.set(0, op::Scalar(y.integer(i) + alpha.as<std::uint64_t>() * x.integer(i)));
      wrong += got.integer(i) != exact.integer(0);
    } else {
      const Wide term = alpha.as<Wide>() * x.number(i);
      const Wide exact = y.number(i) + term;
      const double size = std::abs(y.number(i)) + std::abs(term);
      const double allowed = 2 * rounding(dtype, std::abs(exact)) + 4 * rounding(compute_dtype(dtype), size);
      wrong += !(std::abs(got.number(i) - exact) <= allowed);  // a NaN is wrong
    }
  }
  return wrong;
}

void expect_added(GuardedArray x, GuardedArray y, Random& random) {
  random.fill(x);
  random.fill(y);
  GuardedArray before = y;
  const op::Scalar alpha = random.element(y.dtype());
  ASSERT_TRUE(axpy(alpha, x.view(), y.view()));
  EXPECT_EQ(wrong_sums(alpha, x, before, y), 0);
  EXPECT_TRUE(y.guards_are_whole());
}

template <class T>
class Axpy : public RandomTest {
 public:
  static constexpr DType kDType = dtype_of<T>;
};
using Numbers =
    testing::Types<double, float, f16, bf16, f8e4m3, f8e5m2, std::int8_t, std::uint8_t, std::int16_t, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Axpy, Numbers, DTypeNames);

TYPED_TEST(Axpy, adds_in_all_layouts) {
  for (const Shape& shape :
       {Shape{}, Shape{0}, Shape{1}, Shape{31}, Shape{2, 0}, Shape{13, 7}, Shape{5, 3, 7}, Shape{2, 34, 35}}) {
    for (const NamedStrides& x : input_layouts(shape)) {
      for (const NamedStrides& y : layouts(shape)) {
        SCOPED_TRACE(shape.to_string() + " " + x.name + " to " + y.name);
        expect_added(GuardedArray(this->kDType, shape, x.strides), GuardedArray(this->kDType, shape, y.strides),
                     this->random);
      }
    }
  }
  expect_added(GuardedArray(this->kDType, {30011}), GuardedArray(this->kDType, {30011}), this->random);
}

TYPED_TEST(Axpy, converts_alpha_from_every_type) {
  for (int i = 0; i < kDTypes; ++i) {
    GuardedArray alpha(static_cast<DType>(i), {});
    GuardedArray x(this->kDType, {2});
    GuardedArray y(this->kDType, {2});
    alpha.set(0, op::Scalar(3.0));
    for (std::int64_t j = 0; j < 2; ++j) {
      x.set(j, op::Scalar(2.0));
      y.set(j, op::Scalar(1.0));
    }
    std::array<std::byte, 16> bytes{};
    std::memcpy(bytes.data(), alpha.at(0), static_cast<std::size_t>(size_bytes(alpha.dtype())));
    ASSERT_TRUE(axpy(op::Scalar::from_bytes(alpha.dtype(), bytes), x.view(), y.view()));
    EXPECT_EQ(y.number(1), 1.0 + alpha.number(0) * 2.0) << name(alpha.dtype());
  }
}

TEST(AxpyOnSmallFloats, rounds_once) {
  GuardedArray x(DType::bf16, {1});
  GuardedArray y(DType::bf16, {1});
  x.set(0, op::Scalar(1.0));
  y.set(0, op::Scalar(256.0));  // the next bf16 is 258: an alpha rounded to bf16 first, to 1, would tie and stay
  ASSERT_TRUE(axpy(op::Scalar(1.001f), x.view(), y.view()));
  EXPECT_EQ(y.number(0), 258.0);
}

TEST(AxpyOnBool, is_unsupported_and_names_the_types_that_work) {
  GuardedArray x(DType::boolean, {2});
  GuardedArray y(DType::boolean, {2});
  const Result<void> result = axpy(op::Scalar(true), x.view(), y.view());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::unsupported);
  EXPECT_NE(result.error().message().find("f8e5m2 i8"), std::string::npos);
}

TEST(AxpyOnWrongViews, answers_invalid_argument) {
  GuardedArray a(DType::f32, {2, 3});
  GuardedArray other_shape(DType::f32, {3, 2});
  GuardedArray other_type(DType::i32, {2, 3});
  EXPECT_EQ(axpy(op::Scalar(1.0), a.view(), other_shape.view()).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(axpy(op::Scalar(1.0), a.view(), other_type.view()).error().kind(), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace troupe::host
