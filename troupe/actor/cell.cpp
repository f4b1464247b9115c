// The cell's turns: what runs when, and what becomes of handlers. lifecycle.cpp has the start, failures and the stop.
#include "troupe/actor/cell.hpp"

#include <cxxabi.h>

#include <cstdlib>

#include "troupe/actor/actor_timer.hpp"
#include "troupe/actor/cell_extras.hpp"
#include "troupe/actor/envelope.hpp"
#include "troupe/actor/system_core.hpp"
#include "troupe/core/without_memory.hpp"

namespace troupe::inline v0::detail {

constinit thread_local Cell* Cell::current_cell_ = nullptr;

std::coroutine_handle<> RunningHandler::completed() noexcept {
  cell_->handler_ended(*this);
  return std::noop_coroutine();
}

std::string type_name(const std::type_info& type) {
  int status = 0;
  char* readable = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = readable ? readable : type.name();
  std::free(readable);
  return name;
}

Cell::Cell(SystemCore& core, IntrusivePtr<Cell> parent, const SpawnOptions& options, std::uint64_t id)
    : core_(core),
      dispatcher_(options.dispatcher ? *options.dispatcher : core.default_dispatcher()),
      id_(id),
      name_(options.name),
      supervision_(options.supervision == Supervision() ? core.default_supervision()
                                                        : std::make_shared<const Supervision>(options.supervision)),
      mailbox_(options.mailbox_capacity, options.overflow),
      max_handlers_(options.max_handlers),
      parent_(std::move(parent)) {
  core_.retain();
}

Cell::~Cell() { core_.release(); }

Cell::Extras& Cell::extras() noexcept {
  if (!extras_) await_memory([&] { extras_ = std::make_unique<Extras>(); });
  return *extras_;
}

// It uses `append`, because for `"$" + std::to_string(id_)` g++ 12 warns of an overlap that cannot happen.
std::string Cell::name() const { return name_.empty() ? std::string("$").append(std::to_string(id_)) : name_; }

std::string Cell::path() const { return (parent_ ? parent_->path() : std::string()) + "/" + name(); }

Result<bool> Cell::send(EnvelopeBase& envelope, bool may_wait) noexcept {
  if (core_.is_forked()) return troupe::fail(fork_error());
  Node* dropped = nullptr;
  const Mailbox::Push outcome = mailbox_.push_message(envelope, may_wait, dropped);
  if (dropped)
    dropped->drop(*this, describe(ErrorKind::mailbox_full, [&] { return path() + " dropped its oldest message"; }));
  switch (outcome) {
    case Mailbox::Push::schedule: dispatcher_.schedule(*this, Scheduling::ready); return true;
    case Mailbox::Push::taken: return true;
    case Mailbox::Push::outside: return false;
    case Mailbox::Push::full:
      return troupe::fail(describe(ErrorKind::mailbox_full, [&] { return "the mailbox of " + path() + " is full"; }));
    case Mailbox::Push::closed:
      return troupe::fail(describe(ErrorKind::stopped, [&] { return path() + " has stopped"; }));
  }
  return true;
}

Result<void> Cell::tell(EnvelopeBase& envelope) noexcept {
  Result<bool> sent = send(envelope, false);
  if (sent) return {};
  if (sent.error().kind() == ErrorKind::mailbox_full) core_.refused_tells().count(*this);
  envelope.drop(*this, sent.error());
  return troupe::fail(std::move(sent).error());
}

void Cell::post(Node& node) noexcept {
  switch (mailbox_.push_control(node)) {
    case Mailbox::Push::schedule: dispatcher_.schedule(*this, Scheduling::ready); break;
    case Mailbox::Push::closed: node.drop(*this, Error(ErrorKind::stopped)); break;
    default: break;
  }
}

void Cell::raise(Signal signal) noexcept {
  if (core_.is_forked()) return;
  if (mailbox_.raise(signal)) dispatcher_.schedule(*this, Scheduling::ready);
}

bool Cell::takes_messages() const noexcept {
  return phase_ == Phase::running && running_count_.load(std::memory_order_relaxed) < max_handlers_;
}

void Cell::run() noexcept {
  Cell* const outer = std::exchange(current_cell_, this);
  for (Share share(dispatcher_.messages_per_turn(), kTurnTime);;) {
    const bool found_something = run_one();
    if (phase_ == Phase::stopped) {
      current_cell_ = outer;
      return leave();
    }
    const bool goes_on = takes_messages() && (!front_.empty() || mailbox_.message_at_hand());
    if (!goes_on && !mailbox_.finish_turn(!takes_messages())) {
      current_cell_ = outer;  // a thread-local; the cell itself may be running on another thread already
      return;
    }
    // When nothing was found although something is counted, a producer is about to push it.
    if (!found_something || share.used_up()) break;
  }
  current_cell_ = outer;
  mailbox_.count_out();
  dispatcher_.schedule(*this, Scheduling::yields);
}

// Handles signals first, then a control node; only without one, a message. False when there was no node to run.
bool Cell::run_one() noexcept {
  if (const std::uint64_t signals = mailbox_.take_signals()) {
    handle(signals);
    settle();
  }
  if (phase_ == Phase::fresh) start_instance();
  Node* node = mailbox_.pop_control();
  if (!node && takes_messages()) node = front_.empty() ? mailbox_.pop_message() : front_.pop_front();
  if (node) {
    node->run(*this);
    settle();
  }
  if (draining_ && phase_ == Phase::running) {
    mailbox_.count_out();
    if (front_.empty() && mailbox_.size() == 0 && !running_) begin_stop(stop_reason_);
  }
  return node != nullptr;
}

// The very end of the actor: nothing in the cell is touched after this.
void Cell::leave() noexcept {
  core_.remove(*this, last_words());
  mailbox_.retire();
  release();  // the system's share, which may be the last one
}

// First the handlers that have ended send their replies. Then, if the actor has failed, its supervision decides.
void Cell::settle() noexcept {
  current_ = nullptr;
  while (RunningHandler* ended = first_ended_) {
    first_ended_ = ended->next_ended_;
    ended->finished(*this);
  }
  while (has_failed_ && phase_ == Phase::running) {
    has_failed_ = false;
    const Error error = std::exchange(failure_, Error(ErrorKind::internal));
    decide(error);
  }
}

bool Cell::postpone(Node& node) noexcept {
  if (takes_messages()) return false;
  front_.push_back(node);
  return true;
}

void Cell::handler_waits(RunningHandler& handler) noexcept {
  handler.previous_running_ = nullptr;
  handler.next_running_ = running_;
  if (running_) running_->previous_running_ = &handler;
  running_ = &handler;
  running_count_.store(running_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Cell::handler_ended(RunningHandler& handler) noexcept {
  handler.next_ended_ = nullptr;
  (first_ended_ ? last_ended_->next_ended_ : first_ended_) = &handler;
  last_ended_ = &handler;
}

void Cell::handler_gone(RunningHandler& handler) noexcept {
  if (handler.previous_running_)
    handler.previous_running_->next_running_ = handler.next_running_;
  else
    running_ = handler.next_running_;
  if (handler.next_running_) handler.next_running_->previous_running_ = handler.previous_running_;
  running_count_.store(running_count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

void Cell::cut_handlers(const Error& error) noexcept {
  first_ended_ = nullptr;  // the ended handlers are in `running_`, too
  while (running_) running_->cut(*this, error);
}

Result<void> Cell::stash(EnvelopeBase& envelope) noexcept {
  Extras& mine = extras();
  if (mine.stash_size >= kMaxStashedMessages)
    return troupe::fail(describe(ErrorKind::mailbox_full, [&] { return "the stash of " + path() + " is full"; }));
  ++mine.stash_size;
  mine.stash.push_back(envelope);
  return {};
}

void Cell::unstash_all() noexcept {
  if (!extras_) return;
  front_.prepend(extras_->stash);
  extras_->stash_size = 0;
}

Result<std::uint64_t> Cell::start_timer(std::unique_ptr<TimerMessage> message, Duration first, Duration period) {
  Extras& mine = extras();
  if (mine.timers.size() >= kMaxTimersPerActor)
    return troupe::fail(ErrorKind::out_of_memory, path() + " has as many timers as an actor may have");
  const std::uint64_t timer_id = mine.timers.next_id();
  auto timer = IntrusivePtr<ActorTimer>::adopt(new ActorTimer(*this, std::move(message), timer_id, period));
  mine.timers.add(timer);
  timer->begin(core_.now() + first);
  return timer_id;
}

bool Cell::cancel_timer(std::uint64_t timer_id) noexcept {
  if (!extras_) return false;
  const IntrusivePtr<ActorTimer> timer = extras_->timers.take(timer_id);
  if (timer) timer->cancel();
  return static_cast<bool>(timer);
}

void Cell::timer_ended(const ActorTimer& timer) noexcept { extras().timers.take(timer.id()); }

void Cell::cancel_timers() noexcept {
  if (extras_) extras_->timers.cancel_all();
}

void Cell::log(LogLevel level, std::string_view message) const noexcept {
  std::string source;
  try {
    source = path();
  } catch (const std::bad_alloc&) {  // then the line in the log does not name the actor
  }
  if (!dispatcher_.take_log(level, source, message)) core_.log(level, source, message);
}

void Cell::report_unheard(const EnvelopeBase& envelope, const Error& error) const noexcept {
  log_words(LogLevel::warning,
            [&] { return "a " + envelope.message_type() + " that nobody waits for ended in " + error.to_string(); });
}

}  // namespace troupe::inline v0::detail
