// The seam between actors and threads. A dispatcher runs turns: it is told that an actor has something to do and
// calls `run` on a thread of its choice, once per `schedule`. It knows nothing of mailboxes, and actors know nothing
// of threads. Models: Pool (pool.hpp; also the pinned thread), AsioDispatcher (asio.hpp), Deterministic
// (deterministic.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "troupe/core/clock.hpp"
#include "troupe/core/log.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What a dispatcher runs: an actor with a turn to take. Scheduled at most once at a time, and alive until it has run.
class Runnable {
 public:
  virtual void run() noexcept = 0;
  /// Names it in reports without keeping it alive.
  virtual std::uint64_t id() const noexcept = 0;

 protected:
  ~Runnable() = default;

 private:
  friend class ReadyQueue;
  friend class EntryList;
  Runnable* next_ready_ = nullptr;
};

/// Why an actor is scheduled: it has become ready, or it had its share and lets others go first.
enum class Scheduling : std::uint8_t { ready, yields };

/// How long one turn goes on taking messages: it ends with the message in which twice this time has passed, or sooner;
/// where four messages take longer than that, it is those four.
inline constexpr Duration kTurnTime = std::chrono::microseconds(100);

namespace detail {

/// A share of a thread: so many steps or so much time, whichever is used up first. It looks at the clock after 2, 4, 8,
/// ... steps only, so quick steps pay next to nothing for it.
class Share {
 public:
  Share(int steps, Duration time) noexcept : steps_(steps), time_(time) {}
  /// After each step: whether this was the last one.
  bool used_up() noexcept {
    if (++taken_ >= steps_) return true;
    if (taken_ == 1 || (taken_ & (taken_ - 1)) != 0) return false;
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

  /// Runs `runnable` once, soon, and never two turns of it at a time. Any thread; never blocks, never fails.
  virtual void schedule(Runnable& runnable, Scheduling why) noexcept = 0;

  /// How many messages one turn may handle before it lets others go first; `kTurnTime` may end it sooner.
  int messages_per_turn() const noexcept { return messages_per_turn_; }

  /// Looks after the threads; called about every millisecond by the timekeeper while `busy`. A turn that has lasted
  /// for `kBlockedAfter` or longer is reported to `blocked`, once.
  class Watcher {
   public:
    virtual void blocked(std::uint64_t runnable_id, std::int64_t ms) = 0;

   protected:
    ~Watcher() = default;
  };
  virtual void look_after(Watcher&) {}
  virtual bool busy() const noexcept { return false; }

  /// Takes over what an actor says in the log, where the threads must not wait for it. False: whoever called logs it.
  virtual bool take_log(LogLevel, std::string_view /*source*/, std::string_view /*message*/) noexcept { return false; }

  /// Called once, after the last turn has run and before the dispatcher is destroyed.
  virtual void join() noexcept {}

 protected:
  explicit Dispatcher(int messages_per_turn) noexcept : messages_per_turn_(messages_per_turn) {}

 private:
  int messages_per_turn_ = 64;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
