#include "troupe/op/random.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"
#include "troupe/op/sobol.hpp"

namespace troupe::inline v0::op {
namespace {

constexpr std::initializer_list<DType> kFloats = {DType::f16, DType::bf16, DType::f32, DType::f64};
constexpr std::initializer_list<DType> kNumbers = {DType::i32, DType::u32, DType::i64, DType::u64};

std::string text(double number) { return number_of(Scalar(number)); }
std::string text(std::string_view view) { return std::string(view); }

// ---- where the numbers come from ----

Result<void> check_no_dimensions(std::string_view call, const RandomSource& source) {
  if (source.dimensions == 1) return {};
  return refuse(call, "the generator has " + std::to_string(source.dimensions) +
                          " dimensions; only Sobol's points have any: leave it 1, or use sobol32 or sobol64");
}

/// How many numbers of the engine an element takes.
enum class Takes : std::uint8_t { one, several };

Result<void> check_sobol(std::string_view call, const RandomSource& source, std::uint64_t count, Takes takes) {
  if (takes == Takes::several)
    return refuse(call,
                  "an element takes several numbers, and Sobol's points have one for each: use philox4x32_10, xorwow, "
                  "mrg32k3a or mt19937");
  if (source.dimensions < 1 || source.dimensions > random::kMaxSobolDimensions)
    return refuse(call, "the generator has " + std::to_string(source.dimensions) +
                            " dimensions; Sobol's points have 1 to " + std::to_string(random::kMaxSobolDimensions));
  const std::string engine = text(name(source.engine));
  const bool is_scrambled = engine.starts_with("scrambled");
  if (!is_scrambled && source.stream != 0)
    return refuse(call, "the generator has stream " + std::to_string(source.stream) + "; " + engine +
                            " is one sequence: use scrambled_" + engine);
  const std::uint64_t last = std::uint64_t{source.dimensions} << 32;
  if (!engine.ends_with("32") || (count <= last && source.position <= last - count)) return {};
  return refuse(call, "the generator is at position " + std::to_string(source.position) + ", and " +
                          std::to_string(count) + " more reach past the last of 2^32 points; use those of 64 bits");
}

/// So many positions from the first one on, and one to go on from.
Result<void> check_source(std::string_view call, const RandomSource& source, std::uint64_t count, Takes takes) {
  if (source.position > std::numeric_limits<std::uint64_t>::max() - count)
    return refuse(call, "the generator is at position " + std::to_string(source.position) + ", and " +
                            std::to_string(count) + " more reach past 2^64 - 1; go on with another stream");
  if (has_points(source.engine)) return check_sobol(call, source, count, takes);
  return check_no_dimensions(call, source);
}
Result<void> check_source(std::string_view call, const RandomSource& source, const View& out,
                          Takes takes = Takes::one) {
  return check_source(call, source, static_cast<std::uint64_t>(element_count(out)), takes);
}

/// Of the distributions that try until they accept.
Takes taken_by(Distribution distribution) noexcept {
  const bool tries = distribution == Distribution::poisson || distribution == Distribution::gamma ||
                     distribution == Distribution::beta;
  return tries ? Takes::several : Takes::one;
}

// ---- parameters ----

Result<void> check_is(bool good, std::string_view call, std::string_view name, double number, const char* must) {
  if (good) return {};
  return refuse(call, text(name) + " is " + text(number) + "; it must be " + must);
}

Result<void> check_bounds(double low, double high, DType dtype) {
  constexpr std::string_view kCall = "uniform";
  const double first = rounded_to(low, dtype);
  const double last = rounded_to(high, dtype);
  const double width = uniform_numbers(low, high, dtype).width;
  const std::string both = "low is " + text(low) + " and high is " + text(high);
  if (!(low < high)) return refuse(kCall, both + "; low must be less than high");
  if (!std::isfinite(first) || !std::isfinite(last) || !std::isfinite(width))
    return refuse(kCall, both + "; " + text(name(dtype)) + " has no number as large as a bound or their difference");
  if (first < last) return {};
  return refuse(kCall, both + ", which are the same number in " + text(name(dtype)));
}

/// Infinity times 0, or less infinity, would be no number.
Result<void> check_is_f32(std::string_view call, std::string_view name, double number) {
  if (std::isfinite(rounded_to(number, DType::f32))) return {};
  return refuse(call, text(name) + " is " + text(number) + "; f32, in which it is computed, has no number as large");
}

Result<void> check_rate(std::string_view call, std::string_view name, double number) {
  TROUPE_TRY(check_is(number > 0, call, name, number, "more than 0"));
  return check_is(number <= kMaxRandomRate, call, name, number, "at most 2^30");
}

Result<void> check_beta_shape(std::string_view call, std::string_view name, double number) {
  TROUPE_TRY(check_rate(call, name, number));
  return check_is(number >= kMinBetaShape, call, name, number, "at least 2^-1000");
}

Result<void> check_parameters(Distribution distribution, double first, double second, DType dtype) {
  const DistributionNames names = names_of(distribution);
  const std::string_view call = names.call();
  switch (distribution) {
    case Distribution::uniform: return check_bounds(first, second, dtype);
    case Distribution::normal:
      if (dtype != DType::f64) {
        TROUPE_TRY(check_is_f32(call, names.first, first));
        TROUPE_TRY(check_is_f32(call, names.second, second));
      }
      [[fallthrough]];
    case Distribution::log_normal: return check_is(second >= 0, call, names.second, second, "0 or more");
    case Distribution::exponential: return check_is(first > 0, call, names.first, first, "more than 0");
    case Distribution::cauchy: return check_is(second > 0, call, names.second, second, "more than 0");
    case Distribution::bernoulli: return check_is(first >= 0 && first <= 1, call, names.first, first, "from 0 to 1");
    case Distribution::poisson:
      TROUPE_TRY(check_is(first >= 0, call, names.first, first, "0 or more"));
      return check_is(first <= kMaxRandomRate, call, names.first, first, "at most 2^30");
    case Distribution::gamma:
      TROUPE_TRY(check_rate(call, names.first, first));
      return check_is(second > 0, call, names.second, second, "more than 0");
    case Distribution::beta:
      TROUPE_TRY(check_beta_shape(call, names.first, first));
      return check_beta_shape(call, names.second, second);
  }
  return {};
}

std::initializer_list<DType> types_of(Distribution distribution) {
  static constexpr std::initializer_list<DType> kTruths = {DType::boolean, DType::u8};
  if (distribution == Distribution::bernoulli) return kTruths;
  return distribution == Distribution::poisson ? kNumbers : kFloats;
}

/// Calls `f` with an i64 or u64.
template <class F>
auto with_whole(const Scalar& scalar, F&& f) {
  return scalar.dtype() == DType::u64 ? f(scalar.as<std::uint64_t>()) : f(scalar.as<std::int64_t>());
}
std::string whole_text(const Scalar& scalar) {
  return with_whole(scalar, [](auto number) { return std::to_string(number); });
}

/// The greatest number of a floating-point type below one that it has.
double number_below(double high, DType dtype) {
  if (dtype == DType::f64) return std::nextafter(high, -std::numeric_limits<double>::infinity());
  if (dtype == DType::f32) return std::nextafterf(static_cast<float>(high), -std::numeric_limits<float>::infinity());
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> double {
    if constexpr (detail::kIsSmallFloat<T>) {
      const unsigned bits = T(high).bits;
      const unsigned below = high == 0 ? T::Format::kSign + 1U : high < 0 ? bits + 1 : bits - 1;
      return static_cast<double>(T::from_bits(static_cast<typename T::Bits>(below)));
    }
    return high;
  });
}

/// Needs low < high.
bool fit_into(DType dtype, const Scalar& low, const Scalar& high) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      return with_whole(low, [](auto number) { return std::in_range<T>(number); }) && with_whole(high, [](auto number) {
               return number == 0 ? std::in_range<T>(-1) : std::in_range<T>(number - 1);
             });
    } else {
      return false;
    }
  });
}

/// Whether the type has the numbers 0 to count - 1.
Result<void> check_counts(std::string_view call, std::string_view what, std::int64_t count, DType dtype) {
  const bool fits = dtype != DType::i32 && dtype != DType::u32
                        ? true
                        : count - 1 <= (dtype == DType::i32 ? std::int64_t{std::numeric_limits<std::int32_t>::max()}
                                                            : std::int64_t{std::numeric_limits<std::uint32_t>::max()});
  if (fits) return {};
  return refuse(
      call, text(what) + std::to_string(count) + "; " + text(name(dtype)) + " has no number as large: use i64 or u64");
}

}  // namespace

Result<void> check_positions(std::string_view call, const RandomSource& source, std::uint64_t count) {
  if (source.engine != RandomEngine::philox4x32_10)
    return refuse_unsupported(call, "the generator's engine is " + text(name(source.engine)) +
                                        "; what is left out is drawn by philox4x32_10");
  TROUPE_TRY(check_no_dimensions(call, source));
  if (source.position <= std::numeric_limits<std::uint64_t>::max() - count) return {};
  return refuse(call, "the generator is at position " + std::to_string(source.position) + ", and " +
                          std::to_string(count) + " more reach past 2^64 - 1; go on with another stream");
}

double rounded_to(double number, DType dtype) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> double {
    if constexpr (detail::kIsSmallFloat<T> || std::floating_point<T>)
      return static_cast<double>(static_cast<T>(number));
    else
      return number;
  });
}

UniformNumbers uniform_numbers(double low, double high, DType dtype) {
  const double first = rounded_to(low, dtype);
  const double last = rounded_to(high, dtype);
  const DType computed = dtype == DType::f64 ? DType::f64 : DType::f32;
  return {first, rounded_to(last - first, computed), number_below(last, dtype)};
}

Result<void> check(const RandomBits& op) {
  constexpr std::string_view kCall = "bits";
  TROUPE_TRY(check_type_is_one_of(kCall, {"out", op.out}, {DType::u32, DType::u64}));
  return check_source(kCall, op.source, op.out);
}

Result<void> check(const RandomIntegers& op) {
  constexpr std::string_view kCall = "integers";
  TROUPE_TRY(check_type_is_one_of(
      kCall, {"out", op.out},
      {DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32, DType::i64, DType::u64}));
  for (const Scalar& bound : {op.low, op.high})
    if (bound.dtype() != DType::i64 && bound.dtype() != DType::u64)
      return refuse(kCall, "a bound is " + text(name(bound.dtype())) + "; low and high must be i64 or u64");
  const std::string both = "low is " + whole_text(op.low) + " and high is " + whole_text(op.high);
  const bool are_in_order = with_whole(
      op.low, [&](auto low) { return with_whole(op.high, [&](auto high) { return std::cmp_less(low, high); }); });
  if (!are_in_order) return refuse(kCall, both + "; low must be less than high");
  if (!fit_into(op.out.dtype, op.low, op.high))
    return refuse(kCall, both + "; " + text(name(op.out.dtype)) + " does not have all integers from low to high - 1");
  return check_source(kCall, op.source, op.out);
}

Result<void> check(const RandomDiscrete& op) {
  constexpr std::string_view kCall = "discrete";
  TROUPE_TRY(check_type_is_one_of(kCall, {"out", op.out}, kNumbers));
  TROUPE_TRY(check_type(kCall, {"table", op.table}, DType::u64));
  const Shape& shape = op.table.shape;
  if (shape.rank() != 2 || shape[1] != 2 || shape[0] < 1 || shape[0] > kMaxOutcomes)
    return refuse(kCall, "table is " + shape.to_string() +
                             "; it must be [n, 2] with n from 1 to 2^31, as alias_table " + "makes it");
  return check_source(kCall, op.source, op.out, Takes::several);
}

Result<void> check(const RandomPermutation& op) {
  constexpr std::string_view kCall = "permutation";
  TROUPE_TRY(check_type_is_one_of(kCall, {"out", op.out}, kNumbers));
  TROUPE_TRY(check_ranks(kCall, 1, {{"out", op.out}}));
  TROUPE_TRY(check_counts(kCall, "out has the length ", op.out.shape[0], op.out.dtype));
  return check_source(kCall, op.source, 1, Takes::several);
}

Result<void> check_fill(Distribution distribution, const RandomSource& source, double first, double second,
                        const View& out) {
  const DistributionNames names = names_of(distribution);
  const std::string_view call = names.call();
  TROUPE_TRY(check_type_is_one_of(call, {"out", out}, types_of(distribution)));
  TROUPE_TRY(check_finite(call, names.first, first));
  if (!names.second.empty()) TROUPE_TRY(check_finite(call, names.second, second));
  TROUPE_TRY(check_parameters(distribution, first, second, out.dtype));
  return check_source(call, source, out, taken_by(distribution));
}

extern const FamilyOps random_ops = register_ops("random", RandomOps{});

}  // namespace troupe::inline v0::op
