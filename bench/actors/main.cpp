// `./dev bench actors`.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/actors/load.hpp"
#include "bench/actors/measure.hpp"
#include "bench/actors/options.hpp"
#include "bench/actors/report.hpp"
#include "bench/report.hpp"

namespace troupe::bench::actors {
namespace {

constexpr int kOk = 0;
constexpr int kMessagesWrong = 1;
constexpr int kBadUse = 2;

int complain(std::string_view sentence) {
  std::cerr << "troupe_bench_actors: " << sentence << '\n';
  return kBadUse;
}

Rounds rounds_of(const Options& options) {
  Rounds rounds{.is_smoke = options.smoke, .is_quick = options.quick};
  if (options.quick) rounds.rounds = 3;
  if (options.smoke) rounds.rounds = 1;
  if (options.rounds > 0) rounds.rounds = options.rounds;
  return rounds;
}

/// How long all cores together were busy since the machine started, in the kernel's ticks; 0 where it does not say.
double busy_ticks() {
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0, stolen = 0;
  stat >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen;
  return user + nice + system + interrupts + soft_interrupts + stolen;
}

/// What else runs now, in cores.
double busy_cores() {
  constexpr std::chrono::milliseconds kWindow(500);
  const double before = busy_ticks();
  std::this_thread::sleep_for(kWindow);
  return (busy_ticks() - before) / static_cast<double>(::sysconf(_SC_CLK_TCK)) /
         std::chrono::duration<double>(kWindow).count();
}

int run(const Options& options) {
  std::vector<Row> rows = all_rows();
  std::erase_if(rows, [&](const Row& row) { return !options.selects(row.name); });
  if (rows.empty()) return complain("no row has a match for --only; --list names them all");
  if (options.list) {
    for (const Row& row : rows) std::cout << row.name << '\n';
    return kOk;
  }
  std::ofstream json;
  if (!options.json_file.empty()) {
    json.open(options.json_file);
    if (!json) return complain("cannot write to " + options.json_file);
  }

  const double busy = busy_cores();
  const Sides sides = {our_programs(), caf_programs(), asio_programs(), bare_programs()};
  const Rounds rounds = rounds_of(options);
  work_us(0);  // measures, while nothing else runs, how much a microsecond is
  std::vector<Line> lines;
  int code = kOk;
  for (const Row& row : rows) {
    for (const int threads : options.threads) {
      if (row.threads > 0 && threads != options.threads.front()) continue;  // the same again
      std::cerr << row.name << ", " << (row.threads > 0 ? row.threads : threads) << std::endl;
      const Outcome outcome = measure(row, sides, threads, rounds);
      lines.insert(lines.end(), outcome.lines.begin(), outcome.lines.end());
      if (outcome.wrong.empty()) continue;
      std::cerr << "WRONG: " << outcome.wrong << '\n';
      code = kMessagesWrong;
    }
  }
  put_lost_first(lines);
  if (!options.smoke) {
    print_table(std::cout, lines, sides);
    if (busy > 0.5)
      std::cout << "Do not quote it: something else kept " << to_string_rounded(busy) << " cores busy when it began.\n";
  }
  if (json.is_open()) {
    write_json(json, lines, sides, options.quick || options.smoke);
    if (!json.flush()) return complain("cannot write to " + options.json_file);
  }
  return code;
}

}  // namespace
}  // namespace troupe::bench::actors

int main(int argc, char** argv) {
  namespace actors = troupe::bench::actors;
  const auto arguments = std::span(argv, static_cast<std::size_t>(argc)).subspan(1);
  const auto options = actors::parse_options(arguments, static_cast<int>(std::thread::hardware_concurrency()));
  if (!options) return actors::complain(options.error().message());
  if (options->help) {
    std::cout << actors::help_text();
    return actors::kOk;
  }
  return actors::run(*options);
}
