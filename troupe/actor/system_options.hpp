// What a `System` can be told at its start, and what it says of itself later. Plain structs with sane defaults, so that
// `System system;` is a complete program's first line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "troupe/actor/supervision.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/log.hpp"

namespace troupe::inline v0 {

/// How many actors a system has at most, unless `SystemOptions` says otherwise.
inline constexpr std::size_t kDefaultMaxActors = 1'000'000;

/// What a system can be told when it starts.
struct SystemOptions {
  /// Threads of the pool; unset: one per core this process may use. 0 is an `invalid_argument`.
  std::optional<int> threads = {};
  /// One spawn more ends in `out_of_memory`.
  std::size_t max_actors = kDefaultMaxActors;
  /// Where the system's sentences go; empty: warnings and errors go to standard error.
  LogSink log = {};
  /// Set: no threads, virtual time, and every choice of whom to run next comes from this seed (see testkit.hpp).
  std::optional<std::uint64_t> deterministic_seed = {};
};

/// What a system counts.
struct SystemStats {
  std::size_t actors = 0;  // alive now, the system's own included
  std::uint64_t restarts = 0;
  std::uint64_t dead_letters = 0;
};

/// How a system's end went: what was handled, what was cut off, who is stuck.
struct ShutdownReport {
  struct CutOff {
    std::string path;
    std::uint32_t messages = 0;  // queued and never handled
    std::uint32_t handlers = 0;  // waiting at a co_await
  };
  /// Everything was handled before the deadline.
  bool drained = true;
  /// What was under way at the deadline and was cut off; each of those asks has ended in `stopped`.
  std::vector<CutOff> cut_off;
  /// Actors whose handler has not returned even then; their threads are still in it.
  std::vector<std::string> stuck;
};

}  // namespace troupe::inline v0
