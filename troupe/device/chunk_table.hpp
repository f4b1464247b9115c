// The chunks of a device's vaults: the memory that outlives its workers. The app holds every chunk by its descriptor
// and announces it to every worker, also to those that come later.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "troupe/device/vault.hpp"
#include "troupe/wire/chunk.hpp"
#include "troupe/wire/protocol.hpp"
#include "troupe/wire/shared_memory.hpp"
#include "troupe/wire/socket.hpp"

namespace troupe::inline v0 {

class ChunkTable {
 public:
  /// Ops that every worker prepares, at most.
  static constexpr std::size_t kMaxPrepared = 1024;

  /// Whether the app sees a chunk's memory.
  enum class Sight : std::uint8_t { hidden, visible };
  /// Who makes the memory that the app does not see: the app (shared memory) or a worker (the accelerator's own).
  enum class Maker : std::uint8_t { app, worker };

  explicit ChunkTable(Maker maker = Maker::app) noexcept : maker_(maker) {}

  /// A new chunk, announced to all workers before this returns.
  Result<ChunkSource::Chunk> add(std::uint64_t size_bytes, Sight sight);
  /// A chunk of memory that dies with the worker of that generation. `buffer_stale` when that worker does not serve any
  /// more.
  Result<ChunkSource::Chunk> add_mortal(std::uint64_t size_bytes, wire::ChunkMemory memory, std::int64_t generation);
  /// That worker serves from now on. Forgets the chunks that died with the worker before.
  void begin_generation(wire::Socket& worker, std::int64_t generation);
  Result<void> commit(std::uint32_t id, std::uint64_t bytes);
  void drop(std::uint32_t id) noexcept;
  /// Copies what is in a chunk of shared memory; false for all others, which only workers see.
  bool look(std::uint32_t id, std::uint64_t offset, std::span<std::byte> into) const noexcept;
  /// See `ChunkSource::lend`.
  Result<LentChunk> lend(std::uint32_t id) const;
  /// Tells all workers to make a chunk that outlives them read-only or writable; later workers learn it with the chunk.
  /// Gives the workers that must answer; nothing when the chunk is so already. When it fails, or throws for want of
  /// memory, nobody was told.
  Result<std::optional<std::vector<const wire::Socket*>>> protect(std::uint32_t id, bool read_only);

  /// Announces all chunks to a worker that is ready, and from now on each new one. `socket` must stay until
  /// `remove_worker`.
  Result<void> add_worker(wire::Socket& socket);
  void remove_worker(wire::Socket& socket) noexcept;

  /// Has every worker, those of now and of later, run that op beside its ring (see `wire::PrepareOp`), until it is
  /// forgotten by the number that this gives. The caller keeps its arrays until then. Nobody waits for anything.
  Result<std::uint64_t> prepare(std::vector<std::byte> op);
  void forget(std::uint64_t prepared) noexcept;

  /// A worker's answer when it was asked for memory.
  void made(const wire::Socket& worker, Result<wire::Descriptor> memory);
  /// A message of that worker was lost because this process had no free descriptor. If the worker was asked for memory,
  /// that was its answer: whoever waits for it gets `why`.
  void answer_lost(const wire::Socket& worker, const Error& why) { made(worker, fail(why)); }
  /// No worker will answer any more: whoever waits for memory stops.
  void close() noexcept;

  std::size_t size() const;

 private:
  struct Chunk {
    std::optional<wire::SharedMemory> shared;
    wire::Descriptor device;  // when it is not shared memory
    wire::Chunk news;
    std::uint64_t committed_bytes = 0;

    bool is_mortal() const noexcept { return wire::dies_with_its_worker(news.memory); }

    /// The descriptor through which a worker maps it so. `opened` owns it when it had to be opened for this.
    Result<int> descriptor(bool read_only, wire::Descriptor& opened) const;
  };
  struct Wish {
    const wire::Socket* worker;
    std::optional<Result<wire::Descriptor>> answer;
  };
  struct Drop {
    wire::Socket* worker;
    std::uint32_t id;
  };
  using Lock = std::unique_lock<std::mutex>;
  static Result<void> tell(wire::Socket& worker, const Chunk& chunk);
  std::optional<Result<wire::Descriptor>> wish(Lock& lock, wire::Socket& worker, const wire::Chunk& chunk,
                                               TimePoint until);
  Result<std::uint32_t> next_id();
  Result<Chunk> make(std::uint64_t size_bytes, Sight sight);
  Result<wire::Descriptor> make_in_worker(std::uint64_t size_bytes);
  std::uint64_t place_for(std::uint64_t size_bytes);
  void tell_of_drops(Duration patience);
  void make_room_for_drops(std::size_t chunks, std::size_t workers);

  const Maker maker_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Wish> wish_;  // one at a time: a vault grows by one chunk at a time
  bool closed_ = false;
  std::uint64_t next_address_ = 0;
  std::map<std::uint32_t, Chunk> chunks_;
  std::vector<wire::Socket*> workers_;
  wire::Socket* serving_ = nullptr;  // the worker that serves, as `generation_`
  std::int64_t generation_ = 0;
  std::map<std::uint64_t, wire::PrepareOp> prepared_;
  std::uint64_t next_prepared_ = 1;
  std::vector<Drop> drops_;  // not yet told to the worker; has room for a drop of every chunk
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
  bool look(std::uint32_t id, std::uint64_t offset, std::span<std::byte> into) noexcept override {
    return table_->look(id, offset, into);
  }
  Result<LentChunk> lend(std::uint32_t id) override { return table_->lend(id); }

 private:
  const std::shared_ptr<ChunkTable> table_;  // shared by the device and its vaults, which may outlive it
  const ChunkTable::Sight sight_;
};

/// The same for memory that dies with the worker of one generation.
class MortalChunks final : public ChunkSource {
 public:
  MortalChunks(std::shared_ptr<ChunkTable> table, wire::ChunkMemory memory, std::int64_t generation) noexcept
      : table_(std::move(table)), memory_(memory), generation_(generation) {}
  Result<Chunk> make(std::uint64_t size_bytes) override { return table_->add_mortal(size_bytes, memory_, generation_); }
  Result<void> commit(std::uint32_t, std::uint64_t) override { return {}; }
  void drop(std::uint32_t id) noexcept override { table_->drop(id); }

 private:
  const std::shared_ptr<ChunkTable> table_;  // shared, as above
  const wire::ChunkMemory memory_;
  const std::int64_t generation_;
};

}  // namespace troupe::inline v0
