// The vault as a worker on the CPU sees it: chunks of shared memory, which outlive the worker because the app holds
// them, too.
#pragma once

#include "troupe/backend/backend.hpp"
#include "troupe/backend/chunk_slots.hpp"
#include "troupe/wire/protocol.hpp"
#include "troupe/wire/shared_memory.hpp"

namespace troupe::host {

class HostMemory {
 public:
  /// `invalid_argument` for an id that is too high, or a descriptor that is smaller than said.
  Result<void> map(const wire::Chunk& chunk, wire::Descriptor descriptor);
  /// `invalid_argument` when there is no such chunk, or the descriptor is of other memory.
  Result<void> protect(const wire::ProtectChunk& wanted, wire::Descriptor descriptor);
  void unmap(std::uint32_t id) noexcept {
    if (id < op::kMaxChunks) chunks_.remove(id);
  }
  /// The app makes its own shared memory: `unsupported`.
  Result<wire::Descriptor> make(std::uint64_t size_bytes);
  /// Memory of this worker alone. `out_of_memory` when there is too little.
  Result<void> make_here(const wire::Chunk& chunk);

  bool contains(const op::Range& range) noexcept { return chunks_.contains(range); }
  void close() noexcept { chunks_.close(); }
  /// Where that address is here; its chunk is mapped.
  std::byte* at(op::Address address) const noexcept {
    return const_cast<std::byte*>(chunks_.find(op::chunk_of(address))->data()) + op::offset_of(address);
  }

 private:
  backend::ChunkSlots<wire::SharedMemory> chunks_;
};

}  // namespace troupe::host
