#include "bench/matrix/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bench/matrix/layouts.hpp"
#include "bench/matrix/options.hpp"
#include "bench/matrix/report.hpp"
#include "troupe/core/json.hpp"

namespace troupe::bench::matrix {
namespace {

const Row& row_of(const std::vector<Row>& rows, const std::string& id) {
  const auto found = std::ranges::find(rows, id, &Row::id);
  EXPECT_NE(found, rows.end()) << id;
  return *found;
}

TEST(MatrixRows, have_ids_of_their_own) {
  for (const Hardware hardware : {Hardware::cpu, Hardware::gpu}) {
    const std::vector<Row> rows = all_rows(hardware);
    std::set<std::string> ids;
    for (const Row& row : rows) EXPECT_TRUE(ids.insert(row.id()).second) << row.id();
  }
}

TEST(MatrixRows, are_as_large_as_they_say) {
  for (const Row& row : all_rows(Hardware::gpu)) {
    if (!row.is_extent) {
      EXPECT_EQ(row.largest_bytes(), row.size) << row.id();
    }
  }
}

TEST(MatrixRows, count_each_array_once_and_an_updated_one_twice) {
  const std::vector<Row> rows = all_rows(Hardware::cpu);
  EXPECT_EQ(row_of(rows, "add/f32/contiguous/1KiB").bytes(), 3 * 1024);
  EXPECT_EQ(row_of(rows, "add/f32/row/1KiB").bytes(), 2 * 1024 + 16 * 4);
  EXPECT_EQ(row_of(rows, "add/f32/number/1KiB").bytes(), 2 * 1024);
  EXPECT_EQ(row_of(rows, "copy/f32/strided/1KiB").bytes(), 2 * 1024);
  EXPECT_EQ(row_of(rows, "axpy/f32/contiguous/1KiB").bytes(), 3 * 1024);
  EXPECT_EQ(row_of(rows, "sum/f32/all/1KiB").bytes(), 1024 + 4);
}

TEST(MatrixRows, are_listed_with_all_that_is_needed_to_do_the_same) {
  const std::vector<Row> rows = all_rows(Hardware::cpu);
  const Json listed = value(Json::parse(json_of(row_of(rows, "copy/f32/strided/1KiB"))));
  const Json& input = listed.find("inputs")->list().at(0);
  EXPECT_EQ(input.find("slice")->list().at(2).spelling(), "2");
  EXPECT_EQ(input.find("shape")->list().at(1).spelling(), "32");
  EXPECT_EQ(listed.find("output")->find("shape")->list().at(1).spelling(), "16");
}

TEST(MatrixLayouts, split_a_count_into_extents_that_are_about_equal) {
  EXPECT_EQ(split(256, 2), (std::vector<std::int64_t>{16, 16}));
  EXPECT_EQ(split(512, 2), (std::vector<std::int64_t>{16, 32}));
  EXPECT_EQ(split(256, 3), (std::vector<std::int64_t>{4, 8, 8}));
  EXPECT_EQ(split(1, 4), (std::vector<std::int64_t>{1, 1, 1, 1}));
}

TEST(MatrixOptions, name_what_is_wrong) {
  const auto refused = [](std::vector<std::string> words) -> std::string {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    return std::string(parse_options(arguments).error().message());
  };
  EXPECT_EQ(refused({"--device", "tpu"}), "--device needs host or cuda; this is 'tpu'");
  EXPECT_EQ(refused({"--max-bytes", "1g"}), "--max-bytes needs a number from 1 to 1073741824; this is '1g'");
  EXPECT_EQ(refused({"--json"}), "--json needs a value");
}

}  // namespace
}  // namespace troupe::bench::matrix
