// What happens when an actor fails, that is, when a handler, the constructor, `started` or `restarted` throws. Its
// supervision, which `spawn` is given, maps the error to a directive. (A handler that *returns* an error has not
// failed: the error is its reply.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "troupe/actor/mailbox.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/intrusive.hpp"
#include "troupe/core/result.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What is done about an actor that has failed.
enum class Directive : std::uint8_t {
  resume,    // the actor goes on with the same instance
  restart,   // the actor gets a new instance at the same address; what is queued stays queued
  stop,      // the actor ends, and its watchers are told the error
  escalate,  // the parent fails with this error, and the parent's supervision decides
};

/// Which actors a directive concerns.
enum class RestartScope : std::uint8_t {
  one_for_one,  // the directive concerns the failed actor only
  all_for_one,  // a restart or a stop also concerns every sibling whose scope is `all_for_one`
};

/// The delay before a restart, which doubles with each restart of a window. For restart number n (0, 1, 2, ...) it is
/// `initial * 2^n`, at most `max`, plus or minus a random part of up to `jitter`.
struct Backoff {
  Duration initial{0};                      // 0: the actor restarts at once
  Duration max = std::chrono::seconds(10);  // the longest delay
  double jitter = 0.2;                      // as a share of the delay, 0 to 1

  /// `random` must be uniform in [0, 1).
  Duration delay(int restarts_in_a_row, double random) const noexcept;

  friend bool operator==(const Backoff&, const Backoff&) noexcept = default;
};

/// How many restarts an actor may have per window, unless its `Supervision` says otherwise.
inline constexpr int kDefaultMaxRestarts = 10;
/// How long the window is in which an actor's restarts are counted, unless its `Supervision` says otherwise.
inline constexpr Duration kDefaultRestartWindow = std::chrono::seconds(10);

/// What happens when an actor fails. It is trivially destructible, because g++ 12 destroys other temporaries twice
/// inside a `co_await`.
struct Supervision {
  /// A function (or a lambda without captures) that maps the error to the directive. It may run on any thread. If it
  /// throws, the actor stops. Null: every error leads to `directive`.
  Directive (*decide)(const Error&) = nullptr;
  Directive directive = Directive::restart;        // what is done, when `decide` is null
  RestartScope scope = RestartScope::one_for_one;  // whether siblings are concerned, too
  /// How many restarts the actor may have per window. Where one more would be needed, the actor stops. 0: it never
  /// restarts.
  int max_restarts = kDefaultMaxRestarts;
  Duration window = kDefaultRestartWindow;  // in which restarts are counted
  Backoff backoff = {};                     // how long a restart is delayed

  friend bool operator==(const Supervision&, const Supervision&) noexcept = default;
};

/// A supervision with one directive for every error: `{.supervision = always(Directive::stop)}`.
constexpr Supervision always(Directive directive) noexcept { return {.directive = directive}; }

namespace detail {

/// Counts restarts per window. A window begins with the first restart.
class RestartBudget {
 public:
  /// Counts one more restart at `now`: true. If no more are allowed: false.
  bool spend(const Supervision& supervision, TimePoint now) noexcept;
  /// How many restarts of the current window came before the last counted one.
  int in_a_row() const noexcept { return spent_ - 1; }

 private:
  TimePoint window_began_{};
  int spent_ = 0;
};

}  // namespace detail

// Watching: an actor is told when another one has stopped, and why. It calls `self.watch(ref)`, and has a handler
// `void on(Terminated)`. A restart is not an end: the watched actor keeps its address, so its watchers are not told.

/// Why an actor has stopped.
enum class StopReason : std::uint8_t {
  requested,       // somebody stopped or drained it
  failed,          // it was stopped because of a failure; `error` says why
  parent_stopped,  // its parent stopped or restarted
  shutdown,        // the system shuts down
};

/// The name of a reason, spelled as its enumerator.
std::string_view name(StopReason reason) noexcept;

/// The message that a watcher receives, once per watch. By then the name of the stopped actor is free again.
struct Terminated {
  std::string path;
  std::uint64_t id = 0;                       // `Ref::id()` of the actor
  StopReason reason = StopReason::requested;  // why it has stopped
  std::optional<Error> error;                 // only with `failed`
};

namespace detail {

class EnvelopeBase;

/// One actor watches another. It is also the notice itself, made ahead of time, so that the watched actor needs no
/// memory for it at its end. While the watched actor is in the tree, the watch is in its list, which the tree's mutex
/// guards.
class Watch final : public Node {
 public:
  using MakeEnvelope = EnvelopeBase* (*)(Terminated&&);

  Watch(IntrusivePtr<Cell> watcher, IntrusivePtr<Cell> watched, MakeEnvelope make_envelope) noexcept;

  void run(Cell& cell) noexcept override;  // on the watcher's turn
  void drop(Cell& cell, const Error& why) noexcept override;

  const IntrusivePtr<Cell> watcher;
  const IntrusivePtr<Cell> watched;
  Terminated notice;

 private:
  friend class WatchList;
  const MakeEnvelope make_envelope_;
  Watch* previous_ = nullptr;
  Watch* next_ = nullptr;
};

class WatchList {
 public:
  void add(Watch& watch) noexcept;
  void remove(Watch& watch) noexcept;
  Watch* first() const noexcept { return first_; }

 private:
  Watch* first_ = nullptr;
};

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
