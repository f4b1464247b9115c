// The cell's life: start, failure, restart, stop. Everything here happens on the cell's turn.
#include <cxxabi.h>
#include <sched.h>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/cell_extras.hpp"
#include "troupe/actor/envelope.hpp"
#include "troupe/actor/system_core.hpp"

namespace troupe::inline v0::detail {
namespace {

/// A directive on its way to a cell.
class Order final : public Node {
 public:
  Order(Directive directive, Error error) : directive_(directive), error_(std::move(error)) {}
  void run(Cell& cell) noexcept override {
    cell.obey(directive_, error_);
    delete this;
  }
  void drop(Cell&, const Error&) noexcept override { delete this; }

 private:
  const Directive directive_;
  const Error error_;
};

/// A child's failure on its way to the parent.
class Escalation final : public Node {
 public:
  Escalation(Cell& child, Error error) : child_(IntrusivePtr<Cell>::share(&child)), error_(std::move(error)) {}
  void run(Cell& cell) noexcept override {
    cell.child_escalates(*child_, error_);
    delete this;
  }
  void drop(Cell&, const Error&) noexcept override { delete this; }  // the parent stops, so its children stop, too

 private:
  const IntrusivePtr<Cell> child_;
  const Error error_;
};

/// The error that the exception in flight stands for; `who` gives the words for who threw it.
template <class Words>
Error error_in_flight(const Words& who) noexcept {
  try {
    throw;
  } catch (const Exception&) {
    return current_exception_as_error();
  } catch (const std::bad_alloc&) {
    return current_exception_as_error();
  } catch (const std::exception& exception) {
    return describe(ErrorKind::handler_threw,
                    [&] { return who() + " threw " + type_name(typeid(exception)) + ": " + exception.what(); });
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();  // null: not an exception of C++
    return describe(ErrorKind::handler_threw, [&] {
      return who() + " threw " + (type ? type_name(*type) : std::string("something")) + ", which is no std::exception";
    });
  }
}

constexpr bool has(std::uint64_t signals, Signal signal) noexcept {
  return signals & static_cast<std::uint64_t>(signal);
}

}  // namespace

void Cell::handle(std::uint64_t signals) noexcept {
  const bool by_parent = has(signals, Signal::by_parent);
  if (has(signals, Signal::drain) || has(signals, Signal::stop)) {
    StopReason reason = by_parent ? StopReason::parent_stopped : StopReason::requested;
    if (core_.shutting_down()) reason = StopReason::shutdown;
    if (has(signals, Signal::stop)) {
      draining_ = false;
      begin_stop(reason);
    } else if (phase_ < Phase::stopping && !draining_) {
      draining_ = true;
      stop_reason_ = reason;
    }
  }
  if (has(signals, Signal::child_gone)) {
    continue_restart();
    continue_stop();
  }
}

template <class Hook>
void Cell::run_hook(const char* what, Hook hook) noexcept {
  try {
    hook();
  } catch (...) {
    const Error error = current_exception_as_error();
    log_words(LogLevel::error, [&] { return std::string(what) + " threw: " + error.to_string(); });
  }
}

void Cell::start_instance() noexcept {
  phase_ = Phase::running;
  try {
    construct();
    started();
  } catch (...) {
    fail(thrown_by(instance_ ? "started()" : "the constructor"));
  }
  settle();
}

Error Cell::thrown_by(const EnvelopeBase& envelope) const noexcept {
  return error_in_flight([&] {
    const std::string type = envelope.message_type();
    // The actor behind `System::run` is none that a user knows.
    if (type.starts_with("troupe::v0::detail::TaskRunner<")) return std::string("the task that was run");
    return "on(" + type + ") of " + path();
  });
}

Error Cell::thrown_by(std::string_view what) const noexcept {
  return error_in_flight([&] { return std::string(what) + " of " + path(); });
}

void Cell::fail(Error error) noexcept {
  if (has_failed_) return;
  has_failed_ = true;
  failure_ = std::move(error);
}

void Cell::decide(const Error& error) noexcept {
  Directive directive = supervision_->directive;
  try {
    if (supervision_->decide) directive = supervision_->decide(error);
  } catch (...) {
    const Error thrown = current_exception_as_error();
    log_words(LogLevel::error, [&] { return "its supervision threw: " + thrown.to_string(); });
    directive = Directive::stop;
  }
  if (directive == Directive::resume && !instance_) directive = Directive::restart;  // no instance could go on
  Extras& mine = extras();
  mine.recovering_from = error;
  if (directive == Directive::restart && !mine.budget.spend(*supervision_, core_.now())) {
    mine.recovering_from = describe(error.kind(), [&] {
      return "more than " + std::to_string(supervision_->max_restarts) +
             " restarts per window; the last failure: " + std::string(error.message());
    });
    directive = Directive::stop;
  }
  if (!parent_ && directive != Directive::stop) directive = Directive::resume;  // the roots of the tree never restart
  const auto escalated = std::exchange(mine.escalated, {});
  switch (directive) {
    case Directive::resume:
      for (const auto& child : escalated) child->post_directive(Directive::resume, error);
      break;
    case Directive::restart:
      log_words(LogLevel::warning, [&] { return "restarts: " + error.to_string(); });
      if (supervision_->scope == RestartScope::all_for_one) core_.obey_siblings(*this, Directive::restart, error);
      begin_restart(error);
      break;
    case Directive::stop:
      log_words(LogLevel::warning, [&] { return "is stopped: " + mine.recovering_from.to_string(); });
      if (supervision_->scope == RestartScope::all_for_one) core_.obey_siblings(*this, Directive::stop, error);
      begin_stop(StopReason::failed);
      break;
    case Directive::escalate:
      phase_ = Phase::suspended;
      await_memory([&] { parent_->post(*new Escalation(*this, error)); });
      break;
  }
}

void Cell::post_directive(Directive directive, const Error& error) noexcept {
  await_memory([&] { post(*new Order(directive, error)); });
}

void Cell::child_escalates(Cell& child, const Error& error) noexcept {
  if (!parent_) {  // this is a root: there is no parent to decide
    child.log_words(LogLevel::error, [&] { return "escalated to the top and is stopped: " + error.to_string(); });
    child.post_directive(Directive::stop, error);
    return;
  }
  await_memory([&] { extras().escalated.push_back(IntrusivePtr<Cell>::share(&child)); });
  fail(error);
}

void Cell::obey(Directive directive, const Error& error) noexcept {
  if (phase_ >= Phase::stopping) return;
  switch (directive) {
    case Directive::resume:
      if (phase_ == Phase::suspended && !extras().backoff) phase_ = Phase::running;
      break;
    case Directive::restart:
      if (phase_ == Phase::running || (phase_ == Phase::suspended && !extras().backoff)) {
        extras().recovering_from = error;
        begin_restart(error);
      }
      break;
    case Directive::stop:
      extras().recovering_from = error;
      begin_stop(StopReason::failed);
      break;
    case Directive::escalate: break;
  }
}

void Cell::begin_restart(const Error& error) noexcept {
  phase_ = Phase::restarting;
  has_failed_ = false;
  cut_handlers(
      describe(ErrorKind::restarted, [&] { return path() + " was restarted: " + std::string(error.message()); }));
  if (instance_) run_hook("restarting()", [&] { restarting(error); });
  cancel_timers();
  core_.stop_children(*this, Signal::stop);
  continue_restart();
}

void Cell::continue_restart() noexcept {
  if (phase_ != Phase::restarting || core_.has_children(*this)) return;
  core_.reopen_children(*this);
  destroy();
  Extras& mine = extras();
  const Duration delay = supervision_->backoff.delay(mine.budget.in_a_row(), core_.random());
  if (delay.count() == 0) return end_restart();
  phase_ = Phase::suspended;
  await_memory([&] { mine.backoff = IntrusivePtr<BackoffTimer>::adopt(new BackoffTimer(*this)); });
  core_.wheel().start(mine.backoff, core_.now() + delay);
}

void Cell::end_restart() noexcept {
  Extras& mine = extras();
  mine.backoff = nullptr;
  phase_ = Phase::running;
  core_.count_restart();
  try {
    construct();
    restarted(mine.recovering_from);
    unstash_all();
  } catch (...) {
    // `settle` lets the supervision decide again, up to the limit of restarts.
    fail(thrown_by(instance_ ? "restarted()" : "the constructor"));
  }
}

void Cell::begin_stop(StopReason reason) noexcept {
  if (phase_ >= Phase::stopping) {  // its children may be draining; now they must stop at once
    core_.stop_children(*this, Signal::stop);
    return;
  }
  phase_ = Phase::stopping;
  stop_reason_ = reason;
  has_failed_ = false;
  const Error why = describe(ErrorKind::stopped, [&] { return path() + " has stopped"; });
  cancel_timers();
  cut_handlers(why);
  if (extras_) {
    if (extras_->backoff) core_.wheel().cancel(*std::exchange(extras_->backoff, nullptr));
    for (const auto& [watched, watch] : std::exchange(extras_->watching, {})) core_.unwatch(*watch);
    extras_->escalated.clear();
  }
  await_arrivals(why);
  mailbox_.close();
  drop_queued(why);
  core_.stop_children(*this, draining_ ? Signal::drain : Signal::stop);
  continue_stop();
}

// Another thread may have ended a wait that was just abandoned, and may be posting its end to this cell right now. The
// cell must not stop before that post has come.
void Cell::await_arrivals(const Error& error) noexcept {
  while (arrivals_expected_ > 0) {
    if (Node* node = mailbox_.pop_control())
      node->drop(*this, error);
    else
      sched_yield();
  }
}

void Cell::drop_queued(const Error& error) noexcept {
  unstash_all();
  while (Node* node = front_.pop_front()) node->drop(*this, error);
  while (Node* node = mailbox_.pop_leftover()) node->drop(*this, error);
}

void Cell::continue_stop() noexcept {
  if (phase_ != Phase::stopping || core_.has_children(*this)) return;
  if (instance_) {
    run_hook("stopping()", [&] { stopping(); });
    destroy();
  }
  phase_ = Phase::stopped;
}

Terminated Cell::last_words() const noexcept {
  const bool failed = stop_reason_ == StopReason::failed;
  Terminated notice{{}, id_, stop_reason_, failed ? std::optional(extras_->recovering_from) : std::nullopt};
  try {
    notice.path = path();
  } catch (const std::bad_alloc&) {  // then only the id names the actor
  }
  return notice;
}

void Cell::watch(IntrusivePtr<Cell> watched, Watch::MakeEnvelope make_envelope) {
  auto watch = std::make_unique<Watch>(IntrusivePtr<Cell>::share(this), std::move(watched), make_envelope);
  if (extras().watching.try_emplace(watch->watched.get(), watch.get()).second) core_.watch(std::move(watch));
}

void Cell::unwatch(const Cell& watched) noexcept {
  if (!extras_) return;
  const auto watch = extras_->watching.find(&watched);
  if (watch == extras_->watching.end()) return;
  Watch& ended = *watch->second;
  extras_->watching.erase(watch);
  core_.unwatch(ended);
}

bool Cell::watch_ended(const Watch& ended) noexcept {
  if (!extras_) return false;
  const auto watch = extras_->watching.find(ended.watched.get());
  if (watch == extras_->watching.end() || watch->second != &ended) return false;
  extras_->watching.erase(watch);
  return true;
}

void BackoffTimer::fire() noexcept {
  retain();
  cell_->post(*this);
}

void BackoffTimer::run(Cell& cell) noexcept {
  cell.backoff_over(*this);
  release();
}

void BackoffTimer::drop(Cell&, const Error&) noexcept { release(); }

void Cell::backoff_over(const BackoffTimer& timer) noexcept {
  if (phase_ == Phase::suspended && extras().backoff.get() == &timer) end_restart();
}

}  // namespace troupe::inline v0::detail
