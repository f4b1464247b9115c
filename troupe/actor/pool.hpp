// A dispatcher with threads of its own. With one thread it is a pinned thread: every actor on it shares that thread,
// as libraries that must be called from one thread want it.
//
// Each thread has a queue and a slot. An actor made ready by a turn goes into the slot of that thread and runs next,
// while its message is still in the cache: this is what makes an ask within the pool cheap. What other threads make
// ready (plain and pinned threads, Asio's, the timekeeper) comes in through one list for the whole pool.
//
// Who runs when. While something from outside waits and no thread sleeps, each thread gives it a turn after
// `kOwnTurnsInARow` turns of its own, or when those have taken `kTurnTime`: long enough for an ask and its answer. A
// slot has `kSlotRunsInARow` turns, then its actor goes behind the thread's queue; a slot that waits behind a long
// handler is taken over by a thread that looks for work, or by the timekeeper within two of its milliseconds.
//
// An actor that a plain thread asks and waits for goes before all of these, in every other turn of each thread: such
// threads are few, and each of them has one ask under way.
//
// Who wakes whom. Idle threads look for work for a while (half of them at a time, `kMaxSearchers` at most) and then
// sleep. A post wakes a sleeper only when nobody looks for work, or when the post before it still waits and fewer than
// four look. Whoever finds work and sees that more waits wakes four more, as long as no more are on their way than
// there is work. So a burst wakes as many threads as it has work for, and a stream of posts to a pool that keeps up
// makes no system calls.
//
// A thread that looks for work fires timers, too, and looks on while one is due soon: so timers that follow each other
// closely need no thread that is woken, and are on time even while the timekeeper waits for a core.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "troupe/actor/cell.hpp"
#include "troupe/core/park.hpp"
#include "troupe/core/result.hpp"

namespace troupe::inline v0 {

/// Runnables that are linked with each other, oldest first.
struct ReadyChain {
  Runnable* first = nullptr;
  Runnable* last = nullptr;
  std::uint32_t count = 0;
};

/// First in, first out, any thread. A mutex and an intrusive list: nothing to allocate, nothing to reclaim.
class ReadyQueue {
 public:
  void push(Runnable& runnable) noexcept;
  void push_front(Runnable& runnable) noexcept;
  void append(const ReadyChain& chain) noexcept;
  Runnable* pop() noexcept { return take(1).first; }
  /// Up to `most`, oldest first: one lock for many.
  ReadyChain take(std::uint32_t most) noexcept;
  std::uint32_t size() const noexcept { return size_.load(std::memory_order_seq_cst); }
  bool empty() const noexcept { return size() == 0; }

  /// Takes up to `most` off the front of a chain.
  static ReadyChain split(ReadyChain& chain, std::uint32_t most) noexcept;

 private:
  std::mutex mutex_;
  ReadyChain chain_;
  std::atomic<std::uint32_t> size_{0};  // so that looking does not lock
};

/// Where other threads post: to push is one compare-and-swap, and whoever takes takes all. So threads that post never
/// wait for threads that take.
class EntryList {
 public:
  /// True when it was empty.
  bool push(Runnable& runnable) noexcept;
  /// Everything, oldest first.
  ReadyChain take_all() noexcept;
  bool empty() const noexcept { return newest_.load(std::memory_order_seq_cst) == nullptr; }

 private:
  std::atomic<Runnable*> newest_{nullptr};
};

/// What the threads of a pool need of a system's clock. Any thread.
class PoolClock {
 public:
  virtual ~PoolClock() = default;
  /// A thread has left its sleep: somebody must call `look_after` from now on.
  virtual void somebody_is_busy() noexcept = 0;
  /// Whether `fire_timers` has something to do. Threads that look for work ask this all the time.
  virtual bool timer_is_due() const noexcept { return false; }
  /// Within `kSpinTime`: then a thread does not go to sleep.
  virtual bool timer_is_due_soon() const noexcept { return false; }
  virtual void fire_timers() noexcept {}
};

struct ThreadPoolOptions {
  int threads = 0;            // must be 1 to `kMaxPoolThreads`
  std::string name = "pool";  // threads are called name-0, name-1, ...
  std::optional<int> core;    // bind every thread to this core
};

inline constexpr int kMaxPoolThreads = 1024;

/// A turn longer than this is reported: it holds up every other actor of its thread.
inline constexpr Duration kBlockedAfter = std::chrono::seconds(1);

class Pool final : public Dispatcher {
 public:
  /// `invalid_argument` for a thread count or core that cannot be. The clock must outlive the pool.
  static Result<std::unique_ptr<Pool>> start(const ThreadPoolOptions& options, PoolClock& clock);
  ~Pool() override;

  void schedule(Runnable& runnable, Scheduling why) noexcept override;
  void look_after(Watcher& watcher) override;
  bool busy() const noexcept override;
  /// No thread of it sleeps or looks for work.
  bool is_saturated() const noexcept;
  /// A thread of it that is awake was last on the core that the caller is on. So it waits for this core: as long as the
  /// caller keeps the core, it cannot run. A guess, for the kernel may have moved it.
  bool waits_for_this_core() const noexcept;

  /// A plain thread makes one around an ask whose answer it waits for. A pool serves what it posts first.
  class Awaiting {
   public:
    Awaiting() noexcept { of_this_thread_ = this; }
    ~Awaiting() { of_this_thread_ = nullptr; }
    Awaiting(const Awaiting&) = delete;
    Awaiting& operator=(const Awaiting&) = delete;

    /// Whether this thread has asked a pool and now is in its way: see `waits_for_this_core`.
    static bool is_in_the_way() noexcept {
      return of_this_thread_ && of_this_thread_->asked_ && of_this_thread_->asked_->waits_for_this_core();
    }

   private:
    friend class Pool;
    static constinit thread_local Awaiting* of_this_thread_;
    const Pool* asked_ = nullptr;
  };
  void join() noexcept override;

 private:
  struct Worker;

  explicit Pool(PoolClock& clock);

  void work(Worker& self) noexcept;
  Runnable* next(Worker& self) noexcept;
  Runnable* take_awaited_if_next(Worker& self) noexcept;
  Runnable* take_awaited() noexcept;
  Runnable* take_if_outside_is_next(Worker& self) noexcept;
  void set_slot_aside(Worker& self) noexcept;
  Runnable* take_from_outside(Worker& self, std::uint32_t most) noexcept;
  Runnable* take_anywhere(Worker& self) noexcept;
  Runnable* take_late_slot(Worker& self) noexcept;
  bool awaited_waits() const noexcept { return !awaited_entries_.empty() || !awaited_.empty(); }
  bool outside_waits() const noexcept { return !entries_.empty() || !outside_.empty(); }
  bool anything_queued() const noexcept;
  std::uint32_t queued() const noexcept;

  Runnable* search_then_sleep(Worker& self) noexcept;
  Runnable* search(Worker& self) noexcept;
  bool begin_search() noexcept;
  bool leave_sleepers(Worker& self) noexcept;
  void wake(int most_searching) noexcept;

  static constinit thread_local Worker* this_worker_;  // which worker of which pool this thread is; null elsewhere

  PoolClock& clock_;
  std::vector<std::unique_ptr<Worker>> workers_;
  int max_searchers_ = 1;
  alignas(64) EntryList awaited_entries_;      // whom plain threads ask and wait for,
  ReadyQueue awaited_;                         // and those of them whom a thread had to leave for others
  alignas(64) EntryList entries_;              // what else came from outside,
  ReadyQueue outside_;                         // and what of it a thread had to leave for others
  alignas(64) std::atomic<int> searching_{0};  // those on their way from sleep to their first look included
  std::atomic<int> sleeping_{0};
  std::atomic<bool> stopping_{false};
  std::mutex sleepers_mutex_;
  std::vector<Worker*> sleepers_;  // last to sleep is first to wake: its cache is warmest
};

}  // namespace troupe::inline v0
