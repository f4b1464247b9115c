#include "troupe/actor/pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "troupe/core/assert.hpp"

namespace troupe::inline v0 {
namespace {

constexpr int kSlotRunsInARow = 16;
constexpr int kOwnTurnsInARow = 16;              // while something from outside waits; `kTurnTime` may end them sooner
constexpr std::uint32_t kTakenFromOutside = 16;  // at most: a burst of posts is taken in few locks
constexpr int kMaxSearchers = 4;
constexpr std::uint32_t kWokenByOne = 4;  // so that sixteen threads are awake after two steps
// And at once, by all who find work, for a burst: more would only get into each other's way.
constexpr std::uint32_t kMaxOnTheirWay = 16;

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
  append({&runnable, &runnable, 1});
}

void ReadyQueue::push_front(Runnable& runnable) noexcept {
  const std::lock_guard lock(mutex_);
  runnable.next_ready_ = std::exchange(chain_.first, &runnable);
  if (!chain_.last) chain_.last = &runnable;
  size_.store(++chain_.count, std::memory_order_seq_cst);
}

void ReadyQueue::append(const ReadyChain& chain) noexcept {
  if (chain.count == 0) return;
  const std::lock_guard lock(mutex_);
  (chain_.last ? chain_.last->next_ready_ : chain_.first) = chain.first;
  chain_.last = chain.last;
  chain_.count += chain.count;
  size_.store(chain_.count, std::memory_order_seq_cst);
}

ReadyChain ReadyQueue::take(std::uint32_t most) noexcept {
  if (empty()) return {};
  const std::lock_guard lock(mutex_);
  const ReadyChain taken = split(chain_, most);
  size_.store(chain_.count, std::memory_order_relaxed);
  return taken;
}

ReadyChain ReadyQueue::split(ReadyChain& chain, std::uint32_t most) noexcept {
  if (chain.count <= most) return std::exchange(chain, {});
  ReadyChain taken{chain.first, chain.first, 1};
  for (; taken.count < most; ++taken.count) taken.last = taken.last->next_ready_;
  chain.first = std::exchange(taken.last->next_ready_, nullptr);
  chain.count -= taken.count;
  return taken;
}

// Sequentially consistent, as the size of a queue: see `Pool::wake`. It also releases what the turn must see.
bool EntryList::push(Runnable& runnable) noexcept {
  Runnable* newest = newest_.load(std::memory_order_relaxed);
  do {
    runnable.next_ready_ = newest;
  } while (!newest_.compare_exchange_weak(newest, &runnable, std::memory_order_seq_cst, std::memory_order_relaxed));
  return newest == nullptr;
}

ReadyChain EntryList::take_all() noexcept {
  if (empty()) return {};
  Runnable* newest = newest_.exchange(nullptr, std::memory_order_acquire);
  ReadyChain chain{nullptr, newest, 0};
  for (; newest; ++chain.count) {
    Runnable* older = std::exchange(newest->next_ready_, chain.first);
    chain.first = newest;
    newest = older;
  }
  return chain;
}

struct alignas(64) Pool::Worker {
  Pool* pool = nullptr;
  std::size_t index = 0;
  std::atomic<Runnable*> slot{nullptr};  // filled and emptied by the owner; emptied by the timekeeper when it is late
  ReadyQueue queue;
  int slot_runs = 0;
  int own_turns = 0;  // while something from outside waits, since it last had a turn
  TimePoint own_since{};
  bool slot_is_in_front = false;          // of the queue
  bool awaited_goes_first = true;         // every other turn
  bool took_awaited = false;              // in this turn
  std::vector<std::uint64_t> turns_seen;  // of all workers, when this one began to look for work
  // For the timekeeper: which turn this is and whose. Zero: between turns.
  std::atomic<std::uint64_t> turn{0};
  std::atomic<std::uint64_t> running_id{0};
  // The core it was on last; asleep: less than zero, and whoever wakes it turns it round.
  std::atomic<int> core{-1};
  Parker parker;
  std::thread thread;
  // The timekeeper's own notes.
  std::uint64_t seen_turn = 0;
  std::int64_t seen_since_ms = 0;
  bool reported = false;
};

constinit thread_local Pool::Worker* Pool::this_worker_ = nullptr;
constinit thread_local Pool::Awaiting* Pool::Awaiting::of_this_thread_ = nullptr;

Result<std::unique_ptr<Pool>> Pool::start(const ThreadPoolOptions& options, PoolClock& clock) {
  if (options.threads < 1 || options.threads > kMaxPoolThreads)
    return fail(ErrorKind::invalid_argument, "a pool needs 1 to " + std::to_string(kMaxPoolThreads) + " threads, not " +
                                                 std::to_string(options.threads));
  if (options.core && !core_exists(*options.core))
    return fail(ErrorKind::invalid_argument, "this process may not run on core " + std::to_string(*options.core));
  std::unique_ptr<Pool> pool(new Pool(clock));
  for (int i = 0; i < options.threads; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->pool = pool.get();
    worker->index = static_cast<std::size_t>(i);
    pool->workers_.push_back(std::move(worker));
  }
  pool->sleepers_.reserve(pool->workers_.size());
  pool->max_searchers_ = std::clamp(options.threads / 2, 1, kMaxSearchers);
  for (auto& worker : pool->workers_) worker->turns_seen.resize(pool->workers_.size());
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

Pool::Pool(PoolClock& clock) : clock_(clock) {}

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
    if (Awaiting* ask = Awaiting::of_this_thread_; ask && !ask->asked_) {
      ask->asked_ = this;
      return wake(awaited_entries_.push(runnable) ? 1 : static_cast<int>(kWokenByOne));
    }
    // The thread that looks for work may itself wait for a core: the post before this one should be gone by now.
    wake(entries_.push(runnable) ? 1 : static_cast<int>(kWokenByOne));
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
  wake(1);
}

// Wakes a sleeper, unless `most_searching` threads look for work already. No wake-up is lost: a poster publishes its
// work and then looks for searchers and sleepers; a thread stops searching, or counts itself as sleeping, and then
// looks for work once more. All of these are sequentially consistent, so one of the two sees the other. Hence, while
// anything is queued, somebody looks for work, or nobody sleeps.
void Pool::wake(int most_searching) noexcept {
  if (searching_.load(std::memory_order_seq_cst) >= most_searching || sleeping_.load(std::memory_order_seq_cst) == 0)
    return;
  Worker* worker = nullptr;
  {
    const std::lock_guard lock(sleepers_mutex_);
    if (sleepers_.empty() || searching_.load(std::memory_order_seq_cst) >= most_searching) return;
    worker = sleepers_.back();
    sleepers_.pop_back();
    sleeping_.fetch_sub(1, std::memory_order_seq_cst);
    searching_.fetch_add(1, std::memory_order_seq_cst);  // on its behalf: posts need not wake a second one
    worker->core.store(~worker->core.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  worker->parker.unpark();
}

void Pool::work(Worker& self) noexcept {
  this_worker_ = &self;
  std::uint64_t turn = 0;
  for (;;) {
    self.awaited_goes_first = !std::exchange(self.took_awaited, false);
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
  if (Runnable* runnable = take_awaited_if_next(self)) {
    set_slot_aside(self);
    return runnable;
  }
  if (!outside_waits()) {
    self.own_turns = 0;
  } else if (Runnable* runnable = take_if_outside_is_next(self)) {
    set_slot_aside(self);
    return runnable;
  }
  if (self.slot.load(std::memory_order_relaxed)) {
    if (self.slot_runs >= kSlotRunsInARow && !self.queue.empty()) {
      set_slot_aside(self);
    } else if (Runnable* runnable = self.slot.exchange(nullptr, std::memory_order_acquire)) {
      ++self.slot_runs;
      return runnable;
    }
  }
  if (!std::exchange(self.slot_is_in_front, false)) self.slot_runs = 0;
  return take_anywhere(self);
}

// Even when there is a sleeper: it was woken for this, but may wait for a core.
Runnable* Pool::take_awaited_if_next(Worker& self) noexcept {
  if (!self.awaited_goes_first) return nullptr;
  Runnable* runnable = take_awaited();
  self.took_awaited = runnable != nullptr;
  return runnable;
}

Runnable* Pool::take_awaited() noexcept {
  if (Runnable* runnable = awaited_.pop()) return runnable;
  ReadyChain entered = awaited_entries_.take_all();
  const ReadyChain first = ReadyQueue::split(entered, 1);
  awaited_.append(entered);
  if (entered.count > 0) wake(1);  // for a moment nobody could see the others
  return first.first;
}

// With a sleeper there is somebody to be woken for what comes from outside; this thread goes on with what it has.
Runnable* Pool::take_if_outside_is_next(Worker& self) noexcept {
  if (sleeping_.load(std::memory_order_relaxed) != 0) return nullptr;
  const TimePoint now = std::chrono::steady_clock::now();
  if (self.own_turns == 0) self.own_since = now;
  if (self.own_turns == 0 || (self.own_turns < kOwnTurnsInARow && now - self.own_since < kTurnTime)) {
    ++self.own_turns;
    return nullptr;
  }
  self.own_turns = 0;
  return take_from_outside(self, 1);
}

// Where others can take it, for what runs instead may take long: to the front of the queue, so that it is next here,
// or behind it when it has had its turns in a row.
void Pool::set_slot_aside(Worker& self) noexcept {
  if (!self.slot.load(std::memory_order_relaxed)) return;
  Runnable* runnable = self.slot.exchange(nullptr, std::memory_order_acquire);
  if (!runnable) return;
  self.slot_is_in_front = ++self.slot_runs <= kSlotRunsInARow;
  if (self.slot_is_in_front) {
    self.queue.push_front(*runnable);
  } else {
    self.slot_runs = 0;
    self.queue.push(*runnable);
  }
  wake(1);
}

// One; and what follows it, this thread's share of all and `most` together, goes into its own queue. More than its
// share would wait there while other threads serve what came later.
Runnable* Pool::take_from_outside(Worker& self, std::uint32_t most) noexcept {
  const auto share = [&](std::uint32_t waiting) {
    return std::clamp<std::uint32_t>(waiting / static_cast<std::uint32_t>(workers_.size()), 1, most);
  };
  ReadyChain chain = outside_.take(share(outside_.size()));
  if (chain.count == 0) {
    ReadyChain entered = entries_.take_all();
    chain = ReadyQueue::split(entered, share(entered.count));
    outside_.append(entered);
  }
  const ReadyChain first = ReadyQueue::split(chain, 1);
  self.queue.append(chain);
  // For a moment nobody could see the others: a thread that went to sleep then is woken.
  if (chain.count > 0 || !outside_.empty()) wake(1);
  return first.first;
}

Runnable* Pool::take_anywhere(Worker& self) noexcept {
  if (Runnable* runnable = take_awaited_if_next(self)) return runnable;
  if (Runnable* runnable = self.queue.pop()) return runnable;
  if (Runnable* runnable = take_from_outside(self, kTakenFromOutside)) return runnable;
  if (Runnable* runnable = take_awaited()) return runnable;
  for (std::size_t i = 1; i < workers_.size(); ++i) {
    Worker& other = *workers_[(self.index + i) % workers_.size()];
    if (Runnable* runnable = other.queue.pop()) return runnable;
  }
  return nullptr;
}

// What waits in a slot behind the same turn as when this thread began to look for work.
Runnable* Pool::take_late_slot(Worker& self) noexcept {
  for (std::size_t i = 1; i < workers_.size(); ++i) {
    const std::size_t index = (self.index + i) % workers_.size();
    Worker& other = *workers_[index];
    if (!other.slot.load(std::memory_order_relaxed) ||
        other.turn.load(std::memory_order_acquire) != self.turns_seen[index])
      continue;
    if (Runnable* late = other.slot.exchange(nullptr, std::memory_order_acq_rel)) return late;
  }
  return nullptr;
}

bool Pool::anything_queued() const noexcept {
  return awaited_waits() || outside_waits() ||
         std::ranges::any_of(workers_, [](const auto& worker) { return !worker->queue.empty(); });
}

// About how many: what has just entered counts as one.
std::uint32_t Pool::queued() const noexcept {
  std::uint32_t count = awaited_.size() + outside_.size();
  count += (awaited_entries_.empty() ? 0 : 1) + (entries_.empty() ? 0 : 1);
  for (const auto& worker : workers_) count += worker->queue.size();
  return count;
}

// Null when the pool stops and there is nothing left to run.
Runnable* Pool::search_then_sleep(Worker& self) noexcept {
  bool counted = begin_search();
  for (;;) {
    Runnable* runnable = counted ? search(self) : nullptr;
    if (!runnable && counted && clock_.timer_is_due_soon() && !stopping_.load(std::memory_order_relaxed)) {
      counted = begin_search();
      continue;
    }
    if (!runnable) {
      {
        const std::lock_guard lock(sleepers_mutex_);
        self.core.store(~sched_getcpu(), std::memory_order_relaxed);
        sleepers_.push_back(&self);
        sleeping_.fetch_add(1, std::memory_order_seq_cst);
      }
      runnable = take_anywhere(self);
      const bool stopping = stopping_.load(std::memory_order_seq_cst);
      if (!runnable && !stopping) {
        self.parker.park();
        clock_.somebody_is_busy();
      }
      counted = leave_sleepers(self);
      self.core.store(sched_getcpu(), std::memory_order_relaxed);
      if (!runnable && !stopping) continue;
      if (counted) searching_.fetch_sub(1, std::memory_order_seq_cst);
      if (!runnable) return take_anywhere(self);
    }
    // Whoever posted while we were looking relied on us.
    const std::uint32_t others = queued();
    for (std::uint32_t i = 0; i < std::min(others, kWokenByOne); ++i)
      wake(static_cast<int>(std::min(others, kMaxOnTheirWay)));
    return runnable;
  }
}

// Counted as searching when it begins, and not any more when it ends.
Runnable* Pool::search(Worker& self) noexcept {
  self.core.store(sched_getcpu(), std::memory_order_relaxed);
  for (std::size_t i = 0; i < workers_.size(); ++i)
    self.turns_seen[i] = workers_[i]->turn.load(std::memory_order_relaxed);
  spin_until(
      [this] { return anything_queued() || stopping_.load(std::memory_order_relaxed) || clock_.timer_is_due(); });
  Runnable* runnable = take_anywhere(self);
  if (!runnable) runnable = take_late_slot(self);
  searching_.fetch_sub(1, std::memory_order_seq_cst);
  if (!runnable && clock_.timer_is_due()) {
    clock_.fire_timers();
    runnable = self.slot.exchange(nullptr, std::memory_order_acquire);
  }
  return runnable ? runnable : take_anywhere(self);
}

bool Pool::begin_search() noexcept {
  int searching = searching_.load(std::memory_order_relaxed);
  while (searching < max_searchers_)
    if (searching_.compare_exchange_weak(searching, searching + 1, std::memory_order_seq_cst)) return true;
  return false;
}

// True when somebody has woken this one, who counts as searching since then.
bool Pool::leave_sleepers(Worker& self) noexcept {
  const std::lock_guard lock(sleepers_mutex_);
  const auto self_at = std::ranges::find(sleepers_, &self);
  if (self_at == sleepers_.end()) return true;
  sleepers_.erase(self_at);
  sleeping_.fetch_sub(1, std::memory_order_seq_cst);
  return false;
}

bool Pool::busy() const noexcept {
  return sleeping_.load(std::memory_order_relaxed) < static_cast<int>(workers_.size());
}

bool Pool::is_saturated() const noexcept {
  return sleeping_.load(std::memory_order_relaxed) == 0 && searching_.load(std::memory_order_relaxed) == 0;
}

bool Pool::waits_for_this_core() const noexcept {
  const int here = sched_getcpu();
  return here >= 0 && std::ranges::any_of(workers_, [here](const auto& worker) {
           return worker->core.load(std::memory_order_relaxed) == here;
         });
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
      entries_.push(*late);
      wake(1);
    }
    const std::int64_t lasts_ms = now_ms() - worker->seen_since_ms;
    if (!worker->reported && std::chrono::milliseconds(lasts_ms) >= kBlockedAfter) {
      worker->reported = true;
      watcher.blocked(id, lasts_ms);
    }
  }
}

}  // namespace troupe::inline v0
