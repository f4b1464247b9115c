// A worker's chunks of the vault by their numbers, mapped as the app announces them. An op may name a chunk a moment
// before its announcement is read, because records and announcements travel separately; then whoever looks for the
// chunk waits.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "troupe/op/view.hpp"

namespace troupe::backend {

/// The app announces a chunk before it sends an op that names it, so the wait is for a message that is under way.
inline constexpr std::chrono::seconds kChunkPatience{5};

/// `Mapped` has `size_bytes()`. Ids are below op::kMaxChunks.
template <class Mapped>
class ChunkSlots {
 public:
  ChunkSlots() = default;
  ~ChunkSlots() {
    for (auto& slot : slots_) delete slot.load(std::memory_order_relaxed);
  }
  ChunkSlots(const ChunkSlots&) = delete;
  ChunkSlots& operator=(const ChunkSlots&) = delete;

  void put(std::uint32_t id, std::unique_ptr<Mapped> chunk) {
    const std::lock_guard lock(mutex_);
    delete slots_[id].exchange(chunk.release(), std::memory_order_acq_rel);
    arrived_.notify_all();
  }
  /// Only when no op uses it and none will; the app ensures that.
  void remove(std::uint32_t id) noexcept { delete slots_[id].exchange(nullptr, std::memory_order_acq_rel); }

  /// No more chunks will arrive: from now on nobody waits for one.
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    arrived_.notify_all();
  }

  /// For a change of its mapping; null when it is not there.
  Mapped* find_to_change(std::uint32_t id) noexcept {
    return id < op::kMaxChunks ? slots_[id].load(std::memory_order_acquire) : nullptr;
  }
  const Mapped* find(std::uint32_t id) const noexcept { return slots_[id].load(std::memory_order_acquire); }
  /// Whether the range lies inside one chunk; waits up to `kChunkPatience` for a chunk that is not there.
  bool contains(const op::Range& range) noexcept {
    const std::uint32_t id = op::chunk_of(range.begin);
    if (id >= op::kMaxChunks) return false;
    const Mapped* chunk = find(id);
    if (!chunk) {
      std::unique_lock lock(mutex_);
      arrived_.wait_for(lock, kChunkPatience, [&] { return (chunk = find(id)) != nullptr || is_closed_; });
      if (!chunk) return false;
    }
    return range.begin <= range.end && range.end - op::address_of(id, 0) <= chunk->size_bytes();
  }

 private:
  std::array<std::atomic<Mapped*>, op::kMaxChunks> slots_{};
  std::mutex mutex_;  // for those who wait for a chunk
  std::condition_variable arrived_;
  bool is_closed_ = false;
};

}  // namespace troupe::backend
