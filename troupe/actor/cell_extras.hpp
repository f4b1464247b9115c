// What only some actors need: timers, a stash, watches, a history of restarts. It is allocated at its first use, so
// that most actors stay small.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "troupe/actor/actor_timer.hpp"
#include "troupe/actor/cell.hpp"
#include "troupe/core/without_memory.hpp"

namespace troupe::inline v0 {

/// How many messages one actor may have in its stash; one more message ends in `mailbox_full`.
inline constexpr std::uint32_t kMaxStashedMessages = 4096;

namespace detail {

/// The timer that ends a back-off: when it fires, it posts itself to the cell.
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
    const std::string sentence = words();
    log(level, std::string_view(sentence).substr(0, sentence.find('\n')));  // below it there may be a backtrace
  } catch (const std::bad_alloc&) {  // what the actor does is more important than its line in the log
  }
}

struct Cell::Extras {
  TimerTable timers;

  NodeList stash;
  std::uint32_t stash_size = 0;

  std::unordered_map<const Cell*, Watch*> watching;  // a watch lives until it runs on this cell's turn or is given up

  detail::RestartBudget budget;
  Error recovering_from{ErrorKind::internal};  // the failure that caused the restart or the stop
  IntrusivePtr<BackoffTimer> backoff;          // set while the actor waits for the end of its back-off
  std::vector<IntrusivePtr<Cell>> escalated;   // children that wait for this actor's directive
};

}  // namespace detail

}  // namespace troupe::inline v0
