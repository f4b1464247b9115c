// Runs the rows: the sides in turns within each round, every other round backwards, so that no side is always the one
// that runs in the wake of another; and before them each side once, to warm up, which does not count. The figure is the
// median of the rounds, and the ratio the median of the rounds' ratios.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "bench/actors/rows.hpp"
#include "bench/bench.hpp"

namespace troupe::bench::actors {

/// `kBare` is plain threads: what the machine alone takes, with which nothing is compared.
enum Side : std::size_t { kOurs, kCaf, kAsio, kBare, kSides };

/// What is run: the programs of each side, in the order of `Side`.
using Sides = std::array<Programs, kSides>;

struct Rounds {
  int rounds = 5;
  /// Take the rows' small counts, and do not warm up.
  bool is_smoke = false;
  /// Take a fifth of the rows' counts.
  bool is_quick = false;
};

/// One figure of a row with so many threads.
struct Line {
  std::string row;
  Shown shown;
  int threads = 0;
  std::array<Figure, kSides> figures = {};
  /// The better one of the others; `kOurs` when there is none.
  Side best_other = kOurs;
  /// How many times as good as that we are; below 1 we lose. NaN when it cannot be said.
  double ratio = kNotMeasured;

  bool is_lost() const { return ratio < 1; }
};

/// What a row shows with so many threads, and what was wrong with it, if anything: which side lost messages.
struct Outcome {
  std::vector<Line> lines;
  std::string wrong;
};

Outcome measure(const Row& row, const Sides& sides, int threads, const Rounds& rounds);

/// The line of one figure, from what the rounds of each side gave; a side without rounds has no such program.
Line line_of(const Row& row, std::size_t figure, int threads, const std::array<std::vector<double>, kSides>& rounds);

/// Those that we lose first, the worst of them at the head; the others as they were.
void put_lost_first(std::vector<Line>& lines);

}  // namespace troupe::bench::actors
