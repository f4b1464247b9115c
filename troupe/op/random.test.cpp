// What the ops of the family refuse, and in which words; and one good op of each kind for the tests over all ops.
#include "troupe/op/random.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "troupe/op/samples.test.hpp"

namespace troupe::op {
namespace {

const RandomSource kSource{.stream = 3, .seed = 42, .position = 7};
const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

template <class Op>
Op filling(const View& out, double first = 1, double second = 2) {
  return {.source = kSource, .first = first, .second = second, .out = out};
}

}  // namespace

void add_random_samples(Samples& add) {
  add(RandomBits{.source = kSource, .out = add.view({2, 3}, DType::u32)});
  add(RandomIntegers{.source = kSource,
                     .low = Scalar(std::int64_t{-3}),
                     .high = Scalar(std::int64_t{4}),
                     .out = add.view({2, 3}, DType::i32)});
  add(RandomDiscrete{.source = kSource, .table = add.view({5, 2}, DType::u64), .out = add.view({2, 3}, DType::i64)});
  add(RandomPermutation{.source = kSource, .out = add.view({6}, DType::i64)});
  add(filling<RandomUniform>(add.view({2, 3})));
  add(filling<RandomNormal>(add.view({2, 3})));
  add(filling<RandomLogNormal>(add.view({2, 3})));
  add(RandomExponential{.source = kSource, .first = 2, .out = add.view({2, 3})});
  add(filling<RandomCauchy>(add.view({2, 3})));
  add(RandomBernoulli{.source = kSource, .first = 0.25, .out = add.view({2, 3}, DType::u8)});
  add(RandomPoisson{.source = kSource, .first = 4, .out = add.view({2, 3}, DType::i32)});
  add(filling<RandomGamma>(add.view({2, 3})));
  add(filling<RandomBeta>(add.view({2, 3})));
}

namespace {

/// What the check says of it; "" when it is good.
template <class Op>
std::string refusal(const Op& op) {
  const Result<void> good = check(op);
  return good ? "" : std::string(good.error().message());
}
template <class Op>
std::string refusal(DType dtype, double first, double second = 1) {
  Places at;
  return refusal(filling<Op>(at({2, 3}, dtype), first, second));
}
RandomIntegers integers(DType dtype, const Scalar& low, const Scalar& high) {
  Places at;
  return {.source = kSource, .low = low, .high = high, .out = at({2, 3}, dtype)};
}
Scalar whole(std::int64_t number) { return Scalar(number); }

TEST(RandomChecks, refuse_types_that_a_distribution_has_not) {
  EXPECT_EQ(refusal<RandomUniform>(DType::i32, 0), "uniform: out is i32; it must be f16, bf16, f32 or f64");
  EXPECT_EQ(refusal<RandomNormal>(DType::c64, 0), "normal: out is c64; it must be f16, bf16, f32 or f64");
  EXPECT_EQ(refusal<RandomBernoulli>(DType::f32, 0.5), "bernoulli: out is f32; it must be bool or u8");
  EXPECT_EQ(refusal<RandomPoisson>(DType::f32, 0.5), "poisson: out is f32; it must be i32, u32, i64 or u64");
  EXPECT_EQ(refusal<RandomUniform>(DType::f8e4m3, 0), "uniform: out is f8e4m3; it must be f16, bf16, f32 or f64");
  Places at;
  const RandomBits bits{.source = kSource, .out = at({3}, DType::i32)};
  EXPECT_EQ(refusal(bits), "bits: out is i32; it must be u32 or u64");
  EXPECT_EQ(check(bits).error().kind(), ErrorKind::unsupported);
}

TEST(RandomChecks, refuse_probabilities_outside_0_to_1) {
  for (const double good : {0.0, 0.5, 1.0}) EXPECT_EQ(refusal<RandomBernoulli>(DType::boolean, good), "");
  EXPECT_EQ(refusal<RandomBernoulli>(DType::boolean, 1.5), "bernoulli: probability is 1.5; it must be from 0 to 1");
  EXPECT_EQ(refusal<RandomBernoulli>(DType::u8, -0.25), "bernoulli: probability is -0.25; it must be from 0 to 1");
  EXPECT_EQ(refusal<RandomBernoulli>(DType::u8, kNaN), "bernoulli: probability is NaN; it must be finite");
}

TEST(RandomChecks, refuse_scales_that_are_negative_or_not_finite) {
  EXPECT_EQ(refusal<RandomNormal>(DType::f32, 1, 0), "") << "a deviation of 0 is a constant";
  EXPECT_EQ(refusal<RandomNormal>(DType::f32, 1, -1), "normal: stddev is -1; it must be 0 or more");
  EXPECT_EQ(refusal<RandomNormal>(DType::f32, kNaN, 1), "normal: mean is NaN; it must be finite");
  EXPECT_EQ(refusal<RandomNormal>(DType::f32, 1e39),
            "normal: mean is 1e+39; f32, in which it is computed, has no number as large");
  EXPECT_EQ(refusal<RandomNormal>(DType::f16, 0, 1e39),
            "normal: stddev is 1e+39; f32, in which it is computed, has no number as large");
  EXPECT_EQ(refusal<RandomNormal>(DType::f16, 1e6, 1e6), "") << "many of them are infinite";
  EXPECT_EQ(refusal<RandomNormal>(DType::f64, 1e39, 1e39), "");
  EXPECT_EQ(refusal<RandomLogNormal>(DType::f32, 1, -1), "log_normal: stddev is -1; it must be 0 or more");
  EXPECT_EQ(refusal<RandomExponential>(DType::f32, 0), "exponential: rate is 0; it must be more than 0");
  EXPECT_EQ(refusal<RandomExponential>(DType::f32, kInfinity), "exponential: rate is infinite; it must be finite");
  EXPECT_EQ(refusal<RandomCauchy>(DType::f32, 0, 0), "cauchy: scale is 0; it must be more than 0");
  EXPECT_EQ(refusal<RandomPoisson>(DType::i32, 0), "");
  EXPECT_EQ(refusal<RandomPoisson>(DType::i32, -1), "poisson: rate is -1; it must be 0 or more");
  EXPECT_EQ(refusal<RandomPoisson>(DType::i32, 2e9), "poisson: rate is 2e+09; it must be at most 2^30");
  EXPECT_EQ(refusal<RandomGamma>(DType::f32, 0, 1), "gamma: shape is 0; it must be more than 0");
  EXPECT_EQ(refusal<RandomGamma>(DType::f32, 1, -2), "gamma: scale is -2; it must be more than 0");
  EXPECT_EQ(refusal<RandomBeta>(DType::f32, 1, 0), "beta: b is 0; it must be more than 0");
  EXPECT_EQ(refusal<RandomBeta>(DType::f32, 1e10, 1), "beta: a is 1e+10; it must be at most 2^30");
  EXPECT_EQ(refusal<RandomBeta>(DType::f32, 1, 1e-310), "beta: b is 1e-310; it must be at least 2^-1000");
  EXPECT_EQ(refusal<RandomBeta>(DType::f32, kMinBetaShape, kMinBetaShape), "");
}

TEST(RandomChecks, refuse_bounds_that_leave_nothing_between_them) {
  EXPECT_EQ(refusal<RandomUniform>(DType::f64, 1, 1), "uniform: low is 1 and high is 1; low must be less than high");
  EXPECT_EQ(refusal<RandomUniform>(DType::f32, 2, 1), "uniform: low is 2 and high is 1; low must be less than high");
  EXPECT_EQ(refusal<RandomUniform>(DType::f32, kNaN, 1), "uniform: low is NaN; it must be finite");
  EXPECT_EQ(refusal<RandomUniform>(DType::f16, 1, 1.0001),
            "uniform: low is 1 and high is 1.0001, which are the same number in f16");
  EXPECT_EQ(refusal<RandomUniform>(DType::f16, 0, 1e6),
            "uniform: low is 0 and high is 1e+06; f16 has no number as large as a bound or their difference");
  EXPECT_EQ(
      refusal<RandomUniform>(DType::f64, -1.7e308, 1.7e308),
      "uniform: low is -1.7e+308 and high is 1.7e+308; f64 has no number as large as a bound or their difference");
  EXPECT_EQ(refusal<RandomUniform>(DType::f16, -60000, 60000), "") << "it is computed in f32";
}

TEST(RandomChecks, refuse_integers_that_the_type_has_not) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const Scalar beyond(std::uint64_t{1} << 63);
  EXPECT_EQ(refusal(integers(DType::i8, whole(-128), whole(128))), "");
  EXPECT_EQ(refusal(integers(DType::i64, whole(-kMost - 1), beyond)), "") << "all of them";
  EXPECT_EQ(integers(DType::i64, whole(-kMost - 1), beyond).range(), 0U);
  EXPECT_EQ(integers(DType::i8, whole(-128), whole(128)).range(), 256U);
  const Scalar unsigned_zero(std::uint64_t{0});
  EXPECT_EQ(refusal(integers(DType::i32, whole(-5), unsigned_zero)), "") << "-5 to -1";
  EXPECT_EQ(integers(DType::i32, whole(-5), unsigned_zero).range(), 5U);
  EXPECT_EQ(refusal(integers(DType::i32, whole(4), whole(4))),
            "integers: low is 4 and high is 4; low must be less than high");
  EXPECT_EQ(refusal(integers(DType::i32, beyond, whole(-1))),
            "integers: low is 9223372036854775808 and high is -1; low must be less than high");
  EXPECT_EQ(refusal(integers(DType::i8, whole(0), whole(129))),
            "integers: low is 0 and high is 129; i8 does not have all integers from low to high - 1");
  EXPECT_EQ(refusal(integers(DType::u32, whole(-1), whole(1))),
            "integers: low is -1 and high is 1; u32 does not have all integers from low to high - 1");
  EXPECT_EQ(refusal(integers(DType::boolean, whole(0), whole(1))),
            "integers: out is bool; it must be i8, u8, i16, u16, i32, u32, i64 or u64");
  EXPECT_EQ(refusal(integers(DType::i32, Scalar(0.5), whole(1))),
            "integers: a bound is f64; low and high must be i64 or u64");
}

TEST(RandomChecks, refuse_positions_beyond_the_last_one) {
  Places at;
  RandomBits op{.source = {.position = ~std::uint64_t{0} - 6}, .out = at({2, 3}, DType::u32)};
  EXPECT_EQ(refusal(op), "");
  ++op.source.position;
  EXPECT_EQ(
      refusal(op),
      "bits: the generator is at position 18446744073709551610, and 6 more reach past 2^64 - 1; go on with another "
      "stream");
  const RandomPermutation last{.source = {.position = ~std::uint64_t{0}}, .out = at({6}, DType::i32)};
  EXPECT_NE(refusal(last), "");
}

TEST(RandomChecks, refuse_points_where_an_element_takes_several_numbers) {
  Places at;
  RandomSource points{.engine = RandomEngine::sobol32};
  const View floats = at({2, 3}, DType::f32);
  EXPECT_EQ(refusal(RandomNormal{.source = points, .second = 1, .out = floats}), "");
  EXPECT_EQ(refusal(RandomGamma{.source = points, .first = 1, .second = 1, .out = floats}),
            "gamma: an element takes several numbers, and Sobol's points have one for each: use philox4x32_10, xorwow, "
            "mrg32k3a or mt19937");
  EXPECT_NE(refusal(RandomBeta{.source = points, .first = 1, .second = 1, .out = floats}), "");
  const View whole = at({6}, DType::i32);
  EXPECT_NE(refusal(RandomPoisson{.source = points, .first = 1, .out = whole}), "");
  EXPECT_NE(refusal(RandomPermutation{.source = points, .out = whole}), "");
  EXPECT_NE(refusal(RandomDiscrete{.source = points, .table = at({5, 2}, DType::u64), .out = whole}), "");
  points.engine = RandomEngine::mt19937;
  EXPECT_EQ(refusal(RandomPermutation{.source = points, .out = whole}), "");
}

TEST(RandomChecks, refuse_dimensions_and_streams_that_an_engine_has_not) {
  Places at;
  RandomBits op{.source = {.engine = RandomEngine::sobol64, .dimensions = 256}, .out = at({2, 3}, DType::u32)};
  EXPECT_EQ(refusal(op), "");
  op.source.dimensions = 257;
  EXPECT_EQ(refusal(op), "bits: the generator has 257 dimensions; Sobol's points have 1 to 256");
  op.source.dimensions = 0;
  EXPECT_EQ(refusal(op), "bits: the generator has 0 dimensions; Sobol's points have 1 to 256");
  op.source = {.engine = RandomEngine::sobol64, .stream = 3};
  EXPECT_EQ(refusal(op), "bits: the generator has stream 3; sobol64 is one sequence: use scrambled_sobol64");
  op.source.engine = RandomEngine::scrambled_sobol64;
  EXPECT_EQ(refusal(op), "");
  op.source = {.engine = RandomEngine::xorwow, .dimensions = 3};
  EXPECT_EQ(
      refusal(op),
      "bits: the generator has 3 dimensions; only Sobol's points have any: leave it 1, or use sobol32 or sobol64");
}

TEST(RandomChecks, refuse_points_beyond_the_last_one) {
  Places at;
  RandomBits op{.source = {.engine = RandomEngine::sobol32, .position = (std::uint64_t{3} << 32) - 6, .dimensions = 3},
                .out = at({2, 3}, DType::u32)};
  EXPECT_EQ(refusal(op), "");
  ++op.source.position;
  EXPECT_EQ(refusal(op),
            "bits: the generator is at position 12884901883, and 6 more reach past the last of 2^32 "
            "points; use those of 64 bits");
  op.source.engine = RandomEngine::scrambled_sobol64;
  EXPECT_EQ(refusal(op), "");
}

TEST(RandomChecks, refuse_tables_and_permutations_of_another_form) {
  Places at;
  RandomDiscrete op{.source = kSource, .table = at({5, 2}, DType::u64), .out = at({6}, DType::i32)};
  EXPECT_EQ(refusal(op), "");
  op.table.shape = Shape{5, 3};
  EXPECT_EQ(refusal(op), "discrete: table is [5, 3]; it must be [n, 2] with n from 1 to 2^31, as alias_table makes it");
  op.table.dtype = DType::f64;
  EXPECT_EQ(refusal(op), "discrete: table is f64; it must be u64");
  RandomPermutation order{.source = kSource, .out = at({2, 3}, DType::i32)};
  EXPECT_EQ(refusal(order), "permutation: out is [2, 3]; it must be a vector");
  order.out.shape = Shape{std::int64_t{1} << 31};
  order.out.strides = Strides{1};
  EXPECT_EQ(refusal(order), "");
  order.out.shape = Shape{(std::int64_t{1} << 31) + 1};
  EXPECT_EQ(refusal(order), "permutation: out has the length 2147483649; i32 has no number as large: use i64 or u64");
}

TEST(RandomNumbers, of_a_uniform_distribution_end_below_the_upper_bound) {
  EXPECT_EQ(uniform_numbers(0, 1, DType::f64).top, 1 - 0x1p-53);
  EXPECT_EQ(uniform_numbers(0, 1, DType::f32).top, 1 - 0x1p-24);
  EXPECT_EQ(uniform_numbers(0, 1, DType::f16).top, 1 - 0x1p-11);
  EXPECT_EQ(uniform_numbers(0, 1, DType::bf16).top, 1 - 0x1p-8);
  EXPECT_EQ(uniform_numbers(-2, -1, DType::f16).top, -1 - 0x1p-10);
  EXPECT_EQ(uniform_numbers(-1, 0, DType::f16).top, -0x1p-24);
  EXPECT_EQ(uniform_numbers(-1, 0, DType::f32).top, -std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(uniform_numbers(0, 0.1, DType::f32).width, static_cast<double>(0.1F));
}

}  // namespace
}  // namespace troupe::op
