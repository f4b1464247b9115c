#include "tests/scribbler/scribbler.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "troupe/wire/channel.hpp"

namespace troupe::scribbling {
namespace {

namespace fs = std::filesystem;

/// Memory that app and worker share, mapped once more.
class Mapping {
 public:
  explicit Mapping(const fs::path& descriptor) {
    const int opened = open(descriptor.c_str(), O_RDWR | O_CLOEXEC);
    if (opened < 0) return;  // it was closed meanwhile
    struct stat facts{};
    if (fstat(opened, &facts) == 0 && facts.st_size > 0) {
      size_ = static_cast<std::size_t>(facts.st_size);
      void* const address = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
      if (address != MAP_FAILED) data_ = static_cast<std::byte*>(address);
    }
    close(opened);
  }
  ~Mapping() {
    if (data_) munmap(data_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<std::byte> bytes() const noexcept { return data_ ? std::span(data_, size_) : std::span<std::byte>(); }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The descriptors of what workers can write, as a worker or the app has them open.
std::vector<fs::path> shared_memory_of(const std::string& process) {
  std::vector<fs::path> found;
  std::error_code ignored;  // the process may end at any moment
  for (fs::directory_iterator entry("/proc/" + process + "/fd", ignored), end; entry != end; entry.increment(ignored)) {
    const std::string name = fs::read_symlink(entry->path(), ignored).string();
    if (name.starts_with("/memfd:troupe-status") || name.starts_with("/memfd:troupe-bells"))
      found.push_back(entry->path());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

bool Scribbler::scribble_on_memory_of(const std::string& process, const std::function<bool()>& is_wanted) {
  const std::vector<fs::path> all = shared_memory_of(process);
  if (all.empty()) return false;
  const Mapping mapping(all[below(all.size())]);
  if (mapping.bytes().empty() || !is_wanted()) return false;
  const std::size_t changes = std::size_t{1} << below(6);
  for (std::size_t i = 0; i < changes; ++i) change(mapping.bytes(), place_in(mapping.bytes()));
  return true;
}

std::size_t Scribbler::place_in(std::span<const std::byte> memory) {
  constexpr std::size_t kWord = 8;
  if (memory.size() <= sizeof(wire::Status)) return below(memory.size() / kWord) * kWord;  // the bells
  switch (below(8)) {
    case 0: return below(memory.size() / kWord) * kWord;
    case 1: return offsetof(wire::Status, heartbeat);
    case 2:  // the first replies
      return sizeof(wire::Status) +
             below(std::min(memory.size() - sizeof(wire::Status), std::size_t{4096}) / kWord) * kWord;
    case 3: return offsetof(wire::Status, last_words) + below(512) * kWord;
    default:  // the three words of a lane; the first lanes are used most
      return below(wire::kMaxLanes) * sizeof(wire::LaneStatus) + below(3) * 128;
  }
}

void Scribbler::change(std::span<std::byte> memory, std::size_t at) {
  std::uint64_t word = 0;
  const std::size_t size = std::min(sizeof word, memory.size() - at);
  std::memcpy(&word, memory.data() + at, size);
  switch (below(8)) {
    case 0: word = random_(); break;
    case 1: word = 0; break;
    case 2: word = ~std::uint64_t{0}; break;
    case 3: word += std::uint64_t{1} << 32; break;  // one op more
    case 4: word -= std::uint64_t{1} << 32; break;
    case 5: word ^= std::uint64_t{1} << below(64); break;
    case 6:  // what stands somewhere else
      std::memcpy(&word, memory.data() + below(memory.size() / sizeof word) * sizeof word, sizeof word);
      break;
    default: {  // a whole stretch of it
      const std::size_t stretch = std::min(memory.size() - at, std::size_t{8} << below(12));
      std::memset(memory.data() + at, static_cast<int>(below(2) * 255), stretch);
      return;
    }
  }
  std::memcpy(memory.data() + at, &word, size);
}

std::vector<std::byte> Scribbler::garbage() {
  std::vector<std::byte> bytes(1 + below(below(4) == 0 ? 4000 : 40));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
  if (below(2) == 0) bytes[0] = static_cast<std::byte>(below(12));  // one that is a kind of message, perhaps
  return bytes;
}

}  // namespace troupe::scribbling
