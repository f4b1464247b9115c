#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/jit/kernel_prints.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "troupe/wire/descriptor.hpp"

namespace troupe::cuda {
namespace {

/// Between two looks whether a kernel has ended. To wait for it in the driver would let the driver print meanwhile.
constexpr auto kPause = std::chrono::microseconds(200);

/// What is written to standard output while this is there.
class TakenOutput {
 public:
  TakenOutput()
      : to_(::memfd_create("troupe-prints", MFD_CLOEXEC)), before_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    (void)std::fflush(stdout);
    if (to_ && before_) (void)::dup2(to_.get(), STDOUT_FILENO);
  }
  ~TakenOutput() { give_back(); }
  TakenOutput(const TakenOutput&) = delete;
  TakenOutput& operator=(const TakenOutput&) = delete;

  std::string text() {
    give_back();
    std::string all;
    std::array<char, 4096> buffer;
    off_t at = 0;
    for (ssize_t size; to_ && (size = ::pread(to_.get(), buffer.data(), buffer.size(), at)) > 0; at += size)
      all.append(buffer.data(), static_cast<std::size_t>(size));
    return all;
  }

 private:
  void give_back() {
    (void)std::fflush(stdout);
    if (const wire::Descriptor before = std::exchange(before_, {})) (void)::dup2(before.get(), STDOUT_FILENO);
  }
  wire::Descriptor to_, before_;
};

}  // namespace

KernelPrints::~KernelPrints() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  for (const Waiting& left : waiting_) (void)TROUPE_CUDA(context_.driver(), cuEventDestroy, left.ended);
}

Result<void> KernelPrints::expect(std::string_view kernel, CUstream stream) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMostWaiting) return {};
  CUevent ended = nullptr;
  TROUPE_TRY(TROUPE_CUDA(context_.driver(), cuEventCreate, &ended, CU_EVENT_DISABLE_TIMING));
  waiting_.push_back({std::string(kernel), ended});
  TROUPE_TRY(TROUPE_CUDA(context_.driver(), cuEventRecord, ended, stream));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_one();
  return {};
}

void KernelPrints::run() noexcept {
  pthread_setname_np(pthread_self(), "troupe-prints");
  setup_.in_new_thread();
  if (!context_.make_current()) return;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Waiting next = waiting_.front();
    const bool is_stopping = is_stopping_;
    lock.unlock();
    const bool has_ended = wait_for(next);
    if (has_ended) tell(next.kernel);
    lock.lock();
    if (!has_ended && is_stopping) return;
    if (!has_ended) continue;
    waiting_.pop_front();
    (void)TROUPE_CUDA(context_.driver(), cuEventDestroy, next.ended);
  }
}

bool KernelPrints::wait_for(const Waiting& waiting) noexcept {
  if (context_.driver().table().cuEventQuery(waiting.ended) != CUDA_ERROR_NOT_READY) return true;
  std::this_thread::sleep_for(kPause);
  return false;
}

void KernelPrints::tell(const std::string& kernel) noexcept {
  std::string text;
  {
    TakenOutput taken;
    (void)TROUPE_CUDA(context_.driver(), cuCtxSynchronize);
    text = taken.text();
  }
  for (std::string_view left = text; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    if (setup_.log)
      setup_.log({.level = LogLevel::info,
                  .time = std::chrono::steady_clock::now(),
                  .source = "kernel",
                  .message = kernel + ": " + std::string(line)});
  }
}

}  // namespace troupe::cuda

#endif
