// `troupe_bench_matrix`: our side of `./dev bench --torch`.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/matrix/measure.hpp"
#include "bench/matrix/options.hpp"
#include "bench/matrix/prepared.hpp"
#include "bench/matrix/report.hpp"
#include "bench/matrix/rows.hpp"

namespace troupe::bench::matrix {
namespace {

constexpr int kOk = 0;
constexpr int kRowFailed = 1;
constexpr int kBadUse = 2;

int complain(std::string_view sentence) {
  std::cerr << "troupe_bench_matrix: " << sentence << '\n';
  return kBadUse;
}

/// A system with one pool thread and a device; without a standby, which would be started while we measure.
struct Opened {
  System system{{.threads = 1, .log = log_nothing()}};
  Result<Device> device;

  explicit Opened(const std::string& name) : device(system.device(name, {.standby = Standby::none})) {}
};

Result<Measured> measure_row(const Device& device, const Row& row, const Effort& effort) {
  return measure(TROUPE_TRY(prepare(device, row)), effort);
}

/// Answers each id that comes in with a line; ends with the input.
int serve(const Device& device, std::span<const Row> rows, const Effort& effort) {
  for (std::string id; std::getline(std::cin, id);) {
    const auto row = std::ranges::find(rows, id, &Row::id);
    if (row == rows.end()) return complain("there is no row " + id + "; --list names them all");
    std::cout << json_of(*row, measure_row(device, *row, effort)) << std::endl;
  }
  return kOk;
}

int measure_all(const Device& device, std::span<const Row> rows, const Options& options, const Effort& effort,
                std::ostream& out) {
  int code = kOk;
  out << "{\"device\": \"" << options.device << "\", \"quick\": " << (options.quick ? "true" : "false")
      << ", \"rows\": [\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::cerr << i + 1 << " of " << rows.size() << ": " << rows[i].id() << std::endl;
    const Result<Measured> measured = measure_row(device, rows[i], effort);
    if (!measured) {
      std::cerr << "FAILED: " << rows[i].id() << ": " << measured.error().to_string() << '\n';
      code = kRowFailed;
    }
    out << "  " << json_of(rows[i], measured) << (i + 1 < rows.size() ? ",\n" : "\n");
  }
  out << "]}\n";
  return code;
}

void print_list(std::span<const Row> rows) {
  std::cout << "{\"rows\": [\n";
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::cout << "  " << json_of(rows[i]) << (i + 1 < rows.size() ? ",\n" : "\n");
  std::cout << "]}\n";
}

int run(const Options& options) {
  std::vector<Row> rows = all_rows(options.device == "host" ? Hardware::cpu : Hardware::gpu);
  std::erase_if(rows,
                [&](const Row& row) { return row.largest_bytes() > options.max_bytes || !options.selects(row.id()); });
  if (rows.empty()) return complain("no row has a match for --only and is not above --max-bytes; --list names them");
  if (options.list) {
    print_list(rows);
    return kOk;
  }
  std::ofstream json;
  if (!options.json_file.empty()) {
    json.open(options.json_file);
    if (!json) return complain("cannot write to " + options.json_file);
  }
  // What is used again and again is compiled soon; that is what is measured, from the first time on.
  setenv("TROUPE_EXPRESSIONS", "compiled", 0);  // NOLINT(concurrency-mt-unsafe): there is no other thread yet
  const Opened opened(options.device);
  if (!opened.device) return complain(opened.device.error().to_string());
  const Effort effort = options.quick ? Effort::quick() : Effort();
  if (options.serve) return serve(*opened.device, rows, effort);
  const int code = measure_all(*opened.device, rows, options, effort, json.is_open() ? json : std::cout);
  if (json.is_open() && !json.flush()) return complain("cannot write to " + options.json_file);
  return code;
}

}  // namespace
}  // namespace troupe::bench::matrix

int main(int argc, char** argv) {
  namespace matrix = troupe::bench::matrix;
  const auto options = matrix::parse_options(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (!options) return matrix::complain(options.error().message());
  if (options->help) {
    std::cout << matrix::help_text();
    return matrix::kOk;
  }
  return matrix::run(*options);
}
