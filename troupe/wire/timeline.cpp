#include "troupe/wire/timeline.hpp"

#include "troupe/core/assert.hpp"

namespace troupe::inline v0::wire {

void Timeline::put(std::uint64_t word) noexcept {
  const Ticket ticket = TimelineWord::ticket(word);
  TROUPE_ASSERT(reached(ticket, known_.load(std::memory_order_relaxed)), "a timeline only grows");
  known_.store(ticket, std::memory_order_seq_cst);
  word_.store(word, std::memory_order_seq_cst);
}

}  // namespace troupe::inline v0::wire
