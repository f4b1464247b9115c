#include "troupe/actor/refused_tells.hpp"

#include <string>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/system_core.hpp"

namespace troupe::inline v0::detail {

/// Counts what one receiver has refused since the last line in the log. It is the timer that ends the period, too.
class RefusedTells::Report final : public Timer {
 public:
  Report(RefusedTells& owner, Cell& cell) noexcept : cell_(IntrusivePtr<Cell>::share(&cell)), owner_(owner) {}

  void count_one() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// Logs the count; false when there was nothing to log.
  bool say() noexcept {
    const std::uint64_t count = count_.exchange(0, std::memory_order_relaxed);
    if (count == 0) return false;
    try {
      cell_->log(LogLevel::warning, "its mailbox is full, at " + std::to_string(cell_->capacity()) + " messages: " +
                                        std::to_string(count) + (count == 1 ? " tell was" : " tells were") +
                                        " refused. Look at what tell returns, or use tell_or_wait");
    } catch (const std::bad_alloc&) {  // the tells are still counted as dead letters
    }
    return true;
  }
  void begin_period() noexcept {
    SystemCore& core = cell_->core();
    core.wheel().start(IntrusivePtr<Timer>::share(this), core.now() + kRefusalPeriod);
    // An armed timer would keep the whole system in memory. If the actor stops later, `forget` ends the period.
    if (cell_->stopped()) end_period();
  }
  void end_period() noexcept { cell_->core().wheel().cancel(*this); }
  void fire() noexcept override {
    if (say())
      begin_period();
    else
      owner_.forget(*cell_);
  }

 private:
  const IntrusivePtr<Cell> cell_;
  RefusedTells& owner_;
  std::atomic<std::uint64_t> count_{0};
};

RefusedTells::RefusedTells() = default;
RefusedTells::~RefusedTells() = default;

void RefusedTells::count(Cell& cell) noexcept {
  IntrusivePtr<Report> report;
  try {
    const std::lock_guard lock(mutex_);
    if (const auto known = reports_.find(&cell); known != reports_.end()) return known->second->count_one();
    report = IntrusivePtr<Report>::adopt(new Report(*this, cell));
    reports_.emplace(&cell, report);
    size_.store(reports_.size(), std::memory_order_seq_cst);
  } catch (const std::bad_alloc&) {  // the tell is still counted as a dead letter
    return;
  }
  report->count_one();
  report->say();
  report->begin_period();
  if (cell.stopped()) forget(cell);  // the actor may have ended just before its report was added here
}

void RefusedTells::forget(const Cell& cell) noexcept {
  if (size_.load(std::memory_order_seq_cst) == 0) return;
  IntrusivePtr<Report> report;
  {
    const std::lock_guard lock(mutex_);
    const auto known = reports_.find(&cell);
    if (known == reports_.end()) return;
    report = std::move(known->second);
    reports_.erase(known);
    size_.store(reports_.size(), std::memory_order_seq_cst);
  }
  report->say();
  report->end_period();
}

}  // namespace troupe::inline v0::detail
