#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/memory/cuda_memory.hpp"

#include "troupe/wire/memory_info.hpp"

namespace troupe::cuda {
namespace {

CUmemAllocationProp vram_on(CUdevice device) noexcept {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

}  // namespace

Result<MappedVram> MappedVram::map(const CudaContext& context, wire::Descriptor memory, const wire::Chunk& chunk) {
  const std::uint64_t size_bytes = chunk.size_bytes;
  const Driver& driver = context.driver();
  CUmemGenericAllocationHandle handle = 0;
  // The driver takes the descriptor's number where it wants a pointer.
  void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(memory.get()));
  TROUPE_TRY(
      TROUPE_CUDA(driver, cuMemImportFromShareableHandle, &handle, number, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  CUdeviceptr base = 0;
  Result<void> mapped = TROUPE_CUDA(driver, cuMemAddressReserve, &base, size_bytes, 0, chunk.address, 0);
  if (mapped) {
    mapped = TROUPE_CUDA(driver, cuMemMap, base, size_bytes, 0, handle, 0);
    if (!mapped) (void)TROUPE_CUDA(driver, cuMemAddressFree, base, size_bytes);
  }
  (void)TROUPE_CUDA(driver, cuMemRelease, handle);  // the mapping keeps the memory
  if (!mapped) return fail(mapped.error());
  MappedVram vram(context, base, size_bytes);
  TROUPE_TRY(vram.allow(!chunk.read_only));
  return vram;
}

Result<void> MappedVram::allow(bool writing) const {
  const CUmemAccessDesc access{.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = context_->device()},
                               .flags = writing ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ};
  return TROUPE_CUDA(context_->driver(), cuMemSetAccess, base_, size_bytes_, &access, 1);
}

MappedVram::~MappedVram() {
  if (base_ == 0) return;
  (void)TROUPE_CUDA(context_->driver(), cuMemUnmap, base_, size_bytes_);
  (void)TROUPE_CUDA(context_->driver(), cuMemAddressFree, base_, size_bytes_);
}

Result<RegisteredMemory> RegisteredMemory::register_with(const CudaContext& context, std::byte* data,
                                                         std::uint64_t size_bytes) {
  const Driver& driver = context.driver();
  TROUPE_TRY(TROUPE_CUDA(driver, cuMemHostRegister, data, size_bytes, CU_MEMHOSTREGISTER_DEVICEMAP));
  RegisteredMemory memory(context, data, 0);
  TROUPE_TRY(TROUPE_CUDA(driver, cuMemHostGetDevicePointer, &memory.base_, data, 0));
  return memory;
}

RegisteredMemory::~RegisteredMemory() {
  if (data_) (void)TROUPE_CUDA(context_->driver(), cuMemHostUnregister, data_);
}

Result<void> CudaMemory::map(const wire::Chunk& chunk, wire::Descriptor descriptor) {
  if (chunk.id >= op::kMaxChunks)
    return fail(ErrorKind::invalid_argument, "chunk " + std::to_string(chunk.id) + " cannot be mapped");
  TROUPE_TRY(context_.make_current());
  auto mapped = std::make_unique<Mapped>();
  mapped->bytes = chunk.size_bytes;
  if (chunk.memory == wire::ChunkMemory::device) {
    mapped->vram.emplace(TROUPE_TRY(MappedVram::map(context_, std::move(descriptor), chunk)));
    mapped->base = mapped->vram->base();
  } else {
    mapped->shared.emplace(TROUPE_TRY(wire::SharedMemory::map(std::move(descriptor), chunk.size_bytes, true)));
    mapped->registered.emplace(
        TROUPE_TRY(RegisteredMemory::register_with(context_, mapped->shared->data(), chunk.size_bytes)));
    mapped->base = mapped->registered->base();
  }
  chunks_.put(chunk.id, std::move(mapped));
  return {};
}

Result<void> CudaMemory::protect(const wire::ProtectChunk& wanted, const wire::Descriptor&) {
  const Mapped* const chunk = chunks_.find_to_change(wanted.id);
  if (!chunk || !chunk->vram)
    return fail(ErrorKind::invalid_argument, "chunk " + std::to_string(wanted.id) + " is not VRAM of the vault");
  TROUPE_TRY(context_.make_current());
  return chunk->vram->allow(!wanted.read_only);
}

Result<wire::Descriptor> CudaMemory::make(std::uint64_t size_bytes) {
  TROUPE_TRY(context_.make_current());
  const Driver& driver = context_.driver();
  const CUmemAllocationProp properties = vram_on(context_.device());
  CUmemGenericAllocationHandle handle = 0;
  if (const Result<void> made = TROUPE_CUDA(driver, cuMemCreate, &handle, size_bytes, &properties, 0); !made)
    return none_left(made.error());
  int number = -1;
  const Result<void> exported =
      TROUPE_CUDA(driver, cuMemExportToShareableHandle, &number, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  (void)TROUPE_CUDA(driver, cuMemRelease, handle);  // the descriptor keeps the memory
  if (!exported) return fail(exported.error());
  return wire::Descriptor(number);
}

Unexpected CudaMemory::none_left(const Error& error) const {
  std::size_t free = 0, total = 0;
  if (error.kind() != ErrorKind::out_of_memory || !TROUPE_CUDA(context_.driver(), cuMemGetInfo, &free, &total))
    return fail(error);
  return fail(ErrorKind::out_of_memory,
              "the GPU has " + wire::format_bytes(free) + " of " + wire::format_bytes(total) + " free");
}

Result<OwnMemory> OwnMemory::allocate(const CudaContext& context, std::uint64_t size_bytes, bool managed) {
  const Driver& driver = context.driver();
  CUdeviceptr base = 0;
  if (!managed) {
    TROUPE_TRY(TROUPE_CUDA(driver, cuMemAlloc, &base, size_bytes));
    return OwnMemory(context, base);
  }
  std::size_t free = 0, total = 0;  // the driver would give more, and let the GPU crawl
  TROUPE_TRY(TROUPE_CUDA(driver, cuMemGetInfo, &free, &total));
  if (size_bytes > free) return fail(ErrorKind::out_of_memory);
  TROUPE_TRY(TROUPE_CUDA(driver, cuMemAllocManaged, &base, size_bytes, CU_MEM_ATTACH_GLOBAL));
  return OwnMemory(context, base);
}

OwnMemory::~OwnMemory() {
  if (base_ != 0) (void)TROUPE_CUDA(context_->driver(), cuMemFree, base_);
}

Result<void> CudaMemory::make_here(const wire::Chunk& chunk) {
  if (chunk.id >= op::kMaxChunks)
    return fail(ErrorKind::invalid_argument, "chunk " + std::to_string(chunk.id) + " cannot be made");
  TROUPE_TRY(context_.make_current());
  Result<OwnMemory> own = OwnMemory::allocate(context_, chunk.size_bytes, chunk.memory == wire::ChunkMemory::managed);
  if (!own) return none_left(own.error());
  auto mapped = std::make_unique<Mapped>();
  mapped->bytes = chunk.size_bytes;
  mapped->base = own->base();
  mapped->own.emplace(std::move(*own));
  chunks_.put(chunk.id, std::move(mapped));
  return {};
}

}  // namespace troupe::cuda

#endif
