// The cell: what an actor is to the system. It owns the mailbox, the place in the tree and the instance, and it can
// replace the instance behind its stable address: that is what "restart" means. All of the cell's private state is
// touched on its turns only, and its dispatcher runs one turn at a time; what others may touch says so.
//
// Not for users: they hold a `Ref`, and an actor sees its cell through `Context`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include "troupe/actor/dispatcher.hpp"
#include "troupe/actor/mailbox.hpp"
#include "troupe/actor/supervision.hpp"
#include "troupe/actor/watch.hpp"
#include "troupe/core/intrusive.hpp"
#include "troupe/core/log.hpp"
#include "troupe/core/result.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

class EventStream;

/// How many handlers of one actor may be waiting at a `co_await` at a time, unless `SpawnOptions` says otherwise.
inline constexpr std::uint32_t kDefaultMaxHandlers = 1024;

/// How many characters the name of an actor may have.
inline constexpr std::size_t kMaxNameLength = 128;

/// What an actor can be told when it is spawned. Trivially destructible, see `Supervision`.
struct SpawnOptions {
  std::string_view name = {};    // letters, digits, '-', '_' and '.'; empty: a number is given. Copied by `spawn`
  Supervision supervision = {};  // how this actor is supervised
  std::uint32_t mailbox_capacity = kDefaultMailboxCapacity;  // messages that wait, and the one being handled
  Overflow overflow = Overflow::refuse;
  std::uint32_t max_handlers = kDefaultMaxHandlers;  // 1: a handler runs to its end before the next message
  Dispatcher* dispatcher = nullptr;  // null: the system's pool. Owned by the system, see `System::pinned_thread`
};

static_assert(std::is_trivially_destructible_v<SpawnOptions>, "safe inside a co_await with g++ 12");

/// `invalid_argument` for options of an actor that cannot be.
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

  /// Queues a message, or, if it `may_wait` and there is no room, lets it wait outside: then false. On an error nothing
  /// was queued and the caller still owns the envelope.
  Result<bool> send(EnvelopeBase& envelope, bool may_wait) noexcept;
  /// Queues a message that is told and takes it over. On an error it is a dead letter, and a full mailbox is logged.
  Result<void> tell(EnvelopeBase& envelope) noexcept;
  std::uint32_t capacity() const noexcept { return mailbox_.capacity(); }
  /// Whether an ask may wait outside when there is no room.
  bool suspends_askers() const noexcept { return mailbox_.overflow() == Overflow::suspend_asker; }
  /// Queues a control node; drops it when the actor has stopped. Never refused.
  void post(Node& node) noexcept;
  void raise(Signal signal) noexcept;
  void post_directive(Directive directive, const Error& error) noexcept;
  /// How it ended; once it has left the tree.
  Terminated last_words() const noexcept;
  bool stopped() const noexcept { return mailbox_.closed(); }
  /// Messages queued or being handled, and handlers that wait at a co_await.
  std::uint32_t load() const noexcept { return mailbox_.size() + running_count_.load(std::memory_order_relaxed); }
  std::uint32_t queued() const noexcept { return mailbox_.size(); }
  std::uint32_t handlers_under_way() const noexcept { return running_count_.load(std::memory_order_relaxed); }
  std::string path() const;
  /// The name given at `spawn`, or `$` and the id.
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
  /// For a node of the control lane that will run a handler: true when the actor takes no messages now; then the node
  /// waits ahead of the mailbox and is run again.
  bool postpone(Node& node) noexcept;
  /// An end that nobody waits for any more is on its way to this cell, or has come.
  void expect_arrival() noexcept { ++arrivals_expected_; }
  void arrived() noexcept { --arrivals_expected_; }
  void handler_waits(RunningHandler& handler) noexcept;  // its coroutine has begun
  void handler_ended(RunningHandler& handler) noexcept;  // its coroutine has ended; `finished` is called soon
  void handler_gone(RunningHandler& handler) noexcept;   // its coroutine is destroyed
  /// The actor has failed: its supervision decides when the current message is done.
  void fail(Error error) noexcept;
  /// A child could not handle `error`, and this actor is to fail with it.
  void child_escalates(Cell& child, const Error& error) noexcept;
  /// The group's directive, or the parent's after an escalation, reaches this actor.
  void obey(Directive directive, const Error& error) noexcept;

  Result<void> stash(EnvelopeBase& envelope) noexcept;
  void unstash_all() noexcept;
  /// The message whose handler runs right now, up to its first wait.
  EnvelopeBase* current() const noexcept { return current_; }
  void set_current(EnvelopeBase& envelope) noexcept { current_ = &envelope; }

  Result<std::uint64_t> start_timer(std::unique_ptr<TimerMessage> message, Duration first, Duration period);
  bool cancel_timer(std::uint64_t timer_id) noexcept;
  void timer_ended(const ActorTimer& timer) noexcept;
  void backoff_over(const BackoffTimer& timer) noexcept;

  void watch(IntrusivePtr<Cell> watched, Watch::MakeEnvelope make_envelope);
  void unwatch(const Cell& watched) noexcept;
  bool watch_ended(const Watch& ended) noexcept;  // true unless it was given up before

  void log(LogLevel level, std::string_view message) const noexcept;
  /// A tell failed and nobody waits for its error: it goes to the log.
  void report_unheard(const EnvelopeBase& envelope, const Error& error) const noexcept;

  /// The cell whose turn this thread is running, or null.
  static Cell* current_cell() noexcept { return current_cell_; }

 protected:
  ~Cell() override;

  // What only the actor's type knows. `construct`, `started` and `restarted` may throw.
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
    fresh,  // spawned, never constructed
    running,
    suspended,   // failed; waits for a back-off or for the parent's decision
    restarting,  // waits for its children to stop
    stopping,    // closed; waits for its children to stop
    stopped,
  };

  /// Most actors never need any of this, so they do not pay for it.
  struct Extras;

  Extras& extras() noexcept;
  bool takes_messages() const noexcept;
  bool run_one() noexcept;
  void leave() noexcept;
  void settle() noexcept;  // after user code ran: ended handlers, then a failure
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
  /// Logs what `words` gives; nothing when there is no memory for it.
  template <class Words>
  void log_words(LogLevel level, const Words& words) const noexcept;

  static constinit thread_local Cell* current_cell_;

  SystemCore& core_;
  Dispatcher& dispatcher_;
  const std::uint64_t id_;
  const std::string name_;                                // empty: none was given
  const std::shared_ptr<const Supervision> supervision_;  // shared: most actors have the default

  Mailbox mailbox_;
  Phase phase_ = Phase::fresh;
  bool draining_ = false;
  bool has_failed_ = false;
  StopReason stop_reason_ = StopReason::requested;
  const std::uint32_t max_handlers_;
  std::atomic<std::uint32_t> running_count_{0};  // written on the turn, read by anybody
  std::uint32_t arrivals_expected_ = 0;
  RunningHandler* running_ = nullptr;      // handlers that wait at a co_await
  RunningHandler* first_ended_ = nullptr;  // those of them whose coroutine has ended, in order
  RunningHandler* last_ended_ = nullptr;
  EnvelopeBase* current_ = nullptr;     // the message whose handler runs right now
  NodeList front_;                      // unstashed messages, ahead of the mailbox
  Error failure_{ErrorKind::internal};  // yet to be decided, when `has_failed_`
  std::unique_ptr<Extras> extras_;

  // The place in the tree; guarded by the tree's mutex in SystemCore.
  const IntrusivePtr<Cell> parent_;
  Cell* first_child_ = nullptr;
  Cell* previous_sibling_ = nullptr;
  Cell* next_sibling_ = nullptr;
  Cell* next_in_bucket_ = nullptr;  // named ones only
  WatchList watchers_;
  bool takes_children_ = true;
  bool in_tree_ = false;
};

// What `spawn` needs of a system's core.

/// No other actor of the system has had it.
std::uint64_t next_id(SystemCore& core) noexcept;
/// Gives a fresh cell its name and place and schedules its first turn. Errors as `System::spawn`.
Result<void> add_to_tree(SystemCore& core, Cell& cell);
/// "/system", the parent of what the system itself spawns.
IntrusivePtr<Cell> internals_of(SystemCore& core) noexcept;

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
