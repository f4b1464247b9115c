#include "bench/matrix/measure.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "bench/stopwatch.hpp"

namespace troupe::bench::matrix {
namespace {

/// Nanoseconds per op.
Result<double> round_of(const Prepared& op, int count) {
  const Stopwatch stopwatch;
  for (int i = 1; i < count; ++i) TROUPE_TRY(op(false));
  TROUPE_TRY(op(true));
  return stopwatch.ns_per(count);
}

}  // namespace

Result<Measured> measure(const Prepared& op, const Effort& effort) {
  const Stopwatch settling;
  double ns = std::numeric_limits<double>::infinity();  // the fastest: one that was held up says nothing of the count
  do ns = std::min(ns, TROUPE_TRY(round_of(op, 1)));
  while (settling.ns() < effort.settle_ns);
  int count = 1;
  while (ns * count < effort.round_ns / 2 && count < effort.most_per_round) {
    const int wanted = static_cast<int>(std::min(effort.round_ns / ns, 4.0 * count));
    count = std::clamp(wanted, count + 1, effort.most_per_round);
    ns = std::min(ns, TROUPE_TRY(round_of(op, count)));
  }
  const int rounds = ns > effort.long_ns ? std::min(effort.rounds, effort.rounds_of_long) : effort.rounds;
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) times.push_back(TROUPE_TRY(round_of(op, count)));
  return Measured{.ns = figure_of(std::move(times), Pick::median, Better::lower), .rounds = rounds};
}

}  // namespace troupe::bench::matrix
