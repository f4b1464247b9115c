// What raw CUDA is measured with: the driver's functions that Troupe itself does not call, and owners of a stream, of
// memory, of a flag. For the raw_*.cpp only, and only where TROUPE_CUDA_BACKEND is.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "troupe/backend/cuda/driver/cuda_context.hpp"
#include "troupe/backend/cuda/memory/cuda_memory.hpp"

namespace troupe::bench {

#define TROUPE_BENCH_DRIVER_FUNCTIONS(each) each(cuMemcpyHtoD) each(cuMemcpyDtoH)

/// Functions of the driver beyond those of `cuda::Driver`.
struct MoreDriver {
#define TROUPE_BENCH_DRIVER_FUNCTION(function) decltype(&::function) function = nullptr;
  TROUPE_BENCH_DRIVER_FUNCTIONS(TROUPE_BENCH_DRIVER_FUNCTION)
#undef TROUPE_BENCH_DRIVER_FUNCTION

  /// Throws when the driver lacks one of them.
  static MoreDriver load();
};

/// Throws unless the call went well.
inline void check(CUresult answer, const char* call) {
  if (answer != CUDA_SUCCESS) [[unlikely]]
    value(cuda::checked(answer, call));
}
/// One call of the driver's.
#define TROUPE_RAW(driver, function, ...) ::troupe::bench::check((driver).table().function(__VA_ARGS__), #function)

/// A stream as a worker's lane has it.
class RawStream {
 public:
  explicit RawStream(const cuda::CudaContext& context) : driver_(context.driver()) {
    TROUPE_RAW(driver_, cuStreamCreateWithPriority, &stream_, CU_STREAM_NON_BLOCKING, 0);
  }
  ~RawStream() { (void)driver_.table().cuStreamDestroy(stream_); }
  RawStream(const RawStream&) = delete;
  RawStream& operator=(const RawStream&) = delete;

  CUstream get() const { return stream_; }

 private:
  const cuda::Driver& driver_;
  CUstream stream_ = nullptr;
};

/// Device memory from cuMemAlloc.
class RawMemory {
 public:
  RawMemory(const cuda::CudaContext& context, std::size_t size_bytes) : driver_(context.driver()) {
    TROUPE_RAW(driver_, cuMemAlloc, &data_, size_bytes);
  }
  ~RawMemory() { (void)driver_.table().cuMemFree(data_); }  // which does nothing for 0
  RawMemory(RawMemory&& other) noexcept : driver_(other.driver_), data_(std::exchange(other.data_, 0)) {}
  RawMemory(const RawMemory&) = delete;
  RawMemory& operator=(const RawMemory&) = delete;

  CUdeviceptr get() const { return data_; }

 private:
  const cuda::Driver& driver_;
  CUdeviceptr data_ = 0;
};

/// Ordinary memory that has been touched, and that CUDA may be told of.
class HostBytes {
 public:
  explicit HostBytes(std::size_t size_bytes);

  std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::size_t size_;  // rounded up to whole pages
  std::unique_ptr<std::byte, Free> bytes_;
};

/// The same, registered with CUDA.
class PinnedBytes {
 public:
  PinnedBytes(const cuda::CudaContext& context, std::size_t size_bytes)
      : bytes_(size_bytes),
        registered_(value(cuda::RegisteredMemory::register_with(context, bytes_.data(), bytes_.size()))) {}

  std::byte* data() const { return bytes_.data(); }
  /// Where the GPU sees it.
  CUdeviceptr device() const { return registered_.base(); }

 private:
  HostBytes bytes_;
  cuda::RegisteredMemory registered_;
};

/// A word that the GPU writes and this thread spins on.
class Flag {
 public:
  explicit Flag(const cuda::CudaContext& context)
      : driver_(context.driver()), page_(context, sizeof(Word)), word_(*new(page_.data()) Word(0)) {}

  /// The GPU writes a new value when it comes to this point of the stream.
  void raise_in(CUstream stream) {
    TROUPE_RAW(driver_, cuStreamWriteValue64, stream, page_.device(), ++raised_, CU_STREAM_WRITE_VALUE_DEFAULT);
  }
  /// A host function does, which costs what CUDA takes to call one.
  void raise_by_host_function_in(CUstream stream) {
    ++raised_;
    TROUPE_RAW(driver_, cuLaunchHostFunc, stream, [](void* flag) { static_cast<Flag*>(flag)->store(); }, this);
  }
  /// Spins until the last value raised is there; throws when the stream has failed.
  void wait_for_the_last(CUstream stream) const {
    for (std::uint32_t spins = 1; word_.load(std::memory_order_acquire) != raised_; ++spins)
      if (spins % kSpinsPerLook == 0) look_for_errors(stream);
  }

 private:
  using Word = std::atomic<std::uint32_t>;
  static constexpr std::uint32_t kSpinsPerLook = 1U << 24;  // some milliseconds

  void store() {
    word_.store(raised_, std::memory_order_release);
  }  // the launch comes before it, and no other until then
  void look_for_errors(CUstream stream) const;

  const cuda::Driver& driver_;
  PinnedBytes page_;
  Word& word_;
  std::uint32_t raised_ = 0;
};

/// A context with a stream and a flag, which all that is measured raw shares.
class RawGpu {
 public:
  /// On the GPU with that UUID. Current in this thread from then on.
  explicit RawGpu(const std::string& gpu) : context_(value(cuda::CudaContext::create(gpu))) {}

  const cuda::CudaContext& context() const { return *context_; }
  const cuda::Driver& driver() const { return context_->driver(); }
  const MoreDriver& more() const { return more_; }
  CUstream stream() const { return stream_.get(); }
  Flag& flag() { return flag_; }

  /// One op, and this thread has seen its end.
  template <class Op>
  void complete(const Op& op) {
    op();
    flag_.raise_in(stream());
    flag_.wait_for_the_last(stream());
  }
  void write(CUdeviceptr to, const void* from, std::size_t size_bytes) const {
    check(more_.cuMemcpyHtoD(to, from, size_bytes), "cuMemcpyHtoD");
  }

 private:
  std::unique_ptr<cuda::CudaContext> context_;  // before all that lives in it
  MoreDriver more_ = MoreDriver::load();
  RawStream stream_{*context_};
  Flag flag_{*context_};
};

/// Kernels of the reference: `empty()`; `write_at(address)`, which writes a word there; and those of a step
/// (bench/step.hpp), `mix(a, b, out)` and `update(d, w)`.
inline constexpr char kRawKernels[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry empty() { ret; }\n"
    ".visible .entry write_at(.param .u64 address) {\n"
    "  .reg .u64 %a;\n  .reg .u32 %v;\n"
    "  ld.param.u64 %a, [address];\n  mov.u32 %v, 1;\n  st.u32 [%a], %v;\n  ret;\n}\n"
    ".visible .entry mix(.param .u64 a, .param .u64 b, .param .u64 out) {\n"
    "  .reg .u64 %p, %q, %r, %o;\n  .reg .u32 %x, %y, %z;\n  .reg .f32 %f, %g;\n"
    "  ld.param.u64 %p, [a];\n  ld.param.u64 %q, [b];\n  ld.param.u64 %r, [out];\n"
    "  mov.u32 %x, %ctaid.x;\n  mov.u32 %y, %ntid.x;\n  mov.u32 %z, %tid.x;\n"
    "  mad.lo.u32 %x, %x, %y, %z;\n  mul.wide.u32 %o, %x, 4;\n"
    "  add.u64 %p, %p, %o;\n  add.u64 %q, %q, %o;\n  add.u64 %r, %r, %o;\n"
    "  ld.global.f32 %f, [%p];\n  ld.global.f32 %g, [%q];\n"
    "  add.f32 %f, %f, %g;\n  mul.f32 %f, %f, 0f3F000000;\n  st.global.f32 [%r], %f;\n  ret;\n}\n"
    ".visible .entry update(.param .u64 d, .param .u64 w) {\n"
    "  .reg .u64 %p, %q, %o;\n  .reg .u32 %x, %y, %z;\n  .reg .f32 %f, %g;\n"
    "  ld.param.u64 %p, [d];\n  ld.param.u64 %q, [w];\n"
    "  mov.u32 %x, %ctaid.x;\n  mov.u32 %y, %ntid.x;\n  mov.u32 %z, %tid.x;\n"
    "  mad.lo.u32 %x, %x, %y, %z;\n  mul.wide.u32 %o, %x, 4;\n"
    "  add.u64 %p, %p, %o;\n  add.u64 %q, %q, %o;\n"
    "  ld.global.f32 %f, [%p];\n  ld.global.f32 %g, [%q];\n"
    "  mul.f32 %f, %f, 0f358637BD;\n  fma.rn.f32 %g, %g, 0f3F7FBE77, %f;\n"
    "  st.global.f32 [%q], %g;\n  ret;\n}\n";

/// A kernel of `kRawKernels`, loaded into the current context.
CUfunction load_raw_kernel(const cuda::Driver& driver, const char* name);

}  // namespace troupe::bench
