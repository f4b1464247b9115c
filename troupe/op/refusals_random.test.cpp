// The rows of the table of refusals that are of random numbers. refusals.test.cpp says what a row is.
#include <limits>

#include "troupe/op/random.hpp"
#include "troupe/op/refusals.test.hpp"

namespace troupe::op {
namespace {

using enum DType;

const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();
constexpr ErrorKind kUnsupported = ErrorKind::unsupported;

/// The sample with these parameters.
template <class Op>
std::function<AnyOp()> with(double first, double second = 1) {
  return [=] {
    Op op = *sample(Op::kKind).template get_if<Op>();
    op.first = first;
    op.second = second;
    return AnyOp(std::move(op));
  };
}

/// No parameter may be NaN or infinite.
template <class Op>
void add_finite(std::vector<Refusal>& rows) {
  const std::string call(Op::kNames.call());
  const std::string first(Op::kNames.first);
  const std::string second(Op::kNames.second);
  rows.push_back({with<Op>(kNaN), call + ": " + first + " is NaN; it must be finite"});
  rows.push_back({with<Op>(-kInfinity), call + ": " + first + " is infinite; it must be finite"});
  if (second.empty()) return;
  rows.push_back({with<Op>(0.5, kNaN), call + ": " + second + " is NaN; it must be finite"});
  rows.push_back({with<Op>(0.5, kInfinity), call + ": " + second + " is infinite; it must be finite"});
}

std::vector<Refusal> of_parameters() {
  return {
      {with<RandomUniform>(1, 1), "uniform: low is 1 and high is 1; low must be less than high"},
      {with<RandomUniform>(1, 1 + 1e-10),
       "uniform: low is 1 and high is 1.0000000001, which are the same number in f32"},
      {with<RandomUniform>(0, 1e300),
       "uniform: low is 0 and high is 1e+300; f32 has no number as large as a bound or their difference"},
      {with<RandomNormal>(0, -1), "normal: stddev is -1; it must be 0 or more"},
      {with<RandomNormal>(1e39, 1), "normal: mean is 1e+39; f32, in which it is computed, has no number as large"},
      {with<RandomLogNormal>(0, -1), "log_normal: stddev is -1; it must be 0 or more"},
      {with<RandomExponential>(0), "exponential: rate is 0; it must be more than 0"},
      {with<RandomCauchy>(0, 0), "cauchy: scale is 0; it must be more than 0"},
      {with<RandomBernoulli>(2), "bernoulli: probability is 2; it must be from 0 to 1"},
      {with<RandomPoisson>(-1), "poisson: rate is -1; it must be 0 or more"},
      {with<RandomPoisson>(1e10), "poisson: rate is 1e+10; it must be at most 2^30"},
      {with<RandomGamma>(0), "gamma: shape is 0; it must be more than 0"},
      {with<RandomGamma>(1e10), "gamma: shape is 1e+10; it must be at most 2^30"},
      {with<RandomGamma>(1, 0), "gamma: scale is 0; it must be more than 0"},
      {with<RandomBeta>(0, 1), "beta: a is 0; it must be more than 0"},
      {with<RandomBeta>(1, 1e10), "beta: b is 1e+10; it must be at most 2^30"},
      {with<RandomBeta>(1e-310, 1), "beta: a is 1e-310; it must be at least 2^-1000"},
  };
}

std::vector<Refusal> of_the_others() {
  return {
      {bad<RandomBits>([](RandomBits& op) { op.out.dtype = f32; }), "bits: out is f32; it must be u32 or u64",
       kUnsupported},
      {bad<RandomBits>([](RandomBits& op) { op.source.position = ~std::uint64_t{0}; }),
       "bits: the generator is at position 18446744073709551615, and 6 more reach past 2^64 - 1; go on with another "
       "stream"},
      {bad<RandomIntegers>([](RandomIntegers& op) { op.low = Scalar(0.5); }),
       "integers: a bound is f64; low and high must be i64 or u64"},
      {bad<RandomIntegers>([](RandomIntegers& op) { op.out.dtype = u32; }),
       "integers: low is -3 and high is 4; u32 does not have all integers from low to high - 1"},
      {bad<RandomDiscrete>([](RandomDiscrete& op) { op.table.dtype = f64; }), "discrete: table is f64; it must be u64"},
      {bad<RandomDiscrete>([](RandomDiscrete& op) { reshape(op.table, {2, 5}); }),
       "discrete: table is [2, 5]; it must be [n, 2] with n from 1 to 2^31, as alias_table makes it"},
      {bad<RandomPermutation>([](RandomPermutation& op) { reshape(op.out, {2, 3}); }),
       "permutation: out is [2, 3]; it must be a vector"},
      {bad<RandomPermutation>([](RandomPermutation& op) {
         reshape(op.out, {(std::int64_t{1} << 31) + 1});
         op.out.dtype = i32;
       }),
       "permutation: out has the length 2147483649; i32 has no number as large: use i64 or u64"},
  };
}

std::vector<Refusal> of_engines() {
  return {
      {bad<RandomGamma>([](RandomGamma& op) { op.source.engine = RandomEngine::sobol64; }),
       "gamma: an element takes several numbers, and Sobol's points have one for each: use philox4x32_10, xorwow, "
       "mrg32k3a or mt19937"},
      {bad<RandomBits>(
           [](RandomBits& op) { op.source = {.engine = RandomEngine::scrambled_sobol32, .dimensions = 300}; }),
       "bits: the generator has 300 dimensions; Sobol's points have 1 to 256"},
      {bad<RandomBits>([](RandomBits& op) { op.source = {.engine = RandomEngine::sobol32, .stream = 3}; }),
       "bits: the generator has stream 3; sobol32 is one sequence: use scrambled_sobol32"},
      {bad<RandomBits>(
           [](RandomBits& op) { op.source = {.engine = RandomEngine::sobol32, .position = std::uint64_t{1} << 32}; }),
       "bits: the generator is at position 4294967296, and 6 more reach past the last of 2^32 points; use those of 64 "
       "bits"},
      {bad<RandomBits>([](RandomBits& op) { op.source.dimensions = 2; }),
       "bits: the generator has 2 dimensions; only Sobol's points have any: leave it 1, or use sobol32 or sobol64"},
  };
}

}  // namespace

std::vector<Refusal> random_refusals() {
  std::vector<Refusal> rows = of_parameters();
  for (std::vector<Refusal> more : {of_the_others(), of_engines()})
    for (Refusal& row : more) rows.push_back(std::move(row));
  [&]<class... Ops>(std::type_identity<std::tuple<Ops...>>) {
    (add_finite<Ops>(rows), ...);
  }(std::type_identity<std::tuple<RandomUniform, RandomNormal, RandomLogNormal, RandomExponential, RandomCauchy,
                                  RandomBernoulli, RandomPoisson, RandomGamma, RandomBeta>>{});
  return rows;
}

}  // namespace troupe::op
