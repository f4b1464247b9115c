#include "tools/troupe/render.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "tools/troupe/findings_of.test.hpp"

namespace troupe::tool {
namespace {

TEST(DoctorText, is_aligned_with_advice_below_its_line) {
  const Report report{
      .version = "troupe 1",
      .sections = {{"One", {{State::ok, "short", "found"}, {State::missing, "longer", "not found", "Get it."}}}},
      .conclusion = "So it is."};
  EXPECT_EQ(to_text(report),
            "troupe 1\n"
            "\n"
            "One\n"
            "  ok       short   found\n"
            "  missing  longer  not found\n"
            "             Get it.\n"
            "\n"
            "So it is.\n");
}

TEST(DoctorText, says_the_same_advice_of_neighbours_once_after_the_last) {
  const Report report{.version = "troupe 1",
                      .sections = {{"One",
                                    {{State::missing, "a", "no", "Get it."},
                                     {State::missing, "b", "no", "Get it."},
                                     {State::ok, "c", "yes"},
                                     {State::missing, "d", "no", "Get it."}}}},
                      .conclusion = "End."};
  EXPECT_EQ(to_text(report),
            "troupe 1\n\nOne\n"
            "  missing  a  no\n"
            "  missing  b  no\n"
            "             Get it.\n"
            "  ok       c  yes\n"
            "  missing  d  no\n"
            "             Get it.\n"
            "\nEnd.\n");
}

TEST(DoctorText, breaks_advice_at_100_columns_and_loses_no_word) {
  std::string advice;
  for (int i = 0; i < 60; ++i) advice += (i == 0 ? "" : " ") + std::string("word") + std::to_string(i);
  const Report report{.version = "v", .sections = {{"One", {{State::note, "a", "b", advice}}}}, .conclusion = "End."};
  std::istringstream lines(to_text(report));
  std::string joined;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    if (line.starts_with("             word")) joined += (joined.empty() ? "" : " ") + line.substr(13);
  }
  EXPECT_EQ(joined, advice);
}

TEST(DoctorJson, has_every_line_and_escapes_what_must_be) {
  const Report report{
      .version = "v",
      .sections = {{"One", {{State::ok, "a", "say \"b\\c\"\n"}}}, {"Two", {{State::broken, "d", "e", "F."}}}},
      .conclusion = "End."};
  EXPECT_EQ(to_json(report),
            "{\"version\": \"v\", \"works\": false, \"conclusion\": \"End.\", \"lines\": [\n"
            "  {\"section\": \"One\", \"state\": \"ok\", \"thing\": \"a\", \"found\": \"say \\\"b\\\\c\\\"\\u000a\", "
            "\"advice\": \"\"},\n"
            "  {\"section\": \"Two\", \"state\": \"broken\", \"thing\": \"d\", \"found\": \"e\", \"advice\": \"F.\"}\n"
            "]}\n");
}

}  // namespace
}  // namespace troupe::tool
