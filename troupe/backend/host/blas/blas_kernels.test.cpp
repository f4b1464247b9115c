#include "troupe/backend/host/blas/blas_kernels.hpp"

#include <gtest/gtest.h>

#include "troupe/backend/host/kernels/guarded_array.test.hpp"

namespace troupe::host {
namespace {

/// How many elements of `got` are not y + alpha x modulo 2 to the number of bits.
std::int64_t wrong_integers(const op::Scalar& alpha, GuardedArray& x, GuardedArray& y, GuardedArray& got) {
  GuardedArray exact(got.dtype(), {});
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < got.count(); ++i) {
    exact.set(0, op::Scalar(y.integer(i) + alpha.as<std::uint64_t>() * x.integer(i)));
    wrong += got.integer(i) != exact.integer(0);
  }
  return wrong;
}

/// How many elements of `got` are further from y + alpha x than rounding explains.
std::int64_t wrong_numbers(const op::Scalar& alpha, GuardedArray& x, GuardedArray& y, GuardedArray& got) {
  const std::vector<Wide> x_numbers = x.numbers();
  const std::vector<Wide> y_numbers = y.numbers();
  const std::vector<Wide> numbers = got.numbers();
  const Wide factor = alpha.as<Wide>();
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Wide term = factor * x_numbers[i];
    const Wide exact = y_numbers[i] + term;
    const double size = std::abs(y_numbers[i]) + std::abs(term);
    const double allowed = 2 * rounding(got.dtype(), std::abs(exact)) + 4 * rounding(compute_dtype(got.dtype()), size);
    wrong += !(std::abs(numbers[i] - exact) <= allowed);  // a NaN is wrong
  }
  return wrong;
}

void expect_added(GuardedArray x, GuardedArray y, Random& random) {
  random.fill(x);
  random.fill(y);
  GuardedArray before = y;
  const op::Scalar alpha = random.element(y.dtype());
  ASSERT_TRUE(axpy(alpha, x.view(), y.view()));
  EXPECT_EQ(is_integer(y.dtype()) ? wrong_integers(alpha, x, before, y) : wrong_numbers(alpha, x, before, y), 0);
  EXPECT_TRUE(y.guards_are_whole());
}

template <class T>
class Axpy : public RandomTest {
 public:
  static constexpr DType kDType = dtype_of<T>;
};
using Numbers =
    testing::Types<double, float, f16, bf16, f8e4m3, f8e5m2, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                   std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Axpy, Numbers, DTypeNames);

TYPED_TEST(Axpy, adds_in_all_layouts) {
  const auto expect = [this](const Shape& shape, const NamedStrides& x, const NamedStrides& y) {
    SCOPED_TRACE(shape.to_string() + " " + x.name + " to " + y.name);
    expect_added(GuardedArray(this->kDType, shape, x.strides), GuardedArray(this->kDType, shape, y.strides),
                 this->random);
  };
  for (const Shape& shape :
       {Shape{}, Shape{0}, Shape{1}, Shape{31}, Shape{2, 0}, Shape{13, 7}, Shape{5, 3, 7}, Shape{34, 35}}) {
    for (const NamedStrides& x : input_layouts(shape)) expect(shape, x, this->random.one_of(layouts(shape)));
    for (const NamedStrides& y : layouts(shape)) expect(shape, this->random.one_of(input_layouts(shape)), y);
  }
  expect({5003}, layouts({5003}).front(), layouts({5003}).front());
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
