// A GPU's vault in this process: for those who choose to have a CUDA context here, because another library in this
// process computes with arrays of ours. Chunks are mapped by their descriptors into the primary context, which is what
// PyTorch, CuPy and JAX use. It is opened at run time and only here: a program that does not ask for it has no context.
//
// What that costs: a kernel of that library can write whatever is in the same chunk (64 MiB), and no worker can tell.
// Sealed arrays have chunks of their own, which are mapped for reading only.
//
//   auto sharing = TROUPE_TRY(GpuSharing::open("GPU-12345678-..."));
//   std::shared_ptr<GpuLease> lease = TROUPE_TRY(sharing->lend(array));
//   use(lease->address());
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "troupe/core/result.hpp"
#include "troupe/device/array.hpp"

namespace troupe::inline v0::detail {

struct CudaCalls;
class MappedChunk;

/// An array as this process's context sees it. When the last owner lets go, the context's work is waited for, because a
/// kernel may still use the memory, and then the memory is the vault's again. Any thread may let go of it, and nothing
/// of an interpreter's is needed. What cannot be waited for is never given back: then there is less memory, but
/// nobody's is overwritten.
class GpuLease {
 public:
  GpuLease(AnyArray array, std::shared_ptr<MappedChunk> chunk) noexcept
      : array_(std::move(array)), chunk_(std::move(chunk)) {}
  GpuLease(const GpuLease&) = delete;
  GpuLease& operator=(const GpuLease&) = delete;
  ~GpuLease();

  const AnyArray& array() const noexcept { return array_; }
  /// Of element [0, 0, ...]; 0 for an array without elements.
  std::uint64_t address() const noexcept;
  /// Nothing in this process can write it.
  bool is_read_only() const noexcept;

 private:
  AnyArray array_;
  std::shared_ptr<MappedChunk> chunk_;  // shared with the leases of other arrays in it; null without elements
};

/// The context, and what is mapped in it. Any thread may call any function.
class GpuSharing {
 public:
  /// `unsupported` where there is no driver, or where it does not show this process the GPU with that UUID.
  static Result<std::shared_ptr<GpuSharing>> open(const std::string& uuid);

  /// The GPU's number in this process, as other libraries count.
  int ordinal() const noexcept { return ordinal_; }
  /// Maps the array's chunk, unless it is mapped. `unsupported` for memory that dies with its worker.
  Result<std::shared_ptr<GpuLease>> lend(const AnyArray& array);
  /// Whether somebody in this process could write the array's chunk. Its access cannot be changed under their kernels.
  bool can_be_written(const AnyArray& array) const;
  /// Copies `size_bytes` from an address of this context to the lease's, after what the default stream has to do, and
  /// waits for it. Needs a writable lease of a contiguous array of that size.
  Result<void> copy_into(const GpuLease& to, std::uint64_t from, std::uint64_t size_bytes);

 private:
  GpuSharing(std::shared_ptr<const CudaCalls> calls, int ordinal) noexcept
      : calls_(std::move(calls)), ordinal_(ordinal) {}
  Result<std::shared_ptr<MappedChunk>> map(const AnyArray& array, bool is_read_only);

  const std::shared_ptr<const CudaCalls> calls_;  // shared with the mapped chunks, which may outlive this
  const int ordinal_;
  mutable std::mutex mutex_;  // of what follows
  // By vault and number, which nobody else gets while the chunk is lent.
  std::map<std::pair<const Vault*, std::uint32_t>, std::weak_ptr<MappedChunk>> chunks_;
};

}  // namespace troupe::inline v0::detail
