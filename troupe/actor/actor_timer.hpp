// A timer of an actor: it sends the actor a message, once or periodically, until it is cancelled or the actor stops or
// restarts. A periodic timer never piles up: while one of its messages waits, further beats are left out.
#pragma once

#include <atomic>
#include <memory>

#include "troupe/actor/envelope.hpp"
#include "troupe/actor/timer.hpp"

namespace troupe::inline v0 {

/// One more ends in `out_of_memory`.
inline constexpr std::size_t kMaxTimersPerActor = 65'536;

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

}  // namespace detail

}  // namespace troupe::inline v0
