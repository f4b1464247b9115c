#include "troupe/actor/when.hpp"

#include <optional>

#include "troupe/actor/system_core.hpp"
#include "troupe/actor/timeout.hpp"

namespace troupe::inline v0::detail {

/// What a waiting coroutine keeps for its wait: the wake-up, and the timer or the callback that wakes it.
struct Wait::Waiting {
  class Wakeup final : public Outcome<void> {
   public:
    void wake() noexcept {
      retain();
      complete_and_release({});
    }
  };

  class AtTime final : public Timer {
   public:
    explicit AtTime(IntrusivePtr<Wakeup> wakeup) noexcept : wakeup_(std::move(wakeup)) {}
    void fire() noexcept override { wakeup_->wake(); }

   private:
    const IntrusivePtr<Wakeup> wakeup_;
  };

  struct OnStop {
    Wakeup* wakeup;
    void operator()() const noexcept { wakeup->wake(); }
  };

  explicit Waiting(SystemCore& system_core) : core(system_core) {}

  SystemCore& core;
  IntrusivePtr<Wakeup> wakeup = IntrusivePtr<Wakeup>::adopt(new Wakeup);
  IntrusivePtr<AtTime> timer;
  std::optional<std::stop_callback<OnStop>> on_stop;
};

Wait::Wait(Duration duration) noexcept : duration_(duration) {}
Wait::Wait(std::stop_token token) noexcept : token_(std::move(token)) {}
Wait::Wait(Wait&& other) noexcept = default;

// If it still waits, its coroutine is being cut off, on its home's turn.
Wait::~Wait() {
  if (!waiting_) return;
  const IntrusivePtr<Waiting::Wakeup> wakeup = waiting_->wakeup;
  end();
  wakeup->abandon();
}

bool Wait::await_ready() const noexcept { return token_.stop_requested() || duration_.count() == 0; }

void Wait::begin(Cell& home, std::coroutine_handle<> waiter) {
  waiting_ = std::make_unique<Waiting>(home.core());
  waiting_->wakeup->wait_in(home, waiter);
  if (duration_.count() > 0) {
    waiting_->timer = IntrusivePtr<Waiting::AtTime>::adopt(new Waiting::AtTime(waiting_->wakeup));
    home.core().wheel().start(waiting_->timer, home.core().now() + duration_);
  }
  if (token_.stop_possible()) waiting_->on_stop.emplace(token_, Waiting::OnStop{waiting_->wakeup.get()});
}

void Wait::end() noexcept {
  if (!waiting_) return;
  waiting_->on_stop.reset();  // if the callback runs right now, this waits for it
  if (waiting_->timer) waiting_->core.wheel().cancel(*waiting_->timer);
  waiting_.reset();
}

}  // namespace troupe::inline v0::detail
