// The actor system: it has a pool of threads, a tree of actors, and time. A program starts here.
//
//   System system;
//   Ref<Counter> counter = value(system.spawn<Counter>({.name = "counter"}));
//   int sum = value(counter.ask<Get>().get());
//
// The destructor shuts the system down, and gives queued work `kShutdownAtExit` to end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "troupe/actor/context.hpp"
#include "troupe/actor/ref.hpp"
#include "troupe/actor/supervision.hpp"
#include "troupe/actor/task.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/log.hpp"

// The options of a `System`, and what it reports about itself later. They are plain structs with sane defaults, so that
// `System system;` needs no options.

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// How many actors a system may have, unless `SystemOptions` says otherwise.
inline constexpr std::size_t kDefaultMaxActors = 1'000'000;

/// The options of a system.
struct SystemOptions {
  /// How many threads the pool has. Unset: one per core that this process may use. 0 is an `invalid_argument`.
  std::optional<int> threads = {};
  /// How many actors the system may have; one more spawn ends in `out_of_memory`. 0 is an `invalid_argument`.
  std::size_t max_actors = kDefaultMaxActors;
  /// Where the system's log goes. Empty: warnings and errors go to standard error.
  LogSink log = {};
  /// If it is set, there are no threads, time is virtual, and the seed decides which actor runs next (see testkit.hpp).
  std::optional<std::uint64_t> deterministic_seed = {};
};

/// What a system counts.
struct SystemStats {
  std::size_t actors = 0;          // how many are alive now, the system's own included
  std::uint64_t restarts = 0;      // of all actors so far
  std::uint64_t dead_letters = 0;  // tells that reached nobody so far
};

/// How a shutdown went: whether everything was handled, what was cut off, and which actors are stuck.
struct ShutdownReport {
  /// The work of one actor that was cut off.
  struct CutOff {
    std::string path;
    std::uint32_t messages = 0;  // how many were queued or being handled
    std::uint32_t handlers = 0;  // how many waited at a co_await
  };
  /// Everything was handled before the deadline.
  bool drained = true;
  /// The actors that still had work at the deadline. That work was cut off: its asks have ended in `stopped`, unless
  /// the actor is stuck.
  std::vector<CutOff> cut_off;
  /// Actors whose handler did not return even after that; a thread is still in the handler.
  std::vector<std::string> stuck;
};

class Device;
struct DeviceInfo;
struct DeviceOptions;

/// How long the destructor of a `System` lets queued work go on.
inline constexpr Duration kShutdownAtExit = std::chrono::seconds(5);

/// The actor system, where everything starts: it has the threads, the tree of actors, time, and the devices.
class System {
 public:
  /// Starts a system. `invalid_argument` when an option has a value it must not have, `out_of_memory` when the machine
  /// gives no threads.
  static Result<System> create(SystemOptions options = {});
  /// Does what `create` does, and throws an `Exception` where that fails.
  explicit System(SystemOptions options = {});
  System(System&& other) noexcept;
  System& operator=(System&&) = delete;
  /// Shuts the system down, if `shutdown` was not called. Then waits for handlers that have not returned; the log names
  /// their actors.
  ~System();

  /// Spawns a top-level actor, `/user/NAME`. Its constructor runs soon, on its dispatcher, with copies of `args`, which
  /// are kept for restarts. `invalid_argument` when an option has a value it must not have or the name is taken;
  /// `stopped` during and after shutdown; `out_of_memory` when there are `max_actors` actors.
  template <class A, class... Args>
  Result<Ref<A>> spawn(SpawnOptions options = {}, Args&&... args) {
    return detail::spawn_under<A>(*core_, user(), std::move(options), std::forward<Args>(args)...);
  }
  /// Does not compile: it says what is missing.
  template <class A, class First, class... Args>
    requires(!std::convertible_to<First, SpawnOptions>)
  Result<Ref<A>> spawn(First&&, Args&&...) {
    static_assert(detail::no_options<First>,
                  "spawn takes the options first, then what the constructor takes: "
                  "spawn<A>({}, arguments...)");
    return fail(ErrorKind::invalid_argument);
  }

  /// The actor at `path`, such as "/user/batcher/worker-1". `invalid_argument` when there is none, or when it is not an
  /// `A`.
  template <class A>
  Result<Ref<A>> find(std::string_view path) {
    detail::IntrusivePtr<detail::Cell> cell = find_cell(path);
    if (!cell) return fail(ErrorKind::invalid_argument, "there is no actor at " + std::string(path));
    if (cell->actor_type() != typeid(A))
      return fail(ErrorKind::invalid_argument, std::string(path) + " is a " + detail::type_name(cell->actor_type()));
    return Ref<A>(std::move(cell));
  }

  /// Runs a task, and blocks this thread until the task has ended. `invalid_argument` inside a handler.
  template <class T>
  detail::flat_result_t<T> run(Task<T> task);

  /// Starts a thread for the actors that are spawned with it, and binds it to `core` if that is given.
  /// `invalid_argument` when this process may not use that core, `stopped` during and after shutdown, `out_of_memory`
  /// when the machine gives no thread.
  Result<Dispatcher*> pinned_thread(std::string name, std::optional<int> core = {});
  /// Takes over a dispatcher of your own, which must run turns until the system is destroyed.
  Dispatcher* adopt(std::unique_ptr<Dispatcher> dispatcher);

  // ---- devices (troupe/device/device.hpp) ----

  /// The devices of this machine, the best first. The last one is always the CPU.
  std::vector<DeviceInfo> devices() const;
  /// Opens one of them; `device(0)` is the best. `invalid_argument` when no device has that number; else fails as
  /// `Device::open` does.
  Result<Device> device(int index);
  Result<Device> device(int index, const DeviceOptions& options);
  /// Opens the first device of a backend ("host", "cuda") or with that id. `invalid_argument` when there is none.
  Result<Device> device(std::string_view name);
  Result<Device> device(std::string_view name, const DeviceOptions& options);

  /// Where actors subscribe to events, and publish them.
  EventStream& events() noexcept;
  /// What it has counted so far. Any thread.
  SystemStats stats();

  /// Refuses new actors, lets every actor handle what is queued, and stops them all, children before parents. At the
  /// deadline it cuts off what is left. It returns soon after the deadline, even if a handler does not return.
  /// `invalid_argument` inside a handler. A second call returns the report of the first one.
  Result<ShutdownReport> shutdown(Duration deadline);

  // ---- virtual time (SystemOptions::deterministic_seed) ----

  /// Runs turns until no actor has anything to do. Returns the number of turns.
  std::uint64_t run_until_idle();
  /// Moves time forward, and runs everything that becomes due meanwhile.
  void advance(Duration by);
  /// A hash of the order of turns so far.
  std::uint64_t fingerprint() const noexcept;
  TimePoint now() const noexcept;

  detail::SystemCore& core() noexcept { return *core_; }

 private:
  explicit System(detail::IntrusivePtr<detail::SystemCore> core) noexcept;

  detail::IntrusivePtr<detail::Cell> user() const noexcept;
  detail::IntrusivePtr<detail::Cell> find_cell(std::string_view path);

  detail::IntrusivePtr<detail::SystemCore> core_;
};

namespace detail {

/// The actor behind `System::run`: its one message is the task.
template <class T>
class TaskRunner {
 public:
  struct Run {
    Task<T> task;
    using Reply = typename detail::flat_result_t<T>::value_type;
  };
  explicit TaskRunner(Context<TaskRunner> self) : self_(self) {}
  Task<T> on(Run run) {
    self_.ref().drain();
    return std::move(run.task);
  }

 private:
  Context<TaskRunner> self_;
};

/// Does what `System::run` does, for callers that have only the core.
template <class T>
detail::flat_result_t<T> run_in(SystemCore& core, Task<T> task) {
  using Runner = TaskRunner<T>;
  if (Cell::current_cell())
    return fail(ErrorKind::invalid_argument, "run() inside a handler would hold up its dispatcher: co_await the task");
  Ref<Runner> runner = TROUPE_TRY(detail::spawn_under<Runner>(core, internals_of(core), SpawnOptions{}));
  return runner.template ask<typename Runner::Run>(std::move(task)).get();
}

}  // namespace detail

template <class T>
detail::flat_result_t<T> System::run(Task<T> task) {
  return detail::run_in(*core_, std::move(task));
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
