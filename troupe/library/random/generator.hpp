// Where random numbers come from, as a value in the app: an engine, a seed, a stream and a position. Copy it to draw
// the same numbers again. What a position gives depends on these four alone: not on the device, on how many threads or
// blocks compute it, on whether a worker died meanwhile, or on how one fill is cut into several.
//
//   Generator generator(42);
//   CO_TRY(co_await gpu.random().uniform(generator, x));  // takes as many positions as x has elements
#pragma once

#include <cstdint>

#include "troupe/core/random_engine.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What a generator can be told beside its seed.
struct GeneratorOptions {
  std::uint32_t stream = 0;    // streams of one seed have nothing in common: one for each device or task
  std::uint64_t position = 0;  // the first one
  RandomEngine engine = RandomEngine::philox4x32_10;  // the algorithm
  std::uint32_t dimensions = 1;                       // of Sobol's points: those of one follow each other; 1 to 256
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
  /// Of Sobol's points; 1 for the other engines.
  constexpr std::uint32_t dimensions() const noexcept { return options_.dimensions; }
  /// Of the next element.
  constexpr std::uint64_t position() const noexcept { return options_.position; }

  /// The same one at another position, forwards or back. Fills find the place: docs/random.md says what it costs.
  constexpr Generator at(std::uint64_t position) const noexcept {
    Generator there = *this;
    there.options_.position = position;
    return there;
  }
  friend constexpr bool operator==(const Generator& a, const Generator& b) noexcept {
    return a.seed_ == b.seed_ && a.options_.stream == b.options_.stream && a.options_.position == b.options_.position &&
           a.options_.engine == b.options_.engine && a.options_.dimensions == b.options_.dimensions;
  }

 private:
  std::uint64_t seed_;
  GeneratorOptions options_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
