// What the files of the fake driver share. Each of its functions begins with FAKE_BEGIN, which counts the call and
// returns when it is to fail; most work only in a thread that has a context, as the real ones do.
#pragma once

#include <cuda.h>

#include "tests/fake_cuda/fault.hpp"
#include "tests/fake_cuda/stream.hpp"

namespace fake_cuda {

bool has_context() noexcept;
std::uint64_t total_bytes() noexcept;
/// Whether the memory there is mapped for reading only.
bool is_read_only(CUdeviceptr address);

inline Stream& stream_of(CUstream stream) { return *reinterpret_cast<Stream*>(stream); }

inline constexpr int kMultiprocessors = 7;
CUcontext context_of_this_thread() noexcept;
void unload_modules_of(CUcontext context);
/// To standard output, as the driver does when somebody waits.
void write_what_kernels_printed();

template <class T>
T* at(CUdeviceptr address) noexcept {
  return reinterpret_cast<T*>(address);
}

}  // namespace fake_cuda

#define FAKE_BEGIN(function) \
  if (const int code = fake_cuda_enter(function)) return static_cast<CUresult>(code);
#define FAKE_ASK(function) \
  if (const int code = fake_cuda_ask(function)) return static_cast<CUresult>(code);
#define FAKE_BEGIN_IN_CONTEXT(function) \
  FAKE_BEGIN(function)                  \
  if (!fake_cuda::has_context()) return CUDA_ERROR_INVALID_CONTEXT;
/// For what destroys something, which it does whatever it answers.
#define FAKE_END(function) const auto answer = static_cast<CUresult>(fake_cuda_enter(function));
