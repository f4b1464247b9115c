// The actor system: a pool of threads, a tree of actors, time. Everything a program needs starts here.
//
//   System system;
//   Ref<Counter> counter = value(system.spawn<Counter>({.name = "counter"}));
//   int sum = value(counter.ask<Get>().get());
//
// Its destructor shuts it down, with `kShutdownAtExit` for what is queued.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "troupe/actor/context.hpp"
#include "troupe/actor/ref.hpp"
#include "troupe/actor/spawn.hpp"
#include "troupe/actor/system_options.hpp"
#include "troupe/actor/task.hpp"

namespace troupe::inline v0 {

class Device;
struct DeviceInfo;
struct DeviceOptions;

/// How long the destructor of a `System` lets queued work go on.
inline constexpr Duration kShutdownAtExit = std::chrono::seconds(5);

/// The actor system, where everything starts: it has the threads, the tree of actors, time, and the devices.
class System {
 public:
  /// Starts a system. `invalid_argument` for options that cannot be, `out_of_memory` when the machine gives no threads.
  static Result<System> create(SystemOptions options = {});
  /// The same, throwing `Exception`.
  explicit System(SystemOptions options = {});
  System(System&& other) noexcept;
  System& operator=(System&&) = delete;
  /// Shuts down if that was not done, then waits for handlers that do not return, naming them in the log.
  ~System();

  /// A top-level actor, `/user/NAME`. Its constructor runs on its dispatcher, soon, from copies of `args` that are kept
  /// for restarts. `invalid_argument` for options that cannot be and for a name that is taken or cannot be one;
  /// `stopped` during and after shutdown; `out_of_memory` at `max_actors`.
  template <class A, class... Args>
  Result<Ref<A>> spawn(SpawnOptions options, Args&&... args) {
    return detail::spawn_under<A>(*core_, user(), std::move(options), std::forward<Args>(args)...);
  }

  /// The actor at `path`, such as "/user/batcher/worker-1". `invalid_argument` when there is none, or none of type `A`.
  template <class A>
  Result<Ref<A>> find(std::string_view path) {
    detail::IntrusivePtr<detail::Cell> cell = find_cell(path);
    if (!cell) return fail(ErrorKind::invalid_argument, "there is no actor at " + std::string(path));
    if (cell->actor_type() != typeid(A))
      return fail(ErrorKind::invalid_argument, std::string(path) + " is a " + detail::type_name(cell->actor_type()));
    return Ref<A>(std::move(cell));
  }

  /// Runs a task to its end and waits for it in this thread. Not inside a handler (`invalid_argument`).
  template <class T>
  detail::flat_result_t<T> run(Task<T> task);

  /// A thread of its own for the actors spawned with it, optionally bound to a core. `invalid_argument` for a core this
  /// process may not use.
  Result<Dispatcher*> pinned_thread(std::string name, std::optional<int> core = {});
  /// Takes over a dispatcher of your own; it must run turns until the system is destroyed.
  Dispatcher* adopt(std::unique_ptr<Dispatcher> dispatcher);

  // ---- devices (troupe/device/device.hpp) ----

  /// The accelerators of this machine, best first; the last one is always the CPU.
  std::vector<DeviceInfo> devices() const;
  /// Opens one of them: `device(0)` takes the best. `invalid_argument` when there is none of that number, else what
  /// `Device::open` says.
  Result<Device> device(int index);
  Result<Device> device(int index, const DeviceOptions& options);
  /// The first one of a backend ("host", "cuda"), or the one with that id. `invalid_argument` when there is none.
  Result<Device> device(std::string_view name);
  Result<Device> device(std::string_view name, const DeviceOptions& options);

  EventStream& events() noexcept;
  SystemStats stats();

  /// Refuses new actors, lets every actor handle what is queued, and stops them all, children before parents; at the
  /// deadline cuts off what is left. Returns soon after the deadline at the latest, whatever handlers do.
  /// `invalid_argument` inside a handler. A second call reports what the first one did.
  Result<ShutdownReport> shutdown(Duration deadline);

  // ---- virtual time (SystemOptions::deterministic_seed) ----

  /// Runs until no actor has anything to do; returns the number of turns.
  std::uint64_t run_until_idle();
  /// Moves time forward and runs everything that becomes due on the way.
  void advance(Duration by);
  /// Identifies the order of turns so far.
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

/// `System::run`, for those who have only the core.
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
