#include "troupe/wire/timeline.hpp"

#include "troupe/core/assert.hpp"

namespace troupe::inline v0::wire {

void Timeline::put(Ticket ticket, std::uint32_t word) noexcept {
  TROUPE_ASSERT(reached(ticket, known_.load(std::memory_order_relaxed)), "a timeline only grows");
  known_.store(ticket, std::memory_order_seq_cst);
  word_.store(word, std::memory_order_seq_cst);
}

/// Several look at a time, and one that was held up must not take back what another has learned: words of long ago
/// look like new ones.
void Timeline::know(Ticket ticket, Ticket known) const noexcept {
  while (!reached(known, ticket) && !known_.compare_exchange_weak(known, ticket, std::memory_order_seq_cst)) {
  }
}

}  // namespace troupe::inline v0::wire
