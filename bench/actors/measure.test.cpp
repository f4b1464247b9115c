#include "bench/actors/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/actors/finish.hpp"
#include "bench/actors/load.hpp"
#include "bench/actors/options.hpp"
#include "bench/actors/report.hpp"
#include "bench/actors/sizes.hpp"

namespace troupe::bench::actors {
namespace {

const Row kRow = {
    .name = "row", .program = &Programs::ping_pong, .figures = {{"", "ns"}}, .count = 1000, .smoke_count = 10};

Line line(double ours, double caf, double asio) { return line_of(kRow, 0, 2, {{{ours}, {caf}, {asio}, {}}}); }

/// What has run, in the order of the runs: a letter and how many operations.
std::string& ran() {
  static std::string text;
  return text;
}
Figures our_run(const Setting& setting) {
  ran() += "o" + std::to_string(setting.count) + " ";
  return {1};
}
Figures caf_run(const Setting& setting) {
  ran() += "c" + std::to_string(setting.count) + " ";
  return {2};
}
Figures lossy_run(const Setting&) { throw std::runtime_error("items: 9 came of 10"); }

Sides two_sides() {
  return {{{.version = "Troupe", .ping_pong = our_run}, {.version = "CAF", .ping_pong = caf_run}, {}, {}}};
}

TEST(ActorBench, compares_with_the_better_of_the_others) {
  EXPECT_EQ(line(100, 300, 200).best_other, kAsio);
  EXPECT_DOUBLE_EQ(line(100, 300, 200).ratio, 2);
  EXPECT_TRUE(line(100, 50, 200).is_lost());
}

TEST(ActorBench, compares_round_by_round) {
  const Line compared = line_of(kRow, 0, 2, {{{10, 20, 40}, {20, 60, 40}, {}, {}}});
  EXPECT_DOUBLE_EQ(compared.ratio, 2);
  EXPECT_DOUBLE_EQ(compared.figures[kOurs].value, 20);
}

TEST(ActorBench, has_no_ratio_without_another_side_and_does_not_lose_with_nothing_lost) {
  EXPECT_FALSE(line(100, kNotMeasured, kNotMeasured).is_lost());
  EXPECT_FALSE(line(0, 7700, kNotMeasured).is_lost());
  EXPECT_DOUBLE_EQ(line(0, 0, kNotMeasured).ratio, 1);
}

TEST(ActorBench, runs_the_sides_in_turns_after_a_warm_up) {
  ran().clear();
  EXPECT_EQ(measure(kRow, two_sides(), 2, {.rounds = 2}).wrong, "");
  EXPECT_EQ(ran(), "c200 o200 o1000 c1000 c1000 o1000 ");
  ran().clear();
  measure(kRow, two_sides(), 2, {.rounds = 1, .is_smoke = true});
  EXPECT_EQ(ran(), "o10 c10 ");
}

TEST(ActorBench, says_which_side_has_lost_messages) {
  Sides sides = two_sides();
  sides[kCaf].ping_pong = lossy_run;
  EXPECT_EQ(measure(kRow, sides, 2, {}).wrong, "row, CAF, 2 threads: items: 9 came of 10");
}

TEST(ActorBench, shows_what_it_loses_first_and_the_worst_of_it_at_the_head) {
  std::vector<Line> lines = {line(1, 2, 3), line(4, 3, 9), line(9, 3, 9)};
  put_lost_first(lines);
  EXPECT_DOUBLE_EQ(lines[0].figures[kOurs].value, 9);
  EXPECT_DOUBLE_EQ(lines[1].figures[kOurs].value, 4);
  EXPECT_DOUBLE_EQ(lines[2].figures[kOurs].value, 1);
  std::ostringstream table;
  print_table(table, lines, two_sides());
  EXPECT_NE(table.str().find("3 figures, 2 lost."), std::string::npos) << table.str();
  EXPECT_NE(table.str().find("Built without Boost.Asio: it was not found."), std::string::npos) << table.str();
}

TEST(ActorBench, shows_times_in_the_unit_that_fits) {
  EXPECT_EQ(to_string(112.4, "ns"), "112 ns");
  EXPECT_EQ(to_string(70'300, "us"), "70.3 ms");
  EXPECT_EQ(to_string(12'000, "bytes"), "12000 bytes");
}

TEST(ActorBench, writes_what_was_not_measured_as_null) {
  std::ostringstream json;
  write_json(json, std::vector<Line>{line(1, kNotMeasured, 2)}, two_sides(), false);
  EXPECT_NE(json.str().find(R"("caf": {"value": null)"), std::string::npos) << json.str();
}

TEST(ActorBench, takes_the_nearest_sample_that_reaches_the_part) {
  EXPECT_EQ(quantiles({4, 1, 3, 2}, {0.5, 0.99, 1}), (Figures{2, 4, 4}));
  EXPECT_EQ(quantile({7}, 0.999), 7);
}

TEST(ActorBench, works_for_about_as_long_as_it_is_told) {
  double best_ns = 1e18;
  for (int i = 0; i < 100; ++i) {
    const Clock::time_point begin = Clock::now();
    work_us(100);
    best_ns = std::min(best_ns, ns_between(begin, Clock::now()));
  }
  EXPECT_GT(best_ns, 50'000);
}

// What comes late because the one before was slow counts from when it was due.
TEST(ActorBench, leaves_no_ask_out_because_the_one_before_was_slow) {
  bool is_first = true;
  const std::vector<double> samples = ask_when_due_us(4, [&] {
    const Clock::time_point until = Clock::now() + 4 * kAskPeriod;
    while (is_first && Clock::now() < until) continue;
    is_first = false;
  });
  for (std::size_t i = 0; i < samples.size(); ++i)
    EXPECT_GE(samples[i], static_cast<double>((4 - i) * kAskPeriod.count())) << i;
}

TEST(ActorBench, sees_what_came_twice) {
  Finish finish(1);
  finish.arrive();
  finish.wait();
  finish.check();
  finish.arrive();
  EXPECT_THROW(finish.check(), std::runtime_error);
}

Result<Options> parse(std::vector<std::string> arguments, int cores = 6) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return parse_options(pointers, cores);
}

TEST(ActorBenchOptions, take_as_many_threads_as_there_are_cores_unless_told) {
  EXPECT_EQ(parse({})->threads, (std::vector{1, 2, 4}));
  EXPECT_EQ(parse({}, 1)->threads, std::vector{1});
  EXPECT_EQ(parse({"--threads", "1,2,16"})->threads, (std::vector{1, 2, 16}));
}

TEST(ActorBenchOptions, refuse_what_they_do_not_know) {
  for (const std::vector<std::string>& bad : {std::vector<std::string>{"--bogus"},
                                              {"--threads"},
                                              {"--threads", "0"},
                                              {"--threads", "1,"},
                                              {"--rounds", "x"}}) {
    const auto options = parse(bad);
    ASSERT_FALSE(options) << bad[0];
    EXPECT_EQ(options.error().kind(), ErrorKind::invalid_argument);
  }
}

}  // namespace
}  // namespace troupe::bench::actors
