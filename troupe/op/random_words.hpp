// The bits of the engines that have no counter, in order from any position: where an op begins is found once, and each
// thread of a backend goes on from there. A position has a word of 32 bits and a number of 64; of the engines that go
// step by step, word q is output q of the stream, and number q outputs 2^65 + 2q and the one after it.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "troupe/op/random.hpp"
#include "troupe/op/random_jump.hpp"
#include "troupe/op/sobol.hpp"

namespace troupe::inline v0::random {

/// The Mersenne Twister's outputs, one after another.
class Mt19937Words {
 public:
  explicit Mt19937Words(const Mt19937State& state) noexcept : state_(state) {}
  std::uint32_t next() noexcept {
    if (taken_ == Mt19937::kWords) renew();
    return Mt19937::tempered(state_.words[taken_++]);
  }

 private:
  void renew() noexcept;

  Mt19937State state_;
  int taken_ = Mt19937::kWords;
};

/// The coordinates of Sobol's points, one after another: all of a point's, then those of the next.
class SobolWords {
 public:
  SobolWords(const SobolTable& table, bool is_of_32_bits, bool are_numbers, std::uint64_t position);
  std::uint32_t next() noexcept;

 private:
  void go_on() noexcept;

  const SobolTable* table_;
  bool is_of_32_bits_;
  bool are_numbers_;
  bool is_upper_half_ = false;  // of a number, whose lower half comes first
  std::uint32_t dimension_;
  std::uint64_t point_;
  std::vector<std::uint64_t> coordinates_;  // of the point, as far as they have come, and of the one before
};

/// Words in order, from a place that `RandomStart` has found.
class RandomWords {
 public:
  /// `count` words from word `first` on, which may be a few before the last one that was taken.
  void take(std::uint64_t first, std::uint32_t* out, std::int64_t count) noexcept;

 private:
  friend class RandomStart;
  static constexpr std::uint64_t kKept = 8;
  using Engine = std::variant<Xorwow, Mrg32k3a, Mt19937Words, SobolWords>;

  RandomWords(Engine engine, std::uint64_t next) noexcept : engine_(std::move(engine)), next_(next) {}

  Engine engine_;
  std::uint64_t next_;
  std::uint32_t last_[kKept] = {};  // word i at i % kKept
};

/// Where the bits of an op begin: made once for it. Words are counted from the first of the stream.
class RandomStart {
 public:
  using State = std::variant<Xorwow, Mrg32k3a, Mt19937State, SobolTable>;

  /// Needs an op that has been checked, of an engine that is not by counter; the words of `kWords` or `kNumbers`.
  RandomStart(const op::RandomSource& source, Space space);

  int words_each() const noexcept { return are_numbers_ ? 2 : 1; }
  /// A position that is a multiple of 4, at or before the op's first.
  std::uint64_t position() const noexcept { return position_; }
  const State& state() const noexcept { return state_; }  // there
  /// The state at a position that is not before it; Sobol's is one table for all.
  State state_at(std::uint64_t position) const;
  bool is_of_32_bits() const noexcept { return is_of_32_bits_; }

  /// From a position that is a multiple of 4 and not before the first.
  RandomWords at(std::uint64_t position) const;

 private:
  bool are_numbers_;
  bool is_of_32_bits_;
  std::uint64_t position_;
  State state_;
};

/// What the random functions are told of a generator.
Source source_of(const op::RandomSource& source) noexcept;
/// What one element's numbers of its own are made with; for ops that have them for all elements together.
Source own_source_at(const op::RandomSource& source, std::uint64_t position);

}  // namespace troupe::inline v0::random
