// `./dev bench`. A new file of rows is one include and one line in `all_rows`.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/actor_rows.hpp"
#include "bench/bench.hpp"
#include "bench/device_rows.hpp"
#include "bench/expression_rows.hpp"
#include "bench/fft_rows.hpp"
#include "bench/gpu_rows.hpp"
#include "bench/network_rows.hpp"
#include "bench/options.hpp"
#include "bench/primitive_rows.hpp"
#include "bench/random_rows.hpp"
#include "bench/raw_fault.hpp"
#include "bench/report.hpp"
#include "bench/signal_rows.hpp"

namespace troupe::bench {
namespace {

constexpr int kOk = 0;
constexpr int kLimitMissed = 1;
constexpr int kNoGpu = 1;
constexpr int kBadUse = 2;

std::vector<Row> all_rows(const Options& options) {
  std::vector<Row> rows;
  if (options.gpu) {
    std::ranges::move(gpu_rows(options), std::back_inserter(rows));
    std::ranges::move(expression_rows(options), std::back_inserter(rows));
    std::ranges::move(signal_rows(options), std::back_inserter(rows));
    std::ranges::move(primitive_rows(options), std::back_inserter(rows));
    std::ranges::move(network_rows(options), std::back_inserter(rows));
  } else {
    std::ranges::move(actor_rows(options), std::back_inserter(rows));
    std::ranges::move(device_rows(options), std::back_inserter(rows));
    std::ranges::move(fft_rows(options), std::back_inserter(rows));
    std::ranges::move(random_rows(options), std::back_inserter(rows));
  }
  std::erase_if(rows, [&](const Row& row) { return !options.selects(row.name); });
  return rows;
}

int complain(std::string_view sentence, int code = kBadUse) {
  std::cerr << "troupe_bench: " << sentence << '\n';
  return code;
}

int check(std::span<const Outcome> outcomes) {
  int code = kOk;
  for (const Outcome& outcome : outcomes) {
    if (outcome.status == Status::ok || outcome.status == Status::printed) continue;
    if (outcome.status == Status::missed) code = kLimitMissed;
    const std::string figure = outcome.row.limit.needs_reference() && outcome.best_reference >= 0
                                   ? to_string_compared(outcome, outcome.best_reference)
                                   : to_string_rounded(outcome.ours.value) + " " + outcome.row.unit;
    std::cerr << to_string(outcome.status) << ": " << outcome.row.name << ": "
              << (outcome.why.empty() ? figure : outcome.why) << " (limit "
              << outcome.row.limit.to_string(outcome.row.unit) << ")\n";
  }
  return code;
}

int run(const Options& options) {
  const std::vector<Row> rows = all_rows(options);
  if (options.gpu && (!options.list || rows.empty())) {
    if (const Result<void> usable = check_gpu(); !usable) return complain(usable.error().message(), kNoGpu);
  }
  if (rows.empty()) return complain("no row has a match for --only; --list names them all");
  if (options.list) {
    for (const Row& row : rows) std::cout << row.name << "  (" << row.limit.to_string(row.unit) << ")\n";
    return kOk;
  }

  std::ofstream json;
  if (!options.json_file.empty()) {
    json.open(options.json_file);
    if (!json) return complain("cannot write to " + options.json_file);
  }

  std::vector<Outcome> outcomes;
  print_head(std::cout);
  for (const Row& row : rows) {
    outcomes.push_back(measure(row));
    print_outcome(std::cout, outcomes.back());
  }
  print_summary(std::cout, outcomes);
  if (json.is_open()) {
    write_json(json, outcomes, options.quick);
    if (!json.flush()) return complain("cannot write to " + options.json_file);
  }
  return options.check ? check(outcomes) : kOk;
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  namespace bench = troupe::bench;
  const auto options = bench::parse_options(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (!options) return bench::complain(options.error().message());
  if (options->help) {
    std::cout << bench::help_text();
    return bench::kOk;
  }
  if (!options->raw_fault_gpu.empty()) return bench::print_raw_fault(options->raw_fault_gpu);
  return bench::run(*options);
}
