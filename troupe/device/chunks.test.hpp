// A source of chunks for tests, in the memory of this process. It counts what it is asked for, checks that it is asked
// properly, and fails when it is told to.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "troupe/core/assert.hpp"
#include "troupe/device/vault.hpp"

namespace troupe {

/// Needs to be told its behaviour (`visible`, `left_bytes`, ...) before it is used.
class TestChunks : public ChunkSource {
 public:
  ~TestChunks() override {
    for (const auto& [id, chunk] : chunks_) ::munmap(chunk.data, chunk.size_bytes);
  }

  Result<Chunk> make(std::uint64_t size_bytes) override {
    const std::lock_guard lock(mutex_);
    ++makes;
    TROUPE_ASSERT(size_bytes > 0 && size_bytes % kVaultAlignment == 0, "a chunk is a whole number of granules");
    if (make_fails) return fail(make_error, "the test's source makes nothing");
    if (size_bytes > left_bytes) return fail(ErrorKind::out_of_memory, "the test's source is exhausted");
    void* const data = ::mmap(nullptr, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return fail(ErrorKind::out_of_memory, "mmap answers with an error");
    std::uint32_t id = 0;
    while (chunks_.contains(id)) ++id;
    chunks_[id] = {static_cast<std::byte*>(data), size_bytes, 0};
    left_bytes -= size_bytes;
    last_size_bytes = size_bytes;
    return Chunk{id, visible ? static_cast<std::byte*>(data) : nullptr};
  }

  Result<void> commit(std::uint32_t id, std::uint64_t bytes) override {
    const std::lock_guard lock(mutex_);
    ++commits;
    TROUPE_ASSERT(chunks_.contains(id), "what is committed is a chunk");
    Memory& chunk = chunks_[id];
    TROUPE_ASSERT(chunk.committed_bytes < bytes && bytes <= chunk.size_bytes, "commits grow, within the chunk");
    if (commit_fails) return fail(ErrorKind::out_of_memory, "the test's source commits nothing");
    TROUPE_ASSERT(::mprotect(chunk.data, bytes, PROT_READ | PROT_WRITE) == 0, "the pages are ours");
    chunk.committed_bytes = bytes;
    return {};
  }

  void drop(std::uint32_t id) noexcept override {
    const std::lock_guard lock(mutex_);
    ++drops;
    TROUPE_ASSERT(chunks_.contains(id), "what is dropped is a chunk");
    ::munmap(chunks_[id].data, chunks_[id].size_bytes);
    left_bytes += chunks_[id].size_bytes;
    chunks_.erase(id);
  }

  bool look(std::uint32_t id, std::uint64_t offset, std::span<std::byte> into) noexcept override {
    const std::lock_guard lock(mutex_);
    TROUPE_ASSERT(chunks_.contains(id), "what is looked at is a chunk");
    if (!visible) return false;
    std::memcpy(into.data(), chunks_[id].data + offset, into.size());
    return true;
  }

  std::atomic<bool> visible = true;
  std::atomic<bool> make_fails = false;
  std::atomic<ErrorKind> make_error = ErrorKind::library_error;
  std::atomic<bool> commit_fails = false;
  std::atomic<std::uint64_t> left_bytes = ~std::uint64_t{0};
  std::atomic<std::uint64_t> last_size_bytes = 0;
  std::atomic<int> makes = 0;
  std::atomic<int> commits = 0;
  std::atomic<int> drops = 0;

 private:
  struct Memory {
    std::byte* data = nullptr;
    std::uint64_t size_bytes = 0;
    std::uint64_t committed_bytes = 0;
  };
  std::mutex mutex_;
  std::map<std::uint32_t, Memory> chunks_;
};

}  // namespace troupe
