// What element i of a random op is, for the CPU and the GPU alike: random bits of a position, and distributions made of
// them. docs/random.md has the same in formulas. Positions have three kinds of bits, from counters that never meet:
// a word of 32 bits (four positions share a block), a number of 64 bits (two share one), and as many numbers as an
// element needs that tries until it accepts.
#pragma once

#include "troupe/op/random_math.hpp"

namespace troupe::inline v0::random {

/// What all positions have in common.
struct Source {
  std::uint64_t seed;
  std::uint32_t stream;
  bool is_by_counter = true;  // Philox; the other engines' bits come from random_words.hpp
};

struct Block {
  std::uint32_t words[4];
};

/// The third word of the counter: which kind of bits.
enum Space : std::uint32_t { kWords = 0, kNumbers = 1U << 24, kOwn = 2U << 24, kScramble = 3U << 24 };

/// The constants of Philox 4x32 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011).
inline constexpr std::uint32_t kFactor0 = 0xD251'1F53, kFactor1 = 0xCD9E'8D57;
inline constexpr std::uint32_t kKeyStep0 = 0x9E37'79B9, kKeyStep1 = 0xBB67'AE85;
inline constexpr int kRounds = 10;

/// One instruction on a GPU, whose compiler takes two for a product of 64 bits.
TROUPE_EVERYWHERE inline std::uint64_t product_of_words(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  std::uint64_t product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return std::uint64_t{a} * b;
#endif
}

/// Philox 4x32 with 10 rounds: key = seed, counter = index (two words), `third`, stream.
TROUPE_EVERYWHERE inline Block philox(const Source& source, std::uint64_t index, std::uint32_t third) {
  std::uint32_t c0 = static_cast<std::uint32_t>(index), c1 = static_cast<std::uint32_t>(index >> 32);
  std::uint32_t c2 = third, c3 = source.stream;
  std::uint32_t k0 = static_cast<std::uint32_t>(source.seed), k1 = static_cast<std::uint32_t>(source.seed >> 32);
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = product_of_words(kFactor0, c0);
    const std::uint64_t b = product_of_words(kFactor1, c2);
    c0 = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(b);
    c2 = static_cast<std::uint32_t>(a >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(a);
    k0 += kKeyStep0;
    k1 += kKeyStep1;
  }
  return {{c0, c1, c2, c3}};
}

/// Number 0 or 1 of a block.
TROUPE_EVERYWHERE inline std::uint64_t number_of(const Block& block, unsigned which) {
  return block.words[2 * which] | std::uint64_t{block.words[2 * which + 1]} << 32;
}
/// The 64 bits that stand for a word in formulas over 64 bits.
TROUPE_EVERYWHERE inline std::uint64_t widened(std::uint32_t word) { return std::uint64_t{word} << 32 | 0x8000'0000; }

/// A position's numbers of its own, one after another. No element takes more than its limit, so none meets another's.
class OwnNumbers {
 public:
  TROUPE_EVERYWHERE OwnNumbers(const Source& source, std::uint64_t position) : source_(source), position_(position) {}
  TROUPE_EVERYWHERE std::uint64_t next() {
    if (taken_ % 2 == 0) block_ = philox(source_, position_, kOwn | taken_ / 2);
    return number_of(block_, taken_++ % 2);
  }

 private:
  Source source_;
  std::uint64_t position_;
  std::uint32_t taken_ = 0;
  Block block_{};
};
/// What the numbers of its own of a position are made with: the seed, or the bits that another engine has given it.
TROUPE_EVERYWHERE inline Source own_source(const Source& source, std::uint64_t bits) {
  return {source.is_by_counter ? source.seed : bits, source.stream};
}
/// How often an element tries. Each of the methods below accepts at least every second time, so the limit is never
/// reached: by 1 element in 2^1024.
inline constexpr int kMaxTries = 1024;

// ---- from 64 bits ----

/// In (0, 1): the middle of one of 2^52 equal parts.
TROUPE_EVERYWHERE inline double open_unit(std::uint64_t bits) { return times(to_double(bits >> 12 << 1 | 1), 0x1p-53); }

/// In (0, 1), with the small ones as fine as 2^-64, so that the logarithm has all of its tail.
TROUPE_EVERYWHERE inline double fine_unit(std::uint64_t bits) {
  const bool is_small = bits >> 53 == 0;
  return times(to_double(is_small ? bits | 1 : bits >> 11), is_small ? 0x1p-64 : 0x1p-53);
}
TROUPE_EVERYWHERE inline float fine_unit(std::uint32_t bits) {
  const bool is_small = bits >> 24 == 0;
  const auto whole = static_cast<float>(static_cast<std::int32_t>(is_small ? bits | 1 : bits >> 8));
  return times(whole, is_small ? 0x1p-32F : 0x1p-24F);
}

/// Two normal numbers from two random ones (Box and Muller): the cosine is the first.
TROUPE_EVERYWHERE inline SineCosine<double> normal_pair(std::uint64_t first, std::uint64_t second) {
  const double radius = std::sqrt(times(-2.0, log(fine_unit(first))));
  const SineCosine<double> at = sine_cosine(second >> 11);
  return {times(radius, at.sine), times(radius, at.cosine)};
}
TROUPE_EVERYWHERE inline SineCosine<float> normal_pair(std::uint32_t first, std::uint32_t second) {
  const float radius = square_root(times(-2.0F, log(fine_unit(first))));
  const SineCosine<float> at = sine_cosine(second);
  return {times(radius, at.sine), times(radius, at.cosine)};
}

/// The normal number that this part of all others is below (Wichura, Algorithm AS 241: the percentage points of the
/// normal distribution, 1988): for points, of which none may take part in two numbers. Needs 0 < part < 1.
TROUPE_EVERYWHERE inline double normal_quantile(double part) {
  const double off = part - 0.5;
  if (std::fabs(off) <= 0.425) {
    const double r = 0.180625 - times(off, off);
    const double above =
        polynomial(r, 3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
                   45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727);
    const double below =
        polynomial(r, 1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867,
                   39307.895800092710610, 28729.085735721942674, 5226.4952788528545610);
    return times(off, above) / below;
  }
  const double tail = std::sqrt(-log(off < 0 ? part : 1 - part));
  double above, below;
  if (tail <= 5) {
    const double r = tail - 1.6;
    above = polynomial(r, 1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
                       3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770,
                       0.0227238449892691845833, 7.74545014278341407640e-4);
    below = polynomial(r, 1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
                       0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4,
                       1.05075007164441684324e-9);
  } else {
    const double r = tail - 5;
    above = polynomial(r, 6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
                       0.296560571828504891230, 0.0265321895265761230930, 1.24266094738807843860e-3,
                       2.71155556874348757815e-5, 2.01033439929228813265e-7);
    below = polynomial(r, 1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
                       7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                       2.04426310338993978564e-15);
  }
  return off < 0 ? -(above / below) : above / below;
}

/// mean + stddev z.
template <class F>
TROUPE_EVERYWHERE F scaled(F mean, F stddev, F z) {
  return mean + times(stddev, z);
}
TROUPE_EVERYWHERE inline double point_normal(double mean, double stddev, std::uint64_t bits) {
  return scaled(mean, stddev, normal_quantile(open_unit(bits)));
}
TROUPE_EVERYWHERE inline double exponential(double rate, std::uint64_t bits) { return -log(open_unit(bits)) / rate; }

TROUPE_EVERYWHERE inline double cauchy(double location, double scale, std::uint64_t bits) {
  // tan(pi (u - 1/2)), with u - 1/2 in half turns; an odd number of steps is never a quarter of a turn.
  const SineCosine<double> at = sine_cosine(((bits >> 1) - (std::uint64_t{1} << 62)) >> 11 | 1);
  return location + times(scale, at.sine / at.cosine);
}

/// low + width u with u in [0, 1), below the upper bound.
template <class F>
TROUPE_EVERYWHERE F between(F low, F width, F top, F u) {
  const F number = low + times(width, u);
  return number < top ? number : top;
}

// ---- integers ----

/// Below `range`, each as often as the others (Lemire, Fast random integer generation in an interval, 2019). The first
/// try is made with `word`.
TROUPE_EVERYWHERE inline std::uint32_t below(std::uint32_t range, std::uint32_t word, OwnNumbers own) {
  std::uint64_t spread = std::uint64_t{word} * range;
  if (static_cast<std::uint32_t>(spread) < range) {
    const std::uint32_t least = (0 - range) % range;
    for (int tries = 0; static_cast<std::uint32_t>(spread) < least && tries < kMaxTries; ++tries)
      spread = (own.next() >> 32) * range;
  }
  return static_cast<std::uint32_t>(spread >> 32);
}
TROUPE_EVERYWHERE inline std::uint64_t below(std::uint64_t range, std::uint64_t number, OwnNumbers& own) {
  Product spread = product(number, range);
  if (spread.low < range) {
    const std::uint64_t least = (0 - range) % range;
    for (int tries = 0; spread.low < least && tries < kMaxTries; ++tries) spread = product(own.next(), range);
  }
  return spread.high;
}
/// Whether ranges need 64 bits; 0 stands for 2^64.
TROUPE_EVERYWHERE constexpr bool is_wide(std::uint64_t range) { return range == 0 || range >> 32 != 0; }

/// True so often: `of_2_64` times in 2^64, or always. The word decides, but for one in 2^32.
struct Chance {
  std::uint64_t of_2_64;
  bool always;
};
TROUPE_EVERYWHERE inline Chance chance_of(double probability) {
  return {probability < 1 ? static_cast<std::uint64_t>(times(probability, 0x1p64)) : 0, probability >= 1};
}
TROUPE_EVERYWHERE inline bool happens(const Chance& chance, std::uint32_t word, OwnNumbers own) {
  const auto high = static_cast<std::uint32_t>(chance.of_2_64 >> 32);
  if (word != high) return chance.always || word < high;
  return chance.always || own.next() >> 32 < static_cast<std::uint32_t>(chance.of_2_64);
}

// ---- those that try until they accept ----

/// log(k!) for a whole number from 0 on.
TROUPE_EVERYWHERE inline double log_factorial(double k) {
  if (k < 10) {
    double all = 1;
    for (double i = 2; i <= k; i += 1) all *= i;
    return log(all);
  }
  const double z = 1 / times(k, k);  // Stirling's series
  const double series = polynomial(z, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680) / k;
  return times(k + 0.5, log(k)) - k + (0.91893853320467274178 + series);
}

/// What a Poisson distribution's numbers are made of, computed once.
struct PoissonNumbers {
  double rate, log_rate, a, b, log_inverse_alpha, least;
};
TROUPE_EVERYWHERE inline PoissonNumbers poisson_numbers(double rate) {
  if (rate < 10) return {rate, 0, 0, 0, 0, exp(-rate)};
  const double b = 0.931 + times(2.53, std::sqrt(rate));
  return {rate, log(rate), -0.059 + times(0.02483, b), b, log(1.1239 + 1.1328 / (b - 3.4)), 0.9277 - 3.6224 / (b - 2)};
}
/// Of a rate below 10: adds up the probabilities of 0, 1, 2 ... until they reach u.
TROUPE_EVERYWHERE inline double small_poisson(const PoissonNumbers& of, double u) {
  constexpr double kRest = 0x1p-60;  // by rounding, all of them together may stay below u
  double probability = of.least;
  double k = 0;
  for (; u > probability && (probability > kRest || k < of.rate); probability = times(probability, of.rate) / k) {
    u -= probability;
    k += 1;
  }
  return k;
}
/// Small rates: by adding up probabilities. Others: by transformed rejection (Hoermann, The transformed rejection
/// method for generating Poisson random variables, 1993).
TROUPE_EVERYWHERE inline double poisson(const PoissonNumbers& of, OwnNumbers own) {
  if (of.rate < 10) return small_poisson(of, open_unit(own.next()));
  for (int tries = 0; tries < kMaxTries; ++tries) {
    const double u = open_unit(own.next()) - 0.5;
    const double v = open_unit(own.next());
    const double from_edge = 0.5 - std::fabs(u);
    const double k = std::floor(times(2 * of.a / from_edge + of.b, u) + of.rate + 0.43);
    if (from_edge >= 0.07 && v <= of.least) return k;
    if (k < 0 || (from_edge < 0.013 && v > from_edge)) continue;
    const double accepted = times(k, of.log_rate) - of.rate - log_factorial(k);
    if (log(v) + of.log_inverse_alpha - log(of.a / times(from_edge, from_edge) + of.b) <= accepted) return k;
  }
  return std::floor(of.rate);
}

/// Of shape 1 or more (Marsaglia and Tsang, A simple method for generating gamma variables, 2000).
TROUPE_EVERYWHERE inline double gamma_from_1(double shape, OwnNumbers& own) {
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (int tries = 0; tries < kMaxTries; ++tries) {
    const std::uint64_t first = own.next();
    const double z = normal_pair(first, own.next()).cosine;
    const double u = open_unit(own.next());
    const double root = 1 + times(c, z);
    if (!(root > 0)) continue;
    const double v = times(times(root, root), root);
    if (log(u) < times(times(0.5, z), z) + times(d, 1 - v + times(3.0, log(root)))) return times(d, v);
  }
  return d;
}
TROUPE_EVERYWHERE inline double gamma(double shape, double scale, OwnNumbers own) {
  if (shape >= 1) return times(scale, gamma_from_1(shape, own));
  const double greater = gamma_from_1(shape + 1, own);
  return times(scale, times(greater, exp(log(open_unit(own.next())) / shape)));
}
/// The logarithm, which small shapes do not underflow.
TROUPE_EVERYWHERE inline double log_gamma_number(double shape, OwnNumbers& own) {
  if (shape >= 1) return log(gamma_from_1(shape, own));
  const double greater = log(gamma_from_1(shape + 1, own));
  return greater + log(open_unit(own.next())) / shape;
}
TROUPE_EVERYWHERE inline double beta(double a, double b, OwnNumbers own) {
  const double x = log_gamma_number(a, own);
  return 1 / (1 + exp(log_gamma_number(b, own) - x));
}

/// Row `place` of an alias table is asked, with `bits`.
struct Pick {
  std::uint64_t place;
  std::uint64_t bits;
};
TROUPE_EVERYWHERE inline Pick pick(std::uint64_t outcomes, OwnNumbers own) {
  const std::uint64_t first = own.next();
  const std::uint64_t place = below(outcomes, first, own);
  return {place, own.next()};
}

// ---- permutations ----

/// A permutation of 0 to count - 1 that each element computes by itself: rounds of a Feistel network over rows x
/// columns
/// >= count places, walked until the place is one of `count`. An even number of rows makes odd permutations as likely
/// as even ones; few places need more rounds until every order is as likely as the others.
class Permutation {
 public:
  TROUPE_EVERYWHERE Permutation(const Source& source, std::uint64_t position, std::uint64_t count) : count_(count) {
    auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count)));
    while (root * root < count) ++root;
    rows_ = root + root % 2;
    if (rows_ < 2) rows_ = 2;
    columns_ = (count + rows_ - 1) / rows_;
    rounds_ = count < kFew ? kMostRounds : kRounds;
    OwnNumbers own(source, position);
    for (int round = 0; round < rounds_; ++round) keys_[round] = own.next();
  }
  /// Needs place < count.
  TROUPE_EVERYWHERE std::uint64_t operator()(std::uint64_t place) const {
    do place = once(place);
    while (place >= count_);
    return place;
  }

 private:
  static constexpr int kRounds = 12;
  static constexpr int kMostRounds = 32;
  static constexpr std::uint64_t kFew = 4096;

  TROUPE_EVERYWHERE std::uint64_t once(std::uint64_t place) const {
    std::uint64_t column = place / rows_;
    std::uint64_t row = place - column * rows_;
    for (int round = 0; round < rounds_; round += 2) {
      row += mixed(column + keys_[round], rows_);
      row -= row >= rows_ ? rows_ : 0;
      column += mixed(row + keys_[round + 1], columns_);
      column -= column >= columns_ ? columns_ : 0;
    }
    return column * rows_ + row;
  }
  /// Any number, as one below `limit`, which is less than 2^32.
  TROUPE_EVERYWHERE static std::uint64_t mixed(std::uint64_t number, std::uint64_t limit) {
    number = (number ^ number >> 32) * 0x9E37'79B9'7F4A'7C15;
    number = (number ^ number >> 29) * 0x243F'6A88'85A3'08D3;
    number ^= number >> 32;
    return (number & 0xFFFF'FFFF) * limit >> 32;
  }

  std::uint64_t count_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  int rounds_;
  std::uint64_t keys_[kMostRounds] = {};
};

}  // namespace troupe::inline v0::random
