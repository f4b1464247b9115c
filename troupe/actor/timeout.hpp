// A limit on how long somebody waits: a timer that ends what they wait for. It stands apart from pending.hpp, which is
// installed: only sources start timers.
#pragma once

#include <utility>

#include "troupe/actor/pending.hpp"
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
