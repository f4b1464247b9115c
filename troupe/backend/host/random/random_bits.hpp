// The bits of an op's positions on the CPU: of Philox by its counter, of the other engines in order, from where a block
// of the team begins. Every engine gives the same however a fill is cut.
#pragma once

#include <optional>

#include "troupe/backend/host/random/fill_in_order.hpp"
#include "troupe/backend/host/random/random_rows.hpp"
#include "troupe/op/random_words.hpp"

namespace troupe::host {

/// The bits of a block of the team.
class BlockBits {
 public:
  explicit BlockBits(const random::Source& source) noexcept : source_(source) {}
  BlockBits(const random::Source& source, random::RandomWords words) noexcept
      : source_(source), words_(std::move(words)) {}

  const random::Source& source() const noexcept { return source_; }
  /// The blocks from index `first` on, four words each.
  void take(std::uint64_t first, random::Space space, std::uint32_t* out, std::int64_t blocks) noexcept {
    if (words_)
      words_->take(4 * first, out, 4 * blocks);
    else
      random_rows().blocks(source_, first, space, out, blocks);
  }
  /// What the numbers of its own of a position are made with.
  random::OwnNumbers own(std::uint64_t position, std::uint64_t bits) const noexcept {
    return {random::own_source(source_, bits), position};
  }

 private:
  random::Source source_;
  std::optional<random::RandomWords> words_;
};

/// The bits of an op: words or numbers.
class OpBits {
 public:
  OpBits(const op::RandomSource& source, random::Space space) : source_(random::source_of(source)) {
    if (!source_.is_by_counter) start_.emplace(source, space);
    is_far_ = source.engine == RandomEngine::mt19937;
  }
  BlockBits operator()(std::uint64_t position) const noexcept {
    return start_ ? BlockBits(source_, start_->at(position - position % 4)) : BlockBits(source_);
  }
  /// Blocks that are worth finding their place.
  Grain grain(Grain wanted) const noexcept {
    if (!start_) return wanted;
    return Grain::of_items(std::max(wanted.items(), is_far_ ? kFarBlock : kBlock));
  }

 private:
  static constexpr std::int64_t kBlock = std::int64_t{1} << 17;
  static constexpr std::int64_t kFarBlock = std::int64_t{1} << 21;

  random::Source source_;
  std::optional<random::RandomStart> start_;
  bool is_far_ = false;
};

/// The bits of positions from `first` on, with those before it and behind the last that share their blocks.
struct Words {
  static constexpr std::uint64_t kInBlock = 4;
  static constexpr random::Space kSpace = random::kWords;
  using Bits = std::uint32_t;
};
struct Numbers {
  static constexpr std::uint64_t kInBlock = 2;
  static constexpr random::Space kSpace = random::kNumbers;
  using Bits = std::uint64_t;
};
template <class Kind>
class BitsOf {
 public:
  using Bits = typename Kind::Bits;

  BitsOf(BlockBits& block, std::uint64_t first, std::int64_t count) noexcept
      : before_(static_cast<std::int64_t>(first % 4)), count_((before_ + count + 3) / 4 * 4) {
    block.take((first - first % 4) / Kind::kInBlock, Kind::kSpace, reinterpret_cast<std::uint32_t*>(bits_),
               count_ / static_cast<std::int64_t>(Kind::kInBlock));
  }
  /// Of the first position.
  const Bits* data() const noexcept { return bits_ + before_; }
  /// With those around it: a multiple of 4, from a position that is one.
  const Bits* all() const noexcept { return bits_; }
  std::int64_t count() const noexcept { return count_; }
  std::int64_t before() const noexcept { return before_; }

 private:
  std::int64_t before_;
  std::int64_t count_;
  alignas(64) Bits bits_[kPiece + 8];
};

}  // namespace troupe::host
