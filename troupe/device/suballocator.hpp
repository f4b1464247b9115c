// Hands out pieces of one chunk of memory: two-level segregated fit (Masmano et al., 2004). Allocating and freeing take
// constant time, and freed neighbours become one piece at once. It works with offsets and keeps its records in memory
// of its own, because the chunk may be VRAM that the app cannot touch.
//
//   Suballocator pieces(64 << 20);
//   std::optional<Suballocator::Piece> piece = pieces.allocate(1000);  // 1024 bytes at a multiple of 512
//   pieces.free(*piece);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace troupe::inline v0 {

/// Pieces start and end at multiples of this: best for wide loads, copy engines and tensor cores.
inline constexpr std::uint64_t kVaultAlignment = 512;

/// The next multiple of `step`, a power of two. Needs a result that fits in 64 bits.
constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t step) noexcept {
  return (bytes + step - 1) & ~(step - 1);
}

/// Not thread-safe. Its own memory grows with the largest number of pieces there ever were, 40 bytes each, so nothing
/// is allocated in the steady state.
class Suballocator {
 public:
  struct Piece {
    std::uint64_t offset_bytes = 0;
    std::uint64_t size_bytes = 0;  // a multiple of kVaultAlignment
    std::uint32_t node = 0;        // its index in the records
    std::uint32_t serial = 0;      // tells it from later pieces in the same place
  };

  /// Needs a multiple of kVaultAlignment, at least one and at most op::kMaxChunkBytes.
  explicit Suballocator(std::uint64_t size_bytes);

  /// A piece of `size_bytes`, rounded up to kVaultAlignment, or nothing when no free piece was found. Needs a size
  /// above 0. It takes a piece whose size class surely fits; if there is none, it looks at `kNearFits` pieces that
  /// might fit, so when memory is very fragmented it may miss one.
  std::optional<Piece> allocate(std::uint64_t size_bytes);

  /// Needs a piece that this suballocator gave and that is not freed.
  void free(const Piece& piece);

  /// False when `allocate(size_bytes)` would surely find nothing. Takes a few instructions.
  bool may_fit(std::uint64_t size_bytes) const noexcept;

  bool empty() const noexcept { return used_ == 0; }
  std::uint64_t size_bytes() const noexcept { return size_ * kVaultAlignment; }
  std::uint64_t used_bytes() const noexcept { return used_ * kVaultAlignment; }
  /// Walks one free list: for messages and tests.
  std::uint64_t largest_free_bytes() const noexcept;
  /// How many free pieces there are; walks all of them: for tests.
  std::uint64_t free_pieces() const noexcept;

  static constexpr int kNearFits = 8;

 private:
  // Sizes below are in granules of kVaultAlignment. A size class is a power of two (level) cut into 32 equal steps.
  static constexpr int kStepBits = 5;
  static constexpr std::uint32_t kSteps = 1U << kStepBits;
  static constexpr std::uint32_t kLevels = 32;  // enough for 2^35 granules, 16 TiB
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct SizeClass {
    std::uint32_t level;
    std::uint32_t step;
  };
  struct Node {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t before = kNone;  // neighbours in memory
    std::uint32_t after = kNone;
    std::uint32_t previous = kNone;  // neighbours in the free list; `next` also links unused nodes
    std::uint32_t next = kNone;
    std::uint32_t serial = 0;
    bool used = false;
  };

  static SizeClass class_of(std::uint64_t size) noexcept;
  std::uint32_t& head(SizeClass size_class) noexcept { return heads_[size_class.level * kSteps + size_class.step]; }
  std::uint32_t head(SizeClass size_class) const noexcept {
    return heads_[size_class.level * kSteps + size_class.step];
  }
  std::uint32_t find(std::uint64_t size) const noexcept;
  void link(std::uint32_t node) noexcept;
  void unlink(std::uint32_t node) noexcept;
  std::uint32_t new_node();
  void absorb_next(std::uint32_t node) noexcept;

  std::uint64_t size_;
  std::uint64_t used_ = 0;
  std::uint32_t levels_ = 0;                    // bit per level that has a free piece
  std::array<std::uint32_t, kLevels> steps_{};  // and per step of each level
  std::vector<std::uint32_t> heads_;            // first free piece of each size class, kNone when there is none
  std::vector<Node> nodes_;
  std::uint32_t idle_ = kNone;
};

}  // namespace troupe::inline v0
