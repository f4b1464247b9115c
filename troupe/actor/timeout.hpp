// A limit on a wait: a timer that ends what somebody waits for. It is not in ask.hpp, because that header is
// installed, and only sources need timers.
#pragma once

#include <utility>

#include "troupe/actor/ask.hpp"
#include "troupe/actor/timer.hpp"

namespace troupe::inline v0::detail {

/// Ends a `Pending` with `timeout` when it fires.
class Timeout final : public Timer {
 public:
  Timeout(IntrusivePtr<Pending> pending, Duration after) noexcept : pending_(std::move(pending)), after_(after) {}
  void fire() noexcept override;

 private:
  const IntrusivePtr<Pending> pending_;
  const Duration after_;
};

}  // namespace troupe::inline v0::detail
