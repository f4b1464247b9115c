// The user's compiled programs that one worker has loaded: a cache by a hash of their content. The op itself names the
// image, so a worker that has never seen a program finds it, and nothing is lost with a worker that dies.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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
  bool prints = false;           // maybe: some kernel of its program does
};

/// The note that a stream has set a variable, for the others.
class StreamMark {
 public:
  explicit StreamMark(const Driver& driver) noexcept : driver_(&driver) {}
  StreamMark(StreamMark&& other) noexcept
      : driver_(other.driver_), event_(std::exchange(other.event_, nullptr)), stream_(other.stream_) {}
  StreamMark& operator=(StreamMark&&) = delete;
  ~StreamMark() {
    if (event_) (void)TROUPE_CUDA(*driver_, cuEventDestroy, event_);
  }
  /// What the stream has been given so far.
  Result<void> set(CUstream stream);
  /// That stream goes on when it is done.
  Result<void> let_wait(CUstream stream);

 private:
  const Driver* driver_;
  CUevent event_ = nullptr;  // none: nobody needs to wait
  CUstream stream_ = nullptr;
};

struct LoadedVariable {
  std::string symbol;
  CUdeviceptr address = 0;
  std::size_t size_bytes = 0;
  bool is_set = false;  // here, in this worker
  StreamMark set_by;
};

class Programs {
 public:
  Programs(const CudaContext& context, CudaMemory& memory) noexcept : context_(context), memory_(memory) {}

  /// The kernel that the op launches. `invalid_argument` for an op without a program that can be read, for a program
  /// without such a kernel, and for arguments that are not the kernel's. The result is good until the next call.
  Result<LoadedKernel*> find(const op::Launch& op);
  /// Makes the kernel ready for the dynamic shared memory that the op wants; `invalid_argument` when the GPU has less.
  Result<void> allow_shared(LoadedKernel& kernel, const op::Launch& op) const;
  /// A variable of the program, which has so many bytes. `invalid_argument` when there is none of that symbol, or of
  /// another size; the call and the name are for the sentence. The result is good until the next call.
  Result<LoadedVariable*> variable(std::string_view call, const op::ProgramImage& program, std::string_view name,
                                   const std::string& symbol, std::size_t size_bytes);

 private:
  struct Program {
    CUmodule module = nullptr;
    bool prints = false;
    std::vector<LoadedKernel> kernels;
    std::vector<LoadedVariable> variables;
  };
  Result<Program*> loaded(const op::ProgramImage& image);
  Result<Program*> load(const op::ProgramImage& image);
  Result<LoadedKernel> look_up(const Program& program, const op::Launch& op) const;
  Result<void> unload_all();

  const CudaContext& context_;
  CudaMemory& memory_;
  std::unordered_map<std::uint64_t, Program> programs_;
};

}  // namespace troupe::cuda
