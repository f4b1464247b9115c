// The chunks of a device's vaults: the memory that outlives its workers. The app holds every chunk by its descriptor
// and tells every worker of it, those there are and those that come later.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "troupe/device/vault.hpp"
#include "troupe/wire/shared_memory.hpp"
#include "troupe/wire/socket.hpp"

namespace troupe {

class ChunkTable {
 public:
  /// Whether the app sees a chunk's memory.
  enum class Sight : std::uint8_t { hidden, visible };

  /// A chunk, told to all workers before this returns.
  Result<ChunkSource::Chunk> add(std::uint64_t size_bytes, Sight sight);
  Result<void> commit(std::uint32_t id, std::uint64_t bytes);
  void drop(std::uint32_t id) noexcept;

  /// A worker that is ready to be told: now of all chunks there are, and from now on of each new one. `socket` stays
  /// until `remove_worker`.
  Result<void> add_worker(wire::Socket& socket);
  void remove_worker(wire::Socket& socket) noexcept;

  std::size_t size() const;

 private:
  struct Chunk {
    wire::SharedMemory memory;
    std::uint64_t committed_bytes = 0;
  };
  struct Drop {
    wire::Socket* worker;
    std::uint32_t id;
  };
  static Result<void> tell(wire::Socket& worker, std::uint32_t id, const wire::SharedMemory& memory);
  void tell_of_drops(Duration patience);

  mutable std::mutex mutex_;
  std::map<std::uint32_t, Chunk> chunks_;
  std::vector<wire::Socket*> workers_;
  std::deque<Drop> drops_;  // that a worker has not been told of
  std::uint32_t next_id_ = 0;
};

/// A vault's chunks, from the device's table.
class TableChunks final : public ChunkSource {
 public:
  TableChunks(std::shared_ptr<ChunkTable> table, ChunkTable::Sight sight) noexcept
      : table_(std::move(table)), sight_(sight) {}
  Result<Chunk> make(std::uint64_t size_bytes) override { return table_->add(size_bytes, sight_); }
  Result<void> commit(std::uint32_t id, std::uint64_t bytes) override { return table_->commit(id, bytes); }
  void drop(std::uint32_t id) noexcept override { table_->drop(id); }

 private:
  const std::shared_ptr<ChunkTable> table_;  // shared by the device and its vaults, which may outlive it
  const ChunkTable::Sight sight_;
};

}  // namespace troupe
