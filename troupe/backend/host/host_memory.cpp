#include "troupe/backend/host/host_memory.hpp"

#include <chrono>

namespace troupe::host {
namespace {

/// The app announces a chunk before it sends an op that names it, so the wait is for a message that is under way.
constexpr std::chrono::seconds kChunkPatience{5};

}  // namespace

HostMemory::~HostMemory() {
  for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
}

Result<void> HostMemory::map(std::uint32_t id, wire::Descriptor descriptor, std::uint64_t size_bytes) {
  if (id >= op::kMaxChunks)
    return fail(ErrorKind::invalid_argument, "chunk " + std::to_string(id) + " cannot be mapped");
  auto chunk = std::make_unique<wire::SharedMemory>(
      TROUPE_TRY(wire::SharedMemory::map(std::move(descriptor), size_bytes, true)));
  const std::lock_guard lock(mutex_);
  delete chunks_[id].exchange(chunk.release(), std::memory_order_acq_rel);
  arrived_.notify_all();
  return {};
}

void HostMemory::unmap(std::uint32_t id) noexcept {
  if (id < op::kMaxChunks) delete chunks_[id].exchange(nullptr, std::memory_order_acq_rel);
}

bool HostMemory::contains(const op::Range& range) noexcept {
  const std::uint32_t id = op::chunk_of(range.begin);
  if (id >= op::kMaxChunks) return false;
  const wire::SharedMemory* chunk = chunks_[id].load(std::memory_order_acquire);
  if (!chunk) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, kChunkPatience, [&] { return (chunk = chunks_[id].load(std::memory_order_acquire)); });
    if (!chunk) return false;
  }
  return range.begin <= range.end && range.end - op::address_of(id, 0) <= chunk->size_bytes();
}

std::byte* HostMemory::at(op::Address address) const noexcept {
  const wire::SharedMemory* chunk = chunks_[op::chunk_of(address)].load(std::memory_order_acquire);
  return const_cast<std::byte*>(chunk->data()) + op::offset_of(address);
}

}  // namespace troupe::host
