// The time of an op: many are submitted in a row and the last one is awaited, as a program does that computes. How many
// there are in a round follows from how long one takes. tools/torch_ops.py measures PyTorch in the same way.
#pragma once

#include "bench/bench.hpp"
#include "bench/matrix/prepared.hpp"

namespace troupe::bench::matrix {

struct Effort {
  int rounds = 5;
  /// It runs so long before its time counts: clocks go up, and the kernel sees which threads are busy.
  double settle_ns = 1e8;
  /// How long a round should take.
  double round_ns = 2e7;
  /// How many ops a round may have.
  int most_per_round = 2000;
  /// Rounds of ops that take longer than this are few.
  double long_ns = 2e8;
  int rounds_of_long = 3;

  static Effort quick() { return {.rounds = 3, .settle_ns = 3e7, .round_ns = 5e6}; }
};

struct Measured {
  /// Nanoseconds per op, over the rounds.
  Figure ns;
  int rounds = 0;
};

Result<Measured> measure(const Prepared& op, const Effort& effort);

}  // namespace troupe::bench::matrix
