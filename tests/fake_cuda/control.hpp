// What a test and the fake driver tell each other: a page of a file that both map, so that it serves a worker in this
// process as well as workers in processes of their own. The test says which call fails and how; the fake says what was
// called and what is still alive.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace fake_cuda {

inline constexpr const char* kPageVariable = "TROUPE_FAKE_CUDA_PAGE";  // names the file
inline constexpr std::uint64_t kDefaultMemoryBytes = std::uint64_t{8} << 30;
inline constexpr std::size_t kMaxNames = 1024;
inline constexpr std::size_t kMaxNameBytes = 56;

/// What is counted while it lives, over all processes. Those of a process that was killed stay counted.
enum class Kind : std::uint8_t { context, stream, event, module, memory, scratch, descriptor, handle, sealed, count };

struct CallCount {
  std::atomic<std::uint64_t> hash;  // of the name; 0: nobody's yet
  std::atomic<std::uint64_t> count;
};

/// All zeros is a good page: nothing fails.
struct Page {
  // ---- the test writes ----
  std::atomic<std::uint64_t> fail_at;      // the number of the call that fails; 0: none
  std::atomic<std::uint64_t> fail_only;    // the hash of the only function that is numbered; 0: all, except questions
  std::atomic<std::int32_t> fail_code;     // as the driver says it; libraries say it in their way
  std::atomic<std::int32_t> fail_process;  // the only process in which calls are numbered; 0: all
  std::atomic<std::uint64_t> lacks;        // the hash of a function that the driver has not
  std::atomic<std::int32_t> version;       // of the driver; 0: 13000
  std::atomic<std::int32_t> gpus_less_1;
  std::atomic<std::uint64_t> memory_bytes;  // of a GPU; 0: the default
  std::atomic<std::int32_t> held;           // streams begin nothing while it is not 0
  std::atomic<std::int32_t> loses_memory;   // the GPU cannot export memory
  // ---- the fake writes ----
  std::atomic<std::uint64_t> numbered;  // calls so far
  std::atomic<std::uint64_t> failed;    // of those, the ones that were told to fail
  std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(Kind::count)> alive;
  std::array<CallCount, kMaxNames> counts;
};

constexpr std::uint64_t hash_of(std::string_view name) noexcept {
  std::uint64_t hash = 1469598103934665603ULL;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  return hash;
}

/// The place of a name's count; null when so many names have one already, which a larger `kMaxNames` mends.
inline CallCount* count_of(Page& page, std::uint64_t hash) noexcept {
  for (std::size_t i = 0; i < kMaxNames; ++i) {
    CallCount& place = page.counts[(hash + i) % kMaxNames];
    std::uint64_t owner = 0;
    if (place.hash.compare_exchange_strong(owner, hash) || owner == hash) return &place;
  }
  return nullptr;
}

/// Maps the page of a file, or one that nobody else has when there is no file. Never unmapped.
inline Page& map_page(const char* path) {
  const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  void* const mapped =
      mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, file >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, file, 0);
  if (file >= 0) close(file);
  if (mapped == MAP_FAILED) std::abort();
  return *static_cast<Page*>(mapped);
}

}  // namespace fake_cuda
