#include "troupe/wire/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <utility>

#include "troupe/wire/memory_info.hpp"

namespace troupe::inline v0::wire {
namespace {

/// A memfd's name has at most this many bytes.
constexpr std::size_t kMaxNameBytes = 249;
/// A signal interrupts an allocation and undoes it; pieces of this size get through.
constexpr std::uint64_t kCommitStepBytes = std::uint64_t{256} << 20;

/// Growing a file past RLIMIT_FSIZE does not fail but raises SIGXFSZ, so the limit is checked first.
Result<void> check_file_size_limit(std::uint64_t size_bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  std::uint64_t most = std::numeric_limits<off_t>::max();
  if (limit.rlim_cur != RLIM_INFINITY) most = std::min<std::uint64_t>(most, limit.rlim_cur);
  if (size_bytes <= most) return {};
  return fail(ErrorKind::out_of_memory, "shared memory: " + format_bytes(size_bytes) + " asked for, " +
                                            format_bytes(most) + " allowed by the file size limit (RLIMIT_FSIZE)");
}

}  // namespace

Result<SharedMemory> SharedMemory::create(std::string_view name, std::uint64_t size_bytes) {
  SharedMemory memory = TROUPE_TRY(create_unmapped(name, size_bytes));
  TROUPE_TRY(memory.map_here(true));
  return memory;
}

Result<SharedMemory> SharedMemory::create_unmapped(std::string_view name, std::uint64_t size_bytes) {
  if (size_bytes == 0) return fail(ErrorKind::invalid_argument, "shared memory has at least one byte");
  TROUPE_TRY(check_file_size_limit(size_bytes));
  const std::string shown(name.substr(0, kMaxNameBytes));
  Descriptor descriptor(memfd_create(shown.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor) return fail(errno_error("creating shared memory", errno));
  if (ftruncate(descriptor.get(), static_cast<off_t>(size_bytes)) != 0) {
    return fail(errno_error("giving shared memory " + format_bytes(size_bytes), errno));
  }
  SharedMemory memory(std::move(descriptor), size_bytes);
  TROUPE_TRY(memory.seal(F_SEAL_SHRINK | F_SEAL_GROW));
  return memory;
}

Result<SharedMemory> SharedMemory::map(Descriptor descriptor, std::uint64_t size_bytes, bool writable) {
  if (size_bytes == 0) return fail(ErrorKind::invalid_argument, "shared memory has at least one byte");
  struct stat file{};
  if (fstat(descriptor.get(), &file) != 0) return fail(errno_error("looking at shared memory", errno));
  if (std::cmp_less(file.st_size, size_bytes)) {
    return fail(ErrorKind::invalid_argument, "shared memory: " + format_bytes(size_bytes) + " asked for, it has " +
                                                 format_bytes(static_cast<std::uint64_t>(file.st_size)));
  }
  SharedMemory memory(std::move(descriptor), size_bytes);
  TROUPE_TRY(memory.map_here(writable));
  madvise(memory.data_, size_bytes, MADV_DONTDUMP);
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      data_(std::exchange(other.data_, nullptr)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  SharedMemory taken(std::move(other));
  std::swap(descriptor_, taken.descriptor_);
  std::swap(size_bytes_, taken.size_bytes_);
  std::swap(data_, taken.data_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_) munmap(data_, size_bytes_);
}

Result<void> SharedMemory::map_here(bool writable) {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = mmap(nullptr, size_bytes_, protection, MAP_SHARED, descriptor_.get(), 0);
  if (address == MAP_FAILED) {
    return fail(errno_error("mapping " + format_bytes(size_bytes_) + " of shared memory", errno));
  }
  data_ = static_cast<std::byte*>(address);
  return {};
}

Result<Descriptor> SharedMemory::open_for_reading() const {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor_.get());
  Descriptor reading(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!reading) return fail(errno_error("opening shared memory for reading only", errno));
  return reading;
}

Result<void> SharedMemory::remap(Descriptor descriptor, bool writable) {
  struct stat now{}, then{};
  if (fstat(descriptor_.get(), &now) != 0 || fstat(descriptor.get(), &then) != 0)
    return fail(errno_error("looking at shared memory", errno));
  if (now.st_dev != then.st_dev || now.st_ino != then.st_ino)
    return fail(ErrorKind::invalid_argument, "shared memory cannot be mapped again as other memory");
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  // The thread sanitizer must not see this call: it would take it for a write to all of the memory. Uses of the memory
  // are ordered before or after it by the app, in another process.
  // Each of them a long, as the kernel reads it: what stands above an int on the stack may be anything.
  if (syscall(SYS_mmap, data_, size_bytes_, long{protection}, long{MAP_SHARED | MAP_FIXED}, long{descriptor.get()},
              long{0}) == -1)
    return fail(errno_error("mapping " + format_bytes(size_bytes_) + " of shared memory again", errno));
  descriptor_ = std::move(descriptor);
  return {};
}

Result<void> SharedMemory::seal(int seals) {
  if (fcntl(descriptor_.get(), F_ADD_SEALS, seals) != 0) return fail(errno_error("sealing shared memory", errno));
  return {};
}

Result<void> SharedMemory::seal_writing_elsewhere() { return seal(F_SEAL_FUTURE_WRITE); }

Result<void> SharedMemory::commit(std::uint64_t offset, std::uint64_t size_bytes) {
  if (offset > size_bytes_ || size_bytes > size_bytes_ - offset) {
    return fail(ErrorKind::invalid_argument, "shared memory: bytes past its end cannot be committed");
  }
  const std::uint64_t available = machine_memory().available_bytes;
  if (size_bytes > available || available - size_bytes < kSpareMemoryBytes) {
    return fail(ErrorKind::out_of_memory, "shared memory: " + format_bytes(size_bytes) + " asked for, " +
                                              format_bytes(available) + " available, of which " +
                                              format_bytes(kSpareMemoryBytes) + " stay spare");
  }
  const std::uint64_t end = offset + size_bytes;
  while (offset < end) {
    const std::uint64_t step = std::min(end - offset, kCommitStepBytes);
    if (fallocate(descriptor_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(step)) == 0) {
      offset += step;
    } else if (errno != EINTR) {
      return fail(errno_error("committing " + format_bytes(step) + " of shared memory", errno));
    }
  }
  return {};
}

}  // namespace troupe::inline v0::wire
