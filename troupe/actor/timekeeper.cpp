#include "troupe/actor/timekeeper.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <system_error>

namespace troupe::inline v0 {

Timekeeper::Timekeeper(TimerWheel& wheel, const detail::Clock& clock, std::function<bool()> look_after)
    : wheel_(wheel), clock_(clock), look_after_(std::move(look_after)) {}

Timekeeper::~Timekeeper() { stop(); }

Result<void> Timekeeper::start() {
  try {
    thread_ = std::thread([this] { keep(); });
  } catch (const std::system_error& error) {
    return fail(ErrorKind::out_of_memory, std::string("the machine gave no thread: ") + error.what());
  }
  pthread_setname_np(thread_.native_handle(), "timekeeper");
  return {};
}

void Timekeeper::stop() noexcept {
  stopping_.store(true, std::memory_order_release);
  wake();
  if (thread_.joinable()) thread_.join();
}

void Timekeeper::keep() noexcept {
  prctl(PR_SET_TIMERSLACK, 1UL);  // else the kernel wakes it up to 50 us late
  TimePoint last_busy = clock_.now();
  while (!stopping_.load(std::memory_order_acquire)) {
    const TimePoint now = clock_.now();
    wheel_.advance(now);
    const bool busy = look_after_();
    if (busy) last_busy = now;
    bool watching = now - last_busy < kLookOnFor;
    watching_.store(watching, std::memory_order_seq_cst);
    // Whoever becomes busy after this store wakes us; whoever was before is seen here.
    if (!watching && look_after_()) continue;
    TimePoint until = wheel_.next_due().value_or(TimePoint::max());
    // A thread of a pool that is awake fires what is due soon, unless its work takes longer.
    if (busy && until < now + kSpinTime) until += kLeavesToPools;
    if (watching) until = std::min(until, now + kLookEvery);
    parker_.park_until(until);
  }
}

}  // namespace troupe::inline v0
