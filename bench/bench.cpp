#include "bench/bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

namespace troupe::bench {
namespace {

bool is_better(double left, double right, Better better) {
  return better == Better::lower ? left < right : left > right;
}

/// The value below which `part` of the sorted values lie, interpolated between neighbours.
double quantile(const std::vector<double>& sorted, double part) {
  const double position = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

/// The values of every side: [0] is ours, [1 + i] is reference i.
using Samples = std::vector<std::vector<double>>;

/// Ours and the references in turns; every other round backwards, so that no side is always the one that runs in
/// the wake of another.
Samples run_rounds(const Row& row) {
  std::vector<const Measurement*> sides = {&row.ours};
  for (const Reference& reference : row.references.all) sides.push_back(&reference.measure);

  Samples samples(sides.size());
  for (int round = 0; round < row.rounds; ++round) {
    for (std::size_t turn = 0; turn < sides.size(); ++turn) {
      const std::size_t side = round % 2 == 0 ? turn : sides.size() - 1 - turn;
      samples[side].push_back((*sides[side])());
    }
  }
  return samples;
}

int best_of(const std::vector<Figure>& figures, Better better) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(figures.size()); ++i) {
    if (!figures[i].measured()) continue;
    if (best < 0 || is_better(figures[i].value, figures[best].value, better)) best = i;
  }
  return best;
}

void judge(Outcome& outcome) {
  const std::string& why_none = outcome.row.references.why_none;
  const Limit& limit = outcome.row.limit;
  const int best = outcome.best_reference;
  if (!outcome.ours.measured()) {
    outcome.status = Status::skipped;
    outcome.why = "ours is not measured here";
  } else if (limit.kind() == Limit::Kind::printed) {
    outcome.status = Status::printed;
  } else if (limit.needs_reference() && best < 0) {
    outcome.status = Status::skipped;
    outcome.why = why_none.empty() ? "no reference was measured" : why_none;
  } else {
    const Comparison compared = outcome.with_best();
    outcome.status = limit.holds(outcome.ours.value, compared.ratio, compared.over) ? Status::ok : Status::missed;
  }
}

}  // namespace

bool Limit::holds(double ours, double ratio, double over) const {
  switch (kind_) {
    case Kind::at_least_times: return ratio >= bound_;
    case Kind::at_most_times: return as_stated(ratio) <= bound_;
    case Kind::at_most_over: return over <= bound_;
    case Kind::at_most: return ours <= bound_;
    case Kind::below: return ours < bound_;
    case Kind::printed: return true;
  }
  return false;
}

std::string Limit::to_string(const std::string& unit) const {
  if (kind_ == Kind::printed) return "none";
  const char* sign = kind_ == Kind::at_least_times ? ">="
                     : kind_ == Kind::below        ? "<"
                     : kind_ == Kind::at_most_over ? "<= ref +"
                                                   : "<=";
  char text[64];
  std::snprintf(text, sizeof text, "%s %g", sign, bound_);
  return text + (is_ratio() ? "x" : " " + unit);
}

Figure figure_of(std::vector<double> values, Pick pick, Better better) {
  if (values.empty() || std::ranges::any_of(values, [](double value) { return std::isnan(value); })) return {};
  std::ranges::sort(values);
  const double worst = better == Better::lower ? values.back() : values.front();
  return {.value = pick == Pick::worst ? worst : quantile(values, 0.5),
          .low = quantile(values, 0.25),
          .high = quantile(values, 0.75),
          .worst = worst};
}

namespace {

double median(std::vector<double> values) { return figure_of(std::move(values), Pick::median, Better::lower).value; }

Comparison compare(const std::vector<double>& ours, const std::vector<double>& theirs, Better better) {
  std::vector<double> ratios;
  std::vector<double> differences;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ratios.push_back(better == Better::lower ? theirs[i] / ours[i] : ours[i] / theirs[i]);
    differences.push_back(ours[i] - theirs[i]);
  }
  return {.ratio = median(std::move(ratios)), .over = median(std::move(differences))};
}

Outcome measure_once(const Row& row) {
  const std::size_t count = row.references.all.size();
  Outcome outcome{.row = row,
                  .ours = {},
                  .references = std::vector<Figure>(count),
                  .comparisons = std::vector<Comparison>(count),
                  .why = {}};
  try {
    const Samples samples = run_rounds(row);
    outcome.ours = figure_of(samples[0], row.pick, row.better);
    for (std::size_t i = 0; i < row.references.all.size(); ++i) {
      outcome.references[i] = figure_of(samples[1 + i], row.pick, row.better);
      outcome.comparisons[i] = compare(samples[0], samples[1 + i], row.better);
    }
  } catch (const std::exception& problem) {
    outcome.status = Status::missed;
    outcome.why = problem.what();
    return outcome;
  }
  outcome.best_reference = best_of(outcome.references, row.better);
  judge(outcome);
  return outcome;
}

}  // namespace

Outcome measure(const Row& row) {
  Outcome outcome = measure_once(row);
  if (outcome.status != Status::missed || !outcome.why.empty()) return outcome;
  // Somebody else may have been at work here; what is ours to answer for shows again.
  outcome = measure_once(row);
  outcome.is_second = true;
  return outcome;
}

}  // namespace troupe::bench
