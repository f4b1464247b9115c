// What the parts of one actor system share: the tree of actors and their names, the dispatchers, time, the log, the
// events. Cells share its ownership, so a `Ref` that outlives its `System` is still safe to use; its actor has stopped.
//
// Users do not see it: they hold a `System`.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <typeindex>
#include <vector>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/ref.hpp"
#include "troupe/actor/refused_tells.hpp"
#include "troupe/actor/system.hpp"
#include "troupe/actor/timer.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/fork.hpp"
#include "troupe/core/log.hpp"

namespace troupe::inline v0 {

class Deterministic;
class Pool;
class Timekeeper;

namespace detail {

class SystemCore final : public RefCounted, public Dispatcher::Watcher {
 public:
  /// `invalid_argument` when an option has a value it must not have, `out_of_memory` when the machine gives no threads.
  static Result<IntrusivePtr<SystemCore>> start(SystemOptions options);

  // ---- the tree ----

  /// Puts a fresh cell into the tree, and schedules its first turn. `invalid_argument` when its name is taken,
  /// `stopped` during and after shutdown and while its parent stops or restarts, `out_of_memory` when there are
  /// `max_actors` actors. The caller must have checked the options.
  Result<void> add(Cell& cell);
  IntrusivePtr<Cell> find(std::string_view path);
  bool has_children(const Cell& cell);
  /// Stops or drains all children. No child can be added before `reopen_children`.
  void stop_children(Cell& cell, Signal how);
  void reopen_children(Cell& cell);
  /// Takes a stopped cell out of the tree, and tells its watchers and its parent.
  void remove(Cell& cell, const Terminated& notice);
  void obey_siblings(Cell& cell, Directive directive, const Error& error);
  void watch(std::unique_ptr<Watch> watch);
  /// Ends a watch. If its notice is on its way already, the watcher will ignore the notice.
  void unwatch(Watch& watch) noexcept;
  std::string path_of(std::uint64_t id);

  // ---- time ----

  bool is_virtual() const noexcept { return deterministic_ != nullptr; }
  TimePoint now() const noexcept { return clock_->now(); }
  TimerWheel& wheel() noexcept { return *wheel_; }
  /// Runs steps and moves virtual time until `done`. False when nothing is left to do, or when a day of virtual
  /// time was not enough. Only for virtual time.
  bool drive_until(const std::function<bool()>& done);
  Deterministic* deterministic() noexcept { return deterministic_; }
  /// Moves virtual time forward, and runs everything that becomes due meanwhile.
  void advance(Duration by);

  // ---- the rest ----

  Dispatcher& default_dispatcher() noexcept { return *default_dispatcher_; }
  /// True for one plain thread at a time, and only while the pool keeps all cores busy: it should not let go of its
  /// core while it waits. It says when it has waited.
  bool keep_core() noexcept;
  void core_was_kept() noexcept { core_is_kept_.store(false, std::memory_order_relaxed); }
  Result<Dispatcher*> pinned_thread(std::string name, std::optional<int> core);
  Dispatcher* adopt(std::unique_ptr<Dispatcher> dispatcher);
  EventStream& events() noexcept { return events_; }
  RefusedTells& refused_tells() noexcept { return refused_tells_; }
  const std::shared_ptr<const Supervision>& default_supervision() const noexcept { return default_supervision_; }
  IntrusivePtr<Cell> user() const noexcept { return user_; }
  IntrusivePtr<Cell> internals() const noexcept { return internals_; }
  std::uint64_t next_id() noexcept { return last_id_.fetch_add(1, std::memory_order_relaxed) + 1; }
  double random() noexcept;  // uniform in [0, 1)
  void log(LogLevel level, std::string_view source, std::string_view message) const noexcept;
  const LogSink& log_sink() const noexcept { return log_; }
  void dead_letter(const Cell& cell, const EnvelopeBase& envelope, const Error& reason) noexcept;
  SystemStats stats() noexcept;
  void count_restart() noexcept { restarts_.fetch_add(1, std::memory_order_relaxed); }
  /// A part that an upper layer keeps with the system. The first call makes it; it lives as long as the core.
  template <class T>
  T& extension() {
    const std::lock_guard lock(extensions_mutex_);
    std::shared_ptr<void>& part = extensions_[typeid(T)];
    if (!part) part = std::make_shared<T>();
    return *static_cast<T*>(part.get());
  }
  /// True in a fork of the process that started the system, because its threads do not exist here. Always false when
  /// time is virtual: a system without threads works in a fork, too.
  bool is_forked() const noexcept { return fork_mark_.is_forked() && !is_virtual(); }
  /// `stopped` in a fork.
  Result<void> check_not_forked() const {
    if (is_forked()) return fail(fork_error());
    return {};
  }
  bool shutting_down() const noexcept { return shutting_down_.load(std::memory_order_acquire); }

  ShutdownReport shutdown(Duration deadline);
  /// Ends the threads. Call it after `shutdown`. It waits for handlers that have not returned; the log names their
  /// actors.
  void join() noexcept;

  void blocked(std::uint64_t runnable_id, std::int64_t ms) override;

 private:
  explicit SystemCore(SystemOptions options);
  ~SystemCore() override;

  std::size_t bucket_of(const Cell* parent, std::string_view name) const noexcept;
  Cell* find_child(const Cell* parent, std::string_view name) const noexcept;
  void grow_buckets();
  bool wait_until_gone(Cell& guardian, TimePoint until);
  /// Calls `f` for every actor in the tree, parents first, while it holds the tree's mutex.
  void for_each_cell(const std::function<void(Cell&)>& f);
  static void for_each_below(Cell& cell, const std::function<void(Cell&)>& f);

  const ForkMark fork_mark_;
  const SystemOptions options_;
  const LogSink log_;
  std::shared_ptr<const Supervision> default_supervision_;
  std::unique_ptr<detail::Clock> clock_;
  std::unique_ptr<TimerWheel> wheel_;
  std::unique_ptr<Timekeeper> timekeeper_;  // null when time is virtual
  EventStream events_;
  RefusedTells refused_tells_;
  std::atomic<std::uint64_t> last_id_{0};
  std::atomic<std::uint64_t> random_state_;
  std::atomic<std::uint64_t> restarts_{0};
  std::atomic<std::uint64_t> dead_letters_{0};
  std::atomic<bool> shutting_down_{false};

  std::mutex extensions_mutex_;
  std::map<std::type_index, std::shared_ptr<void>> extensions_;

  std::mutex dispatchers_mutex_;
  std::vector<std::unique_ptr<Dispatcher>> dispatchers_;
  Dispatcher* default_dispatcher_ = nullptr;
  Pool* pool_ = nullptr;                    // the same object when it has a thread for each of several cores, else null
  std::atomic<bool> core_is_kept_{false};   // by a plain thread that waits
  Deterministic* deterministic_ = nullptr;  // the same object when time is virtual, else null

  // The tree's mutex guards every cell's place in the tree, the names and the watches.
  mutable std::mutex tree_mutex_;
  std::vector<Cell*> buckets_;  // a hash table of the actors that were given a name, by parent and name
  std::size_t named_ = 0;
  std::size_t actors_ = 0;
  std::condition_variable gone_;
  std::optional<ShutdownReport> report_;
  IntrusivePtr<Cell> user_;       // "/user"
  IntrusivePtr<Cell> internals_;  // "/system"
};

}  // namespace detail

}  // namespace troupe::inline v0
