#include "troupe/device/gpu_sharing.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/device/block.hpp"
#include "troupe/device/vault.hpp"

namespace troupe::inline v0::detail {

// Two of the driver's structs. They have names that the linker sees, because g++ 13 crashes on members of `CudaCalls`
// whose types have none.
struct CudaPlace {
  int type = 1;  // a device
  int id = 0;
};
struct CudaAccess {
  CudaPlace place;
  int flags = 0;
};

namespace {

// ---- the driver's functions and structs, as its interface has them: this is compiled without its headers ----

using Code = int;
using Context = void*;
using Address = unsigned long long;
using Memory = unsigned long long;
constexpr int kFileDescriptor = 1;
constexpr int kReadAccess = 1, kReadWriteAccess = 3;
void* const kDefaultStream = reinterpret_cast<void*>(1);  // the one that all blocking streams wait for
constexpr std::size_t kUuidBytes = 16;

Error driver_error(const char* call, Code code) {
  return Error(ErrorKind::library_error,
               std::string(call) + " of the CUDA context in this process answered " + std::to_string(code),
               {.library = "cuda", .native_code = code});
}

std::string text_of(const std::array<unsigned char, kUuidBytes>& uuid) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid[i] >> 4];
    text += kDigits[uuid[i] & 15];
  }
  return text;
}

}  // namespace

/// One process has one driver, and one primary context for each GPU.
struct CudaCalls {
  Code (*cuInit)(unsigned) = nullptr;
  Code (*cuDeviceGetCount)(int*) = nullptr;
  Code (*cuDeviceGet)(int*, int) = nullptr;
  Code (*cuDeviceGetUuid_v2)(unsigned char*, int) = nullptr;
  Code (*cuDevicePrimaryCtxRetain)(Context*, int) = nullptr;
  Code (*cuCtxPushCurrent_v2)(Context) = nullptr;
  Code (*cuCtxPopCurrent_v2)(Context*) = nullptr;
  Code (*cuCtxSynchronize)() = nullptr;
  Code (*cuMemImportFromShareableHandle)(Memory*, void*, int) = nullptr;
  Code (*cuMemRelease)(Memory) = nullptr;
  Code (*cuMemAddressReserve)(Address*, std::size_t, std::size_t, Address, unsigned long long) = nullptr;
  Code (*cuMemAddressFree)(Address, std::size_t) = nullptr;
  Code (*cuMemMap)(Address, std::size_t, std::size_t, Memory, unsigned long long) = nullptr;
  Code (*cuMemUnmap)(Address, std::size_t) = nullptr;
  Code (*cuMemSetAccess)(Address, std::size_t, const CudaAccess*, std::size_t) = nullptr;
  Code (*cuMemcpyAsync)(Address, Address, std::size_t, void*) = nullptr;
  Code (*cuStreamSynchronize)(void*) = nullptr;

  Context context = nullptr;
  int device = 0;

  /// Each of them, or the name of the first that the driver lacks.
  const char* find(void* library) {
    const char* missing = nullptr;
    const auto take = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr && missing == nullptr) missing = name;
    };
#define TROUPE_TAKE(name) take(name, #name)
    TROUPE_TAKE(cuInit), TROUPE_TAKE(cuDeviceGetCount), TROUPE_TAKE(cuDeviceGet), TROUPE_TAKE(cuDeviceGetUuid_v2);
    TROUPE_TAKE(cuDevicePrimaryCtxRetain), TROUPE_TAKE(cuCtxPushCurrent_v2), TROUPE_TAKE(cuCtxPopCurrent_v2);
    TROUPE_TAKE(cuCtxSynchronize), TROUPE_TAKE(cuMemImportFromShareableHandle), TROUPE_TAKE(cuMemRelease);
    TROUPE_TAKE(cuMemAddressReserve), TROUPE_TAKE(cuMemAddressFree), TROUPE_TAKE(cuMemMap), TROUPE_TAKE(cuMemUnmap);
    TROUPE_TAKE(cuMemSetAccess), TROUPE_TAKE(cuMemcpyAsync), TROUPE_TAKE(cuStreamSynchronize);
#undef TROUPE_TAKE
    return missing;
  }

  /// Calls `f` with the context current in this thread, which has its own again afterwards.
  template <class F>
  Code in_context(const F& f) const {
    if (const Code code = cuCtxPushCurrent_v2(context)) return code;
    const Code code = f();
    Context ignored = nullptr;
    (void)cuCtxPopCurrent_v2(&ignored);
    return code;
  }
};

// ---- a chunk in the context ----

class MappedChunk {
 public:
  MappedChunk(std::shared_ptr<const CudaCalls> calls, std::uint64_t size_bytes, bool is_read_only) noexcept
      : calls_(std::move(calls)), size_bytes_(size_bytes), is_read_only_(is_read_only) {}
  MappedChunk(const MappedChunk&) = delete;
  MappedChunk& operator=(const MappedChunk&) = delete;
  ~MappedChunk() {
    (void)calls_->in_context([&] {
      if (is_mapped_) (void)calls_->cuMemUnmap(base_, size_bytes_);
      return base_ == 0 ? 0 : calls_->cuMemAddressFree(base_, size_bytes_);
    });
  }

  Result<void> map(int descriptor) {
    const char* failed = "";
    const Code code = calls_->in_context([&] { return map_here(descriptor, failed); });
    if (code != 0) return fail(driver_error(failed, code));
    return {};
  }
  Address base() const noexcept { return base_; }
  bool is_read_only() const noexcept { return is_read_only_; }
  const CudaCalls& calls() const noexcept { return *calls_; }

 private:
  /// `failed` is the call that `code` is of.
  Code map_here(int descriptor, const char*& failed) {
    Memory memory = 0;
    failed = "cuMemImportFromShareableHandle";
    // The driver takes the descriptor's number where it wants a pointer.
    void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
    if (const Code code = calls_->cuMemImportFromShareableHandle(&memory, number, kFileDescriptor)) return code;
    failed = "cuMemAddressReserve";
    Code code = calls_->cuMemAddressReserve(&base_, size_bytes_, 0, 0, 0);
    if (code == 0) {
      failed = "cuMemMap";
      code = calls_->cuMemMap(base_, size_bytes_, 0, memory, 0);
      is_mapped_ = code == 0;
    }
    (void)calls_->cuMemRelease(memory);  // the mapping keeps it
    if (code != 0) return code;
    failed = "cuMemSetAccess";
    const CudaAccess access{.place = {.id = calls_->device}, .flags = is_read_only_ ? kReadAccess : kReadWriteAccess};
    return calls_->cuMemSetAccess(base_, size_bytes_, &access, 1);
  }

  const std::shared_ptr<const CudaCalls> calls_;  // shared with `GpuSharing`
  const std::uint64_t size_bytes_;
  const bool is_read_only_;
  Address base_ = 0;
  bool is_mapped_ = false;
};

// ---- an array of it ----

namespace {

/// A context that cannot be waited for (it records a graph, it is poisoned, the process ends) may still use the memory.
/// So it belongs to the process from now on, as the context does.
void keep_for_ever(AnyArray array, std::shared_ptr<MappedChunk> chunk) {
  static std::mutex& mutex = *new std::mutex;
  static auto& kept = *new std::vector<std::pair<AnyArray, std::shared_ptr<MappedChunk>>>;
  const std::lock_guard lock(mutex);
  kept.emplace_back(std::move(array), std::move(chunk));
}

}  // namespace

GpuLease::~GpuLease() {
  if (!chunk_) return;
  const CudaCalls& calls = chunk_->calls();
  if (calls.in_context([&] { return calls.cuCtxSynchronize(); }) == 0) return;
  keep_for_ever(std::move(array_), std::move(chunk_));
}

std::uint64_t GpuLease::address() const noexcept {
  return chunk_ ? chunk_->base() + op::offset_of(array_.view().address) : 0;
}
bool GpuLease::is_read_only() const noexcept { return chunk_ && chunk_->is_read_only(); }

// ---- all of them ----

Result<std::shared_ptr<GpuSharing>> GpuSharing::open(const std::string& uuid) {
  const char* const folder = std::getenv("TROUPE_CUDA_LIBRARIES");
  const std::string file = (folder && *folder ? std::string(folder) + "/" : std::string()) + "libcuda.so.1";
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open: contexts do, too
  if (library == nullptr)
    return fail(ErrorKind::unsupported, "the NVIDIA driver (libcuda.so.1) was not found in this process");
  const auto calls = std::make_shared<CudaCalls>();
  if (const char* const missing = calls->find(library))
    return fail(ErrorKind::unsupported, "the NVIDIA driver has no " + std::string(missing) + ": it is too old");
  if (const Code code = calls->cuInit(0)) return fail(driver_error("cuInit", code));
  int count = 0;
  if (const Code code = calls->cuDeviceGetCount(&count)) return fail(driver_error("cuDeviceGetCount", code));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    std::array<unsigned char, kUuidBytes> found{};
    if (calls->cuDeviceGet(&calls->device, ordinal) != 0) continue;
    if (calls->cuDeviceGetUuid_v2(found.data(), calls->device) != 0 || text_of(found) != uuid) continue;
    if (const Code code = calls->cuDevicePrimaryCtxRetain(&calls->context, calls->device))
      return fail(driver_error("cuDevicePrimaryCtxRetain", code));
    return std::shared_ptr<GpuSharing>(new GpuSharing(calls, ordinal));
  }
  return fail(ErrorKind::unsupported,
              "this process does not see the GPU " + uuid + ": CUDA_VISIBLE_DEVICES must name it");
}

namespace {

std::pair<const Vault*, std::uint32_t> key_of(const AnyArray& array) {
  return {&array.block()->vault(), op::chunk_of(array.view().address)};
}

}  // namespace

Result<std::shared_ptr<GpuLease>> GpuSharing::lend(const AnyArray& array) {
  if (array.element_count() == 0) return std::make_shared<GpuLease>(array, nullptr);
  return std::make_shared<GpuLease>(array, TROUPE_TRY(map(array, array.is_sealed())));
}

Result<std::shared_ptr<MappedChunk>> GpuSharing::map(const AnyArray& array, bool is_read_only) {
  const std::lock_guard lock(mutex_);
  std::erase_if(chunks_, [](const auto& chunk) { return chunk.second.expired(); });
  std::weak_ptr<MappedChunk>& known = chunks_[key_of(array)];
  // One that is sealed now cannot be mapped for writing, see `can_be_written`; one that was sealed then can be, again.
  if (std::shared_ptr<MappedChunk> chunk = known.lock(); chunk && chunk->is_read_only() == is_read_only) return chunk;
  const LentChunk lent = TROUPE_TRY(array.block()->vault().lend(*array.block()));
  const auto chunk = std::make_shared<MappedChunk>(calls_, lent.size_bytes, is_read_only);
  TROUPE_TRY(chunk->map(lent.memory.get()));
  known = chunk;
  return chunk;
}

bool GpuSharing::can_be_written(const AnyArray& array) const {
  if (array.element_count() == 0) return false;
  const std::lock_guard lock(mutex_);
  const auto found = chunks_.find(key_of(array));
  if (found == chunks_.end()) return false;
  const std::shared_ptr<MappedChunk> chunk = found->second.lock();
  return chunk && !chunk->is_read_only();
}

Result<void> GpuSharing::copy_into(const GpuLease& to, std::uint64_t from, std::uint64_t size_bytes) {
  if (size_bytes == 0) return {};
  const char* failed = "cuMemcpyAsync";
  const Code code = calls_->in_context([&] {
    if (const Code copied = calls_->cuMemcpyAsync(to.address(), from, size_bytes, kDefaultStream)) return copied;
    failed = "cuStreamSynchronize";
    return calls_->cuStreamSynchronize(kDefaultStream);
  });
  if (code != 0) return fail(driver_error(failed, code));
  return {};
}

}  // namespace troupe::inline v0::detail
