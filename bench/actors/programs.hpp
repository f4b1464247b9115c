// The programs of `./dev bench actors`, in the manner of the Savina suite: each is written once for us, once for CAF
// and once for Asio, and does the same work on every side. docs/bench-actors.md says what each of them does; a side
// that has no such thing leaves its program out.
#pragma once

#include <string>
#include <vector>

namespace troupe::bench::actors {

/// How a program runs: with so many threads in the pool, and so many operations (of what, the program knows).
struct Setting {
  int threads = 1;
  int count = 1;
};

/// What one run of a program has shown, in the order of the row's figures; `kNotMeasured` where the side has no such
/// thing.
using Figures = std::vector<double>;

/// Makes its own system, runs in it and takes it down again outside the measured time. Throws `std::runtime_error` when
/// a message was lost or came twice. Called from the main thread, one at a time.
using Program = Figures (*)(const Setting& setting);

/// One side's programs; null where the side has no such thing.
struct Programs {
  /// Such as "CAF 0.17.6"; empty when it was not there when this was built.
  std::string version;
  // Messages.
  Program ping_pong = nullptr;
  Program ring = nullptr;
  Program counting = nullptr;
  Program many_to_one = nullptr;
  Program big = nullptr;
  Program all_pairs = nullptr;
  Program fork_join_messages = nullptr;
  // Asks.
  Program ask_in_actor = nullptr;
  Program ask_from_thread = nullptr;
  // How actors come and go.
  Program fork_join_creation = nullptr;
  Program idle_spawn = nullptr;
  Program idle_bytes = nullptr;
  Program watch = nullptr;
  Program restart_storm = nullptr;
  // Under load.
  Program ask_into_saturated = nullptr;
  Program timer_in_saturated = nullptr;
  Program ask_in_actor_at_half_load = nullptr;
  Program ask_from_thread_at_half_load = nullptr;
  Program burst = nullptr;
  // Timers.
  Program timers = nullptr;
};

Programs our_programs();
Programs caf_programs();
Programs asio_programs();
/// Plain threads that ask each other, where a row is about what the machine itself takes.
Programs bare_programs();

}  // namespace troupe::bench::actors
