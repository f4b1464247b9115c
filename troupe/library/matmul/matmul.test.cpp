#include "troupe/library/matmul/matmul.hpp"

#include <limits>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class MatmulTest : public DeviceTest {
 protected:
  template <Element T = float>
  Array<T> matrix(std::int64_t rows, std::int64_t columns) {
    return filled<T>(device, {rows, columns}, T(1.0f));
  }
  void expect_refused(Call<void> call, ErrorKind kind, std::string_view says) {
    const std::uint64_t before = device.stats().submitted;
    const Result<void> result = std::move(call).get();
    ASSERT_FALSE(result) << says;
    EXPECT_EQ(result.error().kind(), kind) << result.error().to_string();
    EXPECT_NE(result.error().message().find(says), std::string_view::npos) << result.error().message();
    EXPECT_EQ(device.stats().submitted, before) << says;
  }

  Device device = open({.standby = Standby::none});
  Matmul matmul = device.matmul();
};

TEST_F(MatmulTest, refuses_shapes_that_do_not_fit) {
  constexpr auto kBad = ErrorKind::invalid_argument;
  const Array<float> a = matrix(2, 3), b = matrix(3, 4), d = matrix(2, 4);
  const Array<float> wrong = filled<float>(device, {5}, 0);
  expect_refused(matmul.multiply(a, a, d), kBad, "a must have as many columns");
  expect_refused(matmul.multiply(a, b, d, {.bias = &wrong}), kBad,
                 "bias is [5]; a result of [2, 4] needs a bias of [4]");
  expect_refused(matmul.multiply(a, b, d, {.beta = 1, .c = &a}), kBad, "needs a c of [2, 4]");
  expect_refused(matmul.multiply(a, b, d, {.beta = 1}), kBad, "no c");
  expect_refused(matmul.gradient(a, b, d, {.activation = Activation::gelu_tanh}), kBad,
                 "gelu_tanh needs options.preactivation");
  expect_refused(matmul.multiply(a, b, d, {.preactivation = &d}), kBad, "overlap");
}

TEST_F(MatmulTest, refuses_batches_that_do_not_fit) {
  constexpr auto kBad = ErrorKind::invalid_argument;
  const auto array = [&](const Shape& shape) { return filled<float>(device, shape, 1); };
  const Array<float> a = array({2, 3, 4}), d = array({2, 3, 5}), bias = array({3});
  expect_refused(matmul.multiply(a, array({3, 4, 5}), d), kBad,
                 "a is [2, 3, 4] and b is [3, 4, 5]; their batch axes must be equal, or 1, or left out");
  expect_refused(matmul.multiply(a, array({2, 3, 5}), d), kBad, "a must have as many columns as b has rows");
  expect_refused(matmul.multiply(a, array({4, 5}), array({3, 5})), kBad,
                 "d is [3, 5]; a [2, 3, 4] times b [4, 5] makes [2, 3, 5]");
  expect_refused(matmul.multiply(a, array({2, 1, 4, 5}), d), kBad, "makes [2, 2, 3, 5]");
  expect_refused(matmul.multiply(a, array({4}), d), kBad, "b is [4]; it must be a matrix");
  expect_refused(matmul.multiply(a, array({4, 5}), d, {.bias = &bias}), kBad,
                 "bias is [3]; a result of [2, 3, 5] needs a bias of [5]");
  expect_refused(matmul.multiply(a, Array<float>(), d), kBad, "b is an empty handle");
  expect_refused(matmul.gradient(a, array({3, 4, 5}), d), kBad, "their batch axes must be equal");
}

TEST_F(MatmulTest, multiplies_a_batch_by_one_matrix) {
  const Array<float> d = filled<float>(device, {2, 3, 5}, 0);
  value(matmul.multiply(filled<float>(device, {2, 3, 4}, 1), filled<float>(device, {4, 5}, 2), d).get());
  EXPECT_TRUE(all_equal(device, d, 8.0f));
}

TEST_F(MatmulTest, refuses_types_that_there_are_none_for_and_names_those_that_there_are) {
  constexpr auto kNo = ErrorKind::unsupported;
  expect_refused(matmul.multiply(matrix<float>(2, 2), matrix<double>(2, 2), matrix<float>(2, 2)), kNo,
                 "8-bit floats into f32, f16, bf16 or f8e4m3");
  expect_refused(matmul.multiply(matrix<f8e4m3>(2, 2), matrix<f8e4m3>(2, 2), matrix<double>(2, 2)), kNo, "d is f64");
  expect_refused(matmul.multiply(matrix<std::complex<float>>(2, 2), matrix<std::complex<float>>(2, 2),
                                 matrix<std::complex<float>>(2, 2)),
                 kNo, "c64");
  expect_refused(matmul.multiply(matrix<std::int8_t>(2, 2), matrix<std::int8_t>(2, 2), matrix<std::int32_t>(2, 2),
                                 {.activation = Activation::relu}),
                 kNo, "takes no factors, c, bias, preactivation or activation");
  expect_refused(matmul.multiply(matrix<f16>(2, 2), matrix<f16>(2, 2), matrix<f16>(2, 2), {.compute = Compute::tf32}),
                 kNo, "tf32");
}

TEST_F(MatmulTest, refuses_factors_and_scales_that_are_no_numbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  constexpr auto kBad = ErrorKind::invalid_argument;
  expect_refused(matmul.multiply(matrix(2, 2), matrix(2, 2), matrix(2, 2), {.alpha = nan}), kBad, "NaN");
  expect_refused(matmul.multiply(matrix(2, 2), matrix(2, 2), matrix(2, 2), {.scale_d = infinity}), kBad, "infinite");
}

TEST_F(MatmulTest, measures_nothing_on_the_host_and_gives_the_same) {
  const Array<float> d = matrix(2, 2);
  value(matmul.multiply(matrix(2, 3), matrix(3, 2), d, {.autotune = true}).get());
  EXPECT_TRUE(all_equal(device, d, 3.0f));
}

}  // namespace
}  // namespace troupe
