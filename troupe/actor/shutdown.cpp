// Shutdown: drain within a deadline, cut off what is left, report it, and end the threads.
#include <utility>

#include "troupe/actor/deterministic.hpp"
#include "troupe/actor/envelope.hpp"
#include "troupe/actor/pool.hpp"
#include "troupe/actor/system_core.hpp"
#include "troupe/actor/timekeeper.hpp"

namespace troupe::inline v0::detail {
namespace {

/// How long actors may take to stop after they were cut off. Only a handler that does not return takes longer.
constexpr Duration kCutOffTime = std::chrono::milliseconds(200);

}  // namespace

bool SystemCore::wait_until_gone(Cell& guardian, TimePoint until) {
  if (is_virtual()) {
    drive_until([&] { return !guardian.in_tree_ || now() >= until; });
    return !guardian.in_tree_;
  }
  std::unique_lock lock(tree_mutex_);
  return gone_.wait_until(lock, until, [&] { return !guardian.in_tree_; });
}

ShutdownReport SystemCore::shutdown(Duration deadline) {
  {
    const std::lock_guard lock(tree_mutex_);
    if (report_) return *report_;
    shutting_down_.store(true, std::memory_order_release);
  }
  const TimePoint until = now() + std::max(deadline, Duration(0));
  ShutdownReport report;
  // The users' actors go first: they may need the devices, whose actors are in the other branch.
  for (const IntrusivePtr<Cell>& branch : {user_, internals_}) {
    branch->raise(Signal::drain);
    if (wait_until_gone(*branch, until)) continue;
    const bool cuts_off_first = std::exchange(report.drained, false);  // both branches at once, so they are listed once
    for_each_cell([&](Cell& cell) {
      if (cuts_off_first && (cell.queued() > 0 || cell.handlers_under_way() > 0))
        report.cut_off.push_back({cell.path(), cell.queued(), cell.handlers_under_way()});
      cell.raise(Signal::stop);
    });
    wait_until_gone(*branch, now() + kCutOffTime);
  }
  for_each_cell([&](Cell& cell) {
    if (!cell.first_child_) report.stuck.push_back(cell.path());  // a cell with children only waits for them
  });
  const std::lock_guard lock(tree_mutex_);
  return report_.emplace(std::move(report));
}

void SystemCore::join() noexcept {
  for (const IntrusivePtr<Cell>& branch : {user_, internals_})
    while (!wait_until_gone(*branch, now() + std::chrono::seconds(1)))
      for_each_cell([&](Cell& cell) {
        if (!cell.first_child_) cell.log(LogLevel::warning, "the system waits for its handler to return");
      });
  for (auto& dispatcher : dispatchers_) dispatcher->join();
  if (timekeeper_) timekeeper_->stop();
  user_ = nullptr;
  internals_ = nullptr;
}

}  // namespace troupe::inline v0::detail
