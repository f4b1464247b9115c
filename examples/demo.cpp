// The tour that `./dev demo` runs: what the actors promise, shown and checked, then what they cost. Exits non-zero when
// something it shows does not hold.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// Writes the tour to standard output, and remembers whether all of it held.
class Stage {
 public:
  explicit Stage(bool colours) : colours_(colours) {}

  void title(std::string_view text) { std::printf("\n%s\n", painted("1", text).c_str()); }
  void says(const std::string& text) { std::printf("   %s\n", text.c_str()); }
  void check(bool holds, const std::string& text) {
    std::printf("   %s %s\n", holds ? painted("32", "ok  ").c_str() : painted("31", "FAIL").c_str(), text.c_str());
    all_hold_ &= holds;
  }
  bool all_hold() const { return all_hold_; }

 private:
  std::string painted(const char* code, std::string_view text) const {
    return colours_ ? "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m" : std::string(text);
  }

  const bool colours_;
  bool all_hold_ = true;
};

std::string micros(Duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f us", static_cast<double>(duration.count()) / 1e3);
  return text.data();
}

TimePoint now() { return std::chrono::steady_clock::now(); }

// ---- 1: a supervised crash ----

struct Crash {
  using Reply = void;
};
struct Reading {
  int instance = 0;         // which instance of the actor answered
  Duration since_crash{0};  // from the throw to this handler
};
struct Get {
  using Reply = Reading;
};

class Sensor {
 public:
  struct History {
    int instances = 0;
    TimePoint crashed{};
  };
  explicit Sensor(History* history) : history_(*history), instance_(++history_.instances) {}
  void on(Crash) {
    history_.crashed = now();
    throw std::runtime_error("the sensor broke");
  }
  Reading on(Get) { return {instance_, now() - history_.crashed}; }

 private:
  History& history_;
  const int instance_;
};

Task<std::vector<Result<Reading>>> crash_with_a_queue(Ref<Sensor> sensor, int queued) {
  std::vector<Task<Result<Reading>>> tasks;
  const auto crash = [](Ref<Sensor> at) -> Task<Result<Reading>> {
    CO_TRY(co_await at.ask<Crash>());
    co_return Reading{};
  };
  tasks.push_back(crash(sensor));
  for (int i = 0; i < queued; ++i) tasks.push_back(sensor.ask<Get>());
  co_return co_await when_all(std::move(tasks));
}

void show_a_crash(Stage& stage) {
  constexpr int kQueued = 1000;
  stage.title("1. A supervised crash at a stable address");
  Sensor::History history;
  System system({.log = log_nothing()});
  Ref<Sensor> sensor = value(system.spawn<Sensor>({.name = "sensor"}, &history));
  const std::string before = sensor.path();

  const auto results = value(system.run(crash_with_a_queue(sensor, kQueued)));
  const bool failed = !results[0] && results[0].error().kind() == ErrorKind::internal;
  int answered = 0;
  for (std::size_t i = 1; i < results.size(); ++i) answered += results[i] && results[i]->instance == 2;
  stage.says("One message makes " + before + " throw; " + std::to_string(kQueued) + " asks come right behind it.");
  stage.check(failed, "the ask that crashed it got the error: " + (failed ? results[0].error().to_string() : "none"));
  stage.check(answered == kQueued, std::to_string(answered) + " of " + std::to_string(kQueued) +
                                       " queued asks were answered, by instance 2 at the same address");
  if (answered > 0)
    stage.says("     thrown -> restarted -> next message handled: " + micros(results[1]->since_crash) +
               " (the first exception of a process is the slowest)");
}

// ---- 2: back-pressure ----

struct Chew {
  using Reply = int;
};

class Slow {
 public:
  Task<int> on(Chew) {
    co_await sleep_for(1ms);
    co_return 1;
  }
};

Task<std::vector<Result<int>>> feed(Ref<Slow> slow, int asks) {
  std::vector<Task<Result<int>>> tasks;
  for (int i = 0; i < asks; ++i) tasks.push_back(slow.ask<Chew>());
  co_return co_await when_all(std::move(tasks));
}

void show_back_pressure(Stage& stage) {
  constexpr int kCapacity = 16, kAsks = 200;
  stage.title("2. Back-pressure");
  stage.says("An actor needs 1 ms per message, its mailbox holds " + std::to_string(kCapacity) + ", and " +
             std::to_string(kAsks) + " asks come at once.");
  System system;
  struct Policy {
    const char* name;
    Overflow overflow;
  };
  for (const Policy& policy : {Policy{"refuse", Overflow::refuse}, Policy{"drop_oldest", Overflow::drop_oldest},
                               Policy{"suspend_asker", Overflow::suspend_asker}}) {
    Ref<Slow> slow = value(system.spawn<Slow>(
        {.name = policy.name, .mailbox_capacity = kCapacity, .overflow = policy.overflow, .max_handlers = 1}));
    int answered = 0, full = 0;
    for (const Result<int>& result : value(system.run(feed(slow, kAsks)))) {
      answered += result.has_value();
      full += !result && result.error().kind() == ErrorKind::mailbox_full;
    }
    const bool expected = policy.overflow == Overflow::suspend_asker ? full == 0 : full > 0 && answered >= kCapacity;
    std::array<char, 96> line{};
    std::snprintf(line.data(), line.size(), "%-13s %3d answered + %3d mailbox_full = %d asks", policy.name, answered,
                  full, kAsks);
    stage.check(answered + full == kAsks && expected, line.data());
  }
}

// ---- 3: a timeout and a cancellation ----

void show_giving_up(Stage& stage) {
  stage.title("3. A timeout and a cancellation");
  struct Sleeper {
    Task<int> on(Chew) {
      co_await sleep_for(1h);
      co_return 1;
    }
  };
  System system;
  Ref<Sleeper> sleeper = value(system.spawn<Sleeper>({.name = "sleeper"}));

  TimePoint began = now();
  const Result<int> late = sleeper.ask<Chew>().within(20ms).get();
  const Duration took = now() - began;
  stage.check(!late && late.error().kind() == ErrorKind::timeout && took >= 20ms,
              "asked for an hour's work within 20 ms: " + (late ? "a value" : late.error().to_string()) + ", after " +
                  micros(took));

  std::stop_source source;
  std::jthread canceller([&] {
    began = now();
    source.request_stop();
  });
  const Result<int> dropped = sleeper.ask<Chew>().cancel_on(source.get_token()).get();
  const TimePoint ended = now();
  canceller.join();
  stage.check(!dropped && dropped.error().kind() == ErrorKind::cancelled,
              "cancelled from another thread: " + (dropped ? "a value" : dropped.error().to_string()) + ", " +
                  micros(ended - began) + " after the request");
  sleeper.stop();  // its handlers did not end with their askers; this cuts them off
}

// ---- 4: every ask ends exactly once ----

using Tally = std::array<int, kErrorKinds + 1>;  // by kind; the last one counts values

enum class Mood { answer, fail, crash, doze, never };

struct Work {
  Mood mood = Mood::answer;
  using Reply = int;
};

class Moody {
 public:
  Task<Result<int>> on(Work work) {
    switch (work.mood) {
      case Mood::answer: co_return 1;
      case Mood::fail: co_return troupe::fail(ErrorKind::unsupported, "not in this mood");
      case Mood::crash: throw std::runtime_error("moody");
      case Mood::doze: co_await sleep_for(1ms); co_return 1;
      case Mood::never: co_await stop_requested(std::stop_token()); co_return 1;
    }
    co_return 1;
  }
};

constexpr std::array kMoods = {Mood::answer, Mood::answer, Mood::answer, Mood::answer, Mood::doze, Mood::doze,
                               Mood::doze,   Mood::fail,   Mood::fail,   Mood::never,  Mood::crash};

/// Asks in all moods, more than the mailbox holds, some with a time limit, some to be cancelled; then stops the actor.
Task<Tally> one_round(System* system, int asks, unsigned seed) {
  const Supervision often{.max_restarts = 1'000'000};
  Ref<Moody> moody = value(system->spawn<Moody>({.supervision = often, .mailbox_capacity = 128}));
  std::minstd_rand random(seed);
  std::stop_source asker;
  const auto end_it = [](Ref<Moody> actor, std::stop_source source) -> Task<Result<int>> {
    co_await sleep_for(3ms);
    source.request_stop();
    actor.stop();
    co_return 0;
  };
  std::vector<Task<Result<int>>> tasks;
  for (int i = 0; i < asks; ++i) {
    const Mood mood = kMoods[random() % kMoods.size()];
    switch (i % 8) {
      case 0: tasks.push_back(moody.ask<Work>(mood).within(1ms)); break;
      case 1: tasks.push_back(moody.ask<Work>(mood).cancel_on(asker.get_token())); break;
      default: tasks.push_back(moody.ask<Work>(mood));
    }
  }
  tasks.push_back(end_it(moody, asker));
  std::vector<Result<int>> results = co_await when_all(std::move(tasks));
  results.pop_back();
  Tally tally{};
  for (const Result<int>& result : results)
    ++tally[result ? kErrorKinds : static_cast<std::size_t>(result.error().kind())];
  co_return tally;
}

void show_every_ask_ends(Stage& stage) {
  constexpr int kThreads = 2, kRounds = 50, kAsksPerRound = 200;
  constexpr int kAsks = kThreads * kRounds * kAsksPerRound;
  stage.title("4. Every ask ends exactly once");
  stage.says(std::to_string(kAsks) + " asks to actors that crash, restart, doze, overflow and stop; some with a time");
  stage.says("limit, some cancelled. Each outcome is counted where the asker gets it:");
  System system({.log = log_nothing()});
  std::array<Tally, kThreads> tallies{};
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (unsigned round = 0; round < kRounds; ++round) {
          const Tally tally = value(system.run(one_round(&system, kAsksPerRound, t * kRounds + round + 1)));
          for (std::size_t kind = 0; kind < tally.size(); ++kind) tallies[t][kind] += tally[kind];
        }
      });
  }
  int outcomes = 0;
  for (std::size_t kind = 0; kind <= kErrorKinds; ++kind) {
    const int count = tallies[0][kind] + tallies[1][kind];
    outcomes += count;
    if (count == 0) continue;
    const std::string_view label = kind == kErrorKinds ? "a value" : name(static_cast<ErrorKind>(kind));
    std::printf("        %-16.*s %6d\n", static_cast<int>(label.size()), label.data(), count);
  }
  stage.check(outcomes == kAsks, std::to_string(outcomes) + " outcomes for " + std::to_string(kAsks) +
                                     " asks, across " + std::to_string(system.stats().restarts) + " restarts");
}

// ---- 5: latencies ----

struct Ping {
  using Reply = int;
};

class Echo {
 public:
  int on(Ping) { return 1; }
};

void row(const char* what, std::vector<Duration> samples, const char* note) {
  std::ranges::sort(samples);
  const Duration p50 = samples[samples.size() / 2];
  const Duration p99 = samples[samples.size() * 99 / 100];
  std::printf("   %-42s %12s %12s   %s\n", what, micros(p50).c_str(), micros(p99).c_str(), note);
}

/// How long each of `count` calls took, after as many again to warm up.
template <class F>
std::vector<Duration> time_each(int count, F call) {
  std::vector<Duration> samples;
  for (int i = -count; i < count; ++i) {
    const TimePoint began = now();
    call();
    if (i >= 0) samples.push_back(now() - began);
  }
  return samples;
}

constexpr int kAsksPerSample = 100;  // within the pool an ask costs little more than reading the clock

Task<Result<std::vector<Duration>>> time_in_the_pool(Ref<Echo> echo) {
  std::vector<Duration> samples;
  for (int i = 0; i < 2000; ++i) {
    const TimePoint began = now();
    for (int ask = 0; ask < kAsksPerSample; ++ask) CO_TRY(co_await echo.ask<Ping>());
    samples.push_back((now() - began) / kAsksPerSample);
  }
  co_return samples;
}

std::vector<Duration> time_restarts(System& system, Sensor::History& history) {
  const Supervision often{.max_restarts = 1'000'000};
  Ref<Sensor> sensor = value(system.spawn<Sensor>({.supervision = often}, &history));
  std::vector<Duration> samples;
  for (int i = 0; i < 2000; ++i) {
    (void)sensor.ask<Crash>().get();
    value(sensor.ask<Get>().get());
    samples.push_back(now() - history.crashed);
  }
  return samples;
}

void show_latencies(Stage& stage) {
  stage.title("5. What it costs, on this machine, now (./dev bench measures the same beside a reference)");
  std::printf("   %-42s %12s %12s\n", "", "p50", "p99");
  Sensor::History history;
  System system({.log = log_nothing()});
  Ref<Echo> echo = value(system.spawn<Echo>({}));
  Ref<Echo> pinned = value(system.spawn<Echo>({.dispatcher = value(system.pinned_thread("pinned"))}));
  const auto ask = [](const Ref<Echo>& ref) { return [&ref] { value(ref.ask<Ping>().get()); }; };

  row("ask and reply, actor to actor in the pool", value(system.run(time_in_the_pool(echo))), "means of 100");
  row("ask and reply, plain thread to pool", time_each(10'000, ask(echo)), "each");
  row("ask and reply, plain thread to pinned", time_each(10'000, ask(pinned)), "each");
  row("spawn", time_each(10'000, [&] { value(system.spawn<Echo>({})); }), "until the ref is there");
  row("failure -> restarted -> next reply", time_restarts(system, history), "seen by the asker");
  stage.check(system.stats().restarts == 2000, "2000 restarts, and no ask lost");
}

int usage(std::FILE* to, int status) {
  std::fputs(
      "usage: troupe_demo [--help]\n"
      "A tour of Troupe's actors; it takes a few seconds. Exits with 1 when something it shows does not hold.\n"
      "Colours are used on a terminal, unless NO_COLOR is set.\n",
      to);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") return usage(stdout, 0);
  if (argc > 1) return usage(stderr, 2);
  const char* no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): one thread so far
  Stage stage(isatty(STDOUT_FILENO) && !(no_color && *no_color));
  try {
    stage.title("Troupe: supervised accelerators for C++ services.");
    stage.says("This tour shows the ground it stands on, the actor core. It needs no GPU.");
    show_a_crash(stage);
    show_back_pressure(stage);
    show_giving_up(stage);
    show_every_ask_ends(stage);
    show_latencies(stage);
  } catch (const std::exception& exception) {
    stage.check(false, std::string("an exception ended the tour: ") + exception.what());
  }
  std::printf("\n%s\n", stage.all_hold() ? "All of it held." : "Something did not hold; see FAIL above.");
  return stage.all_hold() ? 0 : 1;
}
