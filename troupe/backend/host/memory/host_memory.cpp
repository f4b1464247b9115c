#include "troupe/backend/host/memory/host_memory.hpp"

namespace troupe::host {

Result<void> HostMemory::map(const wire::Chunk& chunk, wire::Descriptor descriptor) {
  if (chunk.id >= op::kMaxChunks)
    return fail(ErrorKind::invalid_argument, "chunk " + std::to_string(chunk.id) + " cannot be mapped");
  if (chunk.memory != wire::ChunkMemory::shared)
    return fail(ErrorKind::invalid_argument, "a worker on the CPU has no memory but the machine's");
  chunks_.put(chunk.id, std::make_unique<wire::SharedMemory>(TROUPE_TRY(
                            wire::SharedMemory::map(std::move(descriptor), chunk.size_bytes, !chunk.read_only))));
  return {};
}

Result<void> HostMemory::protect(const wire::ProtectChunk& wanted, wire::Descriptor descriptor) {
  wire::SharedMemory* const chunk = chunks_.find_to_change(wanted.id);
  if (!chunk) return fail(ErrorKind::invalid_argument, "there is no chunk " + std::to_string(wanted.id));
  return chunk->remap(std::move(descriptor), !wanted.read_only);
}

Result<wire::Descriptor> HostMemory::make(std::uint64_t) {
  return fail(ErrorKind::unsupported, "the memory of a device on the CPU is made by the app");
}

Result<void> HostMemory::make_here(const wire::Chunk& chunk) {
  if (chunk.id >= op::kMaxChunks)
    return fail(ErrorKind::invalid_argument, "chunk " + std::to_string(chunk.id) + " cannot be made");
  auto memory = std::make_unique<wire::SharedMemory>(
      TROUPE_TRY(wire::SharedMemory::create("troupe-worker-memory", chunk.size_bytes)));
  TROUPE_TRY(memory->commit(0, chunk.size_bytes));
  chunks_.put(chunk.id, std::move(memory));
  return {};
}

}  // namespace troupe::host
