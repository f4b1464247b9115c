#include "troupe/device/chunk_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <utility>

#include "troupe/wire/protocol.hpp"

namespace troupe::inline v0 {
namespace {

/// How long to wait until a worker has made memory, including the start of a worker.
constexpr Duration kMakePatience = std::chrono::seconds(30);

}  // namespace

Result<ChunkTable::Chunk> ChunkTable::make(std::uint64_t size_bytes, Sight sight) {
  Chunk chunk{.shared = std::nullopt, .device = {}, .news = {.size_bytes = size_bytes}, .committed_bytes = 0};
  if (sight == Sight::visible) {
    chunk.shared.emplace(TROUPE_TRY(wire::SharedMemory::create("troupe-host-memory", size_bytes)));
  } else if (maker_ == Maker::app) {
    chunk.shared.emplace(TROUPE_TRY(wire::SharedMemory::create_unmapped("troupe-vault", size_bytes)));
  } else {
    // In whole steps, because an accelerator gives nothing else; the end of the last one may stay unused.
    chunk.news.size_bytes = (size_bytes + kChunkStepBytes - 1) / kChunkStepBytes * kChunkStepBytes;
    chunk.device = TROUPE_TRY(make_in_worker(chunk.news.size_bytes));
    chunk.news.memory = wire::ChunkMemory::device;
    chunk.committed_bytes = chunk.news.size_bytes;
  }
  return chunk;
}

Result<ChunkSource::Chunk> ChunkTable::add(std::uint64_t size_bytes, Sight sight) {
  Chunk made = TROUPE_TRY(make(size_bytes, sight));
  const std::lock_guard lock(mutex_);
  make_room_for_drops(chunks_.size() + 1, workers_.size());
  const std::uint32_t id = TROUPE_TRY(next_id());
  made.news.id = id;
  if (!made.shared) made.news.address = place_for(made.news.size_bytes);
  tell_of_drops(wire::kSendPatience);
  Chunk& chunk = chunks_.emplace(id, std::move(made)).first->second;
  // A worker that cannot be told is dying, or will die when an op names the chunk; either way it is replaced.
  for (wire::Socket* worker : workers_) (void)tell(*worker, chunk);
  return ChunkSource::Chunk{.id = id, .data = sight == Sight::visible ? chunk.shared->data() : nullptr};
}

/// The number that was free for the longest time: an op that names the new chunk may reach a worker before its
/// announcement does, and must not find an older chunk there.
Result<std::uint32_t> ChunkTable::next_id() {
  if (chunks_.size() == op::kMaxChunks)
    return fail(ErrorKind::out_of_memory,
                "the device has " + std::to_string(op::kMaxChunks) + " chunks of memory; it can have no more");
  while (chunks_.contains(next_id_)) next_id_ = (next_id_ + 1) % op::kMaxChunks;
  return std::exchange(next_id_, (next_id_ + 1) % op::kMaxChunks);
}

/// What that worker answers; nothing when it dies first.
std::optional<Result<wire::Descriptor>> ChunkTable::wish(Lock& lock, wire::Socket& worker, const wire::Chunk& chunk,
                                                         TimePoint until) {
  if (!changed_.wait_until(lock, until, [&] { return closed_ || !wish_; }))  // vaults may grow at the same time
    return fail(ErrorKind::timeout, "workers did not make memory in time");
  if (closed_) return fail(ErrorKind::stopped, "the device is closed");
  const auto is_there = [&] { return std::ranges::find(workers_, &worker) != workers_.end(); };
  if (!is_there()) return std::nullopt;
  wish_ = Wish{&worker, std::nullopt};
  // A worker that cannot be told is dying, and is soon gone from the list.
  try {
    (void)wire::send(worker, wire::ToWorker(wire::MakeMemory{chunk}));
  } catch (const std::bad_alloc&) {  // for the text of the error
  }
  const bool heard = changed_.wait_until(lock, until, [&] { return closed_ || wish_->answer || !is_there(); });
  std::optional<Result<wire::Descriptor>> answer = std::move(wish_->answer);
  wish_.reset();
  changed_.notify_all();
  if (!answer && !heard) return fail(ErrorKind::timeout, "a worker did not make memory in time");
  return answer;
}

Result<wire::Descriptor> ChunkTable::make_in_worker(std::uint64_t size_bytes) {
  Lock lock(mutex_);
  const TimePoint until = std::chrono::steady_clock::now() + kMakePatience;
  for (;;) {
    if (!changed_.wait_until(lock, until, [&] { return closed_ || !workers_.empty(); }))
      return fail(ErrorKind::worker_crashed, "there is no worker to make memory");
    if (closed_) return fail(ErrorKind::stopped, "the device is closed");
    const wire::Chunk chunk{.size_bytes = size_bytes, .memory = wire::ChunkMemory::device};
    if (auto answer = wish(lock, *workers_.front(), chunk, until)) return std::move(*answer);
  }  // it died: ask the next one
}

Result<ChunkSource::Chunk> ChunkTable::add_mortal(std::uint64_t size_bytes, wire::ChunkMemory memory,
                                                  std::int64_t generation) {
  Lock lock(mutex_);
  const auto stale = [] { return fail(ErrorKind::buffer_stale, "the worker that would own the memory is gone"); };
  if (generation != generation_ || !serving_) return stale();
  Chunk chunk{.shared = std::nullopt, .device = {}, .news = {}, .committed_bytes = size_bytes};
  chunk.news = {.id = TROUPE_TRY(next_id()), .size_bytes = size_bytes, .memory = memory, .address = 0};
  const std::uint32_t id = chunk.news.id;
  const TimePoint until = std::chrono::steady_clock::now() + kMakePatience;
  std::optional<Result<wire::Descriptor>> answer = wish(lock, *serving_, chunk.news, until);
  if (!answer || generation != generation_) return stale();
  if (!*answer) return fail(answer->error());
  make_room_for_drops(chunks_.size() + 1, workers_.size());
  chunks_.emplace(id, std::move(chunk));
  return ChunkSource::Chunk{.id = id, .data = nullptr};
}

void ChunkTable::begin_generation(wire::Socket& worker, std::int64_t generation) {
  const Lock lock(mutex_);
  std::erase_if(chunks_, [](const auto& entry) { return entry.second.is_mortal(); });
  serving_ = &worker;
  generation_ = generation;
}

void ChunkTable::made(const wire::Socket& worker, Result<wire::Descriptor> memory) {
  const std::lock_guard lock(mutex_);
  if (wish_ && wish_->worker == &worker) wish_->answer.emplace(std::move(memory));
  changed_.notify_all();
}

void ChunkTable::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

/// The next free address, far from where a process has anything else. The accelerator's memory is at the same address
/// in every worker, so that pointers into it stay valid.
std::uint64_t ChunkTable::place_for(std::uint64_t size_bytes) {
  constexpr std::uint64_t kFirst = 0x2000'0000'0000, kEnd = 0x5000'0000'0000, kStep = kChunkStepBytes;
  const std::uint64_t size = (size_bytes + kStep - 1) / kStep * kStep;
  if (next_address_ < kFirst || next_address_ + size > kEnd) next_address_ = kFirst;
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [id, chunk] : chunks_) {
      const std::uint64_t end = chunk.news.address + chunk.news.size_bytes;
      if (chunk.news.address == 0 || end <= next_address_ || next_address_ + size <= chunk.news.address) continue;
      next_address_ = (end + kStep - 1) / kStep * kStep;
      if (next_address_ + size > kEnd) next_address_ = kFirst;
      moved = true;
    }
  }
  return std::exchange(next_address_, next_address_ + size);
}

Result<void> ChunkTable::commit(std::uint32_t id, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = chunks_.find(id);
  if (found == chunks_.end()) return fail(ErrorKind::internal, "there is no chunk " + std::to_string(id));
  Chunk& chunk = found->second;
  const std::uint64_t wanted = std::min(bytes, chunk.news.size_bytes);
  if (wanted <= chunk.committed_bytes) return {};
  TROUPE_TRY(chunk.shared->commit(chunk.committed_bytes, wanted - chunk.committed_bytes));
  chunk.committed_bytes = wanted;
  return {};
}

bool ChunkTable::look(std::uint32_t id, std::uint64_t offset, std::span<std::byte> into) const noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = chunks_.find(id);
  if (found == chunks_.end() || !found->second.shared) return false;
  const int memory = found->second.shared->descriptor().get();
  std::size_t done = 0;
  while (done < into.size()) {
    const auto at = static_cast<off_t>(offset + done);
    const ssize_t count = pread(memory, into.data() + done, into.size() - done, at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

Result<LentChunk> ChunkTable::lend(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = chunks_.find(id);
  if (found == chunks_.end() || !found->second.device)
    return fail(ErrorKind::unsupported,
                "no descriptor of this memory can be lent: it is the machine's, or its worker's");
  return LentChunk{TROUPE_TRY(found->second.device.duplicate()), found->second.news.size_bytes};
}

void ChunkTable::drop(std::uint32_t id) noexcept {
  const std::lock_guard lock(mutex_);
  chunks_.erase(id);
  for (wire::Socket* worker : workers_) drops_.push_back({worker, id});  // there is room
  try {
    tell_of_drops(Duration(0));      // whoever frees the last block must not wait: the rest is told with the next chunk
  } catch (const std::bad_alloc&) {  // so is this
  }
}

void ChunkTable::make_room_for_drops(std::size_t chunks, std::size_t workers) {
  drops_.reserve(drops_.size() + chunks * workers);
}

void ChunkTable::tell_of_drops(Duration patience) {
  while (!drops_.empty()) {
    const Drop& drop = drops_.front();
    if (!wire::send(*drop.worker, wire::ToWorker(wire::DropChunk{drop.id}), {}, patience)) return;
    drops_.erase(drops_.begin());
  }
}

Result<int> ChunkTable::Chunk::descriptor(bool read_only, wire::Descriptor& opened) const {
  if (!shared) return device.get();
  if (!read_only) return shared->descriptor().get();
  opened = TROUPE_TRY(shared->open_for_reading());
  return opened.get();
}

Result<void> ChunkTable::tell(wire::Socket& worker, const Chunk& chunk) {
  wire::Descriptor opened;
  const std::array<int, 1> descriptor{TROUPE_TRY(chunk.descriptor(chunk.news.read_only, opened))};
  return wire::send(worker, wire::ToWorker(wire::MapChunk{chunk.news}), descriptor);
}

Result<std::optional<std::vector<const wire::Socket*>>> ChunkTable::protect(std::uint32_t id, bool read_only) {
  const std::lock_guard lock(mutex_);
  const auto found = chunks_.find(id);
  if (found == chunks_.end() || found->second.is_mortal())
    return fail(ErrorKind::internal, "there is no chunk " + std::to_string(id) + " that outlives its worker");
  Chunk& chunk = found->second;
  if (chunk.news.read_only == read_only) return std::nullopt;
  wire::Descriptor opened;
  const std::array<int, 1> descriptor{TROUPE_TRY(chunk.descriptor(read_only, opened))};
  std::vector<const wire::Socket*> told(workers_.begin(), workers_.end());
  chunk.news.read_only = read_only;
  for (wire::Socket* worker : workers_) {
    // A worker that cannot be told does not answer, and is replaced for that.
    try {
      (void)wire::send(*worker, wire::ToWorker(wire::ProtectChunk{id, read_only}), descriptor);
    } catch (const std::bad_alloc&) {  // for the text of the error
    }
  }
  return told;
}

Result<void> ChunkTable::add_worker(wire::Socket& socket) {
  const std::lock_guard lock(mutex_);
  make_room_for_drops(chunks_.size(), workers_.size() + 1);
  workers_.reserve(workers_.size() + 1);
  for (const auto& [id, chunk] : chunks_)
    if (!chunk.is_mortal()) TROUPE_TRY(tell(socket, chunk));
  for (const auto& [number, op] : prepared_) TROUPE_TRY(wire::send(socket, wire::ToWorker(op)));
  workers_.push_back(&socket);
  changed_.notify_all();
  return {};
}

Result<std::uint64_t> ChunkTable::prepare(std::vector<std::byte> op) {
  if (op.size() > wire::kMaxPreparedBytes)
    return fail(ErrorKind::invalid_argument, "an op to prepare has " + std::to_string(op.size()) +
                                                 " bytes; it may have " + std::to_string(wire::kMaxPreparedBytes));
  const std::lock_guard lock(mutex_);
  if (closed_) return fail(ErrorKind::stopped, "the device is closed");
  if (prepared_.size() >= kMaxPrepared)
    return fail(ErrorKind::queue_full,
                "the device has " + std::to_string(kMaxPrepared) + " prepared ops, which is the most; let go of some");
  const auto [made, is_new] = prepared_.emplace(next_prepared_++, wire::PrepareOp{std::move(op)});
  // Who does not hear it makes it when it is needed.
  for (wire::Socket* const worker : workers_) (void)wire::send(*worker, wire::ToWorker(made->second), {}, Duration());
  return made->first;
}

void ChunkTable::forget(std::uint64_t prepared) noexcept {
  const std::lock_guard lock(mutex_);
  prepared_.erase(prepared);
}

void ChunkTable::remove_worker(wire::Socket& socket) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(workers_, &socket);
  if (serving_ == &socket) serving_ = nullptr;
  std::erase_if(drops_, [&](const Drop& drop) { return drop.worker == &socket; });
  changed_.notify_all();
}

std::size_t ChunkTable::size() const {
  const std::lock_guard lock(mutex_);
  return chunks_.size();
}

}  // namespace troupe::inline v0
