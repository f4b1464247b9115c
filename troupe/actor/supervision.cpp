#include "troupe/actor/supervision.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::inline v0 {

Duration Backoff::delay(int restarts_in_a_row, double random) const noexcept {
  const double doubled = static_cast<double>(initial.count()) * std::exp2(std::clamp(restarts_in_a_row, 0, 62));
  const double capped = std::min(doubled, static_cast<double>(std::max(max, Duration(0)).count()));
  const double spread = std::clamp(jitter, 0.0, 1.0) * (2.0 * random - 1.0);
  return Duration(static_cast<std::int64_t>(std::max(0.0, capped * (1.0 + spread))));
}

bool detail::RestartBudget::spend(const Supervision& supervision, TimePoint now) noexcept {
  if (spent_ == 0 || now - window_began_ > supervision.window) {
    window_began_ = now;
    spent_ = 0;
  }
  if (spent_ >= supervision.max_restarts) return false;
  ++spent_;
  return true;
}

}  // namespace troupe::inline v0
