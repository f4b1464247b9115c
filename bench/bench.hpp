// A row of the benchmark: ours, the references it has to beat, and the limit it has to keep. Ours and the references
// are measured in turns within one run, so that a machine that slows down for a while slows down all of them alike. The
// figure is the median of the rounds; and because what holds up one side of a round holds up the other, too, the ratio
// is the median of the rounds' ratios.
//
//   std::vector<Row> rows = {{.name = "ask between two actors of the pool", .unit = "ns",
//                             .ours = [] { return ours::ask_in_pool_ns(20'000); },
//                             .references = {.all = {{"Asio strands", asio_ask}}, .why_none = {}},
//                             .limit = Limit::at_least_times(4)}};
//   Outcome outcome = measure(rows[0]);
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace troupe::bench {

/// One measurement: how much of the row's unit. Called once per round, from the main thread.
using Measurement = std::function<double()>;

/// What a measurement returns when it cannot measure here.
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

enum class Better { lower, higher };

/// Which of the rounds' values stands for all. `worst` is for what must never happen, such as an ask that is lost.
enum class Pick { median, worst };

/// What a row has to keep: a ratio or a distance to its best reference, or a bound on our own figure.
class Limit {
 public:
  enum class Kind { at_least_times, at_most_times, at_most_over, at_most, below, printed };

  /// At least `times` as good as the best reference.
  static constexpr Limit at_least_times(double times) { return {Kind::at_least_times, times}; }
  /// The same said the other way round, for what cannot be beaten: at most `times` what the best reference takes.
  static constexpr Limit at_most_times(double times) { return {Kind::at_most_times, times}; }
  /// At most the best reference's figure and `bound` more. For rows where lower is better.
  static constexpr Limit at_most_over(double bound) { return {Kind::at_most_over, bound}; }
  static constexpr Limit at_most(double bound) { return {Kind::at_most, bound}; }
  static constexpr Limit below(double bound) { return {Kind::below, bound}; }
  /// None: the row is there to compare with.
  static constexpr Limit printed() { return {Kind::printed, 0}; }

  Kind kind() const { return kind_; }
  double bound() const { return bound_; }
  bool is_ratio() const { return kind_ == Kind::at_least_times || kind_ == Kind::at_most_times; }
  bool needs_reference() const { return is_ratio() || kind_ == Kind::at_most_over; }
  /// `ratio` is how many times as good as the reference we are, `over` by how much our figure is more.
  bool holds(double ours, double ratio, double over) const;
  /// That ratio as the limit speaks of it: turned round where the limit is one from above.
  double as_stated(double ratio) const { return kind_ == Kind::at_most_times ? 1 / ratio : ratio; }
  /// `>= 4x`, `<= 1.15x`, `<= ref + 3 us`, `<= 512 bytes`, `< 1 %`, `none`.
  std::string to_string(const std::string& unit) const;

 private:
  constexpr Limit(Kind kind, double bound) : kind_(kind), bound_(bound) {}

  Kind kind_;
  double bound_;
};

struct Reference {
  std::string name;
  Measurement measure;
  /// Ours, too, in another way: a worker runs it.
  bool is_ours = false;
};

/// The same task done otherwise, with best effort in each way. The best of them is the one a row is compared with.
struct References {
  std::vector<Reference> all;
  /// Where this build cannot measure any: why.
  std::string why_none;
};

struct Row {
  std::string name;
  std::string unit;
  Better better = Better::lower;
  Measurement ours;
  References references = {};
  Limit limit;
  int rounds = 7;
  Pick pick = Pick::median;
  /// The table has the worst of the rounds in a line of its own, too.
  bool shows_worst = false;
};

/// Of all rounds: the picked value, the quartiles around it, and the worst one. NaN when not measured.
struct Figure {
  double value = kNotMeasured;
  double low = kNotMeasured;
  double high = kNotMeasured;
  double worst = kNotMeasured;

  bool measured() const { return value == value; }
};

/// Ours and one reference, round by round: the medians of how many times as good we are, and of the differences. NaN
/// when either was not measured.
struct Comparison {
  double ratio = kNotMeasured;
  double over = kNotMeasured;
};

/// `printed` is what has been measured and has no limit.
enum class Status { ok, missed, skipped, printed };

struct Outcome {
  Row row;
  Figure ours;
  /// One for each of the row's references, in their order.
  std::vector<Figure> references;
  std::vector<Comparison> comparisons;
  /// Index of the best reference; -1 when none was measured.
  int best_reference = -1;
  Status status = Status::skipped;
  /// Why the row was skipped, or what went wrong in it.
  std::string why;
  /// It missed its limit the first time.
  bool is_second = false;

  Comparison with(int reference) const { return reference < 0 ? Comparison() : comparisons[reference]; }
  Comparison with_best() const { return with(best_reference); }
};

/// Runs the row; one that misses its limit is run once more, and that counts. A measurement that throws misses the
/// limit: a benchmark that does not run proves nothing.
Outcome measure(const Row& row);

/// The picked value, the quartiles and the worst of what the rounds gave; not measured when one of them is NaN.
Figure figure_of(std::vector<double> values, Pick pick, Better better);

}  // namespace troupe::bench
