// The ops of the random family, as data. Each carries where its numbers come from, seed and absolute position, and
// reads nothing else that changes: run again, on any backend, it writes the same. What element i is, by formula, says
// docs/random.md; op/random_functions.hpp computes it.
#pragma once

#include "troupe/core/kinds.hpp"
#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kRandomFamily{10};

/// The first position and all that stays the same over an op. An element takes one position.
struct RandomSource {
  RandomEngine engine = RandomEngine::philox4x32_10;
  std::uint32_t stream = 0;
  std::uint64_t seed = 0;
  std::uint64_t position = 0;
  std::uint32_t dimensions = 1;  // of the points of Sobol's sequences

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("engine", self.engine);
    v.field("stream", self.stream);
    v.field("seed", self.seed);
    v.field("position", self.position);
    v.field("dimensions", self.dimensions);
  }
  friend bool operator==(const RandomSource&, const RandomSource&) = default;
};

/// Sobol's sequences: their numbers are coordinates of points, which leave nothing to chance.
constexpr bool has_points(RandomEngine engine) noexcept { return engine >= RandomEngine::sobol32; }

/// Every bit of each element, u32 or u64.
struct RandomBits {
  static constexpr Kind kKind = kind(kRandomFamily, 0);
  static constexpr std::string_view kName = "random.bits";
  RandomSource source;
  View out;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    RandomSource::describe(self.source, v);
    v.writes("out", self.out);
  }
  friend bool operator==(const RandomBits&, const RandomBits&) = default;
};

/// Integers from low to below high, each as often as the others. The bounds are scalars of i64 or u64.
struct RandomIntegers {
  static constexpr Kind kKind = kind(kRandomFamily, 1);
  static constexpr std::string_view kName = "random.integers";
  RandomSource source;
  Scalar low;
  Scalar high;
  View out;

  /// How many integers there are to choose from; 0 stands for 2^64.
  std::uint64_t range() const noexcept { return first() - low_bits() + 1; }
  /// The bits of `low`.
  std::uint64_t low_bits() const noexcept { return bits_of(low); }

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    RandomSource::describe(self.source, v);
    v.field("low", self.low);
    v.field("high", self.high);
    v.writes("out", self.out);
  }
  friend bool operator==(const RandomIntegers&, const RandomIntegers&) = default;

 private:
  static std::uint64_t bits_of(const Scalar& scalar) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, scalar.bytes().data(), sizeof bits);
    return bits;
  }
  std::uint64_t first() const noexcept { return bits_of(high) - 1; }
};

/// Numbers of outcomes, 0 to n - 1, by an alias table [n, 2] of u64: outcome i stays when 64 random bits are below
/// table[i, 0], and is table[i, 1] otherwise.
struct RandomDiscrete {
  static constexpr Kind kKind = kind(kRandomFamily, 2);
  static constexpr std::string_view kName = "random.discrete";
  RandomSource source;
  View table;
  View out;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    RandomSource::describe(self.source, v);
    v.reads("table", self.table);
    v.writes("out", self.out);
  }
  friend bool operator==(const RandomDiscrete&, const RandomDiscrete&) = default;
};

/// The integers 0 to n - 1 in random order. All of it takes one position.
struct RandomPermutation {
  static constexpr Kind kKind = kind(kRandomFamily, 3);
  static constexpr std::string_view kName = "random.permutation";
  RandomSource source;
  View out;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    RandomSource::describe(self.source, v);
    v.writes("out", self.out);
  }
  friend bool operator==(const RandomPermutation&, const RandomPermutation&) = default;
};

/// The distributions with real parameters. The number is the op's in the family, after those above.
enum class Distribution : std::uint8_t {
  uniform,
  normal,
  log_normal,
  exponential,
  cauchy,
  bernoulli,
  poisson,
  gamma,
  beta,
  kLast = beta,
};

/// What their ops and parameters are called.
struct DistributionNames {
  std::string_view op;
  std::string_view first;
  std::string_view second;  // empty where there is one parameter

  constexpr std::string_view call() const noexcept { return op.substr(op.find('.') + 1); }
};
constexpr DistributionNames names_of(Distribution distribution) noexcept {
  constexpr DistributionNames kNames[] = {
      {"random.uniform", "low", "high"},
      {"random.normal", "mean", "stddev"},
      {"random.log_normal", "mean", "stddev"},
      {"random.exponential", "rate", ""},
      {"random.cauchy", "location", "scale"},
      {"random.bernoulli", "probability", ""},
      {"random.poisson", "rate", ""},
      {"random.gamma", "shape", "scale"},
      {"random.beta", "a", "b"},
  };
  return kNames[static_cast<std::size_t>(distribution)];
}

/// Every element from a distribution.
template <Distribution distribution>
struct RandomFill {
  static constexpr DistributionNames kNames = names_of(distribution);
  static constexpr Kind kKind = kind(kRandomFamily, 4 + static_cast<std::uint8_t>(distribution));
  static constexpr std::string_view kName = kNames.op;
  RandomSource source;
  double first = 0;
  double second = 0;
  View out;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    RandomSource::describe(self.source, v);
    v.field(kNames.first, self.first);
    if constexpr (!kNames.second.empty()) v.field(kNames.second, self.second);
    v.writes("out", self.out);
  }
  friend bool operator==(const RandomFill&, const RandomFill&) = default;
};

using RandomUniform = RandomFill<Distribution::uniform>;
using RandomNormal = RandomFill<Distribution::normal>;
using RandomLogNormal = RandomFill<Distribution::log_normal>;
using RandomExponential = RandomFill<Distribution::exponential>;
using RandomCauchy = RandomFill<Distribution::cauchy>;
using RandomBernoulli = RandomFill<Distribution::bernoulli>;
using RandomPoisson = RandomFill<Distribution::poisson>;
using RandomGamma = RandomFill<Distribution::gamma>;
using RandomBeta = RandomFill<Distribution::beta>;

using RandomOps =
    OpList<RandomBits, RandomIntegers, RandomDiscrete, RandomPermutation, RandomUniform, RandomNormal, RandomLogNormal,
           RandomExponential, RandomCauchy, RandomBernoulli, RandomPoisson, RandomGamma, RandomBeta>;

/// Rates and shapes are at most so large: beyond it, f64 no longer tells neighbouring outcomes apart well enough.
inline constexpr double kMaxRandomRate = 1 << 30;
/// Those of a beta distribution are at least so large: of smaller ones, logarithms are infinite, and their difference
/// is no number.
inline constexpr double kMinBetaShape = 0x1p-1000;
/// An alias table has at most so many outcomes.
inline constexpr std::int64_t kMaxOutcomes = std::int64_t{1} << 31;

/// `number` as a floating-point type has it.
double rounded_to(double number, DType dtype);

/// What an element of a uniform distribution is computed of: low + width u, and `top` where that is greater. The bounds
/// are rounded to the type first.
struct UniformNumbers {
  double low;
  double width;
  double top;  // the greatest number of the type below the upper bound
};
UniformNumbers uniform_numbers(double low, double high, DType dtype);
/// How many random bits a uniform number has that is made of a word: as many as its type has digits. f64 has 53, of a
/// number of 64 bits.
constexpr int uniform_bits(DType dtype) noexcept { return dtype == DType::f16 ? 11 : dtype == DType::bf16 ? 8 : 24; }

/// Whether ops of other families can draw what they leave out: by Philox, with so many positions from the first one on,
/// and one to go on from.
Result<void> check_positions(std::string_view call, const RandomSource& source, std::uint64_t count);

Result<void> check(const RandomBits& op);
Result<void> check(const RandomIntegers& op);
Result<void> check(const RandomDiscrete& op);
Result<void> check(const RandomPermutation& op);
Result<void> check_fill(Distribution distribution, const RandomSource& source, double first, double second,
                        const View& out);
template <Distribution distribution>
Result<void> check(const RandomFill<distribution>& op) {
  return check_fill(distribution, op.source, op.first, op.second, op.out);
}

}  // namespace troupe::inline v0::op
