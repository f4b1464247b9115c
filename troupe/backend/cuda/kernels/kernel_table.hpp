// The kernels of one .cu file in a context. Each is looked up by its name when it is first asked for; from then on it
// is in a slot of its own, and to find it is to read that: no lock, no text.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "troupe/backend/cuda/driver/cuda_context.hpp"
#include "troupe/backend/cuda/kernels/kernel_names.hpp"

namespace troupe::cuda {

/// An image in a context, loaded when it is first needed. When that fails, for want of memory perhaps, the next call
/// tries again.
class LoadedImage {
 public:
  /// By the whole name, without "troupe_". From any thread. The driver's error when the image has no such kernel.
  Result<CUfunction> find(const CudaContext& context, std::string_view image, const std::string& kernel);

 private:
  std::mutex mutex_;
  CUmodule module_ = nullptr;  // for as long as the context lives
};

/// A table whose names are not known.
class AnyKernelTable {
 public:
  explicit AnyKernelTable(const void* key) noexcept : key_(key) {}
  virtual ~AnyKernelTable() = default;
  /// Another one for each type of names.
  const void* key() const noexcept { return key_; }

 private:
  const void* key_;
};

template <KernelNames Names>
class KernelTable final : public AnyKernelTable {
 public:
  static constexpr char kKey{};  // for its address
  KernelTable() noexcept : AnyKernelTable(&kKey) {}

  /// From any thread; for one context only. The driver's error when there is no such kernel for these types.
  Result<CUfunction> find(const CudaContext& context, Names kernel, KernelTypes types) {
    std::atomic<CUfunction>& slot = slots_[static_cast<std::size_t>(kernel) * KernelTypes::kCount + types.index()];
    // Whoever sees a function here sees what the driver did to load it (acquire). Threads that look for the same one at
    // the same time store the same.
    if (CUfunction found = slot.load(std::memory_order_acquire)) [[likely]]
      return found;
    CUfunction found =
        TROUPE_TRY(image_.find(context, file_of(Names{}).image, std::string(spelling(kernel)) + types.text()));
    slot.store(found, std::memory_order_release);
    return found;
  }

 private:
  LoadedImage image_;
  std::array<std::atomic<CUfunction>, kKernelsIn<Names> * KernelTypes::kCount> slots_{};
};

/// The tables of the .cu files whose kernels were asked for, each made then. A table is found by the type of its names:
/// a new file stands in no list.
class KernelTables {
 public:
  /// From any thread. As long as this lives.
  template <KernelNames Names>
  KernelTable<Names>& of() {
    AnyKernelTable* table = place_of(&KernelTable<Names>::kKey).load(std::memory_order_acquire);
    if (!table) [[unlikely]]
      table = &add(std::make_unique<KernelTable<Names>>());
    return static_cast<KernelTable<Names>&>(*table);
  }

 private:
  static constexpr std::size_t kMaxFiles = 64;

  /// Where the table is; where it would be, if it is not there. Keys are bytes side by side, so most have a place of
  /// their own.
  std::atomic<AnyKernelTable*>& place_of(const void* key) noexcept {
    std::size_t at = reinterpret_cast<std::uintptr_t>(key) % kMaxFiles;
    for (std::size_t looked = 0; looked < kMaxFiles; ++looked, at = (at + 1) % kMaxFiles) {
      const AnyKernelTable* const found = places_[at].load(std::memory_order_acquire);
      if (!found || found->key() == key) return places_[at];
    }
    detail::assert_failed("a table has a place", "there are more .cu files than kMaxFiles", __FILE__, __LINE__);
  }
  AnyKernelTable& add(std::unique_ptr<AnyKernelTable> table);

  std::mutex mutex_;
  std::vector<std::unique_ptr<AnyKernelTable>> owners_;
  std::array<std::atomic<AnyKernelTable*>, kMaxFiles> places_{};
};

}  // namespace troupe::cuda
