#include "bench/actors/asio.hpp"

#if TROUPE_HAS_ASIO

#include <algorithm>
#include <future>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "bench/actors/load.hpp"
#include "bench/actors/sizes.hpp"

namespace troupe::bench::actors::with_asio {
namespace {

struct Saturating {
  Strand strand;
  WorkDone* done;

  void send() {
    done->sent.fetch_add(1, std::memory_order_relaxed);
    asio::post(strand, [this] { work(); });
  }
  void work() {
    work_us(kSaturatingWorkUs);
    if (!done->ending.load(std::memory_order_relaxed)) send();
    done->handled.fetch_add(1, std::memory_order_relaxed);
  }
};

using SaturatingActors = std::vector<std::unique_ptr<Saturating>>;

SaturatingActors saturate(Pool& pool, int threads, WorkDone& done) {
  SaturatingActors all;
  for (int i = 0; i < kSaturatingActorsPerThread * threads; ++i) {
    all.push_back(std::make_unique<Saturating>(pool.strand(), &done));
    for (int k = 0; k < kSaturatingMessages; ++k) all.back()->send();
  }
  return all;
}

SendWork half_load_of(Pool& pool, WorkDone& done) {
  std::vector<Strand> all;
  for (int i = 0; i < kHalfLoadActors; ++i) all.push_back(pool.strand());
  return [all, &done](int actor) {
    asio::post(all[static_cast<std::size_t>(actor)], [&done] {
      work_us(kHalfLoadWorkUs);
      done.handled.fetch_add(1);
    });
  };
}

struct Counter {
  Strand strand;
  int count = 0;
};

/// A plain thread that asks and waits.
AskOnce asking(Counter& counter) {
  return [&counter] {
    std::promise<int> promise;
    std::future<int> answer = promise.get_future();
    asio::post(counter.strand, [&, promise = std::move(promise)]() mutable { promise.set_value(++counter.count); });
    (void)answer.get();
  };
}

struct TimedAsker {
  Strand strand;
  Counter* to;
  std::vector<double>* samples;
  int count;
  Finish* finish;

  void go() {
    asio::defer(to->strand, [this, begin = Clock::now()] {
      ++to->count;
      asio::defer(strand, [this, begin] {
        samples->push_back(ns_between(begin, Clock::now()) / 1000);
        if (static_cast<int>(samples->size()) == count) finish->arrive();
      });
    });
  }
};

struct LateTimer {
  Strand strand;
  asio::steady_timer timer;
  std::vector<double>* late_us;
  int count;
  Finish* finish;
  Clock::time_point ends;

  void set() {
    timer.expires_after(kLoadTimer);
    timer.async_wait(asio::bind_executor(strand, [this](const boost::system::error_code&) { tick(); }));
  }
  void tick() {
    late_us->push_back(ns_between(timer.expiry(), Clock::now()) / 1000);
    if (static_cast<int>(late_us->size()) == count || Clock::now() > ends) return finish->arrive();
    set();
  }
};

/// One object with many timers.
struct Timekeeping {
  Strand strand;
  Pool* pool;
  int count;
  Finish* finish;
  double set_ns = 0;
  double cancel_ns = 0;
  std::vector<double> late_us;
  std::vector<std::unique_ptr<asio::steady_timer>> timers;

  /// Its handler notes how late it is, unless it was cancelled.
  void set(Clock::time_point due) {
    timers.push_back(std::make_unique<asio::steady_timer>(pool->executor(), due));
    timers.back()->async_wait(asio::bind_executor(strand, [this, due](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      late_us.push_back(ns_between(due, Clock::now()) / 1e3);
      if (static_cast<int>(late_us.size()) == count) finish->arrive();
    }));
  }
  void go() {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < count; ++i) set(begin + std::chrono::minutes(1));
    set_ns = ns_between(begin, Clock::now());
    std::ranges::shuffle(timers, std::mt19937(3));
    const Clock::time_point cancel_begin = Clock::now();
    for (const auto& timer : timers)
      if (timer->cancel() != 1) give_up("Asio: a timer of a minute has fired within a second");
    cancel_ns = ns_between(cancel_begin, Clock::now());
    timers.clear();
    const Clock::time_point now = Clock::now();
    for (int i = 0; i < count; ++i) set(now + (count + i) * kTimerGap);
  }
};

}  // namespace

Figures ask_into_saturated(const Setting& setting) {
  WorkDone done;
  Pool pool(setting.threads);
  Counter counter{.strand = pool.strand()};
  const SaturatingActors load = saturate(pool, setting.threads, done);
  const std::vector<double> samples = ask_one_by_one_us(setting.count, kAskPause, asking(counter));
  done.settle();
  pool.join();
  return quantiles(samples, {0.5, 0.99});
}

Figures timer_in_saturated(const Setting& setting) {
  WorkDone done;
  Finish finish(1);
  std::vector<double> late_us;
  Pool pool(setting.threads);
  const SaturatingActors load = saturate(pool, setting.threads, done);
  LateTimer timer{
      pool.strand(), asio::steady_timer(pool.executor()), &late_us, setting.count, &finish, Clock::now() + kLoadTrial};
  asio::post(timer.strand, [&timer] { timer.set(); });
  finish.wait();
  done.settle();
  pool.join();
  finish.check();
  return quantiles(late_us, {0.5, 0.99});
}

Figures ask_in_actor_at_half_load(const Setting& setting) {
  WorkDone done;
  Finish finish(1);
  std::vector<double> samples;
  Pool pool(setting.threads);
  Counter counter{.strand = pool.strand()};
  TimedAsker asker{pool.strand(), &counter, &samples, setting.count, &finish};
  {
    const HalfLoad load(setting.threads, done, half_load_of(pool, done));
    go_when_due(setting.count, [&] { asio::post(asker.strand, [&asker] { asker.go(); }); });
    finish.wait_for(kLoadTrial);
  }
  finish.wait();  // what is left of a system that is far behind
  done.settle();
  pool.join();
  check_count("answers", setting.count, static_cast<std::int64_t>(samples.size()));
  return quantiles(samples, {0.5, 0.99, 0.999});
}

Figures ask_from_thread_at_half_load(const Setting& setting) {
  WorkDone done;
  std::vector<double> samples;
  Pool pool(setting.threads);
  Counter counter{.strand = pool.strand()};
  {
    const HalfLoad load(setting.threads, done, half_load_of(pool, done));
    samples = ask_when_due_us(setting.count, asking(counter));
  }
  done.settle();
  pool.join();
  return quantiles(samples, {0.5, 0.99, 0.999});
}

Figures burst(const Setting& setting) {
  std::vector<Clock::time_point> began(kBurst);
  Pool pool(setting.threads);
  std::vector<Strand> all;
  for (int i = 0; i < kBurst; ++i) all.push_back(pool.strand());
  const Figures figures = bursts(setting.count, began, [&](int actor, Finish& finish) {
    asio::post(all[static_cast<std::size_t>(actor)], [&began, &finish, actor] {
      began[static_cast<std::size_t>(actor)] = Clock::now();
      std::this_thread::sleep_for(kBurstHandler);
      finish.arrive();
    });
  });
  pool.join();
  return figures;
}

Figures timers(const Setting& setting) {
  Finish finish(1);
  Pool pool(setting.threads);
  Timekeeping actor{.strand = pool.strand(),
                    .pool = &pool,
                    .count = setting.count,
                    .finish = &finish,
                    .late_us = room_for(setting.count),
                    .timers = {}};
  asio::post(actor.strand, [&actor] { actor.go(); });
  finish.wait();
  pool.join();
  check_count("timers", setting.count, static_cast<std::int64_t>(actor.late_us.size()));
  return {actor.set_ns / setting.count, actor.cancel_ns / setting.count, quantile(actor.late_us, 0.5),
          quantile(actor.late_us, 0.99)};
}

}  // namespace troupe::bench::actors::with_asio

#endif  // TROUPE_HAS_ASIO
