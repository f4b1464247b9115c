// The seam between actors and threads. A dispatcher runs turns: `schedule` tells it that an actor has something to do,
// and it calls `run` once, on a thread of its choice. It knows nothing of mailboxes, and actors know nothing of
// threads. The dispatchers are Pool (pool.hpp; also the pinned thread), AsioDispatcher (asio.hpp), Deterministic
// (deterministic.hpp) and a device's ControlLoop (troupe/device/control_loop.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "troupe/core/clock.hpp"
#include "troupe/core/log.hpp"

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

}  // namespace troupe::inline v0
#pragma GCC visibility pop
