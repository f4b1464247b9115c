// What kernels print. The driver keeps it in a buffer and writes it to this process's standard output when somebody
// waits for the GPU, which a worker never does. So a thread of its own waits for the kernels that print, takes what the
// driver writes then, and puts it into the log with the kernel's name.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/cuda/driver/cuda_context.hpp"

namespace troupe::cuda {

class KernelPrints {
 public:
  /// Kernels whose output is waited for at once; of more, some is told later, under the name of another one.
  static constexpr std::size_t kMostWaiting = 1024;

  KernelPrints(const CudaContext& context, const backend::Setup& setup) : context_(context), setup_(setup) {}
  ~KernelPrints();
  KernelPrints(const KernelPrints&) = delete;
  KernelPrints& operator=(const KernelPrints&) = delete;

  /// A kernel was put on that stream which may print. The thread is made for the first one.
  Result<void> expect(std::string_view kernel, CUstream stream);

 private:
  struct Waiting {
    std::string kernel;
    CUevent ended = nullptr;
  };
  void run() noexcept;
  /// True when it has ended. Also when the driver says that something is wrong, which others find out.
  bool wait_for(const Waiting& waiting) noexcept;
  void tell(const std::string& kernel) noexcept;

  const CudaContext& context_;
  const backend::Setup& setup_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace troupe::cuda
