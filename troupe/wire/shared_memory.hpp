// Memory that several processes see, held by a descriptor (memfd): it has no name to clean up after a crash, and lives
// until the last descriptor and mapping of it are gone. Its size is sealed, so no process can make another one fault
// by shrinking it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "troupe/core/result.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::inline v0::wire {

/// How much memory `commit` leaves to the rest of the machine.
inline constexpr std::uint64_t kSpareMemoryBytes = std::uint64_t{64} << 20;

/// Move-only. The functions may be called from any thread, though not while the object is moved.
class SharedMemory {
 public:
  /// New memory, zeroed, mapped readable and writable. `name` is for people who read /proc. Uses no memory until it
  /// is touched or committed. `invalid_argument` for size 0, `out_of_memory` when a limit of the process or the
  /// machine forbids it.
  static Result<SharedMemory> create(std::string_view name, std::uint64_t size_bytes);
  /// The same, but not mapped here: only others map it.
  static Result<SharedMemory> create_unmapped(std::string_view name, std::uint64_t size_bytes);
  /// Maps the first `size_bytes` of memory from elsewhere. `invalid_argument` when it is smaller than that, or sealed
  /// against writing and `writable` is asked for.
  static Result<SharedMemory> map(Descriptor descriptor, std::uint64_t size_bytes, bool writable);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  /// A descriptor of the same memory, opened for reading only: a mapping made through it can never become writable.
  Result<Descriptor> open_for_reading() const;
  /// Maps the memory again at the same address, through another descriptor of it, which replaces the present one.
  /// Whoever reads there meanwhile notices nothing. `invalid_argument` when the descriptor is of other memory.
  Result<void> remap(Descriptor descriptor, bool writable);

  /// From now on nobody can write it, except through writable mappings that exist already: the one of this object.
  Result<void> seal_writing_elsewhere();

  /// Takes the memory of these bytes from the machine now, so that touching them later cannot fail (SIGBUS).
  /// `out_of_memory` when the machine or the control group has less than that plus `kSpareMemoryBytes` left; plain use
  /// would call the kernel's OOM killer instead. Bytes that are committed already count again here. After an error some
  /// of the bytes may be committed.
  Result<void> commit(std::uint64_t offset, std::uint64_t size_bytes);

  /// Null when it is not mapped here.
  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  const Descriptor& descriptor() const noexcept { return descriptor_; }
  bool mapped() const noexcept { return data_ != nullptr; }

 private:
  SharedMemory(Descriptor descriptor, std::uint64_t size_bytes) noexcept
      : descriptor_(std::move(descriptor)), size_bytes_(size_bytes) {}
  Result<void> map_here(bool writable);
  Result<void> seal(int seals);

  Descriptor descriptor_;
  std::uint64_t size_bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace troupe::inline v0::wire
