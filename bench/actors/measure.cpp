#include "bench/actors/measure.hpp"

#include <algorithm>
#include <exception>

#include "bench/batches.hpp"

namespace troupe::bench::actors {
namespace {

constexpr const char* kSideNames[kSides] = {"Troupe", "CAF", "Asio", "plain threads"};

}  // namespace

Line line_of(const Row& row, std::size_t figure, int threads, const std::array<std::vector<double>, kSides>& rounds) {
  Line line{.row = row.name, .shown = row.figures[figure], .threads = threads};
  for (std::size_t side = 0; side < kSides; ++side)
    if (!rounds[side].empty()) line.figures[side] = figure_of(rounds[side], Pick::median, Better::lower);
  for (const Side side : {kCaf, kAsio})
    if (line.figures[side].measured() &&
        (line.best_other == kOurs || line.figures[side].value < line.figures[line.best_other].value))
      line.best_other = side;
  if (line.best_other == kOurs || !line.figures[kOurs].measured()) return line;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds[kOurs].size(); ++i) {
    const double ours = rounds[kOurs][i];
    const double other = rounds[line.best_other][i];
    ratios.push_back(ours == other ? 1 : other / ours);  // both may be 0
  }
  line.ratio = median_of(std::move(ratios));
  return line;
}

Outcome measure(const Row& row, const Sides& sides, int threads, const Rounds& rounds) {
  Setting setting{.threads = row.threads > 0 ? row.threads : threads, .count = row.count};
  if (rounds.is_smoke) setting.count = row.smoke_count;
  if (rounds.is_quick) setting.count = std::max(row.count / 5, row.smoke_count);
  const Setting warm_up{.threads = setting.threads, .count = std::max(setting.count / 5, row.smoke_count)};

  Outcome outcome;
  std::vector<std::array<std::vector<double>, kSides>> values(row.figures.size());
  for (int round = rounds.is_smoke ? 0 : -1; round < rounds.rounds; ++round) {
    for (std::size_t turn = 0; turn < kSides; ++turn) {
      const std::size_t side = round % 2 == 0 ? turn : kSides - 1 - turn;
      const Program program = sides[side].*row.program;
      if (program == nullptr) continue;
      try {
        const Figures figures = program(round < 0 ? warm_up : setting);
        for (std::size_t i = 0; round >= 0 && i < values.size(); ++i) values[i][side].push_back(figures.at(i));
      } catch (const std::exception& problem) {
        outcome.wrong = row.name + ", " + kSideNames[side] + ", " + std::to_string(setting.threads) +
                        (setting.threads == 1 ? " thread: " : " threads: ") + problem.what();
        return outcome;
      }
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) outcome.lines.push_back(line_of(row, i, setting.threads, values[i]));
  return outcome;
}

void put_lost_first(std::vector<Line>& lines) {
  const auto others = std::ranges::stable_partition(lines, &Line::is_lost);
  std::ranges::stable_sort(lines.begin(), others.begin(), {}, &Line::ratio);
}

}  // namespace troupe::bench::actors
