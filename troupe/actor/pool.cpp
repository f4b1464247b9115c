#include "troupe/actor/pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "troupe/core/assert.hpp"

namespace troupe::inline v0 {
namespace {

constexpr int kSlotRunsInARow = 64;
constexpr std::uint32_t kMovedFromShared = 15;  // a burst of posts is taken in few locks, and still spread by stealing
constexpr int kRunsBetweenSharedLooks = 61;     // prime, so that it does not beat with a pattern of the work

std::int64_t now_ms() noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool core_exists(int core) noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  return core >= 0 && core < CPU_SETSIZE && CPU_ISSET(static_cast<unsigned>(core), &allowed);
}

}  // namespace

void ReadyQueue::push(Runnable& runnable) noexcept {
  runnable.next_ready_ = nullptr;
  append(runnable, runnable, 1);
}

void ReadyQueue::append(Runnable& first, Runnable& last, std::uint32_t count) noexcept {
  const std::lock_guard lock(mutex_);
  (tail_ ? tail_->next_ready_ : head_) = &first;
  tail_ = &last;
  size_.store(size_.load(std::memory_order_relaxed) + count, std::memory_order_seq_cst);
}

Runnable* ReadyQueue::pop() noexcept { return take(0).first; }

Runnable* ReadyQueue::pop_and_move(ReadyQueue& other, std::uint32_t more) noexcept {
  const Chain chain = take(more);
  if (chain.count > 1) other.append(*chain.first->next_ready_, *chain.last, chain.count - 1);
  return chain.first;
}

ReadyQueue::Chain ReadyQueue::take(std::uint32_t more) noexcept {
  if (empty()) return {};
  const std::lock_guard lock(mutex_);
  if (!head_) return {};
  Chain chain{head_, head_, 1};
  for (; chain.count <= more && chain.last->next_ready_; ++chain.count) chain.last = chain.last->next_ready_;
  head_ = chain.last->next_ready_;
  if (!head_) tail_ = nullptr;
  chain.last->next_ready_ = nullptr;
  size_.store(size_.load(std::memory_order_relaxed) - chain.count, std::memory_order_relaxed);
  return chain;
}

struct alignas(64) Pool::Worker {
  Pool* pool = nullptr;
  std::size_t index = 0;
  std::atomic<Runnable*> slot{nullptr};  // filled and emptied by the owner; emptied by the timekeeper when it is late
  ReadyQueue queue;
  int slot_runs = 0;
  unsigned runs_until_shared = kRunsBetweenSharedLooks;
  // For the timekeeper: which turn this is and whose. Zero: between turns.
  std::atomic<std::uint64_t> turn{0};
  std::atomic<std::uint64_t> running_id{0};
  Parker parker;
  std::thread thread;
  // The timekeeper's own notes.
  std::uint64_t seen_turn = 0;
  std::int64_t seen_since_ms = 0;
  bool reported = false;
};

constinit thread_local Pool::Worker* Pool::this_worker_ = nullptr;

Result<std::unique_ptr<Pool>> Pool::start(const PoolOptions& options, std::function<void()> wake_watcher) {
  if (options.threads < 1 || options.threads > kMaxPoolThreads)
    return fail(ErrorKind::invalid_argument, "a pool needs 1 to " + std::to_string(kMaxPoolThreads) + " threads, not " +
                                                 std::to_string(options.threads));
  if (options.core && !core_exists(*options.core))
    return fail(ErrorKind::invalid_argument, "this process may not run on core " + std::to_string(*options.core));
  std::unique_ptr<Pool> pool(new Pool(std::move(wake_watcher)));
  for (int i = 0; i < options.threads; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->pool = pool.get();
    worker->index = static_cast<std::size_t>(i);
    pool->workers_.push_back(std::move(worker));
  }
  pool->sleepers_.reserve(pool->workers_.size());
  for (auto& worker : pool->workers_) {
    try {
      worker->thread = std::thread([raw = worker.get()] { raw->pool->work(*raw); });
    } catch (const std::system_error& error) {
      pool->join();
      return fail(ErrorKind::out_of_memory, std::string("the machine gave no thread: ") + error.what());
    }
    const pthread_t handle = worker->thread.native_handle();
    pthread_setname_np(handle, (options.name + "-" + std::to_string(worker->index)).substr(0, 15).c_str());
    if (options.core) {
      cpu_set_t only;
      CPU_ZERO(&only);
      CPU_SET(static_cast<unsigned>(*options.core), &only);
      pthread_setaffinity_np(handle, sizeof only, &only);
    }
  }
  return pool;
}

Pool::Pool(std::function<void()> wake_watcher) : wake_watcher_(std::move(wake_watcher)) {}

Pool::~Pool() { join(); }

void Pool::join() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);
  for (auto& worker : workers_) worker->parker.unpark();
  for (auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
}

void Pool::schedule(Runnable& runnable, Scheduling why) noexcept {
  Worker* self = this_worker_;
  if (!self || self->pool != this) {
    shared_.push(runnable);
    wake_one();
    return;
  }
  Runnable* to_queue = &runnable;
  if (why == Scheduling::ready) {
    if (!self->slot.load(std::memory_order_relaxed)) {  // only the owner fills it, so it stays empty until we do
      self->slot.store(&runnable, std::memory_order_release);
      return;
    }
    to_queue = self->slot.exchange(&runnable, std::memory_order_acq_rel);
  }
  if (!to_queue) return;
  self->queue.push(*to_queue);
  wake_one();
}

// A poster publishes its work and then looks for searchers and sleepers; a thread stops searching, counts itself as
// sleeping and then looks for work. All four are sequentially consistent, so one of the two sees the other.
void Pool::wake_one() noexcept {
  if (searching_.load(std::memory_order_seq_cst) > 0 || sleeping_.load(std::memory_order_seq_cst) == 0) return;
  Worker* worker = nullptr;
  {
    const std::lock_guard lock(sleepers_mutex_);
    if (sleepers_.empty()) return;
    worker = sleepers_.back();
    sleepers_.pop_back();
    sleeping_.fetch_sub(1, std::memory_order_seq_cst);
  }
  worker->parker.unpark();
}

void Pool::work(Worker& self) noexcept {
  this_worker_ = &self;
  std::uint64_t turn = 0;
  for (;;) {
    Runnable* runnable = next(self);
    if (!runnable) runnable = search_then_sleep(self);
    if (!runnable) break;
    self.running_id.store(runnable->id(), std::memory_order_relaxed);
    self.turn.store(++turn, std::memory_order_release);
    runnable->run();  // may be gone after this
    self.running_id.store(0, std::memory_order_relaxed);
  }
  this_worker_ = nullptr;
}

Runnable* Pool::next(Worker& self) noexcept {
  if (--self.runs_until_shared == 0) {
    self.runs_until_shared = kRunsBetweenSharedLooks;
    if (Runnable* runnable = shared_.pop()) return runnable;
  }
  if (self.slot.load(std::memory_order_relaxed)) {
    const bool queue_waits = self.slot_runs >= kSlotRunsInARow;
    if (queue_waits) {
      self.slot_runs = 0;
      if (Runnable* runnable = take_anywhere(self)) return runnable;
    }
    if (Runnable* runnable = self.slot.exchange(nullptr, std::memory_order_acquire)) {
      ++self.slot_runs;
      return runnable;
    }
  }
  self.slot_runs = 0;
  return take_anywhere(self);
}

Runnable* Pool::take_anywhere(Worker& self) noexcept {
  if (Runnable* runnable = self.queue.pop()) return runnable;
  if (Runnable* runnable = shared_.pop_and_move(self.queue, kMovedFromShared)) return runnable;
  for (std::size_t i = 1; i < workers_.size(); ++i) {
    Worker& other = *workers_[(self.index + i) % workers_.size()];
    if (Runnable* runnable = other.queue.pop()) return runnable;
  }
  return nullptr;
}

bool Pool::anything_queued() const noexcept {
  return !shared_.empty() || std::ranges::any_of(workers_, [](const auto& worker) { return !worker->queue.empty(); });
}

// Null when the pool stops and there is nothing left to run.
Runnable* Pool::search_then_sleep(Worker& self) noexcept {
  for (;;) {
    int none = 0;
    if (searching_.compare_exchange_strong(none, 1, std::memory_order_seq_cst)) {
      spin_until([this] { return anything_queued() || stopping_.load(std::memory_order_relaxed); });
      searching_.store(0, std::memory_order_seq_cst);
      if (Runnable* runnable = take_anywhere(self)) {
        if (anything_queued()) wake_one();  // whoever posted while we searched relied on us
        return runnable;
      }
    }
    {
      const std::lock_guard lock(sleepers_mutex_);
      sleepers_.push_back(&self);
      sleeping_.fetch_add(1, std::memory_order_seq_cst);
    }
    Runnable* runnable = take_anywhere(self);
    const bool stopping = stopping_.load(std::memory_order_seq_cst);
    if (!runnable && !stopping) {
      self.parker.park();
      wake_watcher_();
    }
    {
      const std::lock_guard lock(sleepers_mutex_);
      const auto self_at = std::ranges::find(sleepers_, &self);
      if (self_at != sleepers_.end()) {
        sleepers_.erase(self_at);
        sleeping_.fetch_sub(1, std::memory_order_seq_cst);
      }
    }
    if (!runnable) runnable = take_anywhere(self);
    if (runnable || stopping) return runnable;
  }
}

bool Pool::busy() const noexcept {
  return sleeping_.load(std::memory_order_relaxed) < static_cast<int>(workers_.size());
}

void Pool::look_after(Watcher& watcher) {
  for (auto& worker : workers_) {
    const std::uint64_t turn = worker->turn.load(std::memory_order_acquire);
    const std::uint64_t id = worker->running_id.load(std::memory_order_relaxed);
    if (id == 0 || turn != worker->seen_turn) {
      worker->seen_turn = turn;
      worker->seen_since_ms = now_ms();
      worker->reported = false;
      continue;
    }
    // The same turn as a look ago: whatever waits in its slot has waited long enough.
    if (Runnable* late = worker->slot.exchange(nullptr, std::memory_order_acq_rel)) {
      shared_.push(*late);
      wake_one();
    }
    const std::int64_t lasts_ms = now_ms() - worker->seen_since_ms;
    if (!worker->reported && std::chrono::milliseconds(lasts_ms) >= kBlockedAfter) {
      worker->reported = true;
      watcher.blocked(id, lasts_ms);
    }
  }
}

}  // namespace troupe::inline v0
