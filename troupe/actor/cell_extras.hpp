// What only some actors need: timers, a stash, watches, a history of restarts. Made on first use, so that an idle actor
// stays small.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "troupe/actor/actor_timer.hpp"
#include "troupe/actor/cell.hpp"
#include "troupe/core/without_memory.hpp"

namespace troupe::inline v0 {

/// One more `stash` ends in `mailbox_full`.
inline constexpr std::uint32_t kMaxStashedMessages = 4096;

namespace detail {

/// Ends a back-off: posts itself to the cell when its time has come.
class BackoffTimer final : public Timer, public Node {
 public:
  explicit BackoffTimer(Cell& cell) noexcept : cell_(IntrusivePtr<Cell>::share(&cell)) {}
  void fire() noexcept override;
  void run(Cell& cell) noexcept override;
  void drop(Cell& cell, const Error& why) noexcept override;

 private:
  const IntrusivePtr<Cell> cell_;
};

template <class Words>
void Cell::log_words(LogLevel level, const Words& words) const noexcept {
  try {
    log(level, words());
  } catch (const std::bad_alloc&) {  // what happens is more important than that it is said
  }
}

struct Cell::Extras {
  TimerTable timers;

  NodeList stash;
  std::uint32_t stash_size = 0;

  std::unordered_map<const Cell*, Watch*> watching;  // each is alive until it is run on this cell's turn

  detail::RestartBudget budget;
  Error recovering_from{ErrorKind::internal};  // the failure that a restart or stop is about
  IntrusivePtr<BackoffTimer> backoff;          // set while it waits
  std::vector<IntrusivePtr<Cell>> escalated;   // children that wait for this actor's directive
};

}  // namespace detail

}  // namespace troupe::inline v0
