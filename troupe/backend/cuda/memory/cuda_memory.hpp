// The vault as a worker on a GPU has it: VRAM imported from descriptors, at the same addresses in every worker, and
// shared memory of the machine's, registered so that the GPU reads and writes it at full speed.
#pragma once

#include <optional>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/chunk_slots.hpp"
#include "troupe/backend/cuda/driver/cuda_context.hpp"
#include "troupe/wire/protocol.hpp"
#include "troupe/wire/shared_memory.hpp"

namespace troupe::cuda {

/// Mapped VRAM; the destructor unmaps it.
class MappedVram {
 public:
  static Result<MappedVram> map(const CudaContext& context, wire::Descriptor memory, const wire::Chunk& chunk);
  MappedVram(MappedVram&& other) noexcept
      : context_(other.context_), base_(std::exchange(other.base_, 0)), size_bytes_(other.size_bytes_) {}
  MappedVram& operator=(MappedVram&&) = delete;
  ~MappedVram();
  CUdeviceptr base() const noexcept { return base_; }
  /// Access can be set for a whole mapping only, which is why sealed arrays have chunks of their own.
  Result<void> allow(bool writing) const;

 private:
  MappedVram(const CudaContext& context, CUdeviceptr base, std::uint64_t size_bytes) noexcept
      : context_(&context), base_(base), size_bytes_(size_bytes) {}
  const CudaContext* context_;
  CUdeviceptr base_;
  std::uint64_t size_bytes_;
};

/// Memory of this process, registered for the GPU. The memory must outlive it.
class RegisteredMemory {
 public:
  static Result<RegisteredMemory> register_with(const CudaContext& context, std::byte* data, std::uint64_t size_bytes);
  RegisteredMemory(RegisteredMemory&& other) noexcept
      : context_(other.context_), data_(std::exchange(other.data_, nullptr)), base_(other.base_) {}
  RegisteredMemory& operator=(RegisteredMemory&&) = delete;
  ~RegisteredMemory();
  /// Where the GPU sees it.
  CUdeviceptr base() const noexcept { return base_; }

 private:
  RegisteredMemory(const CudaContext& context, std::byte* data, CUdeviceptr base) noexcept
      : context_(&context), data_(data), base_(base) {}
  const CudaContext* context_;
  std::byte* data_;
  CUdeviceptr base_;
};

/// Memory of this context, the GPU's own or managed. The destructor frees it.
class OwnMemory {
 public:
  static Result<OwnMemory> allocate(const CudaContext& context, std::uint64_t size_bytes, bool managed);
  OwnMemory(OwnMemory&& other) noexcept : context_(other.context_), base_(std::exchange(other.base_, 0)) {}
  OwnMemory& operator=(OwnMemory&&) = delete;
  ~OwnMemory();
  CUdeviceptr base() const noexcept { return base_; }

 private:
  OwnMemory(const CudaContext& context, CUdeviceptr base) noexcept : context_(&context), base_(base) {}
  const CudaContext* context_;
  CUdeviceptr base_;
};

class CudaMemory {
 public:
  explicit CudaMemory(const CudaContext& context) noexcept : context_(context) {}

  Result<void> map(const wire::Chunk& chunk, wire::Descriptor descriptor);
  /// `invalid_argument` for a chunk that is not VRAM held by its descriptor.
  Result<void> protect(const wire::ProtectChunk& wanted, const wire::Descriptor& descriptor);
  void unmap(std::uint32_t id) noexcept {
    if (id < op::kMaxChunks) chunks_.remove(id);
  }
  /// `out_of_memory` with what is free.
  Result<wire::Descriptor> make(std::uint64_t size_bytes);
  /// The same for a chunk that only this worker has; managed memory, too, is never more than what is free.
  Result<void> make_here(const wire::Chunk& chunk);
  bool contains(const op::Range& range) noexcept { return chunks_.contains(range); }
  void close() noexcept { chunks_.close(); }
  /// Where the GPU has that address; its chunk is mapped.
  CUdeviceptr at(op::Address address) const noexcept {
    return chunks_.find(op::chunk_of(address))->base + op::offset_of(address);
  }
  /// The address in this process; null for the GPU's own memory.
  const std::byte* shared_at(op::Address address) const noexcept {
    const Mapped& chunk = *chunks_.find(op::chunk_of(address));
    return chunk.shared ? chunk.shared->data() + op::offset_of(address) : nullptr;
  }

 private:
  Unexpected none_left(const Error& error) const;

  struct Mapped {
    std::optional<MappedVram> vram;
    std::optional<OwnMemory> own;
    std::optional<wire::SharedMemory> shared;
    std::optional<RegisteredMemory> registered;  // after `shared`, so that it goes first
    CUdeviceptr base = 0;
    std::uint64_t bytes = 0;
    std::uint64_t size_bytes() const noexcept { return bytes; }
  };

  const CudaContext& context_;
  backend::ChunkSlots<Mapped> chunks_;
};

}  // namespace troupe::cuda
