// One piece of a vault, owned together by the arrays and the ops under way that use it; the last owner's release gives
// the piece back. It also knows what recovery must know of its content: when an op that writes it was cut off, the
// block is tainted until it is written whole again.
//
// The count is in here and not inherited, because a block without owners is not deleted: the vault uses it again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "troupe/core/intrusive.hpp"
#include "troupe/device/suballocator.hpp"
#include "troupe/op/view.hpp"

namespace troupe {

class Vault;

/// What is known of a block's content. Fresh memory counts as whole: it holds anything, but nobody is surprised.
enum class BlockContent : std::uint32_t {
  whole,
  tainted,          // part of it is unknown
  being_rewritten,  // part of it is unknown, and an op that writes all of that part has been submitted
};

/// Any thread may call any function. What concerns the content must be called in the order of the ops that cause it:
/// ring order is program order.
class VaultBlock {
 public:
  VaultBlock(const VaultBlock&) = delete;
  VaultBlock& operator=(const VaultBlock&) = delete;

  op::Address address() const noexcept { return address_; }
  /// As it was asked for; the piece may be larger.
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  op::Range range() const noexcept { return {address_, address_ + size_bytes_}; }
  /// Where the app sees the memory; null when it does not, and for blocks of size 0.
  std::byte* data() const noexcept { return data_; }
  int device() const noexcept { return device_; }
  const Vault& vault() const noexcept { return *vault_; }

  /// One load. What came before the change to this content is visible to the caller (acquire).
  BlockContent content() const noexcept { return content_.load(std::memory_order_acquire); }
  /// An op that writes `cut_off` did not end: that part is unknown from now on. Parts outside the block are ignored.
  void taint(op::Range cut_off) noexcept;
  /// Whether an op submitted now that reads `read` may find unknown content. The block remembers one range around all
  /// that is unknown, so it may say yes of what lies between two tainted parts. An op that comes after a rewrite under
  /// way comes after it on the device too, so it finds good content.
  bool is_tainted(op::Range read) const noexcept;
  /// An op that writes every byte of `written`, and reads none of it, has been submitted. True when that makes the
  /// block readable for ops submitted after it; false when a part outside `written` stays tainted.
  bool begin_rewrite(op::Range written) noexcept;
  /// That op ended well: the block is whole again if `written` covers what was unknown, else less of it is unknown.
  void rewritten(op::Range written) noexcept;
  /// It did not: what was unknown still is.
  void rewrite_failed() noexcept;
  /// One range around all that is unknown; empty when the block is whole.
  op::Range tainted_range() const noexcept;

  /// The caller owns it already, so no order with other memory is needed (relaxed).
  void retain() const noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
  /// What any owner did with the memory is done before the vault gives it to the next (acquire-release).
  void release() const noexcept {
    if (owners_.load(std::memory_order_acquire) == 1 || owners_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      const_cast<VaultBlock*>(this)->recycle();
  }

 private:
  friend class Vault;  // makes blocks, and uses them again
  VaultBlock() = default;
  ~VaultBlock() = default;
  void recycle() noexcept;

  mutable std::atomic<std::uint32_t> owners_{1};
  std::atomic<BlockContent> content_{BlockContent::whole};
  op::Address address_ = 0;
  std::uint64_t size_bytes_ = 0;
  std::byte* data_ = nullptr;
  IntrusivePtr<Vault> vault_;  // shared: the vault lives as long as its blocks
  Suballocator::Piece piece_;
  std::uint32_t slot_ = 0;  // the vault's number for the chunk
  int device_ = -1;
  VaultBlock* next_idle_ = nullptr;
  mutable std::mutex mutex_;  // of what follows
  op::Range unknown_;
};

}  // namespace troupe
