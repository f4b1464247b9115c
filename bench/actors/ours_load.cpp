#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "bench/actors/load.hpp"
#include "bench/actors/ours.hpp"
#include "bench/actors/sizes.hpp"

namespace troupe::bench::actors::ours {
namespace {

struct Go {};

/// Handles messages of work, and sends itself another one for each, until it is to end.
class Saturating {
 public:
  struct Work {};
  Saturating(Context<Saturating> self, WorkDone* done) : self_(self), done_(done) {}
  void on(Work) {
    work_us(kSaturatingWorkUs);
    if (!done_->ending.load(std::memory_order_relaxed)) {
      done_->sent.fetch_add(1, std::memory_order_relaxed);
      must(self_.ref().tell<Work>());
    }
    done_->handled.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  Context<Saturating> self_;
  WorkDone* done_;
};

void saturate(System& system, int threads, WorkDone& done) {
  for (int i = 0; i < kSaturatingActorsPerThread * threads; ++i) {
    const auto actor = value(system.spawn<Saturating>(kRoomy, &done));
    for (int k = 0; k < kSaturatingMessages; ++k) {
      done.sent.fetch_add(1);
      must(actor.tell<Saturating::Work>());
    }
  }
}

class Worker {
 public:
  struct Work {};
  explicit Worker(WorkDone* done) : done_(done) {}
  void on(Work) {
    work_us(kHalfLoadWorkUs);
    done_->handled.fetch_add(1);
  }

 private:
  WorkDone* done_;
};

SendWork half_load_of(System& system, WorkDone& done) {
  std::vector<Ref<Worker>> all;
  for (int i = 0; i < kHalfLoadActors; ++i) all.push_back(value(system.spawn<Worker>(kRoomy, &done)));
  return [all](int actor) { must(all[static_cast<std::size_t>(actor)].tell<Worker::Work>()); };
}

class Counter {
 public:
  struct Get {
    using Reply = int;
  };
  int on(Get) { return ++count_; }

 private:
  int count_ = 0;
};

/// Asks once for each Go, several at a time if they come so, and notes how long each took.
class TimedAsker {
 public:
  TimedAsker(Ref<Counter> to, std::vector<double>* samples, int count, Finish* finish)
      : to_(std::move(to)), samples_(samples), count_(count), finish_(finish) {}
  Task<Result<void>> on(Go) {
    const Clock::time_point begin = Clock::now();
    (void)CO_TRY(co_await to_.ask<Counter::Get>());
    samples_->push_back(ns_between(begin, Clock::now()) / 1000);
    if (static_cast<int>(samples_->size()) == count_) finish_->arrive();
    co_return Result<void>();
  }

 private:
  Ref<Counter> to_;
  std::vector<double>* samples_;
  int count_;
  Finish* finish_;
};

/// Sets a timer again and again, and notes how late each is.
class LateTimer {
 public:
  struct Tick {};
  LateTimer(Context<LateTimer> self, std::vector<double>* late_us, int count, Finish* finish)
      : self_(self), late_us_(late_us), count_(count), finish_(finish) {}
  void started() {
    ends_ = Clock::now() + kLoadTrial;
    set();
  }
  void on(Tick) {
    late_us_->push_back(ns_between(due_, Clock::now()) / 1000);
    if (static_cast<int>(late_us_->size()) == count_ || Clock::now() > ends_) return finish_->arrive();
    set();
  }

 private:
  void set() {
    due_ = Clock::now() + kLoadTimer;
    (void)value(self_.after(kLoadTimer, Tick{}));
  }
  Context<LateTimer> self_;
  std::vector<double>* late_us_;
  int count_;
  Finish* finish_;
  Clock::time_point due_, ends_;
};

/// Blocks its thread for a while, and notes when it began.
class Blocking {
 public:
  explicit Blocking(Clock::time_point* began) : began_(began) {}
  void on(Finish* finish) {
    *began_ = Clock::now();
    std::this_thread::sleep_for(kBurstHandler);
    finish->arrive();
  }

 private:
  Clock::time_point* began_;
};

/// Sets timers and cancels them, then sets others and notes how late they are.
class Timekeeping {
 public:
  struct Due {
    Clock::time_point at;
  };
  Timekeeping(Context<Timekeeping> self, int count, double* set_ns, double* cancel_ns, std::vector<double>* late_us,
              Finish* finish)
      : self_(self), count_(count), set_ns_(set_ns), cancel_ns_(cancel_ns), late_us_(late_us), finish_(finish) {}
  void on(Go) {
    const Clock::time_point begin = Clock::now();
    std::vector<TimerId> timers;
    for (int i = 0; i < count_; ++i) timers.push_back(value(self_.after(std::chrono::minutes(1), Due{})));
    *set_ns_ = ns_between(begin, Clock::now());
    std::ranges::shuffle(timers, std::mt19937(3));
    const Clock::time_point cancel_begin = Clock::now();
    for (const TimerId timer : timers)
      if (!self_.cancel(timer)) give_up("a timer of a minute has fired within a second");
    *cancel_ns_ = ns_between(cancel_begin, Clock::now());
    const Clock::time_point now = Clock::now();
    for (int i = 0; i < count_; ++i) {
      const Clock::time_point due = now + (count_ + i) * kTimerGap;
      (void)value(self_.after(due - Clock::now(), Due{due}));
    }
  }
  void on(Due due) {
    late_us_->push_back(ns_between(due.at, Clock::now()) / 1e3);
    if (static_cast<int>(late_us_->size()) == count_) finish_->arrive();
  }

 private:
  Context<Timekeeping> self_;
  int count_;
  double* set_ns_;
  double* cancel_ns_;
  std::vector<double>* late_us_;
  Finish* finish_;
};

}  // namespace

Figures ask_into_saturated(const Setting& setting) {
  WorkDone done;
  System system = make_system(setting.threads);
  const auto counter = value(system.spawn<Counter>({}));
  saturate(system, setting.threads, done);
  const std::vector<double> samples =
      ask_one_by_one_us(setting.count, kAskPause, [&] { (void)value(counter.ask<Counter::Get>().get()); });
  done.settle();
  return quantiles(samples, {0.5, 0.99});
}

Figures timer_in_saturated(const Setting& setting) {
  WorkDone done;
  Finish finish(1);
  std::vector<double> late_us;
  {
    System system = make_system(setting.threads);
    saturate(system, setting.threads, done);
    const auto timer = value(system.spawn<LateTimer>({}, &late_us, setting.count, &finish));
    finish.wait();
    done.settle();
  }
  finish.check();
  return quantiles(late_us, {0.5, 0.99});
}

Figures ask_in_actor_at_half_load(const Setting& setting) {
  WorkDone done;
  Finish finish(1);
  std::vector<double> samples;
  {
    System system = make_system(setting.threads);
    const auto counter = value(system.spawn<Counter>({}));
    const auto asker = value(system.spawn<TimedAsker>({}, counter, &samples, setting.count, &finish));
    {
      const HalfLoad load(setting.threads, done, half_load_of(system, done));
      go_when_due(setting.count, [&] { must(asker.tell<Go>()); });
      finish.wait_for(kLoadTrial);
    }
    finish.wait();  // what is left of a system that is far behind
    done.settle();
  }
  check_count("answers", setting.count, static_cast<std::int64_t>(samples.size()));
  return quantiles(samples, {0.5, 0.99, 0.999});
}

Figures ask_from_thread_at_half_load(const Setting& setting) {
  WorkDone done;
  std::vector<double> samples;
  System system = make_system(setting.threads);
  const auto counter = value(system.spawn<Counter>({}));
  {
    const HalfLoad load(setting.threads, done, half_load_of(system, done));
    samples = ask_when_due_us(setting.count, [&] { (void)value(counter.ask<Counter::Get>().get()); });
  }
  done.settle();
  return quantiles(samples, {0.5, 0.99, 0.999});
}

Figures burst(const Setting& setting) {
  std::vector<Clock::time_point> began(kBurst);
  System system = make_system(setting.threads);
  std::vector<Ref<Blocking>> all;
  for (Clock::time_point& each : began) all.push_back(value(system.spawn<Blocking>({}, &each)));
  return bursts(setting.count, began,
                [&](int actor, Finish& finish) { must(all[static_cast<std::size_t>(actor)].tell<Finish*>(&finish)); });
}

Figures timers(const Setting& setting) {
  Finish finish(1);
  double set_ns = 0;
  double cancel_ns = 0;
  std::vector<double> late_us = room_for(setting.count);
  {
    System system = make_system(setting.threads);
    const auto actor = value(system.spawn<Timekeeping>({}, setting.count, &set_ns, &cancel_ns, &late_us, &finish));
    must(actor.tell<Go>());
    finish.wait();
  }
  check_count("timers", setting.count, static_cast<std::int64_t>(late_us.size()));
  return {set_ns / setting.count, cancel_ns / setting.count, quantile(late_us, 0.5), quantile(late_us, 0.99)};
}

}  // namespace troupe::bench::actors::ours
