// A timer of an actor: it sends the actor a message, once or periodically, until it is cancelled or the actor stops or
// restarts. A periodic timer never piles up: while one of its messages waits, further beats are left out.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "troupe/actor/envelope.hpp"
#include "troupe/actor/timer.hpp"

namespace troupe::inline v0 {

/// One more ends in `out_of_memory`.
inline constexpr std::size_t kMaxTimersPerActor = 1'000'000;

namespace detail {

class ActorTimer final : public Timer, public Node {
 public:
  ActorTimer(Cell& cell, std::unique_ptr<TimerMessage> message, std::uint64_t id, Duration period) noexcept;

  void begin(TimePoint due);
  /// No message of this timer is handled after this. On the cell's turn.
  void cancel() noexcept;
  std::uint64_t id() const noexcept { return id_; }

  void fire() noexcept override;           // the timekeeper
  void run(Cell& cell) noexcept override;  // the cell's turn
  void drop(Cell& cell, const Error& why) noexcept override;

 private:
  const IntrusivePtr<Cell> cell_;
  const std::unique_ptr<TimerMessage> message_;
  const std::uint64_t id_;
  const Duration period_;  // 0: once
  TimePoint due_{};        // written before each start, by whoever starts it
  std::atomic<bool> waits_{false};
  std::atomic<bool> cancelled_{false};
};

/// The timers of one actor, each found by its id in one step. An id is a place and how often the place was used, so the
/// id of a timer that has ended finds nothing, and no id is 0.
class TimerTable {
 public:
  std::size_t size() const noexcept { return size_; }
  /// The id of the timer that is added next.
  std::uint64_t next_id() const noexcept;
  void add(IntrusivePtr<ActorTimer> timer);
  /// The timer, taken out; null when there is none of that id.
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
