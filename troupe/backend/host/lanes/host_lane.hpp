// A lane on the CPU: a thread that runs its work in order, once the ops of other lanes that it must wait for are done.
// The thread is made when the lane has work for it: a lane whose ops are all short never needs one.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "troupe/backend/backend.hpp"
#include "troupe/core/park.hpp"

namespace troupe::host {

/// When a lane has reached a ticket.
struct HostEvent {
  std::uint32_t lane = 0;
  wire::Ticket ticket = 0;
};

/// How threads of the worker wait for the progress of lanes.
class Progress {
 public:
  /// After a timeline was raised.
  void made() noexcept {
    if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    futex_wake_all(epoch_);
  }
  /// Waits until `done`, which looks at timelines: spins a little, then sleeps.
  template <class Done>
  void wait_until(const Done& done) noexcept {
    if (spin_until(done)) return;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    for (;;) {
      const std::uint32_t epoch = epoch_.load(std::memory_order_seq_cst);
      if (done()) break;
      futex_wait(epoch_, epoch);
    }
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  }

 private:
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

class HostLane {
 public:
  /// `execute` runs one work and raises the timeline; `ready` says whether all it waits for is done.
  struct Hooks {
    std::function<void(const backend::Work&, const op::AnyOp&)> execute;
    std::function<bool(const backend::Work&)> ready;
    std::function<void()> in_new_thread;
  };
  HostLane(std::uint32_t number, const wire::Timeline& timeline, Progress& progress, const Hooks& hooks);
  /// Finishes all work that was pushed.
  ~HostLane();
  HostLane(const HostLane&) = delete;
  HostLane& operator=(const HostLane&) = delete;

  std::uint32_t number() const noexcept { return number_; }
  bool completed(const HostEvent& event) const noexcept { return timeline_.done(event.ticket); }
  /// Everything before `ticket` is done.
  bool idle_before(wire::Ticket ticket) const noexcept { return timeline_.done(ticket - 1); }
  /// Queues work; waits while the queue is full. From one thread.
  void push(const backend::Work& work, op::AnyOp op);

 private:
  static constexpr std::size_t kQueueLimit = 256;

  void run() noexcept;

  const std::uint32_t number_;
  const wire::Timeline& timeline_;
  Progress& progress_;
  const Hooks& hooks_;
  struct Queued {
    backend::Work work;
    op::AnyOp op;
  };
  std::unique_ptr<std::array<Queued, kQueueLimit>> queue_;  // made with the thread
  std::atomic<std::uint64_t> pushed_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> stopping_{false};
  Parker parker_;
  std::thread thread_;
};

}  // namespace troupe::host
