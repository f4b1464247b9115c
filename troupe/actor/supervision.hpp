// What happens when an actor fails, that is, when a handler, a hook or the constructor throws. Its supervision, given
// at `spawn`, maps the error to a directive. (A handler that *returns* an error has not failed: that is a reply.)
#pragma once

#include <cstdint>

#include "troupe/core/clock.hpp"
#include "troupe/core/error.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What is done about an actor that has failed.
enum class Directive : std::uint8_t {
  resume,    // go on with the same instance
  restart,   // a new instance at the same address; what is queued stays queued
  stop,      // end the actor; watchers are told the error
  escalate,  // the parent fails with this error, and its own supervision decides
};

/// Whom a directive concerns.
enum class Scope : std::uint8_t {
  one_for_one,  // the directive concerns the failed actor only
  all_for_one,  // and every sibling whose supervision is `all_for_one` too: they share one fate
};

/// The delay before restart number n (0, 1, 2, ...) in a row: `initial * 2^n`, at most `max`, plus or minus up to
/// `jitter`.
struct Backoff {
  Duration initial{0};  // 0: restart at once
  Duration max = std::chrono::seconds(10);
  double jitter = 0.2;  // share of the delay, 0 to 1

  /// `random` is uniform in [0, 1).
  Duration delay(int restarts_in_a_row, double random) const noexcept;

  friend bool operator==(const Backoff&, const Backoff&) noexcept = default;
};

/// How many restarts an actor has per window, unless its `Supervision` says otherwise.
inline constexpr int kDefaultMaxRestarts = 10;
/// How long the window is in which an actor's restarts are counted, unless its `Supervision` says otherwise.
inline constexpr Duration kDefaultRestartWindow = std::chrono::seconds(10);

/// What happens when an actor fails. Trivially destructible, like every options struct: g++ 12 destroys other
/// temporaries twice inside a `co_await`.
struct Supervision {
  /// A function (or a lambda without captures) from the error to the directive; it runs on any thread. If it throws,
  /// the actor stops. None: always `directive`.
  Directive (*decide)(const Error&) = nullptr;
  Directive directive = Directive::restart;
  Scope scope = Scope::one_for_one;
  /// So many restarts per window; one failure more stops the actor. 0: the first failure stops it.
  int max_restarts = kDefaultMaxRestarts;
  Duration window = kDefaultRestartWindow;
  Backoff backoff = {};

  friend bool operator==(const Supervision&, const Supervision&) noexcept = default;
};

/// A supervision with one directive for every error: `{.supervision = always(Directive::stop)}`.
constexpr Supervision always(Directive directive) noexcept { return {.directive = directive}; }

namespace detail {

/// Counts restarts per window. A window begins with a failure.
class RestartBudget {
 public:
  /// True when one more restart is allowed at `now`, and counts it.
  bool spend(const Supervision& supervision, TimePoint now) noexcept;
  /// Restarts of the current window before the one just spent.
  int in_a_row() const noexcept { return spent_ - 1; }

 private:
  TimePoint window_began_{};
  int spent_ = 0;
};

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
