#include "troupe/device/device_context.hpp"

#include <algorithm>
#include <csignal>
#include <new>
#include <thread>
#include <utility>

#include "troupe/core/without_memory.hpp"
#include "troupe/wire/backtrace.hpp"

namespace troupe::inline v0 {
namespace {

/// After this many failed starts in a row, a device without a serving worker is lost.
constexpr int kMaxFailedStarts = 8;
/// A new standby waits until a dead worker is reaped, but no longer than this.
constexpr Duration kReapPatience = std::chrono::seconds(1);
/// One short line for the log, without the backtrace: the callers of the ops get that.
Error in_short(const Error& why, const std::string& under_way) {
  std::string message(wire::without_backtrace(why.message()));
  if (!under_way.empty()) message += ", under " + under_way;
  return Error(why.kind(), std::move(message), why.origin());
}

constexpr Backoff kStartBackoff{.initial = std::chrono::milliseconds(10), .max = std::chrono::seconds(5)};

}  // namespace

void DeviceContext::guarded(const std::function<void()>& step) {
  try {
    step();
  } catch (const std::bad_alloc&) {
    std::this_thread::sleep_for(detail::kMemoryPause);
    crew_->lost_track = true;
    device_->nudge();
  }
}

void DeviceContext::started() {
  listen_for_nudges();
  guarded([&] { attend(); });
}

void DeviceContext::restarted(const Error&) {
  listen_for_nudges();
  // The timers ended with the instance before, also those of workers that have hung up: listen to all workers again.
  crew_->start_is_delayed = crew_->will_look = false;
  crew_->lost_track = true;
  device_->nudge();
  guarded([&] {
    if (find(Role::dying)) (void)self_.after(kReapPatience, ReapIsLate{});
    if (const std::uint64_t seal = crew_->seal.number(); seal != 0) (void)self_.after(kSealPatience, SealIsLate{seal});
    for (const auto& [number, member] : crew_->members)
      if (member.role == Role::starting)
        (void)self_.after(device_->options().start_timeout, StartTimedOut{number, member.link->pid()});
    if (crew_->zygote) (void)self_.after(device_->options().start_timeout, ZygoteIsLate{crew_->zygote->pid()});
    attend();
  });
}

void DeviceContext::listen_for_nudges() {
  if (crew_->is_watched) return;
  value(device_->loop().when_readable(device_->nudged(), [ref = self_.ref(), device = device_.get()] {
    if (device->is_to_close()) return ref.stop();  // needs no memory for a message
    (void)ref.tell(Nudged{});
  }));
  crew_->is_watched = true;
}

void DeviceContext::nudged() {
  device_->take_nudge();
  if (device_->is_to_close()) return self_.stop();  // the nudge that said so may be the one just taken
  ControlLoop& loop = device_->loop();
  loop.listen_again(device_->nudged());
  const bool has_lost_track = std::exchange(crew_->lost_track, false);
  if (has_lost_track)
    for (const auto& [number, member] : crew_->members) {
      loop.listen_again(member.link->socket().descriptor());
      if (member.link->end_descriptor() >= 0) loop.listen_again(member.link->end_descriptor());
    }
  if (has_lost_track && crew_->zygote) loop.listen_again(crew_->zygote->descriptor());
  if (const std::int64_t generation = device_->take_death(); generation != 0) died(generation);
  if (const auto order = device_->take_kill()) {
    device_->nudge();  // there may be more
    return kill(*order);
  }
  attend();
  attend_seals();
}

// ---- what to do next ----

void DeviceContext::attend() {
  if (crew_->closing || crew_->given_up) return;
  look_again();
  Engine& engine = device_->engine();
  for (const std::string& line : engine.ledger().take_news()) self_.log(LogLevel::warning, line);
  const bool is_past_limit = is_past_its_limit();
  if (is_past_limit && !find(Role::dying) && !engine.has_suspects() && !engine.trial()) {
    crew_->given_up = true;
    return self_.stop();
  }
  const std::optional<std::uint32_t> on_trial = engine.trial();
  const auto idle_standby = [&]() -> std::optional<std::uint32_t> {
    for (const auto& [number, member] : crew_->members)
      if (member.role == Role::standby && number != on_trial) return number;
    return std::nullopt;
  };
  if (!crew_->active && !(is_past_limit && find(Role::dying)))
    if (const auto standby = idle_standby()) take_over(*standby);

  const bool suspects_wait = engine.has_suspects() && !on_trial;
  bool trial_needs_worker = false;
  if (suspects_wait && crew_->active) {
    if (const auto standby = idle_standby())
      engine.try_suspect(*standby);
    else
      trial_needs_worker = true;
  }
  const bool wants_standby = device_->options().standby == Standby::warm;
  const auto standbys = std::ranges::count_if(
      crew_->members, [](const auto& member) { return member.second.role == Role::standby; });  // on trial or not
  const bool has_spares = standbys >= *device_->options().standbys;
  // While the driver tears down a GPU's worker, everything on that GPU stalls now and then; a new worker would add to
  // it.
  const bool is_taken = find(Role::dying) && (device_->info().is_exclusive || (crew_->active && !crew_->reap_is_late));
  if ((!crew_->active || trial_needs_worker || (wants_standby && !has_spares)) && !find(Role::starting) && !is_taken)
    start_worker();
  if (!wants_standby && crew_->active && !engine.has_suspects() && !engine.trial())
    if (const auto standby = idle_standby()) {  // it was started for a trial only
      (void)self_.after(kReapPatience, ReapIsLate{});
      crew_->members.at(*standby).role = Role::dying;
      crew_->members.at(*standby).link->kill();
    }
}

bool DeviceContext::is_past_its_limit() {
  const TimePoint now = std::chrono::steady_clock::now();
  std::erase_if(crew_->unexplained,
                [&](const auto& death) { return now - death.second > device_->options().restart_window; });
  return crew_->unexplained.size() > static_cast<std::size_t>(device_->options().max_restarts);
}

std::optional<std::uint32_t> DeviceContext::find(Role role) const {
  for (const auto& [number, member] : crew_->members)
    if (member.role == role) return number;
  return std::nullopt;
}

void DeviceContext::take_over(std::uint32_t worker) {
  CrewMember& member = crew_->members.at(worker);
  const std::int64_t generation = device_->next_generation();
  device_->begin_generation(member.link->socket(), generation);  // may find no memory; then nothing has changed
  member.role = Role::active;
  member.generation = generation;
  crew_->active = worker;
  device_->set_worker_pid(member.link->pid());
  device_->engine().take_over(worker, generation);
  member.link->show_generation(generation);
  if (member.link->pid() != 0) device_->deaths().watch(device_->bells().life_line(worker), generation);
  device_->opened({});
  if (generation == 1) return;
  const Error why = crew_->failure.value_or(Error(ErrorKind::worker_crashed));
  self_.log(LogLevel::info, "generation " + std::to_string(generation) + " serves");
  device_->system().events().publish(GenerationChanged{
      .device = device_->info().index, .generation = generation, .why = why, .noticed = crew_->noticed});
}

// ---- starting ----

void DeviceContext::start_worker() {
  if (crew_->start_is_delayed || !may_start_now()) return;
  std::uint32_t number = 0;
  while (crew_->members.contains(number)) ++number;
  if (number >= wire::kMaxDoorbells) return;  // too many are dying; the next reap comes back here
  Result<void> started;
  try {
    started = start_worker(number);
  } catch (const std::bad_alloc&) {
    started = fail(ErrorKind::out_of_memory);
  }
  if (started) return;
  if (crew_->members.contains(number)) forget(number);
  start_failed(started.error());
}

Result<void> DeviceContext::start_worker(std::uint32_t number) {
  device_->bells().life_line(number).let_go();  // by whoever had that number before
  wire::Zygote* const zygote = crew_->zygote_is_ready && !crew_->forks_no_more ? &*crew_->zygote : nullptr;
  Result<std::unique_ptr<WorkerLink>> started =
      WorkerLink::start(number, device_->worker_setup(), device_->bells(), zygote);
  if (!started && zygote) {
    if (const Result<wire::Zygote::State> state = zygote->look(); !state) {
      lose_zygote(state.error());  // it has ended, and its workers with it, which may be heard of first
    } else {
      self_.log(LogLevel::warning, "workers are spawned from now on, and not forked: " + started.error().to_string());
      crew_->forks_no_more = true;  // the zygote stays: its workers end with it
    }
    started = WorkerLink::start(number, device_->worker_setup(), device_->bells());
  }
  std::unique_ptr<WorkerLink> link = TROUPE_TRY(std::move(started));
  CrewMember& member = crew_->members[number];
  member.link = std::move(link);
  TROUPE_TRY(watch(member));
  TROUPE_TRY(self_.after(device_->options().start_timeout, StartTimedOut{number, member.link->pid()}));
  return {};
}

void DeviceContext::start_failed(const Error& why) {
  if (device_->generation() == 0) {
    crew_->failure = why;
    crew_->given_up = true;
    device_->opened(fail(why));
    return self_.stop();
  }
  self_.log(LogLevel::error, "a worker could not be started: " + in_short(why, {}).to_string());
  const TimePoint now = std::chrono::steady_clock::now();
  if (crew_->failed_starts++ == 0) crew_->failing_since = now;
  // A shortage of descriptors or memory may pass.
  const bool may_pass =
      why.kind() == ErrorKind::out_of_memory && now - crew_->failing_since < device_->options().start_timeout;
  if (!crew_->active && crew_->failed_starts >= kMaxFailedStarts && !may_pass) {
    crew_->failure = why;
    crew_->given_up = true;
    return self_.stop();
  }
  (void)self_.after(kStartBackoff.delay(crew_->failed_starts, 0.5), StartAgain{});
  crew_->start_is_delayed = true;
}

void DeviceContext::on(StartAgain) {
  crew_->start_is_delayed = false;
  guarded([&] { attend(); });
}

void DeviceContext::on(StartTimedOut message) {
  const auto found = crew_->members.find(message.worker);
  if (found == crew_->members.end()) return;
  CrewMember& member = found->second;
  if (member.role != Role::starting || member.link->pid() != message.pid) return;
  member.killed_for = detail::describe(ErrorKind::timeout, [&] {
    return "the worker did not start within " + to_string(device_->options().start_timeout);
  });
  member.link->kill();
}

Result<void> DeviceContext::watch(CrewMember& member) {
  WorkerLink& link = *member.link;
  ControlLoop& loop = device_->loop();
  const std::uint32_t number = link.number();
  TROUPE_TRY(
      loop.when_readable(link.socket().descriptor(), [ref = self_.ref(), number] { (void)ref.tell(Spoke{number}); }));
  if (link.end_descriptor() < 0) return {};
  TROUPE_TRY(loop.when_readable(link.end_descriptor(), [ref = self_.ref(), number] { (void)ref.tell(Ended{number}); }));
  // What it prints goes straight to the log; no decision depends on it.
  return loop.when_readable(link.print_descriptor(), [&link, &loop] {
    if (link.read_printed()) loop.listen_again(link.print_descriptor());
  });
}

void DeviceContext::became_ready(std::uint32_t worker) {
  CrewMember& member = crew_->members.at(worker);
  Result<void> told;
  try {
    device_->engine().open(worker, member.link->channel(), device_->bells().doorbell(worker));
    told = device_->chunks().add_worker(member.link->socket());
  } catch (const std::bad_alloc&) {
    told = fail(ErrorKind::out_of_memory);
  }
  if (!told) {
    device_->engine().close(worker);
    member.killed_for = told.error();
    member.link->kill();
    return;
  }
  member.role = Role::standby;
  crew_->failed_starts = 0;
  attend();
}

// ---- ending ----

void DeviceContext::kill_member(CrewMember& member, const Error& why) {
  if (!member.killed_for) member.killed_for = why;
  const bool was_active = member.role == Role::active;
  if (!member.link->kill() && was_active) {  // a thread: nothing stops it
    crew_->failure = why;
    return self_.stop();
  }
  if (was_active) serving_worker_dies(member, why, std::chrono::steady_clock::now());
}

void DeviceContext::kill(const detail::KillOrder& message) {
  const auto found = crew_->members.find(message.worker);
  if (found == crew_->members.end() || found->second.role == Role::dying) return;
  if (message.broke_the_rules) {
    found->second.broke_the_rules = true;
    return kill_member(found->second, message.why);
  }
  if (!device_->engine().runs_overdue(message.worker)) return;  // the op has ended meanwhile, or its worker has
  CrewMember& member = found->second;
  member.killed_for = message.why;
  const bool was_active = member.role == Role::active;
  if (!member.link->kill()) {  // a thread: nothing stops it
    crew_->failure = message.why;
    return self_.stop();
  }
  device_->engine().answer_overdue(message.worker, message.why);
  if (was_active)
    serving_worker_dies(member, message.why, std::chrono::steady_clock::now());  // a trial ends at the reap
}

void DeviceContext::serving_worker_dies(CrewMember& member, const Error& why, TimePoint noticed, bool takes_no_more) {
  if (member.role != Role::active) return;  // the reap will tell
  crew_->unexplained.try_emplace(member.generation, noticed);
  crew_->noticed = noticed;
  member.role = Role::dying;
  member.had_served = true;
  crew_->active.reset();
  device_->set_worker_pid(0);
  const std::string under_way = device_->engine().under_way();
  if (why.kind() == ErrorKind::context_poisoned) device_->engine().answer_plain_culprit(why);
  device_->engine().retire_active(takes_no_more);
  crew_->failed_starts = 0;
  crew_->failure = why;
  crew_->reap_is_late = false;
  throw Exception(in_short(why, why.kind() == ErrorKind::deadline_exceeded ? "" : under_way));
}

void DeviceContext::on(ReapIsLate) {
  crew_->reap_is_late = true;
  for (auto& [number, member] : crew_->members)
    if (member.role == Role::dying && member.link->kill())  // it has hung up, or said that it ends, and still lives
      member.broke_the_rules = member.broke_the_rules || member.has_hung_up;
  guarded([&] { attend(); });
}

void DeviceContext::ended(Ended message) {
  const auto found = crew_->members.find(message.worker);
  if (found == crew_->members.end()) return;
  if (const std::optional<wire::ChildEnd> end = found->second.link->try_reap())
    reaped(message.worker, *end);
  else
    device_->loop().listen_again(found->second.link->end_descriptor());
}

Error DeviceContext::report_of(ErrorKind kind, std::string_view message, std::int64_t native_code) const noexcept {
  try {
    return Error(kind, std::string(message),
                 ErrorOrigin{.library = device_->info().backend,
                             .native_code = native_code,
                             .device = device_->info().index,
                             .generation = device_->generation()});
  } catch (const std::bad_alloc&) {
    return Error(kind);
  }
}

Error DeviceContext::death_of(CrewMember& member, const wire::ChildEnd& end) const {
  if (member.killed_for) return *member.killed_for;
  if (const std::optional<Error> own = member.link->last_error())
    return report_of(own->kind(), own->message(), own->origin().native_code);
  std::string message = member.link->pid() == 0
                            ? "the worker thread ended"
                            : "worker " + std::to_string(member.link->pid()) + " " + end.to_string();
  if (const std::string words = member.link->last_words(); !words.empty()) message += ": " + words;
  return Error(ErrorKind::worker_crashed, std::move(message),
               ErrorOrigin{.library = device_->info().backend,
                           .native_code = end.code,
                           .device = device_->info().index,
                           .generation = device_->generation()});
}

/// An accelerator's own report leaves no doubt; a signal does, because an earlier op may have broken the process. A
/// worker that we killed, for a deadline or for its silence, cut off ops that did nothing wrong.
Blame DeviceContext::blame_for(const CrewMember& member, const wire::ChildEnd& end, const Error& why) {
  if (member.broke_the_rules) return Blame::some_op;
  if (why.kind() == ErrorKind::context_poisoned) return Blame::the_only_op;
  return member.killed_for || (end.signalled && end.code == SIGKILL) ? Blame::nobody_here : Blame::some_op;
}

void DeviceContext::reaped(std::uint32_t worker, const wire::ChildEnd& end) {
  CrewMember& member = crew_->members.at(worker);
  const Role role = member.role;
  const Error why = death_of(member, end);
  // A SIGKILL that we did not send came from outside: from an operator, or from the kernel for want of memory. An op
  // that overwrites its worker's memory, or makes it talk nonsense, has killed it as surely as with a signal.
  const bool by_op = member.broke_the_rules || (!member.killed_for && !(end.signalled && end.code == SIGKILL));
  Engine& engine = device_->engine();
  if (role == Role::active) {
    crew_->noticed = std::chrono::steady_clock::now();
    crew_->active.reset();
    device_->set_worker_pid(0);
    engine.retire_active();
    member.had_served = true;
    member.role = Role::dying;  // after this, a lack of memory may bring us here again
    crew_->failure = why;
    crew_->failed_starts = 0;
  }
  if (engine.trial() == worker)
    if (const std::optional<std::int64_t> explained = engine.trial_failed(why, by_op))
      crew_->unexplained.erase(*explained);
  if (member.had_served) {
    crew_->failure = why;
    crew_->unexplained.try_emplace(member.generation, std::chrono::steady_clock::now());
    if (engine.reaped(worker, why, blame_for(member, end, why), member.link->named_op()))
      crew_->unexplained.erase(member.generation);
  } else if (role != Role::starting) {
    engine.close(worker);
  }
  forget(worker);
  if (crew_->closing) return;
  attend_seals();
  if (role == Role::active) throw Exception(in_short(why, {}));
  if (role == Role::starting) return start_failed(why), attend();
  attend();
}

void DeviceContext::forget(std::uint32_t worker) {
  CrewMember& member = crew_->members.at(worker);
  device_->chunks().remove_worker(member.link->socket());
  crew_->seal.gone(member.link->socket());
  ControlLoop& loop = device_->loop();
  loop.forget(member.link->socket().descriptor());
  if (member.link->end_descriptor() >= 0) loop.forget(member.link->end_descriptor());
  if (member.link->print_descriptor() >= 0) {
    loop.forget(member.link->print_descriptor());
    member.link->read_last_printed();
  }
  crew_->members.erase(worker);
}

Error DeviceContext::was_given_up() const noexcept {
  try {
    Error why(ErrorKind::device_lost, "the device was given up: " + crew_->failure->to_string(),
              ErrorOrigin{.device = device_->info().index, .generation = device_->generation()});
    self_.log(LogLevel::error, in_short(why, {}).to_string());
    return why;
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::device_lost);
  }
}

void DeviceContext::stopping() {
  const bool is_closed = crew_->closing || device_->is_over();
  const bool is_lost = !is_closed && crew_->failure;
  crew_->closing = true;
  Error why = detail::describe(ErrorKind::stopped, [] { return "the device was closed"; });
  if (is_lost) why = was_given_up();
  device_->set_worker_pid(0);
  device_->opened(fail(why));
  device_->shut(why);
  crew_->seal.forget();
  while (!crew_->members.empty()) {
    const std::uint32_t worker = crew_->members.begin()->first;
    crew_->members.begin()->second.link->kill();
    forget(worker);  // waits for the reap
  }
  end_zygote();
  device_->loop().forget(device_->nudged());
  device_->crew_is_gone();
}

}  // namespace troupe::inline v0
