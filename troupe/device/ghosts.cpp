#include "troupe/device/ghosts.hpp"

#include <algorithm>

namespace troupe::inline v0 {
namespace {

/// Whether one op writes what the other one reads, or writes.
bool overwrites(const detail::OpCall& writer, const detail::OpCall& other, bool op::Touch::* use_of_other) {
  for (const BlockUse& mine : writer.uses.all())
    for (const BlockUse& theirs : other.uses.all())
      if (mine.touch.writes && theirs.touch.*use_of_other && mine.touch.range.overlaps(theirs.touch.range)) return true;
  return false;
}

}  // namespace

bool was_let_be(const detail::OpCall& call) noexcept {
  return call.is_done && call.failure && !call.failure->had_begun &&
         call.failure->error.kind() == ErrorKind::cancelled && !call.given_up && !call.deadline_passed &&
         !call.is_hopeless;  // that one was held back from the start
}

std::vector<bool> who_is_in_doubt(const std::vector<detail::OpCall*>& ghosts) {
  std::vector<bool> in_doubt(ghosts.size(), false);
  std::vector<const detail::OpCall*> unknown;  // so far: almost always few
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    const detail::OpCall& call = *ghosts[i];
    const bool is_done = call.is_done && !was_let_be(call);
    in_doubt[i] = is_done && std::ranges::any_of(unknown, [&](const detail::OpCall* before) {
                    return overwrites(*before, call, &op::Touch::reads);
                  });
    if (!is_done || in_doubt[i]) unknown.push_back(&call);
  }
  return in_doubt;
}

std::vector<bool> who_had_begun(const std::vector<detail::OpCall*>& ghosts, const std::vector<bool>& in_doubt,
                                const WorkerSession& session) {
  std::vector<bool> had_begun = in_doubt;
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    const detail::OpCall& call = *ghosts[i];
    if (call.is_hopeless) had_begun[i] = false;  // its record tells the worker to pass over it
    if (had_begun[i] || call.is_hopeless) continue;
    bool maybe = session.may_have_begun(call);
    for (std::size_t j = 0; j < i && maybe; ++j) {
      const detail::OpCall& before = *ghosts[j];
      const bool may_be_done = had_begun[j] && !session.knows_what_was_done(before.lane);
      if (before.is_done || before.is_hopeless || may_be_done) continue;
      const bool is_behind = before.lane == call.lane || call.conflicts_with(before);
      maybe = !call.comes_after(before) && (had_begun[j] || !is_behind);
    }
    had_begun[i] = maybe;
  }
  return had_begun;
}

std::vector<bool> who_is_lost(const std::vector<detail::OpCall*>& ghosts, const std::vector<bool>& in_doubt,
                              const std::vector<bool>& had_begun, const WorkerSession& session) {
  std::vector<bool> is_lost(ghosts.size(), false);
  for (std::size_t i = ghosts.size(); i-- > 0;) {
    const detail::OpCall& call = *ghosts[i];
    if (!had_begun[i] || call.is_done) continue;
    is_lost[i] = call.is_culprit || !call.can_be_rerun();
    if (session.knows_what_was_done(call.lane) && !in_doubt[i]) continue;
    for (std::size_t j = i + 1; j < ghosts.size() && !is_lost[i]; ++j) {
      const detail::OpCall& behind = *ghosts[j];
      const bool stays = behind.is_done || is_lost[j];
      is_lost[i] = (had_begun[j] || behind.is_done) && (overwrites(behind, call, &op::Touch::reads) ||
                                                        (stays && overwrites(behind, call, &op::Touch::writes)));
    }
  }
  return is_lost;
}

}  // namespace troupe::inline v0
