// A dispatcher with threads of its own. With one thread it is a pinned thread: every actor on it shares that thread,
// as libraries that must be called from one thread want it.
//
// Each thread has a queue and a slot. An actor made ready by a turn goes into the slot of that thread and runs next,
// while its message is still in the cache: this is what makes an ask within the pool cheap. The slot is bounded twice:
// after `kSlotRunsInARow` the queue has its turn, and a slot that waits behind a long handler is moved to the shared
// queue by the timekeeper within two of its milliseconds. Idle threads steal from queues; one of them at a time looks
// for work for a while before it sleeps.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "troupe/actor/dispatcher.hpp"
#include "troupe/core/park.hpp"
#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// First in, first out, any thread. A mutex and an intrusive list: nothing to allocate, nothing to reclaim.
class ReadyQueue {
 public:
  void push(Runnable& runnable) noexcept;
  Runnable* pop() noexcept;
  /// The first, and up to `more` that follow it are moved to `other`: one lock for many.
  Runnable* pop_and_move(ReadyQueue& other, std::uint32_t more) noexcept;
  bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }

 private:
  struct Chain {
    Runnable* first = nullptr;
    Runnable* last = nullptr;
    std::uint32_t count = 0;
  };

  void append(Runnable& first, Runnable& last, std::uint32_t count) noexcept;
  Chain take(std::uint32_t more) noexcept;

  std::mutex mutex_;
  Runnable* head_ = nullptr;
  Runnable* tail_ = nullptr;
  std::atomic<std::uint32_t> size_{0};  // so that looking does not lock
};

struct PoolOptions {
  int threads = 0;            // must be 1 to `kMaxPoolThreads`
  std::string name = "pool";  // threads are called name-0, name-1, ...
  std::optional<int> core;    // bind every thread to this core
};

inline constexpr int kMaxPoolThreads = 1024;

/// A turn longer than this is reported: it holds up every other actor of its thread.
inline constexpr Duration kBlockedAfter = std::chrono::seconds(1);

class Pool final : public Dispatcher {
 public:
  /// `invalid_argument` for a thread count or core that cannot be; `wake_watcher` is called when threads leave
  /// idleness, so that somebody calls `look_after`.
  static Result<std::unique_ptr<Pool>> start(const PoolOptions& options, std::function<void()> wake_watcher);
  ~Pool() override;

  void schedule(Runnable& runnable, Scheduling why) noexcept override;
  void look_after(Watcher& watcher) override;
  bool busy() const noexcept override;
  void join() noexcept override;

 private:
  struct Worker;

  explicit Pool(std::function<void()> wake_watcher);

  void work(Worker& self) noexcept;
  Runnable* next(Worker& self) noexcept;
  Runnable* take_anywhere(Worker& self) noexcept;
  bool anything_queued() const noexcept;
  Runnable* search_then_sleep(Worker& self) noexcept;
  void wake_one() noexcept;

  static constinit thread_local Worker* this_worker_;  // which worker of which pool this thread is; null elsewhere

  const std::function<void()> wake_watcher_;
  std::vector<std::unique_ptr<Worker>> workers_;
  ReadyQueue shared_;
  std::atomic<int> searching_{0};
  std::atomic<int> sleeping_{0};
  std::atomic<bool> stopping_{false};
  std::mutex sleepers_mutex_;
  std::vector<Worker*> sleepers_;  // last to sleep is first to wake: its cache is warmest
};

}  // namespace troupe::inline v0
