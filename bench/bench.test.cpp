#include "bench/bench.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/options.hpp"
#include "bench/report.hpp"

namespace troupe::bench {
namespace {

Measurement constant(double value) {
  return [value] { return value; };
}

Row row_with(double ours, std::vector<Reference> references, Limit limit) {
  return {.name = "row",
          .unit = "ns",
          .ours = constant(ours),
          .references = {.all = std::move(references), .why_none = {}},
          .limit = limit};
}

Result<Options> parse(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size());
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return parse_options(pointers);
}

TEST(Bench, compares_with_the_best_reference) {
  const std::vector<Reference> references = {{"slow", constant(900)}, {"fast", constant(300)}, {"mid", constant(600)}};
  const Outcome outcome = measure(row_with(100, references, Limit::at_least_times(4)));
  EXPECT_EQ(outcome.best_reference, 1);
  EXPECT_DOUBLE_EQ(outcome.with_best().ratio, 3);
  EXPECT_EQ(outcome.status, Status::missed);
}

TEST(Bench, turns_the_ratio_round_where_more_is_better) {
  Row row = row_with(900, {{"few", constant(100)}, {"many", constant(300)}}, Limit::at_least_times(3));
  row.better = Better::higher;
  const Outcome outcome = measure(row);
  EXPECT_EQ(outcome.best_reference, 1);
  EXPECT_DOUBLE_EQ(outcome.with_best().ratio, 3);
  EXPECT_EQ(outcome.status, Status::ok);
}

TEST(Bench, measures_ours_and_the_references_in_turns) {
  std::string order;
  const auto log = [&order](char side) {
    return [&order, side] {
      order += side;
      return 1.0;
    };
  };
  Row row = row_with(0, {{"reference", log('r')}}, Limit::at_most(1));
  row.ours = log('o');
  row.rounds = 3;
  measure(row);
  EXPECT_EQ(order, "orroor");
}

// A machine that is slow in one round is slow for both sides of it.
TEST(Bench, compares_round_by_round) {
  const auto one_after_another = [](std::vector<double> values) {
    return [values, next = std::size_t{0}]() mutable { return values[next++]; };
  };
  Row row = row_with(0, {{"reference", one_after_another({200, 300, 100})}}, Limit::at_most_times(1.2));
  row.ours = one_after_another({220, 330, 440});
  row.rounds = 3;
  const Outcome outcome = measure(row);
  EXPECT_DOUBLE_EQ(outcome.ours.value, 330);
  EXPECT_DOUBLE_EQ(outcome.references[0].value, 200);
  EXPECT_DOUBLE_EQ(outcome.with_best().ratio, 200.0 / 220);
  EXPECT_DOUBLE_EQ(outcome.with_best().over, 30);
  EXPECT_EQ(outcome.status, Status::ok);
}

TEST(Bench, takes_the_median_unless_told_to_take_the_worst) {
  EXPECT_DOUBLE_EQ(figure_of({5, 1, 3}, Pick::median, Better::lower).value, 3);
  EXPECT_DOUBLE_EQ(figure_of({4, 1, 3, 2}, Pick::median, Better::lower).value, 2.5);
  EXPECT_DOUBLE_EQ(figure_of({0, 1, 0}, Pick::worst, Better::lower).value, 1);
  EXPECT_DOUBLE_EQ(figure_of({0, 1, 0}, Pick::worst, Better::higher).value, 0);
  EXPECT_DOUBLE_EQ(figure_of({5, 1, 3}, Pick::median, Better::lower).worst, 5);
  EXPECT_DOUBLE_EQ(figure_of({5, 1, 3}, Pick::median, Better::higher).worst, 1);
  EXPECT_FALSE(figure_of({1, kNotMeasured, 1}, Pick::median, Better::lower).measured());
}

TEST(Bench, keeps_at_most_inclusive_and_below_exclusive) {
  EXPECT_EQ(measure(row_with(512, {}, Limit::at_most(512))).status, Status::ok);
  EXPECT_EQ(measure(row_with(513, {}, Limit::at_most(512))).status, Status::missed);
  EXPECT_EQ(measure(row_with(15, {}, Limit::below(15))).status, Status::missed);
}

TEST(Bench, a_row_that_misses_is_measured_once_more_and_that_counts) {
  int runs = 0;
  Row row = row_with(0, {}, Limit::at_most(100));
  row.rounds = 1;
  row.ours = [&] { return ++runs == 1 ? 200.0 : 50.0; };
  const Outcome kept = measure(row);
  EXPECT_EQ(kept.status, Status::ok);
  EXPECT_TRUE(kept.is_second);
  EXPECT_EQ(kept.ours.value, 50);
  EXPECT_EQ(runs, 2);
  row.ours = [&] { return 200.0 + ++runs; };
  runs = 0;
  const Outcome missed = measure(row);
  EXPECT_EQ(missed.status, Status::missed);
  EXPECT_EQ(runs, 2) << "not until it fits";
  row.ours = [&] { return ++runs, 50.0; };
  runs = 0;
  EXPECT_FALSE(measure(row).is_second);
  EXPECT_EQ(runs, 1);
}

TEST(Bench, keeps_at_most_times_the_other_way_round) {
  const std::vector<Reference> raw = {{"raw", constant(100)}};
  EXPECT_EQ(measure(row_with(114, raw, Limit::at_most_times(1.15))).status, Status::ok);
  EXPECT_EQ(measure(row_with(116, raw, Limit::at_most_times(1.15))).status, Status::missed);
  EXPECT_EQ(measure(row_with(1, {}, Limit::at_most_times(1.15))).status, Status::skipped);
  EXPECT_DOUBLE_EQ(Limit::at_most_times(2).as_stated(0.25), 4);
  EXPECT_DOUBLE_EQ(Limit::at_least_times(2).as_stated(0.25), 0.25);
}

TEST(Bench, keeps_at_most_over_as_a_distance_to_the_best_reference) {
  const std::vector<Reference> raw = {{"slow", constant(200)}, {"fast", constant(100)}};
  EXPECT_EQ(measure(row_with(103, raw, Limit::at_most_over(3))).status, Status::ok);
  EXPECT_EQ(measure(row_with(104, raw, Limit::at_most_over(3))).status, Status::missed);
  EXPECT_EQ(measure(row_with(1, {}, Limit::at_most_over(3))).status, Status::skipped);
}

TEST(Bench, prints_what_has_no_limit) {
  EXPECT_EQ(measure(row_with(9, {{"raw", constant(1)}}, Limit::printed())).status, Status::printed);
  EXPECT_EQ(measure(row_with(9, {}, Limit::printed())).status, Status::printed);
  EXPECT_EQ(measure(row_with(kNotMeasured, {}, Limit::printed())).status, Status::skipped);
}

TEST(Bench, compares_in_the_words_of_the_limit) {
  const std::vector<Reference> raw = {{"raw", constant(100)}};
  EXPECT_EQ(to_string_compared(measure(row_with(25, raw, Limit::at_least_times(4))), 0), "4x");
  EXPECT_EQ(to_string_compared(measure(row_with(125, raw, Limit::at_most_times(1.15))), 0), "1.25x");
  EXPECT_EQ(to_string_compared(measure(row_with(102.5, raw, Limit::at_most_over(3))), 0), "+2.50 ns");
  EXPECT_EQ(to_string_compared(measure(row_with(98, raw, Limit::at_most_over(3))), 0), "-2 ns");
  EXPECT_EQ(to_string_compared(measure(row_with(1, {}, Limit::at_most(3))), -1), "-");
}

TEST(Bench, says_what_a_limit_is) {
  EXPECT_EQ(Limit::at_least_times(4).to_string("ns"), ">= 4x");
  EXPECT_EQ(Limit::at_most_times(1.15).to_string("us"), "<= 1.15x");
  EXPECT_EQ(Limit::at_most_over(450).to_string("ms"), "<= ref + 450 ms");
  EXPECT_EQ(Limit::at_most(512).to_string("bytes"), "<= 512 bytes");
  EXPECT_EQ(Limit::below(1).to_string("%"), "< 1 %");
  EXPECT_EQ(Limit::printed().to_string("us"), "none");
}

TEST(Bench, skips_what_it_cannot_measure_and_says_why) {
  EXPECT_EQ(measure(row_with(kNotMeasured, {}, Limit::at_most(1))).status, Status::skipped);
  Row row = row_with(1, {}, Limit::at_least_times(2));
  row.references.why_none = "built without Boost.Asio";
  const Outcome outcome = measure(row);
  EXPECT_EQ(outcome.status, Status::skipped);
  EXPECT_EQ(outcome.why, "built without Boost.Asio");
}

TEST(Bench, misses_the_limit_when_a_measurement_throws) {
  Row row = row_with(1, {}, Limit::at_most(1));
  row.ours = []() -> double { throw std::runtime_error("no such actor"); };
  const Outcome outcome = measure(row);
  EXPECT_EQ(outcome.status, Status::missed);
  EXPECT_EQ(outcome.why, "no such actor");
}

TEST(Bench, shows_the_worst_of_the_rounds_where_it_is_told_to) {
  int round = 0;
  Row row = row_with(0, {}, Limit::printed());
  row.ours = [&] { return 10.0 * ++round; };
  row.rounds = 3;
  row.shows_worst = true;
  std::ostringstream table;
  print_outcome(table, measure(row));
  EXPECT_NE(table.str().find("    the worst of 3 rounds"), std::string::npos) << table.str();
  EXPECT_NE(table.str().find("30 ns"), std::string::npos) << table.str();
}

TEST(Bench, writes_what_was_not_measured_as_null) {
  Row row = row_with(kNotMeasured, {}, Limit::at_most(1));
  row.name = "a \"quoted\" name";
  const std::vector<Outcome> outcomes = {measure(row)};
  std::ostringstream json;
  write_json(json, outcomes, false);
  EXPECT_NE(json.str().find(R"("name": "a \"quoted\" name")"), std::string::npos);
  EXPECT_NE(json.str().find(R"("ours": {"value": null)"), std::string::npos);
}

TEST(Bench, fits_the_table_into_120_columns) {
  Row row = row_with(123456, {{std::string(40, 'r'), constant(987654)}}, Limit::at_most(100000));
  row.name = std::string(47, 'n');
  std::stringstream table;
  print_head(table);
  print_outcome(table, measure(row));
  for (std::string line; std::getline(table, line);) EXPECT_LE(line.size(), 120u) << line;
}

TEST(BenchOptions, select_rows_by_a_match_anywhere_in_the_name) {
  const auto options = parse({"--only", "pinned|idle"});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->selects("ask to a pinned actor"));
  EXPECT_FALSE(options->selects("spawn"));
  EXPECT_TRUE(parse({})->selects("spawn"));
}

TEST(BenchOptions, take_the_rows_of_a_gpu_only_when_asked) {
  EXPECT_FALSE(parse({})->gpu);
  EXPECT_TRUE(parse({"--gpu", "--list"})->gpu);
  EXPECT_EQ(parse({"--raw-fault", "GPU-1"})->raw_fault_gpu, "GPU-1");
}

TEST(BenchOptions, refuse_what_they_do_not_know) {
  for (const std::vector<std::string>& bad :
       {std::vector<std::string>{"--bogus"}, {"--json"}, {"--only"}, {"--only", "["}}) {
    const auto options = parse(bad);
    ASSERT_FALSE(options) << bad[0];
    EXPECT_EQ(options.error().kind(), ErrorKind::invalid_argument);
  }
}

}  // namespace
}  // namespace troupe::bench
