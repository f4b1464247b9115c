// The options of a `System`, and what it reports about itself later. They are plain structs with sane defaults, so that
// `System system;` needs no options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "troupe/actor/supervision.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/log.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// How many actors a system may have, unless `SystemOptions` says otherwise.
inline constexpr std::size_t kDefaultMaxActors = 1'000'000;

/// The options of a system.
struct SystemOptions {
  /// How many threads the pool has. Unset: one per core that this process may use. 0 is an `invalid_argument`.
  std::optional<int> threads = {};
  /// How many actors the system may have; one more spawn ends in `out_of_memory`. 0 is an `invalid_argument`.
  std::size_t max_actors = kDefaultMaxActors;
  /// Where the system's log goes. Empty: warnings and errors go to standard error.
  LogSink log = {};
  /// If it is set, there are no threads, time is virtual, and the seed decides which actor runs next (see testkit.hpp).
  std::optional<std::uint64_t> deterministic_seed = {};
};

/// What a system counts.
struct SystemStats {
  std::size_t actors = 0;          // how many are alive now, the system's own included
  std::uint64_t restarts = 0;      // of all actors so far
  std::uint64_t dead_letters = 0;  // tells that reached nobody so far
};

/// How a shutdown went: whether everything was handled, what was cut off, and which actors are stuck.
struct ShutdownReport {
  /// The work of one actor that was cut off.
  struct CutOff {
    std::string path;
    std::uint32_t messages = 0;  // how many were queued or being handled
    std::uint32_t handlers = 0;  // how many waited at a co_await
  };
  /// Everything was handled before the deadline.
  bool drained = true;
  /// The actors that still had work at the deadline. That work was cut off: its asks have ended in `stopped`, unless
  /// the actor is stuck.
  std::vector<CutOff> cut_off;
  /// Actors whose handler did not return even after that; a thread is still in the handler.
  std::vector<std::string> stuck;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
