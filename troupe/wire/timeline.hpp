// A lane's completion counter. The device writes it, everyone may read it, and it only grows: an op is done when its
// lane's timeline has reached the op's ticket. Lives in memory shared with the worker.
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::inline v0::wire {

/// Position of an op in its lane: 1, 2, 3, ... Tickets wrap after 2^32 ops; compare with `reached`.
using Ticket = std::uint32_t;

/// True when `now` is at or past `ticket`, for tickets less than 2^31 apart.
constexpr bool reached(Ticket now, Ticket ticket) noexcept { return static_cast<std::int32_t>(now - ticket) >= 0; }

/// An accelerator may raise a timeline once for several ops in a row, when many wait; never for more than this. Then an
/// op that runs may be this far after what its timeline says, unless its record is `alone`.
inline constexpr Ticket kMaxOpsPerFlag = 8;

class Timeline {
 public:
  /// What the device had finished at this moment. Whatever the device wrote before raising the counter to this value is
  /// visible to the caller afterwards. Sequentially consistent, because whoever is about to sleep looks here once more
  /// after it has said so (see Bell): an acquire load may be done before others can see what it said.
  Ticket now() const noexcept { return counter_.load(std::memory_order_seq_cst); }
  bool done(Ticket ticket) const noexcept { return reached(now(), ticket); }

  /// For lanes that run on a CPU; a GPU stores to `address()` itself. Sequentially consistent, because whoever raises
  /// it looks next whether somebody sleeps until it moves (see Bell).
  void raise_to(Ticket ticket) noexcept;
  void* address() noexcept { return &counter_; }

 private:
  std::atomic<Ticket> counter_{0};
};
static_assert(sizeof(Timeline) == 4, "a GPU writes exactly these four bytes");

}  // namespace troupe::inline v0::wire
