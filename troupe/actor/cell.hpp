// The cell: what an actor is to the system. It owns the mailbox, the place in the tree and the instance. It can replace
// the instance and keep its address: that is what "restart" means. The cell's private state is touched on its turns
// only, and its dispatcher runs one turn at a time. A comment says where other threads may touch something.
//
// Users do not see it: they hold a `Ref`, and an actor reaches its cell through `Context`.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include "troupe/actor/mailbox.hpp"
#include "troupe/actor/supervision.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/intrusive.hpp"
#include "troupe/core/log.hpp"
#include "troupe/core/result.hpp"

// The seam between actors and threads. A dispatcher runs turns: `schedule` tells it that an actor has something to do,
// and it calls `run` once, on a thread of its choice. It knows nothing of mailboxes, and actors know nothing of
// threads. The dispatchers are Pool (pool.hpp; also the pinned thread), AsioDispatcher (asio.hpp), Deterministic
// (deterministic.hpp) and a device's ControlLoop (troupe/device/control_loop.hpp).

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What a dispatcher runs: an actor that has a turn to take. It is scheduled at most once at a time, and it lives until
/// it has run.
class Runnable {
 public:
  /// Takes the turn.
  virtual void run() noexcept = 0;
  /// A number that names it in reports, without a share in its ownership.
  virtual std::uint64_t id() const noexcept = 0;

 protected:
  ~Runnable() = default;

 private:
  friend class ReadyQueue;
  friend class EntryList;
  Runnable* next_ready_ = nullptr;
};

/// Why an actor is scheduled: it has become ready, or it has used up its share and lets others go first.
enum class Scheduling : std::uint8_t { ready, yields };

/// How long a turn goes on taking messages. The turn looks at the clock only after 2, 4, 8, 16, 24, ... messages and
/// counts from the second one on. So it may handle up to eight more messages than fit, however slow they are.
inline constexpr Duration kTurnTime = std::chrono::microseconds(100);

namespace detail {

/// A share of a thread: a number of steps, or a time from the second step on, whichever is used up first. It looks at
/// the clock only after 2, 4, 8, 16, 24, ... steps, so it costs quick steps next to nothing.
class Share {
 public:
  Share(int steps, Duration time) noexcept : steps_(steps), time_(time) {}
  /// Call it after each step. True: that was the last step of the share.
  bool used_up() noexcept {
    if (++taken_ >= steps_) return true;
    if (taken_ < 8 ? taken_ != 2 && taken_ != 4 : taken_ % 8 != 0) return false;
    const TimePoint now = std::chrono::steady_clock::now();
    if (taken_ == 2) since_ = now;
    return now - since_ >= time_;
  }

 private:
  const int steps_;
  const Duration time_;
  int taken_ = 0;
  TimePoint since_{};
};

}  // namespace detail

/// What runs the turns of actors on threads: derive from it to run them on threads of your own.
class Dispatcher {
 public:
  Dispatcher() = default;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  virtual ~Dispatcher() = default;

  /// Runs `runnable` once, soon. Two turns of one runnable must never overlap. Any thread; must not block or fail.
  virtual void schedule(Runnable& runnable, Scheduling why) noexcept = 0;

  /// How many messages one turn may handle before it lets others go first; `kTurnTime` may end it sooner.
  int messages_per_turn() const noexcept { return messages_per_turn_; }

  /// Hears of turns that take too long: once of each turn that has lasted for `kBlockedAfter` or longer.
  class Watcher {
   public:
    /// The actor of that id has been in its turn for that long.
    virtual void blocked(std::uint64_t runnable_id, std::int64_t ms) = 0;

   protected:
    ~Watcher() = default;
  };
  /// Looks after the threads. The timekeeper calls it about every millisecond while `busy`.
  virtual void look_after(Watcher&) {}
  /// Whether it wants to be looked after now.
  virtual bool busy() const noexcept { return false; }

  /// For dispatchers whose threads must not wait for the log: takes over what an actor logs. False: the caller must log
  /// it.
  virtual bool take_log(LogLevel, std::string_view /*source*/, std::string_view /*message*/) noexcept { return false; }

  /// The system calls it once, after the last turn has run and before it destroys the dispatcher.
  virtual void join() noexcept {}

 protected:
  explicit Dispatcher(int messages_per_turn) noexcept : messages_per_turn_(messages_per_turn) {}

 private:
  int messages_per_turn_ = 64;
};

class EventStream;

/// How many handlers of one actor may wait at a `co_await` at the same time, unless `SpawnOptions` says otherwise.
inline constexpr std::uint32_t kDefaultMaxHandlers = 1024;

/// How many characters the name of an actor may have.
inline constexpr std::size_t kMaxNameLength = 128;

/// The options of one actor, given to `spawn`. It is trivially destructible; `Supervision` says why.
struct SpawnOptions {
  std::string_view name = {};    // letters, digits, '-', '_' and '.'; empty: the actor gets a number. `spawn` copies it
  Supervision supervision = {};  // what happens when this actor fails
  // How many messages may wait. The message being handled counts, too, except with `Overflow::drop_oldest`.
  std::uint32_t mailbox_capacity = kDefaultMailboxCapacity;
  Overflow overflow = Overflow::refuse;              // what happens when that many wait
  std::uint32_t max_handlers = kDefaultMaxHandlers;  // 1: a handler ends before the next message is handled
  Dispatcher* dispatcher = nullptr;  // null: the system's pool. The system owns it, see `System::pinned_thread`
};

static_assert(std::is_trivially_destructible_v<SpawnOptions>, "safe inside a co_await with g++ 12");

/// Checks the options of an actor: `invalid_argument` when one of them has a value it must not have.
Result<void> check(const SpawnOptions& options);

namespace detail {

class ActorTimer;
class BackoffTimer;
class RunningHandler;
class SystemCore;
class TimerMessage;

class Cell : public RefCounted, public Runnable {
 public:
  Cell(SystemCore& core, IntrusivePtr<Cell> parent, const SpawnOptions& options, std::uint64_t id);

  // ---- any thread ----

  /// Queues a message: true. If there is no room and it `may_wait`, the message waits outside the mailbox: false. On an
  /// error nothing was queued, and the caller still owns the envelope.
  Result<bool> send(EnvelopeBase& envelope, bool may_wait) noexcept;
  /// Queues a told message, and takes over the envelope. On an error the message becomes a dead letter; if the mailbox
  /// was full, the log says so.
  Result<void> tell(EnvelopeBase& envelope) noexcept;
  std::uint32_t capacity() const noexcept { return mailbox_.capacity(); }
  /// Whether an ask waits outside the mailbox when there is no room.
  bool suspends_askers() const noexcept { return mailbox_.overflow() == Overflow::suspend_asker; }
  /// Queues a control node. There is always room for it. If the mailbox is closed, the node is dropped.
  void post(Node& node) noexcept;
  void raise(Signal signal) noexcept;
  void post_directive(Directive directive, const Error& error) noexcept;
  /// How the actor ended. Another thread may call this once the actor has left the tree.
  Terminated last_words() const noexcept;
  bool stopped() const noexcept { return mailbox_.closed(); }
  /// How many messages are queued or being handled, plus how many handlers wait at a `co_await`.
  std::uint32_t load() const noexcept { return mailbox_.size() + running_count_.load(std::memory_order_relaxed); }
  std::uint32_t queued() const noexcept { return mailbox_.size(); }
  std::uint32_t handlers_under_way() const noexcept { return running_count_.load(std::memory_order_relaxed); }
  std::string path() const;
  /// The name that was given at `spawn`; if none was given, `$` and the id.
  std::string name() const;
  std::uint64_t id() const noexcept override { return id_; }
  SystemCore& core() const noexcept { return core_; }
  TimePoint now() const noexcept;
  EventStream& events() const noexcept;
  virtual const std::type_info& actor_type() const noexcept = 0;

  void run() noexcept override;

  // ---- this cell's turn ----

  /// The actor's instance: an `A*` for an actor of type `A`.
  void* instance() const noexcept { return instance_; }
  /// A node of the control lane calls this before it runs a handler. True: the actor takes no messages now; the node
  /// waits ahead of the mailbox, and `run` is called again later.
  bool postpone(Node& node) noexcept;
  /// `expect_arrival`: a coroutine of this cell gave up a wait, and the end of that wait is still on its way to this
  /// cell. `arrived`: it has come.
  void expect_arrival() noexcept { ++arrivals_expected_; }
  void arrived() noexcept { --arrivals_expected_; }
  void handler_waits(RunningHandler& handler) noexcept;  // its coroutine is about to begin
  void handler_ended(RunningHandler& handler) noexcept;  // its coroutine has ended; the cell calls `finished` soon
  void handler_gone(RunningHandler& handler) noexcept;   // its coroutine is about to be destroyed
  /// The actor has failed. Its supervision decides what happens, after the current message.
  void fail(Error error) noexcept;
  /// The error that the exception in flight stands for when the handler of that message threw it, or the constructor or
  /// hook of that name: the one that an `Exception` carries, `out_of_memory` for `std::bad_alloc`, else
  /// `handler_threw`. Call it inside a `catch` block.
  Error thrown_by(const EnvelopeBase& envelope) const noexcept;
  Error thrown_by(std::string_view what) const noexcept;
  /// A child escalates `error`, so this actor fails with it.
  void child_escalates(Cell& child, const Error& error) noexcept;
  /// A directive has reached this actor: from a sibling (`all_for_one`), or from the parent after an escalation.
  void obey(Directive directive, const Error& error) noexcept;

  Result<void> stash(EnvelopeBase& envelope) noexcept;
  void unstash_all() noexcept;
  /// The message whose handler runs right now; null after the handler's first wait.
  EnvelopeBase* current() const noexcept { return current_; }
  void set_current(EnvelopeBase& envelope) noexcept { current_ = &envelope; }

  Result<std::uint64_t> start_timer(std::unique_ptr<TimerMessage> message, Duration first, Duration period);
  bool cancel_timer(std::uint64_t timer_id) noexcept;
  void timer_ended(const ActorTimer& timer) noexcept;
  void backoff_over(const BackoffTimer& timer) noexcept;

  void watch(IntrusivePtr<Cell> watched, Watch::MakeEnvelope make_envelope);
  void unwatch(const Cell& watched) noexcept;
  bool watch_ended(const Watch& ended) noexcept;  // false: this actor has given up the watch already

  void log(LogLevel level, std::string_view message) const noexcept;
  /// The handler of a tell returned an error. Nobody waits for the error, so it goes to the log.
  void report_unheard(const EnvelopeBase& envelope, const Error& error) const noexcept;

  /// The cell whose turn this thread is running, or null.
  static Cell* current_cell() noexcept { return current_cell_; }

 protected:
  ~Cell() override;

  // What only the actor's type knows. The actor fails when `construct`, `started` or `restarted` throws; what
  // `restarting` or `stopping` throws is only logged.
  virtual void construct() = 0;
  virtual void destroy() noexcept = 0;
  virtual void started() = 0;
  virtual void restarted(const Error& error) = 0;
  virtual void restarting(const Error& error) = 0;
  virtual void stopping() = 0;

  void* instance_ = nullptr;

 private:
  friend class SystemCore;

  enum class Phase : std::uint8_t {
    fresh,  // spawned and not constructed yet
    running,
    suspended,   // has failed, and waits for the end of its back-off or for the parent's decision
    restarting,  // waits until its children have stopped
    stopping,    // its mailbox is closed, and it waits until its children have stopped
    stopped,
  };

  /// What most actors never need: it is allocated at its first use.
  struct Extras;

  Extras& extras() noexcept;
  bool takes_messages() const noexcept;
  bool run_one() noexcept;
  void leave() noexcept;
  void settle() noexcept;  // call it after code of the user ran: deals with ended handlers, then with a failure
  void handle(std::uint64_t signals) noexcept;

  void start_instance() noexcept;
  void decide(const Error& error) noexcept;
  void begin_restart(const Error& error) noexcept;
  void continue_restart() noexcept;
  void end_restart() noexcept;
  void begin_stop(StopReason reason) noexcept;
  void continue_stop() noexcept;
  void cut_handlers(const Error& error) noexcept;
  void drop_queued(const Error& error) noexcept;
  void await_arrivals(const Error& error) noexcept;
  void cancel_timers() noexcept;
  template <class Hook>
  void run_hook(const char* what, Hook hook) noexcept;
  /// Logs the sentence that `words` returns; logs nothing when there is no memory for it.
  template <class Words>
  void log_words(LogLevel level, const Words& words) const noexcept;

  static constinit thread_local Cell* current_cell_;

  SystemCore& core_;
  Dispatcher& dispatcher_;
  const std::uint64_t id_;
  const std::string name_;                                // empty: no name was given
  const std::shared_ptr<const Supervision> supervision_;  // shared, because most actors have the default

  Mailbox mailbox_;
  Phase phase_ = Phase::fresh;
  bool draining_ = false;
  bool has_failed_ = false;
  StopReason stop_reason_ = StopReason::requested;
  const std::uint32_t max_handlers_;
  std::atomic<std::uint32_t> running_count_{0};  // written on the cell's turn, read by any thread
  std::uint32_t arrivals_expected_ = 0;
  RunningHandler* running_ = nullptr;      // handlers that wait at a co_await
  RunningHandler* first_ended_ = nullptr;  // those of `running_` whose coroutine has ended, in order
  RunningHandler* last_ended_ = nullptr;
  EnvelopeBase* current_ = nullptr;     // the message whose handler runs right now
  NodeList front_;                      // unstashed messages and postponed nodes, which go before the mailbox
  Error failure_{ErrorKind::internal};  // when `has_failed_`: what the supervision must decide about
  std::unique_ptr<Extras> extras_;

  // The place in the tree. The tree's mutex, in SystemCore, guards it.
  const IntrusivePtr<Cell> parent_;
  Cell* first_child_ = nullptr;
  Cell* previous_sibling_ = nullptr;
  Cell* next_sibling_ = nullptr;
  Cell* next_in_bucket_ = nullptr;  // only cells with a name are in a bucket
  WatchList watchers_;
  bool takes_children_ = true;
  bool in_tree_ = false;
};

// What `spawn` needs from a system's core.

/// An id that no other actor of the system has or had.
std::uint64_t next_id(SystemCore& core) noexcept;
/// Puts a fresh cell into the tree, and schedules its first turn. Fails as `SystemCore::add` does.
Result<void> add_to_tree(SystemCore& core, Cell& cell);
/// The cell "/system", which is the parent of the actors that the system itself spawns.
IntrusivePtr<Cell> internals_of(SystemCore& core) noexcept;

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
