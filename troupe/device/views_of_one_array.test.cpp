// Views of one array in one op: those that share no element are taken, wherever they lie; the others are refused.
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

constexpr std::int64_t kRows = 50;
constexpr std::int64_t kColumns = 12;

class ViewsOfOneArray : public DeviceTest, public ::testing::WithParamInterface<const char*> {
 protected:
  /// Element [row, column] is 100 row + column.
  void SetUp() override {
    if (is_gpu && !has_gpu) GTEST_SKIP() << "no GPU";
    std::vector<float> numbers;
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t column = 0; column < kColumns; ++column) numbers.push_back(number(row, column));
    ASSERT_TRUE(device.write(table, numbers).get());
  }
  static float number(std::int64_t row, std::int64_t column) { return static_cast<float>(100 * row + column); }
  Array<float> columns(std::int64_t begin, std::int64_t end, std::int64_t step = 1) const {
    return value(table.slice(1, begin, end, step));
  }
  /// Each element is what `expected(row, column)` says.
  void expect_table(const std::function<float(std::int64_t, std::int64_t)>& expected) {
    const HostArray<float> found = value(device.read(table).get());
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t column = 0; column < kColumns; ++column)
        ASSERT_EQ(found[static_cast<std::size_t>(row * kColumns + column)], expected(row, column))
            << "at " << row << ", " << column;
  }
  void expect_refused(Call<void> call) {
    const Result<void> end = std::move(call).get();
    ASSERT_EQ(kind_of(end), ErrorKind::invalid_argument);
    EXPECT_NE(end.error().message().find("overlap, and the op would write one of them"), std::string_view::npos)
        << end.error().to_string();
  }

  const bool is_gpu = std::string_view(GetParam()) == "Gpu";
  const bool has_gpu = system.devices().front().backend == "cuda";
  Device device = value(system.device(is_gpu && has_gpu ? "cuda" : "host", patient()));
  Array<float> table = value(device.array<float>({kRows, kColumns}));
};
INSTANTIATE_TEST_SUITE_P(On, ViewsOfOneArray, ::testing::Values("host", "Gpu"),
                         [](const auto& param) { return param.param; });

TEST_P(ViewsOfOneArray, copies_a_block_of_columns_to_another) {
  ASSERT_TRUE(device.copy(columns(0, 4), columns(4, 8)).get());
  expect_table([](auto row, auto column) { return number(row, column >= 4 && column < 8 ? column - 4 : column); });
}

TEST_P(ViewsOfOneArray, copies_even_columns_to_odd_ones) {
  ASSERT_TRUE(device.copy(columns(0, 12, 2), columns(1, 12, 2)).get());
  expect_table([](auto row, auto column) { return number(row, column - column % 2); });
}

TEST_P(ViewsOfOneArray, copies_columns_in_reverse) {
  ASSERT_TRUE(device.copy(columns(10, -1, -2), columns(1, 12, 2)).get());
  expect_table([](auto row, auto column) { return number(row, column % 2 == 0 ? column : 11 - column); });
}

TEST_P(ViewsOfOneArray, adds_two_blocks_of_columns_into_a_third) {
  ASSERT_TRUE(device.tensor().binary(Binary::add, columns(0, 4), columns(4, 8), columns(8, 12)).get());
  expect_table([](auto row, auto column) {
    return column < 8 ? number(row, column) : number(row, column - 8) + number(row, column - 4);
  });
}

TEST_P(ViewsOfOneArray, multiplies_two_tiles_into_a_third) {
  const auto tile = [&](std::int64_t first) { return value(columns(first, first + 4).slice(0, 0, 4)); };
  ASSERT_TRUE(device.blas().gemm(tile(0), tile(4), tile(8)).get());
  expect_table([](auto row, auto column) {
    if (row >= 4 || column < 8) return number(row, column);
    float sum = 0;
    for (std::int64_t k = 0; k < 4; ++k) sum += number(row, k) * number(k, column - 4);
    return sum;
  });
}

TEST_P(ViewsOfOneArray, reduces_some_columns_into_another) {
  ASSERT_TRUE(device.tensor().reduce(Reduction::sum, columns(0, 11), {1}, columns(11, 12)).get());
  expect_table([](auto row, auto column) { return column < 11 ? number(row, column) : number(row, 5) * 11; });
}

TEST_P(ViewsOfOneArray, follow_one_another_in_the_order_of_the_program) {
  for (std::int64_t column = 1; column < kColumns; ++column)
    ASSERT_TRUE(device.copy(columns(column - 1, column), columns(column, column + 1)).submit());
  expect_table([](auto row, auto) { return number(row, 0); });
}

TEST_P(ViewsOfOneArray, are_refused_when_they_share_an_element) {
  expect_refused(device.copy(columns(0, 4), columns(3, 7)));
  expect_refused(device.copy(columns(0, 12, 2), columns(0, 6)));
  expect_refused(device.copy(columns(0, 12, 2), columns(10, -1, -2)));
  expect_refused(device.tensor().binary(Binary::add, columns(0, 4), columns(4, 8), columns(7, 11)));
  expect_table(number);
}

}  // namespace
}  // namespace troupe
