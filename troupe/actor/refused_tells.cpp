#include "troupe/actor/refused_tells.hpp"

#include <string>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/system_core.hpp"

namespace troupe::inline v0::detail {

/// What was refused by one receiver since the log said so last. A timer, for the end of the period.
class RefusedTells::Report final : public Timer {
 public:
  Report(RefusedTells& owner, Cell& cell) noexcept : cell_(IntrusivePtr<Cell>::share(&cell)), owner_(owner) {}

  void count_one() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// False when there was nothing to say.
  bool say() noexcept {
    const std::uint64_t count = count_.exchange(0, std::memory_order_relaxed);
    if (count == 0) return false;
    try {
      cell_->log(LogLevel::warning, "its mailbox is full, at " + std::to_string(cell_->capacity()) + " messages: " +
                                        std::to_string(count) + (count == 1 ? " tell was" : " tells were") +
                                        " refused. Look at what tell returns, or use tell_or_wait");
    } catch (const std::bad_alloc&) {  // the dead letters are counted
    }
    return true;
  }
  void begin_period() noexcept {
    SystemCore& core = cell_->core();
    core.wheel().start(IntrusivePtr<Timer>::share(this), core.now() + kRefusalPeriod);
    if (cell_->stopped()) end_period();  // or else `forget` does it: an armed timer would keep the whole system
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
  } catch (const std::bad_alloc&) {  // the dead letters are counted
    return;
  }
  report->count_one();
  report->say();
  report->begin_period();
  if (cell.stopped()) forget(cell);  // it may have gone just before it was noted here
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
