#include "troupe/wire/timeline.hpp"

#include "troupe/core/assert.hpp"

namespace troupe::inline v0::wire {

void Timeline::raise_to(Ticket ticket) noexcept {
  TROUPE_ASSERT(reached(ticket, counter_.load(std::memory_order_relaxed)), "a timeline only grows");
  counter_.store(ticket, std::memory_order_seq_cst);
}

}  // namespace troupe::inline v0::wire
