// The bits of engines which have no counter, on a GPU: the place where a piece begins is found by the worker, the
// places of its threads by the GPU. The same bits as on the CPU.
#pragma once

#include <optional>

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/random_words.hpp"

namespace troupe::cuda {

/// For the length of one op on one lane.
class EngineBits {
 public:
  /// Of an op that takes words or numbers, and at most so many positions at a time.
  static Result<EngineBits> create(const op::RandomSource& source, random::Space space, std::int64_t most,
                                   const LaneTools& on);

  /// How many positions are made at a time, if a kernel needs more.
  static std::int64_t positions_at_once(random::Space space) noexcept;
  /// Puts on the stream what makes the bits of `count` positions from `position` on, which may be 3 before the op's
  /// first. They are at `bits()` until the next ones.
  Result<void> make(std::uint64_t position, std::int64_t count) const;
  const unsigned* bits() const noexcept { return bits_.data<const unsigned>(); }

 private:
  EngineBits(const op::RandomSource& source, random::Space space, const LaneTools& on, StreamScratch bits)
      : on_(on), start_(source, space), bits_(std::move(bits)) {}

  Result<void> put_table(const random::SobolTable& table);
  Result<void> make_words(const random::Xorwow& state, std::int64_t words) const;
  Result<void> make_words(const random::Mrg32k3a& state, std::int64_t words) const;
  Result<void> make_words(const random::Mt19937State& state, std::int64_t words) const;
  Result<void> make_points(const random::SobolTable& table, std::uint64_t position, std::int64_t count) const;

  const LaneTools& on_;
  random::RandomStart start_;
  StreamScratch bits_;
  std::optional<StreamScratch> table_;  // Sobol's direction numbers and shifts
};

}  // namespace troupe::cuda
