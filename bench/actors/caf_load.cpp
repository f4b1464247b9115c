#include "bench/actors/caf.hpp"

#if TROUPE_HAS_CAF

#include <thread>

#include "bench/actors/load.hpp"
#include "bench/actors/sizes.hpp"
#include "bench/bench.hpp"

namespace troupe::bench::actors::with_caf {
namespace {

using Work = caf::atom_constant<caf::atom("work")>;
using Tick = caf::atom_constant<caf::atom("tick")>;

class Saturating : public caf::event_based_actor {
 public:
  Saturating(caf::actor_config& config, WorkDone* work) : caf::event_based_actor(config), work_(work) {}
  caf::behavior make_behavior() override {
    return {[this](Work) {
      work_us(kSaturatingWorkUs);
      if (!work_->ending.load(std::memory_order_relaxed)) {
        work_->sent.fetch_add(1, std::memory_order_relaxed);
        send(this, Work::value);
      }
      work_->handled.fetch_add(1, std::memory_order_relaxed);
    }};
  }

 private:
  WorkDone* work_;
};

void saturate(System& system, int threads, WorkDone& done) {
  for (int i = 0; i < kSaturatingActorsPerThread * threads; ++i) {
    const caf::actor actor = system.spawn<Saturating>(&done);
    for (int k = 0; k < kSaturatingMessages; ++k) {
      done.sent.fetch_add(1);
      caf::anon_send(actor, Work::value);
    }
  }
}

class Worker : public caf::event_based_actor {
 public:
  Worker(caf::actor_config& config, WorkDone* work) : caf::event_based_actor(config), work_(work) {}
  caf::behavior make_behavior() override {
    return {[this](Work) {
      work_us(kHalfLoadWorkUs);
      work_->handled.fetch_add(1);
    }};
  }

 private:
  WorkDone* work_;
};

SendWork half_load_of(System& system, WorkDone& done) {
  std::vector<caf::actor> all;
  for (int i = 0; i < kHalfLoadActors; ++i) all.push_back(system.spawn<Worker>(&done));
  return [all](int actor) { caf::anon_send(all[static_cast<std::size_t>(actor)], Work::value); };
}

class Counter : public caf::event_based_actor {
 public:
  explicit Counter(caf::actor_config& config) : caf::event_based_actor(config) {}
  caf::behavior make_behavior() override {
    return {[this](Get) { return ++count_; }};
  }

 private:
  int count_ = 0;
};

/// A plain thread that asks and waits.
AskOnce asking(caf::scoped_actor& self, const caf::actor& counter) {
  return [&self, counter] {
    self->request(counter, caf::infinite, Get::value)
        .receive([](int) {}, [](const caf::error&) { give_up("CAF: an ask has failed"); });
  };
}

class TimedAsker : public caf::event_based_actor {
 public:
  TimedAsker(caf::actor_config& config, caf::actor to, std::vector<double>* samples, int count, Finish* finish)
      : caf::event_based_actor(config), to_(std::move(to)), samples_(samples), count_(count), finish_(finish) {}
  caf::behavior make_behavior() override {
    return {[this](Go) {
      const Clock::time_point begin = Clock::now();
      request(to_, caf::infinite, Get::value).then([this, begin](int) {
        samples_->push_back(ns_between(begin, Clock::now()) / 1000);
        if (static_cast<int>(samples_->size()) == count_) finish_->arrive();
      });
    }};
  }

 private:
  caf::actor to_;
  std::vector<double>* samples_;
  int count_;
  Finish* finish_;
};

class LateTimer : public caf::event_based_actor {
 public:
  LateTimer(caf::actor_config& config, std::vector<double>* late_us, int count, Finish* finish)
      : caf::event_based_actor(config), late_us_(late_us), count_(count), finish_(finish) {}
  caf::behavior make_behavior() override {
    ends_ = Clock::now() + kLoadTrial;
    set();
    return {[this](Tick) {
      late_us_->push_back(ns_between(due_, Clock::now()) / 1000);
      if (static_cast<int>(late_us_->size()) == count_ || Clock::now() > ends_) return finish_->arrive();
      set();
    }};
  }

 private:
  void set() {
    due_ = Clock::now() + kLoadTimer;
    delayed_send(this, kLoadTimer, Tick::value);
  }
  std::vector<double>* late_us_;
  int count_;
  Finish* finish_;
  Clock::time_point due_, ends_;
};

/// The address of a `Finish`: CAF's messages are values.
using FinishAddress = std::uint64_t;

class Blocking : public caf::event_based_actor {
 public:
  Blocking(caf::actor_config& config, Clock::time_point* began) : caf::event_based_actor(config), began_(began) {}
  caf::behavior make_behavior() override {
    return {[this](FinishAddress finish) {
      *began_ = Clock::now();
      std::this_thread::sleep_for(kBurstHandler);
      reinterpret_cast<Finish*>(finish)->arrive();
    }};
  }

 private:
  Clock::time_point* began_;
};

/// CAF 0.17 cannot take a delayed message back. Its clock has a thread, which is told of each; that it knows all of
/// them shows when a message that was sent through it behind them arrives.
class Timekeeping : public caf::event_based_actor {
 public:
  Timekeeping(caf::actor_config& config, int count, double* set_ns, std::vector<double>* late_us, Finish* finish)
      : caf::event_based_actor(config), count_(count), set_ns_(set_ns), late_us_(late_us), finish_(finish) {}
  caf::behavior make_behavior() override {
    return {[this](Go) { set_all(); },
            [this](Tick) {
              *set_ns_ = ns_between(begin_, Clock::now());
              fire_all();
            },
            [this](std::int64_t due_ns) {
              const Clock::time_point due{Clock::duration(due_ns)};
              late_us_->push_back(ns_between(due, Clock::now()) / 1e3);
              if (static_cast<int>(late_us_->size()) == count_) finish_->arrive();
            }};
  }

 private:
  void set(Clock::time_point due) {
    scheduled_send(this, due, static_cast<std::int64_t>(due.time_since_epoch().count()));
  }
  void set_all() {
    begin_ = Clock::now();
    for (int i = 0; i < count_; ++i) set(begin_ + std::chrono::minutes(1));
    scheduled_send(this, Clock::now(), Tick::value);
  }
  void fire_all() {
    const Clock::time_point now = Clock::now();
    for (int i = 0; i < count_; ++i) set(now + (count_ + i) * kTimerGap);
  }
  int count_;
  double* set_ns_;
  std::vector<double>* late_us_;
  Finish* finish_;
  Clock::time_point begin_;
};

}  // namespace

Figures ask_into_saturated(const Setting& setting) {
  WorkDone done;
  System system(setting.threads, kMessagesPerTurn);
  const caf::actor counter = system.spawn<Counter>();
  saturate(system, setting.threads, done);
  caf::scoped_actor self(system.itself());
  const std::vector<double> samples = ask_one_by_one_us(setting.count, kAskPause, asking(self, counter));
  done.settle();
  return quantiles(samples, {0.5, 0.99});
}

Figures timer_in_saturated(const Setting& setting) {
  WorkDone done;
  Finish finish(1);
  std::vector<double> late_us;
  {
    System system(setting.threads, kMessagesPerTurn);
    saturate(system, setting.threads, done);
    system.spawn<LateTimer>(&late_us, setting.count, &finish);
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
    System system(setting.threads, kMessagesPerTurn);
    const caf::actor asker = system.spawn<TimedAsker>(system.spawn<Counter>(), &samples, setting.count, &finish);
    {
      const HalfLoad load(setting.threads, done, half_load_of(system, done));
      go_when_due(setting.count, [&] { caf::anon_send(asker, Go::value); });
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
  System system(setting.threads, kMessagesPerTurn);
  const caf::actor counter = system.spawn<Counter>();
  caf::scoped_actor self(system.itself());
  {
    const HalfLoad load(setting.threads, done, half_load_of(system, done));
    samples = ask_when_due_us(setting.count, asking(self, counter));
  }
  done.settle();
  return quantiles(samples, {0.5, 0.99, 0.999});
}

Figures burst(const Setting& setting) {
  std::vector<Clock::time_point> began(kBurst);
  System system(setting.threads);
  std::vector<caf::actor> all;
  for (Clock::time_point& each : began) all.push_back(system.spawn<Blocking>(&each));
  return bursts(setting.count, began, [&](int actor, Finish& finish) {
    caf::anon_send(all[static_cast<std::size_t>(actor)], reinterpret_cast<FinishAddress>(&finish));
  });
}

Figures timers(const Setting& setting) {
  Finish finish(1);
  double set_ns = 0;
  std::vector<double> late_us = room_for(setting.count);
  {
    System system(setting.threads);
    caf::anon_send(system.spawn<Timekeeping>(setting.count, &set_ns, &late_us, &finish), Go::value);
    finish.wait();
  }
  check_count("timers", setting.count, static_cast<std::int64_t>(late_us.size()));
  return {set_ns / setting.count, kNotMeasured, quantile(late_us, 0.5), quantile(late_us, 0.99)};
}

}  // namespace troupe::bench::actors::with_caf

#endif  // TROUPE_HAS_CAF
