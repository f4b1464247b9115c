#include "bench/actor_rows.hpp"

#include "bench/actor_ours.hpp"
#include "bench/asio_reference.hpp"
#include "bench/handover_reference.hpp"

namespace troupe::bench {
namespace {

constexpr int kAsks = 50'000;
constexpr int kHandovers = 20'000;
constexpr int kSpawns = 50'000;
constexpr int kRestarts = 1'000;
constexpr double kIdleSeconds = 1;

#if TROUPE_HAS_ASIO

/// What a user of Asio writes for an ask: a coroutine on the other strand, awaited for its value or its exception.
References asio_asks(int count) {
  return {.all = {{"Asio strands: co_await co_spawn(...)", [=] { return asio_ask_ns(count, AsioAsk::co_spawn); }}},
          .why_none = {}};
}

/// The least Asio can do between two strands: there and back, with a hand-written awaitable that carries a number and
/// knows no error. No actor system in it; it shows how much of our time is the hop itself.
References asio_hops(int count) {
  const auto way = [count](AsioAsk how) { return [=] { return asio_ask_ns(count, how); }; };
  return {.all = {{"Asio strands: post, dispatch back", way(AsioAsk::post_dispatch)},
                  {"Asio strands: defer, dispatch back", way(AsioAsk::defer_dispatch)}},
          .why_none = {}};
}

using AsioFigure = double (*)(int count, AsioSpawn how);

References asio_spawns(AsioFigure figure, int count) {
  const auto way = [=](AsioSpawn how) { return [=] { return figure(count, how); }; };
  return {.all = {{"Asio strand with a coroutine", way(AsioSpawn::from_a_plain_thread)},
                  {"Asio, executors not erased", way(AsioSpawn::from_a_plain_thread_typed)},
                  {"Asio, the same from a pool thread", way(AsioSpawn::from_a_pool_thread_typed)}},
          .why_none = {}};
}

References asio_spawn_times(int count) { return asio_spawns(asio_spawn_ns, count); }
References asio_heap_bytes(int count) { return asio_spawns(asio_heap_bytes_per_idle_coroutine, count); }

#else

References without_asio() { return {.all = {}, .why_none = "built without Boost.Asio"}; }
References asio_asks(int) { return without_asio(); }
References asio_hops(int) { return without_asio(); }
References asio_spawn_times(int) { return without_asio(); }
References asio_heap_bytes(int) { return without_asio(); }

#endif

References handovers(int count) {
  const auto way = [count](Notify notify) { return [=] { return handover_ns(count, notify); }; };
  return {.all = {{"mutex and cv, notified under the mutex", way(Notify::holding_the_mutex)},
                  {"mutex and cv, notified after unlocking", way(Notify::after_unlocking)}},
          .why_none = {}};
}

std::vector<Row> ask_rows(const Options& options) {
  const int asks = options.count(kAsks);
  const int handover_count = options.count(kHandovers);
  return {
      {.name = "ask between two actors of the pool",
       .unit = "ns",
       .ours = [=] { return ours::ask_in_pool_ns(asks); },
       .references = asio_asks(asks),
       .limit = Limit::at_least_times(4),
       .rounds = options.rounds()},
      {.name = "the same, beside a bare hop of Asio's",
       .unit = "ns",
       .ours = [=] { return ours::ask_in_pool_ns(asks); },
       .references = asio_hops(asks),
       .limit = Limit::at_least_times(1.5),
       .rounds = options.rounds()},
      {.name = "ask from a plain thread",
       .unit = "ns",
       .ours = [=] { return ours::ask_from_thread_ns(handover_count); },
       .references = handovers(handover_count),
       .limit = Limit::at_least_times(2),
       .rounds = options.rounds()},
      {.name = "ask to a pinned actor",
       .unit = "ns",
       .ours = [=] { return ours::ask_pinned_ns(handover_count); },
       .references = handovers(handover_count),
       .limit = Limit::at_least_times(2),
       .rounds = options.rounds()},
  };
}

std::vector<Row> spawn_rows(const Options& options) {
  const int spawns = options.count(kSpawns);
  return {
      {.name = "spawn",
       .unit = "ns",
       .ours = [=] { return ours::spawn_ns(spawns); },
       .references = asio_spawn_times(spawns),
       .limit = Limit::at_least_times(5),
       .rounds = options.rounds()},
      {.name = "heap per idle actor",
       .unit = "bytes",
       .ours = [=] { return ours::heap_bytes_per_idle_actor(spawns); },
       .references = asio_heap_bytes(spawns),
       .limit = Limit::at_most(512),
       .rounds = options.rounds(3)},
  };
}

std::vector<Row> restart_rows(const Options& options) {
  const int restarts = options.count(kRestarts);
  return {
      {.name = "failure to restarted to next reply",
       .unit = "us",
       .ours =
           [=] {
             int asks_lost = 0;
             return ours::restart_us(restarts, &asks_lost);
           },
       .limit = Limit::below(15),
       .rounds = options.rounds()},
      {.name = "asks lost over these failures",
       .unit = "asks",
       .ours = [=]() -> double {
         int asks_lost = 0;
         const double us = ours::restart_us(restarts, &asks_lost);
         return us == us ? asks_lost : kNotMeasured;
       },
       .limit = Limit::at_most(0),
       .rounds = options.rounds(),
       .pick = Pick::worst},
  };
}

Row idle_row(const Options& options) {
  const double seconds = options.quick ? kIdleSeconds / 4 : kIdleSeconds;
  return {.name = "an idle system, of one core",
          .unit = "%",
          .ours = [=] { return ours::idle_cpu_percent(seconds); },
          .limit = Limit::below(1),
          .rounds = options.rounds(3)};
}

}  // namespace

std::vector<Row> actor_rows(const Options& options) {
  std::vector<Row> rows = ask_rows(options);
  for (Row& row : spawn_rows(options)) rows.push_back(std::move(row));
  for (Row& row : restart_rows(options)) rows.push_back(std::move(row));
  rows.push_back(idle_row(options));
  return rows;
}

}  // namespace troupe::bench
