// A timer of an actor. It sends the actor a message, once or periodically, until it is cancelled or the actor stops or
// restarts. Its messages never pile up: while one of them waits, the timer leaves out further beats.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "troupe/actor/envelope.hpp"
#include "troupe/actor/timer.hpp"

namespace troupe::inline v0 {

/// How many timers one actor may have; starting one more ends in `out_of_memory`.
inline constexpr std::size_t kMaxTimersPerActor = 1'000'000;

namespace detail {

class ActorTimer final : public Timer, public Node {
 public:
  ActorTimer(Cell& cell, std::unique_ptr<TimerMessage> message, std::uint64_t id, Duration period) noexcept;

  void begin(TimePoint due);
  /// No message of this timer is handled after this call. Call it on the cell's turn.
  void cancel() noexcept;
  std::uint64_t id() const noexcept { return id_; }

  void fire() noexcept override;           // called by the timer wheel
  void run(Cell& cell) noexcept override;  // called on the cell's turn
  void drop(Cell& cell, const Error& why) noexcept override;

 private:
  const IntrusivePtr<Cell> cell_;
  const std::unique_ptr<TimerMessage> message_;
  const std::uint64_t id_;
  const Duration period_;           // 0: the timer fires once
  TimePoint due_{};                 // written before each start, by the thread that starts it
  std::atomic<bool> waits_{false};  // a message of it is posted and not handled yet
  std::atomic<bool> cancelled_{false};
};

/// The timers of one actor; one step finds a timer by its id. An id consists of a place in the table and of how often
/// that place was used. So the id of a timer that has ended finds nothing, and no id is 0.
class TimerTable {
 public:
  std::size_t size() const noexcept { return size_; }
  /// The id that the next added timer must have.
  std::uint64_t next_id() const noexcept;
  void add(IntrusivePtr<ActorTimer> timer);
  /// Takes the timer out of the table; null when no timer has that id.
  IntrusivePtr<ActorTimer> take(std::uint64_t id) noexcept;
  void cancel_all() noexcept;

 private:
  struct Place {
    IntrusivePtr<ActorTimer> timer;
    std::uint32_t used = 0;
    std::uint32_t next_free = 0;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<Place> places_;
  std::uint32_t first_free_ = kNone;
  std::size_t size_ = 0;
};

}  // namespace detail

}  // namespace troupe::inline v0
