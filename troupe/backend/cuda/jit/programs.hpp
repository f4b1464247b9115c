// The user's compiled programs that one worker has loaded: a cache by a hash of their content. The op itself names the
// image, so a worker that has never seen a program finds it, and nothing is lost with a worker that dies.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "troupe/backend/cuda/memory/cuda_memory.hpp"
#include "troupe/op/jit.hpp"

namespace troupe::cuda {

/// A worker that has loaded more programs than this unloads all of them, and loads again those that are used.
inline constexpr std::size_t kMaxPrograms = 512;

struct LoadedKernel {
  std::string symbol;
  CUfunction function = nullptr;
  std::vector<std::size_t> argument_sizes;
  std::size_t shared_bytes = 0;  // of dynamic shared memory that it was made ready for
};

class Programs {
 public:
  Programs(const CudaContext& context, CudaMemory& memory) noexcept : context_(context), memory_(memory) {}

  /// The kernel that the op launches. `invalid_argument` for an op without a program that can be read, for a program
  /// without such a kernel, and for arguments that are not the kernel's. The result is good until the next call.
  Result<LoadedKernel*> find(const op::Launch& op);
  /// Makes the kernel ready for the dynamic shared memory that the op wants; `invalid_argument` when the GPU has less.
  Result<void> allow_shared(LoadedKernel& kernel, const op::Launch& op) const;

 private:
  struct Program {
    CUmodule module = nullptr;
    std::vector<LoadedKernel> kernels;
  };
  Result<Program*> load(const op::ProgramImage& image);
  Result<LoadedKernel> look_up(const Program& program, const op::Launch& op) const;
  Result<void> unload_all();

  const CudaContext& context_;
  CudaMemory& memory_;
  std::unordered_map<std::uint64_t, Program> programs_;
};

}  // namespace troupe::cuda
