// The chunks of a device's vault, as app and worker name them to each other: the app announces one, and a worker maps
// or makes it.
#pragma once

#include <cstdint>

namespace troupe::inline v0::wire {

/// What a chunk of the vault is made of.
enum class ChunkMemory : std::uint8_t {
  shared,  // the machine's; the app may map it too
  device,  // the accelerator's own, made by a worker; the app holds its descriptor
  // The following kinds exist in one worker only and die with it.
  local,    // the accelerator's own, where a driver cannot export it
  managed,  // moves between the machine and the accelerator by itself
  kLast = managed,
};
constexpr bool dies_with_its_worker(ChunkMemory memory) noexcept { return memory >= ChunkMemory::local; }

/// A chunk of the vault as the app announces it.
struct Chunk {
  std::uint32_t id = 0;
  std::uint64_t size_bytes = 0;
  ChunkMemory memory = ChunkMemory::shared;
  /// The address of the accelerator's memory in every worker; 0: anywhere.
  std::uint64_t address = 0;
  /// Sealed: mapped so that nothing in the worker can write it.
  bool read_only = false;
};

}  // namespace troupe::inline v0::wire
