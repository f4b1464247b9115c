// The vault as a worker on the CPU sees it: chunks of shared memory, mapped as the app announces them. An op may name a
// chunk a moment before its announcement is read, since records and announcements travel on different ways; then the
// one who looks waits for it.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "troupe/op/view.hpp"
#include "troupe/wire/shared_memory.hpp"

namespace troupe::host {

class HostMemory {
 public:
  HostMemory() = default;
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// Maps chunk `id`. `invalid_argument` for an id that is taken or too high, or a descriptor that is smaller than
  /// said.
  Result<void> map(std::uint32_t id, wire::Descriptor descriptor, std::uint64_t size_bytes);
  /// Only when no op uses it and none will; the app sees to that.
  void unmap(std::uint32_t id) noexcept;

  /// Whether the range lies inside one mapped chunk; waits up to `kChunkPatience` for a chunk that is not there.
  bool contains(const op::Range& range) noexcept;
  /// Where that address is here; its chunk is mapped.
  std::byte* at(op::Address address) const noexcept;

 private:
  std::array<std::atomic<wire::SharedMemory*>, op::kMaxChunks> chunks_{};
  std::mutex mutex_;  // for those who wait for a chunk
  std::condition_variable arrived_;
};

}  // namespace troupe::host
