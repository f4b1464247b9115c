#include "troupe/actor/ask.hpp"

#include "troupe/actor/pool.hpp"
#include "troupe/actor/system_core.hpp"
#include "troupe/actor/timeout.hpp"
#include "troupe/core/without_memory.hpp"

namespace troupe::inline v0::detail {

AskBase::AskBase(IntrusivePtr<Cell> target, IntrusivePtr<Pending> pending, EnvelopeBase* envelope,
                 bool is_tell) noexcept
    : target_(std::move(target)), pending_(std::move(pending)), envelope_(envelope), is_tell_(is_tell) {}

AskBase::AskBase(AskBase&& other) noexcept = default;

// If `waits_` is set, the coroutine is being destroyed while it awaits this ask (on its home's turn).
AskBase::~AskBase() {
  if (!pending_) return;  // moved from
  give_up_watching();
  if (waits_) pending_->abandon();
  if (envelope_) pending_->release();  // the mailbox's share: the mailbox never got it
}

bool AskBase::refuses_to_start() noexcept {
  Error refusal(ErrorKind::cancelled);
  if (!target_)
    refusal = describe(ErrorKind::invalid_argument, [] { return "the ref is empty: it names no actor"; });
  else if (target_->core().is_forked())
    refusal = fork_error();
  else if (timeout_ && timeout_->count() <= 0)
    refusal = describe(ErrorKind::timeout, [] { return "a timeout of zero leaves no time to answer"; });
  else if (!stop_token_.stop_requested())
    return false;
  pending_->fail_with(refusal);
  return true;
}

void AskBase::start_in(Cell& home, std::coroutine_handle<> waiter) noexcept {
  pending_->wait_in(home, waiter);
  send();
}

void AskBase::start_and_wait_in_thread() noexcept {
  if (Cell::current_cell()) {
    pending_->fail_with(describe(ErrorKind::invalid_argument, [] {
      return "get() inside a handler would hold up its dispatcher: co_await the ask instead";
    }));
    return;
  }
  SystemCore& core = target_->core();
  const Pool::Awaiting awaiting;
  send();
  if (!pending_->wait_in_thread(core))
    pending_->fail_with(
        describe(ErrorKind::internal, [] { return "virtual time stands still: nothing is left that could answer"; }));
  resumed();
}

void AskBase::watch_for_its_end() {
  if (timeout_) {
    SystemCore& core = target_->core();
    timer_ = IntrusivePtr<Timeout>::adopt(new Timeout(pending_, *timeout_));
    core.wheel().start(timer_, core.now() + *timeout_);
  }
  if (stop_token_.stop_possible())
    on_stop_ = std::make_unique<std::stop_callback<OnStop>>(std::move(stop_token_), OnStop{pending_.get()});
}

void AskBase::send() noexcept {
  waits_ = true;
  try {
    is_tell_ ? send_tell() : send_ask();
  } catch (const std::bad_alloc&) {
    pending_->fail_with(Error(ErrorKind::out_of_memory));
  }
}

void AskBase::send_ask() {
  watch_for_its_end();
  if (Result<bool> sent = target_->send(*envelope_, target_->suspends_askers()); !sent) {
    pending_->fail_with(sent.error());
    return;
  }
  envelope_ = nullptr;
}

// Only a message that waits outside the mailbox can time out or be cancelled, so only then this watches for that.
void AskBase::send_tell() {
  Result<bool> in_mailbox = target_->send(*envelope_, true);
  if (!in_mailbox) return pending_->fail_with(in_mailbox.error());
  envelope_ = nullptr;
  if (!*in_mailbox) return watch_for_its_end();
  pending_->retain();
  static_cast<Outcome<void>&>(*pending_).complete_and_release({});
}

void AskBase::resumed() noexcept {
  waits_ = false;
  give_up_watching();
}

void AskBase::give_up_watching() noexcept {
  on_stop_.reset();  // if the callback runs right now, this waits for it
  if (timer_) target_->core().wheel().cancel(*std::exchange(timer_, nullptr));
}

}  // namespace troupe::inline v0::detail
