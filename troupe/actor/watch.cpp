#include <memory>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/envelope.hpp"
#include "troupe/actor/supervision.hpp"

namespace troupe::inline v0 {

std::string_view name(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::requested: return "requested";
    case StopReason::failed: return "failed";
    case StopReason::parent_stopped: return "parent_stopped";
    case StopReason::shutdown: return "shutdown";
  }
  return "unknown";
}

namespace detail {

Watch::Watch(IntrusivePtr<Cell> watcher_cell, IntrusivePtr<Cell> watched_cell, MakeEnvelope make_envelope) noexcept
    : watcher(std::move(watcher_cell)), watched(std::move(watched_cell)), make_envelope_(make_envelope) {}

void Watch::run(Cell& cell) noexcept {
  if (cell.postpone(*this)) return;
  const std::unique_ptr<Watch> self(this);
  if (!cell.watch_ended(*this)) return;  // the watcher gave up the watch while the notice was on its way
  try {
    make_envelope_(std::move(notice))->run(cell);
  } catch (...) {
    cell.fail(cell.thrown_by("making the message of a watch"));
  }
}

void Watch::drop(Cell&, const Error&) noexcept { delete this; }

void WatchList::add(Watch& watch) noexcept {
  watch.previous_ = nullptr;
  watch.next_ = first_;
  if (first_) first_->previous_ = &watch;
  first_ = &watch;
}

void WatchList::remove(Watch& watch) noexcept {
  if (watch.previous_) watch.previous_->next_ = watch.next_;
  if (watch.next_) watch.next_->previous_ = watch.previous_;
  if (first_ == &watch) first_ = watch.next_;
}

}  // namespace detail

}  // namespace troupe::inline v0
