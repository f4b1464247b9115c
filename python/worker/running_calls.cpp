#include "running_calls.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

namespace troupe::python {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

/// How long before its deadline a call's stack is written: a tenth of what is left when it begins, within these.
constexpr std::int64_t kLeastHeadStartNs = 2'000'000;
constexpr std::int64_t kMostHeadStartNs = 50'000'000;
constexpr int kStackTries = 1000;  // while another thread writes its own

// A signal handler gets no argument of ours, so what it needs is global.
constinit thread_local RunningCall* running = nullptr;
constinit std::atomic<void (*)(int)> write_by{nullptr};
constinit std::atomic<int> stack_signal{0};
constinit std::atomic<int> stack_file{-1};
constinit std::atomic_flag is_writing;

void on_stack_signal(int) noexcept {
  const int before = errno;
  write_stack();
  errno = before;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Sends each thread whose deadline is near the signal by which it writes its stack. It is never destroyed: the process
/// ends without waiting for anybody.
class DeadlineWatch {
 public:
  void add(RunningCall& call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(&call);
    if (call.stack_due_ns() == 0) return;
    if (!has_thread_) std::thread([this] { watch(); }).detach();
    has_thread_ = true;
    changed_.notify_one();
  }
  void remove(RunningCall& call) {
    const std::lock_guard lock(mutex_);
    calls_.remove(&call);
  }

 private:
  void watch() {
    pthread_setname_np(pthread_self(), "troupe-stacks");
    std::unique_lock lock(mutex_);
    for (;;) {
      const std::int64_t now = now_ns();
      std::int64_t next = 0;
      for (RunningCall* const call : calls_) {
        const std::int64_t due = call->stack_due_ns();
        if (due == 0) continue;
        if (due <= now) {
          call->stack_is_written();
          pthread_kill(call->thread(), stack_signal.load());  // it is in its call as long as we hold the lock
        } else {
          next = next == 0 ? due : std::min(next, due);
        }
      }
      if (next == 0)
        changed_.wait(lock);
      else
        changed_.wait_for(lock, Nanoseconds(next - now));
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<RunningCall*> calls_;
  bool has_thread_ = false;
};

DeadlineWatch& deadlines() {
  static auto* const kWatch = new DeadlineWatch;  // for the life of the process
  return *kWatch;
}

}  // namespace

RunningCall::RunningCall(std::byte* box, std::int64_t deadline_ns) : box_(box) {
  if (deadline_ns != 0 && stack_signal.load() != 0) {
    const std::int64_t left = deadline_ns - now_ns();
    stack_due_ns_ = std::max<std::int64_t>(1, deadline_ns - std::clamp(left / 10, kLeastHeadStartNs, kMostHeadStartNs));
  }
  running = this;
  deadlines().add(*this);
}

RunningCall::~RunningCall() {
  deadlines().remove(*this);
  running = nullptr;
}

void write_stack() noexcept {
  const RunningCall* const call = running;
  void (*const write)(int) = write_by.load();
  const int file = stack_file.load();
  if (call == nullptr || write == nullptr) return;
  for (int tries = 0; is_writing.test_and_set(std::memory_order_acquire); ++tries) {
    if (tries == kStackTries) return;
    usleep(100);
  }
  lseek(file, 0, SEEK_SET);
  write(stack_signal.load());
  const off_t size = lseek(file, 0, SEEK_CUR);
  constexpr auto kRoom = static_cast<off_t>(static_cast<std::size_t>(kStackEnd) - sizeof(BoxHead));
  const ssize_t read = pread(file, call->box() + sizeof(BoxHead), static_cast<std::size_t>(std::min(size, kRoom)), 0);
  const std::uint32_t bytes = read < 0 ? 0 : static_cast<std::uint32_t>(read);
  std::memcpy(call->box() + offsetof(BoxHead, stack_bytes), &bytes, sizeof bytes);
  is_writing.clear(std::memory_order_release);
}

bool write_stacks_by(int signal, int file) noexcept {
  struct sigaction ours = {};
  struct sigaction theirs = {};
  ours.sa_handler = on_stack_signal;
  ours.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  if (sigaction(signal, &ours, &theirs) != 0) return false;
  write_by.store(theirs.sa_handler);
  stack_file.store(file);
  stack_signal.store(signal);
  return true;
}

}  // namespace troupe::python
