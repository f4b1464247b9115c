// What a deadline costs: ops that are submitted without waiting, with a deadline each and without, in turns on one
// device. The differences are a few nanoseconds, so both sides have the same worker, and many turns.
#pragma once

#include <chrono>
#include <vector>

#include "bench/batches.hpp"
#include "bench/pair.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {

/// Nanoseconds for each of `count` ops, the median of the turns: with a deadline, and without. `make_call` gives an op
/// of one lane; the last one is awaited.
template <class MakeCall>
Pair::Figures deadline_cost_ns(int count, const MakeCall& make_call) {
  constexpr int kTurns = 15;
  constexpr auto kFarAway = std::chrono::seconds(5);
  const auto ns_of = [&](const auto& call) {
    const Stopwatch stopwatch;
    for (int i = 1; i < count; ++i) value(call().submit());
    value(call().get());
    return stopwatch.ns_per(count);
  };
  const auto with_deadline = [&] { return make_call().deadline(kFarAway); };
  std::vector<double> with, without;
  for (int turn = -1; turn < kTurns; ++turn) {
    const double with_ns = ns_of(with_deadline);
    const double without_ns = ns_of(make_call);
    if (turn < 0) continue;  // for warming up
    with.push_back(with_ns);
    without.push_back(without_ns);
  }
  return {.first = median_of(std::move(with)), .second = median_of(std::move(without))};
}

}  // namespace troupe::bench
