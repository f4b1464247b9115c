// One piece of a vault, owned together by the arrays and the ops under way that use it; the last owner's release gives
// the piece back. It also knows whether its content is good: when an op that writes it was cut off, the block is
// tainted until it is written whole again. A skipped op has changed nothing; its block is not what the program meant
// either, but the owner may accept it as it is. A block that was handed out as empty has no content before the first
// write.
//
// It counts its owners itself, because a block without owners is not deleted: the vault uses it again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "troupe/core/intrusive.hpp"
#include "troupe/core/result.hpp"
#include "troupe/device/suballocator.hpp"
#include "troupe/op/view.hpp"

namespace troupe::inline v0::detail {

class Vault;

/// Any thread may call any function. The functions about the content must be called in the order of the ops that cause
/// them: ring order is program order. Fresh memory counts as whole, whatever it holds, unless it is made empty.
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
  /// No other block of its vault ever has the same number.
  std::uint64_t number() const noexcept { return number_; }
  const Vault& vault() const noexcept { return *vault_; }
  /// No other block is in its chunk, so that it can be sealed.
  bool has_own_chunk() const noexcept { return has_own_chunk_; }

  /// Nothing of it is unknown, and it is not empty. One load; what came before the last change is visible to the caller
  /// (acquire).
  bool is_whole() const noexcept { return whole_.load(std::memory_order_acquire); }
  /// Before its first op: nobody has written it, and whoever reads it makes a mistake.
  void make_empty() noexcept;
  bool is_empty() const noexcept { return empty_.load(std::memory_order_acquire); }
  /// An op that writes some of it ended well: it is not empty any more.
  void written_in_part() noexcept;
  /// An op that writes `cut_off` did not end: that part is unknown from now on. Parts outside the block are ignored.
  /// The block keeps the first `why` until it is whole again.
  void taint(op::Range cut_off, const Error& why) noexcept;
  /// An op that writes `skipped` never began, because it reads something unknown: that part is as it was, but counts as
  /// tainted.
  void skip(op::Range skipped, const Error& why) noexcept;
  /// Why something of it is unknown or was skipped; none when it is whole.
  std::optional<Error> why_tainted() const noexcept;
  /// Whether something in `read` is unknown or was skipped. The block remembers one range around all tainted parts, so
  /// the answer may be yes for what lies between two of them.
  bool is_tainted(op::Range read) const noexcept;
  /// Whether something in `read` is unknown, and not only skipped.
  bool is_unknown(op::Range read) const noexcept;
  /// Takes what was skipped as it is. False when something in `wanted` is unknown: then nothing has changed.
  bool accept_skipped(op::Range wanted) noexcept;
  /// An op that writes every byte of `written`, and reads none of it, ended well: the block is whole again if that
  /// covers all that was unknown; otherwise less of it is unknown.
  void rewritten(op::Range written) noexcept;
  /// One range around all that is unknown or was skipped; empty when the block is whole.
  op::Range tainted_range() const noexcept;

  /// An op that writes it enters a worker's ring (`begin_write`), and leaves it with the content settled (`end_write`).
  /// In between nobody knows what the block will hold.
  void begin_write(std::uint32_t lane = 0) noexcept {
    writers_.fetch_add(1, std::memory_order_relaxed);
    lane_.store(static_cast<std::uint8_t>(lane), std::memory_order_relaxed);
  }
  void end_write() noexcept { writers_.fetch_sub(1, std::memory_order_release); }
  bool is_being_written() const noexcept { return writers_.load(std::memory_order_acquire) != 0; }
  /// The lane of the last op that began to write it, 0 before the first: a hint for the next one.
  std::uint32_t lane() const noexcept { return lane_.load(std::memory_order_relaxed); }

  /// No op may write it: it is sealed, or about to be. An op asks when it enters a ring, after it has taken its place
  /// there: so an op that does not see a seal comes before every op submitted after that seal (acquire-release).
  bool is_sealed() const noexcept { return seals_.load(std::memory_order_acquire) != 0; }
  /// `begin_seal`: a seal's turn has come. `end_seal`: it failed, was not needed, or the owner unseals.
  void begin_seal() noexcept { seals_.fetch_add(1, std::memory_order_acq_rel); }
  void end_seal() noexcept { seals_.fetch_sub(1, std::memory_order_acq_rel); }

  /// The caller owns it already, so no order with other memory is needed (relaxed).
  void retain() const noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
  /// What any owner did with the memory is done before the vault gives it to the next (acquire-release).
  void release() const noexcept {
    if (owners_.load(std::memory_order_acquire) == 1 || owners_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      const_cast<VaultBlock*>(this)->recycle();
  }

 private:
  friend class Vault;  // makes blocks, and reuses them
  VaultBlock() = default;
  ~VaultBlock() = default;
  void recycle() noexcept;
  /// What was tainted has become less. Needs `mutex_`.
  void settle() noexcept;

  mutable std::atomic<std::uint32_t> owners_{1};
  std::atomic<bool> whole_{true};
  std::atomic<bool> empty_{false};
  bool has_own_chunk_ = false;
  std::atomic<std::uint8_t> lane_{0};
  std::atomic<std::uint32_t> seals_{0};  // seals under way, and the one in force
  std::atomic<std::uint32_t> writers_{0};
  op::Address address_ = 0;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t number_ = 0;
  std::byte* data_ = nullptr;
  IntrusivePtr<Vault> vault_;  // shared: the vault lives as long as its blocks
  Suballocator::Piece piece_;
  std::uint32_t slot_ = 0;  // the vault's number for the chunk
  int device_ = -1;
  VaultBlock* next_idle_ = nullptr;
  mutable std::mutex mutex_;  // of what follows
  op::Range unknown_;
  op::Range skipped_;
  std::optional<Error> why_;
};

}  // namespace troupe::inline v0::detail
