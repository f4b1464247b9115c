#include "troupe/library/blas/blas.hpp"

#include <complex>
#include <limits>
#include <vector>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class BlasTest : public DeviceTest {
 protected:
  template <Element T = float>
  Array<T> matrix(std::int64_t rows, std::int64_t columns, T with = T(1)) {
    return filled<T>(device, {rows, columns}, with);
  }
  template <Element T = float>
  Array<T> vector(std::int64_t count, T with = T(1)) {
    return filled<T>(device, {count}, with);
  }
  /// Ends in an error before anything is submitted.
  template <class R>
  void expect_refused(Call<R> call, ErrorKind kind, std::string_view says) {
    const std::uint64_t before = device.stats().submitted;
    const Result<R> result = std::move(call).get();
    ASSERT_FALSE(result) << says;
    EXPECT_EQ(result.error().kind(), kind) << result.error().to_string();
    EXPECT_NE(result.error().message().find(says), std::string_view::npos) << result.error().message();
    EXPECT_EQ(device.stats().submitted, before) << says;
  }

  Device device = open({.standby = Standby::none});
  Blas blas = device.blas();
};

TEST_F(BlasTest, shapes_that_do_not_fit_are_refused) {
  constexpr auto kBad = ErrorKind::invalid_argument;
  expect_refused(blas.gemm(matrix(2, 3), matrix(2, 3), matrix(2, 3)), kBad, "a must have as many columns");
  expect_refused(blas.gemm(vector(2), matrix(2, 3), matrix(2, 3)), kBad, "gemm: a is [2]; it must be a matrix");
  expect_refused(blas.gemv(matrix(2, 3), vector(2), vector(2)), kBad, "x must be [3] and y must be [2]");
  expect_refused(blas.ger(vector(2), vector(3), matrix(3, 2)), kBad, "a is [3, 2]; it must be [2, 3]");
  expect_refused(blas.dot(vector(2), vector(3)), kBad, "they must have the same shape");
  expect_refused(blas.symm(matrix(2, 3), matrix(3, 3), matrix(2, 3)), kBad, "square");
  expect_refused(blas.symv(matrix(3, 3), vector(2), vector(3)), kBad, "x must be [3]");
  expect_refused(blas.syrk(matrix(2, 3), matrix(3, 3)), kBad, "c is [3, 3]; a [2, 3] times a' [3, 2]");
  expect_refused(blas.syr2k(matrix(2, 3), matrix(3, 2), matrix(2, 2)), kBad, "they must have the same shape");
  expect_refused(blas.trsm(matrix(3, 3), matrix(2, 3), matrix(2, 3)), kBad, "b must have as many rows as a");
  expect_refused(blas.trmm(matrix(3, 3), matrix(3, 2), matrix(3, 3)), kBad, "they must have the same shape");
  expect_refused(blas.trsv(matrix(3, 3), matrix(3, 1), matrix(3, 1)), kBad, "trsv: x is [3, 1]; it must be a vector");
  expect_refused(blas.geam(matrix(3, 2), matrix(2, 3), matrix(2, 3)), kBad, "they must have the same shape");
  expect_refused(blas.iamax(vector(0)), kBad, "at least one element");
}

TEST_F(BlasTest, types_that_an_op_does_not_take_are_refused_and_those_it_takes_are_named) {
  constexpr auto kNo = ErrorKind::unsupported;
  expect_refused(blas.scal(2.0, vector<std::int32_t>(3)), kNo, "f32, f64, c64 or c128");
  expect_refused(blas.nrm2(vector<f16>(3)), kNo, "f32, f64, c64 or c128");
  expect_refused(blas.symm(matrix<f16>(2, 2), matrix<f16>(2, 2), matrix<f16>(2, 2)), kNo, "f32, f64, c64 or c128");
  expect_refused(blas.gemm(matrix<std::int32_t>(2, 2), matrix<std::int32_t>(2, 2), matrix<std::int32_t>(2, 2)), kNo,
                 "a complex type or i8");
  expect_refused(
      blas.gemm(matrix<double>(2, 2), matrix<double>(2, 2), matrix<double>(2, 2), {.compute = Compute::tf32}), kNo,
      "tf32");
  expect_refused(blas.gemm(matrix<std::int8_t>(2, 2), matrix<std::int8_t>(2, 2), matrix<std::int8_t>(2, 2)),
                 ErrorKind::invalid_argument, "c is i8; it must be i32 when a and b are i8");
  expect_refused(blas.gemm(matrix<float>(2, 2), matrix<double>(2, 2), matrix<float>(2, 2)), ErrorKind::invalid_argument,
                 "they must have the same type");
}

TEST_F(BlasTest, factors_that_cannot_be_are_refused) {
  constexpr auto kBad = ErrorKind::invalid_argument;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_refused(blas.scal(nan, vector(3)), kBad, "NaN");
  expect_refused(blas.scal({1.0, 1.0}, vector(3)), kBad, "alpha is 1+1i; arrays of f32 need a real alpha");
  expect_refused(blas.gemm(matrix(2, 2), matrix(2, 2), matrix(2, 2), {.beta = nan}), kBad, "NaN");
  expect_refused(blas.trsm(matrix(2, 2), matrix(2, 2), matrix(2, 2), {.alpha = nan}), kBad, "NaN");
  expect_refused(blas.rot(vector(2), vector(2), nan, 0.0), kBad, "NaN");
  expect_refused(blas.herk(matrix<std::complex<float>>(2, 2), matrix<std::complex<float>>(2, 2), {.alpha = {1.0, 1.0}}),
                 kBad, "alpha is 1+1i; a Hermitian c needs a real alpha");
  expect_refused(
      blas.gemm(matrix<std::int8_t>(2, 2), matrix<std::int8_t>(2, 2), matrix<std::int32_t>(2, 2), {.alpha = 0.5}), kBad,
      "gemm of i8 needs whole alpha and beta from -2147483647 to 2147483647; alpha is 0.5");
}

TEST_F(BlasTest, outputs_that_overlap_inputs_are_refused) {
  constexpr auto kBad = ErrorKind::invalid_argument;
  const Array<float> a = matrix(4, 4);
  expect_refused(blas.gemm(a, a, a), kBad, "overlap");
  expect_refused(blas.trsm(matrix(4, 4), a, a), kBad, "overlap");
  expect_refused(blas.swap(a, a), kBad, "overlap");
  expect_refused(blas.geam(a, matrix(4, 4), a.transpose()), kBad, "overlap");
  const std::array<AnyArray, 2> same{a, a};
  const std::array<AnyArray, 2> others{matrix(4, 4), matrix(4, 4)};
  expect_refused(blas.gemm_group(others, others, same), kBad, "overlap");
  EXPECT_TRUE(blas.gemm(a, a, matrix(4, 4)).get()) << "to read an array twice is no overlap";
}

TEST_F(BlasTest, a_group_has_a_limit) {
  const Array<float> a = matrix(1, 1);
  const std::vector<AnyArray> many(65, a);
  expect_refused(blas.gemm_group(many, many, many), ErrorKind::invalid_argument,
                 "there are 65 products; it takes at most 64");
  expect_refused(blas.gemm_group(std::span(many).first(2), std::span(many).first(1), many), ErrorKind::invalid_argument,
                 "they must have the same number");
  EXPECT_TRUE(blas.gemm_group({}, {}, {}).get());
}

TEST_F(BlasTest, a_group_takes_lists_of_typed_arrays) {
  const std::vector<Array<float>> a = {matrix(2, 2, 2.0f), matrix(2, 3, 3.0f)};
  const std::array b = {matrix(2, 1, 5.0f), matrix(3, 1, 7.0f)};
  const Array<float> first = matrix(2, 1);
  const Array<float> second = matrix(2, 1);
  value(blas.gemm_group(a, b, std::vector<AnyArray>{first, second}).get());
  EXPECT_EQ(value(device.read(first).get())[0], 20.0f);
  EXPECT_EQ(value(device.read(second).get())[0], 63.0f);
}

TEST_F(BlasTest, a_singular_triangle_is_told_with_its_row_and_taints_what_was_written) {
  const Array<float> a = matrix(3, 3);
  value(device.write(a, std::vector<float>{1, 0, 0, 1, 0, 0, 1, 1, 1}).get());
  const Array<float> b = matrix(3, 2);
  const Array<float> x = matrix(3, 2);
  const Result<void> solved = blas.trsm(a, b, x).get();
  ASSERT_EQ(kind_of(solved), ErrorKind::numerical_error);
  EXPECT_NE(solved.error().message().find("row 1"), std::string_view::npos) << solved.error().message();
  EXPECT_EQ(solved.error().origin().native_code, 2);
  EXPECT_EQ(kind_of(device.read(x).get()), ErrorKind::buffer_tainted);
  EXPECT_TRUE(blas.trsm(a, b, x, {.unit_diagonal = true}).get()) << "then its diagonal does not matter";
  EXPECT_TRUE(device.read(x).get());
}

TEST_F(BlasTest, a_chain_behind_a_failure_fails_and_needs_no_waiting_in_between) {
  const Array<float> a = matrix(2, 2, 0.0f);
  const Array<float> b = matrix(2, 2);
  const Array<float> x = matrix(2, 2);
  const Array<float> c = matrix(2, 2);
  (void)blas.trsm(a, b, x).submit();  // its error comes at once or later, as fast as it is found
  (void)blas.gemm(x, b, c).submit();
  EXPECT_EQ(kind_of(blas.dot(value(c.reshape({4})), value(b.reshape({4}))).get()), ErrorKind::buffer_tainted);
}

TEST_F(BlasTest, a_chain_over_one_array_needs_no_waiting) {
  const Array<double> x = vector<double>(1000, 1.0);
  const Array<double> y = vector<double>(1000, 2.0);
  for (int i = 0; i < 10; ++i) {
    value(blas.scal(2.0, x).submit());
    value(blas.axpy(1.0, y, x).submit());
  }
  // x = 2 x + 2, ten times: 2^10 + 2 (2^10 - 1)
  EXPECT_EQ(value(blas.asum(x).get()), 1000 * (1024.0 + 2 * 1023.0));
}

TEST_F(BlasTest, of_equal_elements_the_first_is_found) {
  const auto check = [&]<class T>(std::type_identity<T>) {
    constexpr std::int64_t kCount = 10'007;
    for (const std::int64_t first : {0, 1, 6, 3566, 9000}) {
      std::vector<T> numbers(kCount, T(2));
      for (std::int64_t i = first; i < kCount; i += 77)
        numbers[static_cast<std::size_t>(i)] = i % 2 == 0 ? T(3) : T(-3);
      const Array<T> x = value(device.array<T>({kCount}));
      value(device.write(x, numbers).get());
      EXPECT_EQ(value(blas.iamax(x).get()), first);
      for (T& number : numbers) number = T(1) / number;
      value(device.write(x, numbers).get());
      EXPECT_EQ(value(blas.iamin(x).get()), first);
    }
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
  check(std::type_identity<std::complex<float>>{});
  check(std::type_identity<std::complex<double>>{});
}

TEST_F(BlasTest, a_scalar_result_is_awaited_like_any_other) {
  const Array<std::complex<float>> x = vector<std::complex<float>>(3, {1, 2});
  EXPECT_EQ(value(blas.dot(x, x).get()), std::complex<float>(3 * (1 - 4), 3 * 4));
  EXPECT_EQ(value(blas.dot(x, x, {.conjugate = true}).get()), std::complex<float>(15, 0));
  EXPECT_EQ(value(blas.asum(x).get()), 9.0f);
  EXPECT_EQ(value(blas.iamax(x).get()), 0);
}

}  // namespace
}  // namespace troupe
