// The names of actors, one by one. The reference shows what stands between `// example:` and `// end`.
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "examples/reference/expect.hpp"
#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

// example: Ref, Ask, System
struct Add {
  int by = 0;
};
struct Get {
  using Reply = int;
};
class Counter {
 public:
  void on(Add add) { sum_ += add.by; }
  int on(Get) { return sum_; }

 private:
  int sum_ = 0;
};

int counted() {
  System system;
  Ref<Counter> counter = value(system.spawn<Counter>());
  value(counter.tell<Add>(2));                               // nobody waits for it
  return value(counter.ask<Get>().wait_at_most(10s).get());  // in a Task: co_await counter.ask<Get>()
}
// end

// example: Task
Task<Result<int>> sum_of(Ref<Counter> a, Ref<Counter> b) {
  const int first = CO_TRY(co_await a.ask<Get>());  // ends the task with the error, if there is one
  co_return first + CO_TRY(co_await b.ask<Get>());
}
// end

// example: RefTo
struct Pong {};
struct Ping {};
class Wall {
 public:
  void on(Ping, RefTo<Pong> sender) { (void)sender.tell<Pong>(); }  // whoever it is: it takes a Pong
};
// end

// example: Context, TimerId
struct Beat {};
class Heart {
 public:
  explicit Heart(Context<Heart> self) : self_(self), timer_(value(self.every(1ms, Beat{}))) {}
  void on(Beat) {
    if (++beats_ == 3) self_.cancel(timer_);
  }
  int on(Get) { return beats_; }

 private:
  Context<Heart> self_;
  TimerId timer_;
  int beats_ = 0;
};
// end

void systems() {
  expect(counted() == 2);
  // example: SystemOptions, kDefaultMaxActors, SystemStats
  System system({.threads = 2, .max_actors = kDefaultMaxActors, .log = log_nothing()});
  const SystemStats stats = system.stats();
  expect(stats.restarts == 0 && stats.dead_letters == 0);
  // end

  // example: SpawnOptions, kMaxNameLength, kDefaultMaxHandlers
  Ref<Counter> counter = value(system.spawn<Counter>({.name = "counter", .max_handlers = kDefaultMaxHandlers}));
  expect(counter.path() == "/user/counter" && counter.path().size() < kMaxNameLength);
  // end

  // example: Overflow, kDefaultMailboxCapacity, kMaxMailboxCapacity, kMaxSuspendedAsks
  static_assert(kDefaultMailboxCapacity <= kMaxMailboxCapacity);
  Ref<Counter> small = value(system.spawn<Counter>({.mailbox_capacity = 64, .overflow = Overflow::suspend_asker}));
  expect(small.ask<Get>().get() == 0);  // an ask to a full mailbox waits; up to kMaxSuspendedAsks of them
  // end
  expect(system.run(sum_of(counter, small)) == 0);
  Ref<Heart> heart = value(system.spawn<Heart>());
  while (value(heart.ask<Get>().get()) < 3) std::this_thread::yield();

  // example: ShutdownReport, kShutdownAtExit
  const ShutdownReport report = value(system.shutdown(kShutdownAtExit));  // as the destructor would
  expect(report.drained && report.cut_off.empty() && report.stuck.empty());
  // end
}

// example: Supervision, Directive, Backoff, RestartScope, kDefaultMaxRestarts, kDefaultRestartWindow
Directive decide(const Error& error) {
  return error.kind() == ErrorKind::handler_threw ? Directive::restart : Directive::escalate;
}

const Supervision patient{.decide = decide,
                          .scope = RestartScope::one_for_one,  // siblings go on
                          .max_restarts = kDefaultMaxRestarts,
                          .window = kDefaultRestartWindow,
                          .backoff = Backoff{.initial = 10ms, .max = 1s}};
// end

// example: Terminated, StopReason
class Nurse {
 public:
  Nurse(Context<Nurse> self, Ref<Counter> counter) { self.watch(counter); }
  void on(Terminated notice) { has_ended_ = notice.reason == StopReason::requested ? 1 : 2; }
  int on(Get) { return has_ended_; }

 private:
  int has_ended_ = 0;
};
// end

// example: EventStream, DeadLetter
class Postmaster {
 public:
  explicit Postmaster(Context<Postmaster> self) { self.events().subscribe<DeadLetter>(self.ref()); }
  void on(DeadLetter letter) { log_ += letter.message_type + " for " + letter.path + "\n"; }
  int on(Get) { return static_cast<int>(log_.size()); }

 private:
  std::string log_;
};
// end

void failures() {
  System system({.log = log_nothing()});
  const auto watched = value(system.spawn<Counter>({.supervision = patient}));
  const auto nurse = value(system.spawn<Nurse>({}, watched));
  const auto postmaster = value(system.spawn<Postmaster>());
  expect(nurse.ask<Get>().get() == 0 && postmaster.ask<Get>().get() == 0);
  watched.stop();
  while (value(nurse.ask<Get>().get()) != 1) std::this_thread::yield();
  expect(!watched.tell<Add>(1));
  while (value(postmaster.ask<Get>().get()) == 0) std::this_thread::yield();

  // example: always
  Ref<Counter> fragile = value(system.spawn<Counter>({.supervision = always(Directive::stop)}));
  // end
  expect(fragile.ask<Get>().get() == 0);
}

void routers() {
  System system;
  // example: spawn_many, RoundRobin, LeastLoaded, ConsistentHash, Broadcast
  const std::vector<Ref<Counter>> counters = value(spawn_many<Counter>(system, 3, {.name = "counter"}));
  const RoundRobin<Counter> in_turn(counters);
  value(in_turn.tell<Add>(1));
  const LeastLoaded<Counter> idle(counters);
  value(idle.ask<Get>().get());
  const ConsistentHash<Counter> by_key(counters);
  value(by_key.tell<Add>(std::string("user-42"), 1));  // always to the same one
  expect(Broadcast<Counter>(counters).tell(Add{10}) == 3);
  // end
}

// example: when_all, when_any, AnyOf, sleep_for
Task<int> after(Duration delay, int number) {
  co_await sleep_for(delay);
  co_return number;
}

Task<int> both_and_first() {
  auto [one, two] = co_await when_all(after(1ms, 1), after(2ms, 2));  // side by side
  const AnyOf<int> first = co_await when_any(after(1h, 10), after(1ms, 20));
  co_return one + two + first.value;  // 23; the one that would take an hour is cut off
}
// end

// example: with_timeout, with_stop, stop_requested
Task<Result<int>> never(std::stop_token token) {
  co_await stop_requested(token);
  co_return 1;
}

Task<Result<int>> at_most_a_moment() { return with_timeout(never({}), 1ms); }           // ends in `timeout`
Task<Result<int>> until(std::stop_token token) { return with_stop(never({}), token); }  // ends in `cancelled`
// end

void tasks() {
  System system;
  expect(system.run(both_and_first()) == 23);
  expect(system.run(at_most_a_moment()).error().kind() == ErrorKind::timeout);
  std::stop_source source;
  source.request_stop();
  expect(system.run(until(source.get_token())).error().kind() == ErrorKind::cancelled);
}

// example: Dispatcher, Runnable, Scheduling, kTurnTime
class ThreadPerTurn final : public Dispatcher {  // not fast: a turn takes messages for kTurnTime at most
 public:
  void schedule(Runnable& runnable, Scheduling) noexcept override {
    const std::lock_guard lock(mutex_);  // any thread schedules
    turns_.emplace_back([turn = &runnable] { turn->run(); });
  }
  void join() noexcept override { turns_.clear(); }

 private:
  std::mutex mutex_;
  std::vector<std::jthread> turns_;
};
// end

void dispatchers() {
  System system;
  Dispatcher* mine = system.adopt(std::make_unique<ThreadPerTurn>());
  const auto counter = value(system.spawn<Counter>({.dispatcher = mine}));
  expect(counter.ask<Get>().get() == 0 && kTurnTime > Duration::zero());
  const auto wall = value(system.spawn<Wall>());
  expect(wall.tell<Ping>().has_value());
}

int main() {
  systems();
  failures();
  routers();
  tasks();
  dispatchers();
}
