// Random numbers on a device: `gpu.random()`. Every fill carries its seed and its position, so it can be run again
// after a crash, replayed and split, bit for bit. Arrays may have any strides; what does not fit is refused before
// anything is submitted, and the generator stays where it is.
//
//   Generator generator(42);
//   CO_TRY(co_await gpu.random().normal(generator, x, 0.0, 0.02));
//   CO_TRY(co_await gpu.random().integers(generator, dice, 1, 7));
//
// docs/random.md says what each element is, by formula.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "troupe/core/kinds.hpp"
#include "troupe/device/device.hpp"

// Where random numbers come from, as a value in the app: an engine, a seed, a stream and a position. Copy it to draw
// the same numbers again. What a position gives depends on these four alone: not on the device, on how many threads or
// blocks compute it, on whether a worker died meanwhile, or on how one fill is cut into several.
//
//   Generator generator(42);
//   CO_TRY(co_await gpu.random().uniform(generator, x));  // takes as many positions as x has elements

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What a generator can be told beside its seed.
struct GeneratorOptions {
  std::uint32_t stream = 0;    // streams of one seed have nothing in common: one for each device or task
  std::uint64_t position = 0;  // the first one
  RandomEngine engine = RandomEngine::philox4x32_10;  // the algorithm
};

/// Seed and position of random numbers. A fill moves the position on when it is made, by one for each element.
class Generator {
 public:
  explicit constexpr Generator(std::uint64_t seed, GeneratorOptions options = {}) noexcept
      : seed_(seed), options_(options) {}

  /// What makes bits of seed and position.
  constexpr RandomEngine engine() const noexcept { return options_.engine; }
  /// As it was made with.
  constexpr std::uint64_t seed() const noexcept { return seed_; }
  /// Which stream of the seed.
  constexpr std::uint32_t stream() const noexcept { return options_.stream; }
  /// Of the next element.
  constexpr std::uint64_t position() const noexcept { return options_.position; }

  /// The same one at another position: forwards or back, at no cost.
  constexpr Generator at(std::uint64_t position) const noexcept {
    Generator there = *this;
    there.options_.position = position;
    return there;
  }
  friend constexpr bool operator==(const Generator& a, const Generator& b) noexcept {
    return a.seed_ == b.seed_ && a.options_.stream == b.options_.stream && a.options_.position == b.options_.position &&
           a.options_.engine == b.options_.engine;
  }

 private:
  std::uint64_t seed_;
  GeneratorOptions options_;
};

namespace detail {

/// An integer of any type.
struct WholeNumber {
  std::uint64_t bits;
  bool is_unsigned;

  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr WholeNumber(T number) noexcept  // NOLINT(google-explicit-constructor): a bound is written as a number
      : bits(static_cast<std::uint64_t>(number)), is_unsigned(std::unsigned_integral<T>) {}
};

}  // namespace detail

/// What `discrete` draws by: for each of n outcomes two numbers, [n, 2] in row-major order. Outcome i is drawn as often
/// as its weight is part of the sum. `invalid_argument` when a weight is negative or not finite, or none is above 0.
Result<std::vector<std::uint64_t>> alias_table(std::span<const double> weights);

/// Random numbers on a device: `gpu.random()`. All of these write every element of `out` and move the generator on.
/// Numbers that are not integers are f16, bf16, f32 or f64.
class Random {
 public:
  explicit Random(Device device) noexcept : device_(std::move(device)) {}

  /// All bits of u32 or u64.
  Call<void> bits(Generator& generator, const AnyArray& out) const;
  /// At least `low` and less than `high`, also after rounding.
  Call<void> uniform(Generator& generator, const AnyArray& out, double low = 0, double high = 1) const;
  /// Integers of any type, at least `low` and less than `high`, each as often as the others.
  Call<void> integers(Generator& generator, const AnyArray& out, detail::WholeNumber low,
                      detail::WholeNumber high) const;

  /// Normal numbers.
  Call<void> normal(Generator& generator, const AnyArray& out, double mean = 0, double stddev = 1) const;
  /// e to the power of normal numbers, which have this mean and deviation.
  Call<void> log_normal(Generator& generator, const AnyArray& out, double mean = 0, double stddev = 1) const;
  /// Times between events that happen `rate` times a unit.
  Call<void> exponential(Generator& generator, const AnyArray& out, double rate = 1) const;
  Call<void> cauchy(Generator& generator, const AnyArray& out, double location = 0, double scale = 1) const;  // no mean
  /// Mean shape times scale. Shapes are at most 2^30.
  Call<void> gamma(Generator& generator, const AnyArray& out, double shape, double scale = 1) const;
  /// In [0, 1]. Both parameters are at most 2^30.
  Call<void> beta(Generator& generator, const AnyArray& out, double a, double b) const;

  /// bool, or u8 of 0 and 1: true with this probability.
  Call<void> bernoulli(Generator& generator, const AnyArray& out, double probability) const;
  /// i32, u32, i64 or u64: how many events happen in a unit. The rate is at most 2^30.
  Call<void> poisson(Generator& generator, const AnyArray& out, double rate) const;
  /// i32, u32, i64 or u64: numbers of outcomes, by a table of `alias_table` as an array [n, 2].
  Call<void> discrete(Generator& generator, const AnyArray& table, const AnyArray& out) const;
  /// i32, u32, i64 or u64: the integers 0 to n - 1 in random order, of a vector of n. Takes one position.
  Call<void> permutation(Generator& generator, const AnyArray& out) const;

 private:
  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
