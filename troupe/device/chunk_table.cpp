#include "troupe/device/chunk_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "troupe/worker/protocol.hpp"

namespace troupe {

Result<ChunkSource::Chunk> ChunkTable::add(std::uint64_t size_bytes, Sight sight) {
  wire::SharedMemory memory =
      TROUPE_TRY(sight == Sight::visible ? wire::SharedMemory::create("troupe-host-memory", size_bytes)
                                         : wire::SharedMemory::create_unmapped("troupe-vault", size_bytes));
  const std::lock_guard lock(mutex_);
  if (chunks_.size() == op::kMaxChunks)
    return fail(ErrorKind::out_of_memory, "the device has as many chunks of memory as it can");
  // The number that was free for the longest: an op that names it may reach a worker before the news of it does, and
  // must not find an older chunk there.
  while (chunks_.contains(next_id_)) next_id_ = (next_id_ + 1) % op::kMaxChunks;
  const std::uint32_t id = std::exchange(next_id_, (next_id_ + 1) % op::kMaxChunks);
  tell_of_drops(wire::kSendPatience);
  const wire::SharedMemory& chunk = chunks_.emplace(id, Chunk{std::move(memory)}).first->second.memory;
  // A worker that cannot be told is dying, or will die when an op names the chunk: either way it is replaced.
  for (wire::Socket* worker : workers_) (void)tell(*worker, id, chunk);
  return ChunkSource::Chunk{.id = id, .data = sight == Sight::visible ? const_cast<std::byte*>(chunk.data()) : nullptr};
}

Result<void> ChunkTable::commit(std::uint32_t id, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = chunks_.find(id);
  if (found == chunks_.end()) return fail(ErrorKind::internal, "there is no chunk " + std::to_string(id));
  Chunk& chunk = found->second;
  const std::uint64_t wanted = std::min(bytes, chunk.memory.size_bytes());
  if (wanted <= chunk.committed_bytes) return {};
  TROUPE_TRY(chunk.memory.commit(chunk.committed_bytes, wanted - chunk.committed_bytes));
  chunk.committed_bytes = wanted;
  return {};
}

void ChunkTable::drop(std::uint32_t id) noexcept {
  const std::lock_guard lock(mutex_);
  chunks_.erase(id);
  for (wire::Socket* worker : workers_) drops_.push_back({worker, id});
  tell_of_drops(Duration(0));  // whoever frees the last block is not to wait: the rest is told with the next chunk
}

void ChunkTable::tell_of_drops(Duration patience) {
  while (!drops_.empty()) {
    const Drop& drop = drops_.front();
    if (!worker::send(*drop.worker, worker::ToWorker(worker::DropChunk{drop.id}), {}, patience)) return;
    drops_.pop_front();
  }
}

Result<void> ChunkTable::tell(wire::Socket& worker, std::uint32_t id, const wire::SharedMemory& memory) {
  const std::array<int, 1> descriptor{memory.descriptor().get()};
  return worker::send(worker, worker::ToWorker(worker::MapChunk{.id = id, .size_bytes = memory.size_bytes()}),
                      descriptor);
}

Result<void> ChunkTable::add_worker(wire::Socket& socket) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, chunk] : chunks_) TROUPE_TRY(tell(socket, id, chunk.memory));
  workers_.push_back(&socket);
  return {};
}

void ChunkTable::remove_worker(wire::Socket& socket) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(workers_, &socket);
  std::erase_if(drops_, [&](const Drop& drop) { return drop.worker == &socket; });
}

std::size_t ChunkTable::size() const {
  const std::lock_guard lock(mutex_);
  return chunks_.size();
}

}  // namespace troupe
