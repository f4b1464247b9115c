#include "troupe/device/suballocator.hpp"

#include <algorithm>
#include <bit>

#include "troupe/core/assert.hpp"
#include "troupe/op/view.hpp"

namespace troupe::inline v0 {

static_assert(op::kMaxChunkBytes / kVaultAlignment <= std::uint64_t{1} << 35, "the levels cover every chunk");

Suballocator::Suballocator(std::uint64_t size_bytes) : size_(size_bytes / kVaultAlignment) {
  TROUPE_ASSERT(size_bytes > 0 && size_bytes % kVaultAlignment == 0 && size_bytes <= op::kMaxChunkBytes,
                "a chunk is a whole number of granules and has an address for each byte");
  nodes_.reserve(2);  // so that the first piece needs no more memory
  heads_.assign((class_of(size_).level + std::size_t{1}) * kSteps, kNone);
  const std::uint32_t all = new_node();
  nodes_[all].size = size_;
  link(all);
}

/// Level 0 has one step for each size below 32; level n > 0 has the sizes from 2^(n+4) on, in steps of 2^(n-1).
Suballocator::SizeClass Suballocator::class_of(std::uint64_t size) noexcept {
  if (size < kSteps) return {0, static_cast<std::uint32_t>(size)};
  const int log2 = std::bit_width(size) - 1;
  return {static_cast<std::uint32_t>(log2 - kStepBits + 1),
          static_cast<std::uint32_t>(size >> (log2 - kStepBits)) - kSteps};
}

/// A free node of at least that size, or kNone.
std::uint32_t Suballocator::find(std::uint64_t size) const noexcept {
  // Every piece in the class of the size rounded up to a whole step, or in a higher class, fits.
  std::uint64_t rounded = size;
  if (size >= kSteps) rounded += (std::uint64_t{1} << (std::bit_width(size) - 1 - kStepBits)) - 1;
  const SizeClass fitting = class_of(rounded);
  const std::uint32_t same_level = steps_[fitting.level] & (~std::uint32_t{0} << fitting.step);
  if (same_level != 0) return head({fitting.level, static_cast<std::uint32_t>(std::countr_zero(same_level))});
  const auto higher_levels = static_cast<std::uint32_t>(levels_ & (~std::uint64_t{0} << (fitting.level + 1)));
  if (higher_levels != 0) {
    const auto level = static_cast<std::uint32_t>(std::countr_zero(higher_levels));
    return head({level, static_cast<std::uint32_t>(std::countr_zero(steps_[level]))});
  }
  // Pieces of the size's own class may be a little too small. One that fits is often among the first: a chunk made for
  // one large array has exactly one.
  const SizeClass own = class_of(size);
  if ((steps_[own.level] >> own.step & 1) == 0) return kNone;
  std::uint32_t node = head(own);
  for (int i = 0; i < kNearFits && node != kNone; ++i, node = nodes_[node].next)
    if (nodes_[node].size >= size) return node;
  return kNone;
}

std::optional<Suballocator::Piece> Suballocator::allocate(std::uint64_t size_bytes) {
  TROUPE_ASSERT(size_bytes > 0, "a piece has bytes");
  if (size_bytes > this->size_bytes()) return std::nullopt;
  const std::uint64_t size = round_up(size_bytes, kVaultAlignment) / kVaultAlignment;
  const std::uint32_t found = find(size);
  if (found == kNone) return std::nullopt;
  const bool is_split = nodes_[found].size > size;
  const std::uint32_t rest = is_split ? new_node() : kNone;  // may move the nodes, and may find no memory
  unlink(found);
  if (is_split) {
    Node& node = nodes_[found];
    nodes_[rest].offset = node.offset + size;
    nodes_[rest].size = node.size - size;
    nodes_[rest].before = found;
    nodes_[rest].after = node.after;
    if (node.after != kNone) nodes_[node.after].before = rest;
    node.after = rest;
    node.size = size;
    link(rest);
  }
  Node& node = nodes_[found];
  node.used = true;
  ++node.serial;
  used_ += size;
  return Piece{node.offset * kVaultAlignment, size * kVaultAlignment, found, node.serial};
}

void Suballocator::free(const Piece& piece) {
  TROUPE_ASSERT(piece.node < nodes_.size() && nodes_[piece.node].used && nodes_[piece.node].serial == piece.serial,
                "a piece is freed once");
  std::uint32_t freed = piece.node;
  TROUPE_ASSERT(nodes_[freed].offset * kVaultAlignment == piece.offset_bytes, "a piece goes back where it came from");
  nodes_[freed].used = false;
  used_ -= nodes_[freed].size;
  const std::uint32_t after = nodes_[freed].after;
  if (after != kNone && !nodes_[after].used) {
    unlink(after);
    absorb_next(freed);
  }
  const std::uint32_t before = nodes_[freed].before;
  if (before != kNone && !nodes_[before].used) {
    unlink(before);
    absorb_next(before);
    freed = before;
  }
  link(freed);
}

/// Merges a node with the node after it. Both are free and in no list.
void Suballocator::absorb_next(std::uint32_t node) noexcept {
  const std::uint32_t gone = nodes_[node].after;
  nodes_[node].size += nodes_[gone].size;
  nodes_[node].after = nodes_[gone].after;
  if (nodes_[gone].after != kNone) nodes_[nodes_[gone].after].before = node;
  nodes_[gone].next = idle_;
  idle_ = gone;
}

bool Suballocator::may_fit(std::uint64_t size_bytes) const noexcept {
  if (size_bytes > this->size_bytes() || levels_ == 0) return false;
  const SizeClass own = class_of(round_up(size_bytes, kVaultAlignment) / kVaultAlignment);
  const auto level = static_cast<std::uint32_t>(std::bit_width(levels_) - 1);
  return level > own.level || (level == own.level && steps_[level] >> own.step != 0);
}

std::uint64_t Suballocator::largest_free_bytes() const noexcept {
  if (levels_ == 0) return 0;
  const auto level = static_cast<std::uint32_t>(std::bit_width(levels_) - 1);
  const auto step = static_cast<std::uint32_t>(std::bit_width(steps_[level]) - 1);
  std::uint64_t largest = 0;
  for (std::uint32_t node = head({level, step}); node != kNone; node = nodes_[node].next)
    largest = std::max(largest, nodes_[node].size);
  return largest * kVaultAlignment;
}

std::uint64_t Suballocator::free_pieces() const noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t node : heads_)
    for (; node != kNone; node = nodes_[node].next) ++count;
  return count;
}

void Suballocator::link(std::uint32_t node) noexcept {
  const SizeClass size_class = class_of(nodes_[node].size);
  std::uint32_t& first = head(size_class);
  nodes_[node].previous = kNone;
  nodes_[node].next = first;
  if (first != kNone) nodes_[first].previous = node;
  first = node;
  steps_[size_class.level] |= std::uint32_t{1} << size_class.step;
  levels_ |= std::uint32_t{1} << size_class.level;
}

void Suballocator::unlink(std::uint32_t node) noexcept {
  const Node& gone = nodes_[node];
  if (gone.next != kNone) nodes_[gone.next].previous = gone.previous;
  if (gone.previous != kNone) {
    nodes_[gone.previous].next = gone.next;
    return;
  }
  const SizeClass size_class = class_of(gone.size);
  head(size_class) = gone.next;
  if (gone.next != kNone) return;
  steps_[size_class.level] &= ~(std::uint32_t{1} << size_class.step);
  if (steps_[size_class.level] == 0) levels_ &= ~(std::uint32_t{1} << size_class.level);
}

/// A node in no list, with the serial of the last piece it stood for.
std::uint32_t Suballocator::new_node() {
  if (idle_ == kNone) {
    TROUPE_ASSERT(nodes_.size() < kNone, "a chunk has fewer pieces than a node has numbers");
    nodes_.emplace_back();
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  const std::uint32_t node = idle_;
  idle_ = nodes_[node].next;
  return node;
}

}  // namespace troupe::inline v0
