// The memory of a device that outlives its workers: large chunks from a `ChunkSource`, each cut into blocks by a
// suballocator. Once the chunks are there, allocating and freeing a block needs no system call. Freed memory can be
// given out again at once, because the worker keeps the order of ops on one range.
//
//   auto vault = TROUPE_TRY(Vault::create({.limit_bytes = 1 << 30}, device, source));
//   IntrusivePtr<VaultBlock> block = TROUPE_TRY(vault->allocate(4096));
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "troupe/core/fork.hpp"
#include "troupe/core/intrusive.hpp"
#include "troupe/core/result.hpp"
#include "troupe/device/block.hpp"
#include "troupe/device/device_options.hpp"
#include "troupe/device/suballocator.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::inline v0 {

/// A chunk of an accelerator's memory, for another context of this process to map.
struct LentChunk {
  wire::Descriptor memory;
  std::uint64_t size_bytes = 0;
};

/// Where chunks of memory come from: made once, announced to every worker, dropped when empty. A vault makes one call
/// at a time, from any thread. While it waits for `make` or `commit`, blocks can still be freed, and allocated where
/// there is room.
class ChunkSource {
 public:
  struct Chunk {
    std::uint32_t id = 0;       // below op::kMaxChunks; unique until the chunk is dropped
    std::byte* data = nullptr;  // where the app sees it, aligned to kVaultAlignment; null when it does not
  };

  virtual ~ChunkSource() = default;
  /// The size is a multiple of kChunkStepBytes if the vault's limit is one; otherwise the last chunk under the limit
  /// may be a multiple of kVaultAlignment only. `out_of_memory` makes the vault give back what it can and try again.
  virtual Result<Chunk> make(std::uint64_t size_bytes) = 0;
  /// Makes sure that the first `bytes` bytes of the chunk are backed by memory, so that touching them cannot fail.
  virtual Result<void> commit(std::uint32_t id, std::uint64_t bytes) = 0;
  /// Called by whoever releases the last owner of a block, so it must not wait for another thread that might do that.
  virtual void drop(std::uint32_t id) noexcept = 0;
  /// Copies what is in the chunk from `offset` on; false when the app cannot see that memory. Any thread, also while
  /// another call is under way.
  virtual bool look(std::uint32_t id, std::uint64_t offset, std::span<std::byte> into) noexcept {
    (void)id, (void)offset, (void)into;
    return false;
  }
  /// The chunk for another context of this process; it stays as long as a block in it has an owner. `unsupported` for
  /// memory that no descriptor holds, or that is not an accelerator's. Any thread, as above.
  virtual Result<LentChunk> lend(std::uint32_t id) {
    return fail(ErrorKind::unsupported, "no descriptor holds chunk " + std::to_string(id));
  }
};

inline constexpr std::uint64_t kDefaultChunkBytes = std::uint64_t{64} << 20;
/// Chunks are committed in steps of this, and most are a multiple of it. CUDA has the same step.
inline constexpr std::uint64_t kChunkStepBytes = std::uint64_t{2} << 20;
/// A vault with a small limit makes smaller chunks, so that at least this many fit.
inline constexpr std::uint64_t kLeastChunks = 8;
/// How many blocks without owners a vault keeps for the next allocations.
inline constexpr std::uint64_t kMaxIdleBlocks = 65536;
/// Small blocks, of up to this many steps of kVaultAlignment, keep their piece when they are freed, for the next block
/// of that size; but only in the chunk that had room last, and no more than kMaxQuickBytes together.
inline constexpr std::uint64_t kQuickSizes = 16;
inline constexpr std::uint64_t kMaxQuickBytes = std::uint64_t{1} << 20;

struct VaultOptions {
  /// All chunks together never have more bytes than this.
  std::uint64_t limit_bytes = 0;
  /// Rounded up to kChunkStepBytes. Chunks are smaller when the limit is small, and larger when the limit would need
  /// more than half of op::kMaxChunks. A block that is larger gets a chunk for itself.
  std::uint64_t chunk_bytes = kDefaultChunkBytes;
  /// Empty chunks are kept as long as they have no more bytes than this together, or than one usual chunk. More helps
  /// programs that free and allocate large blocks all the time.
  std::uint64_t keep_empty_bytes = 0;
  /// For memory that dies with its worker: that worker's generation. 0: the memory outlives all workers.
  std::int64_t generation = 0;
  /// In front of each block and behind it: bytes that are no other block's. A multiple of kVaultAlignment.
  std::uint64_t fence_bytes = 0;
};

namespace detail {

/// Any thread may call any function. A vault lives as long as its blocks, because each block owns its vault.
class Vault : public RefCounted {
 public:
  /// `invalid_argument` when the limit is below kVaultAlignment or there is no source. The vault shares the source,
  /// because blocks, and what the app sees of them, may outlive everybody else.
  static Result<IntrusivePtr<Vault>> create(VaultOptions options, int device, std::shared_ptr<ChunkSource> source);

  /// A block of `size_bytes`; its content is whatever was there. A block of size 0 has an empty range and takes
  /// nothing. `out_of_memory` with the figures when there is no room, even after empty chunks were given back;
  /// `stopped` after `close`; otherwise the source's error.
  Result<IntrusivePtr<VaultBlock>> allocate(std::uint64_t size_bytes);
  /// The same in a chunk of its own, which goes back to the source with the block. The chunk's size is a multiple of
  /// kChunkStepBytes, where the limit leaves room for that.
  Result<IntrusivePtr<VaultBlock>> allocate_own_chunk(std::uint64_t size_bytes);

  VaultStats stats() const;
  int device() const noexcept { return device_; }
  std::int64_t generation() const noexcept { return generation_; }
  /// Whether its blocks have fences; only in guard mode.
  bool has_fences() const noexcept { return fence_bytes_ != 0; }
  /// The range of one of its blocks with the fences, and what else of its piece lies behind it. Empty for size 0.
  op::Range with_fences(const VaultBlock& block) const noexcept;
  /// Copies what is in the vault at that range; false when the app cannot see it.
  bool look(const op::Range& range, std::span<std::byte> into) const noexcept;
  /// The chunk of one of its blocks, see `ChunkSource::lend`.
  Result<LentChunk> lend(const VaultBlock& block) const;
  /// True in a fork of the process that made it: its locks may be held for ever there.
  bool is_forked() const noexcept { return fork_mark_.is_forked(); }

  /// Gives all empty chunks back to the source.
  void trim();

  /// From now on `allocate` answers `stopped`, and the source is not called any more. Blocks stay as they are. Waits
  /// for a call to the source that is under way.
  void close() noexcept;

 private:
  friend class VaultBlock;  // comes back through `take_back`

  struct ChunkState {
    ChunkSource::Chunk chunk;
    Suballocator pieces;
    std::uint64_t committed_bytes = 0;
    bool usual = true;    // false: made for one large block; others use it only when nothing else is left
    bool is_own = false;  // made for one block, and no other uses it
  };
  struct ChunkPiece {
    ChunkState* chunk;
    std::uint32_t slot;
    Suballocator::Piece piece;
  };
  enum class Search { usual_chunks, large_chunks, all_chunks };
  enum class ChunkFor { many, one };

  Vault(VaultOptions options, int device, std::shared_ptr<ChunkSource> source);
  ~Vault() override;

  // Each needs `mutex_`.
  std::optional<ChunkPiece> find_place(std::uint64_t bytes, Search search);
  std::optional<ChunkPiece> place_in(std::uint32_t slot, std::uint64_t bytes);
  void leave_place(std::uint32_t slot, const Suballocator::Piece& piece);
  void use_slot(std::uint32_t slot);
  IntrusivePtr<VaultBlock> quick_block(std::uint64_t size_bytes) noexcept;
  bool keep_quick(VaultBlock& block) noexcept;
  void forget_quick() noexcept;
  void keep_idle(VaultBlock& block) noexcept;
  IntrusivePtr<VaultBlock> new_block(const ChunkPiece* place, std::uint64_t size_bytes);
  IntrusivePtr<VaultBlock> hand_out(VaultBlock& block, std::uint64_t size_bytes) noexcept;
  ChunkPiece add_chunk(ChunkSource::Chunk chunk, std::uint64_t chunk_bytes, std::uint64_t bytes, ChunkFor use);
  std::vector<std::uint32_t> remove_empty_chunks(std::uint64_t keep_bytes);

  // Each needs `growth_` and not `mutex_`.
  Result<IntrusivePtr<VaultBlock>> committed_block(std::uint64_t size_bytes, const ChunkPiece& place);
  Result<ChunkPiece> grow(std::uint64_t size_bytes);
  Result<ChunkPiece> grow_by_own_chunk(std::uint64_t size_bytes);
  Result<ChunkPiece> make_chunk(std::uint64_t bytes, std::uint64_t wanted_bytes, ChunkFor use = ChunkFor::many);
  Result<void> commit(const ChunkPiece& place);
  bool give_back_empty_chunks(std::uint64_t keep_bytes);

  // These need neither.
  std::uint64_t with_room_for_fences(std::uint64_t size_bytes) const noexcept;
  Result<IntrusivePtr<VaultBlock>> find_or_make(std::uint64_t size_bytes);
  Result<IntrusivePtr<VaultBlock>> allocate_slowly(std::uint64_t size_bytes, std::optional<ChunkPiece> place);
  Unexpected no_room(std::uint64_t size_bytes, const std::string& why = {}) const;
  Unexpected stopped() const;
  void take_back(VaultBlock& block) noexcept;
  bool has_empty_chunks_to_spare() const noexcept;  // needs `mutex_`

  const ForkMark fork_mark_;
  const std::uint64_t limit_bytes_;
  const std::uint64_t usual_bytes_;
  const std::uint64_t keep_empty_bytes_;
  const std::uint64_t fence_bytes_;
  const int device_;
  const std::int64_t generation_;
  const std::shared_ptr<ChunkSource> source_;

  // Serializes calls to the source, which may take long. Taken before `mutex_`. Whoever frees a block never waits for
  // it.
  std::mutex growth_;
  mutable std::mutex mutex_;                         // of what follows
  bool closed_ = false;                              // changes under both, so either is enough to read it
  std::vector<std::unique_ptr<ChunkState>> chunks_;  // by slot; null where a chunk was dropped
  std::uint32_t last_slot_ = 0;                      // the one that had room last
  std::uint64_t empty_bytes_ = 0;                    // in chunks without blocks
  std::uint64_t own_empty_ = 0;                      // chunks among them that were for one block
  VaultStats stats_;
  VaultBlock* idle_ = nullptr;  // blocks without a piece
  std::uint64_t idle_blocks_ = 0;
  std::array<VaultBlock*, kQuickSizes> quick_{};
  std::uint64_t quick_bytes_ = 0;
};

}  // namespace detail

}  // namespace troupe::inline v0
