// Ordinary memory to a device and back, in pieces.
#include "troupe/device/copy_team.hpp"
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::uint32_t>(i * 2654435761U);
  return all;
}

class Staging : public DeviceTest {
 protected:
  static constexpr std::int64_t kLarge = (std::int64_t{10} << 20) + 12345;  // 40 MiB of u32, in an odd number of pieces
};

TEST_F(Staging, writes_and_reads_large_arrays) {
  const Device device = open();
  const std::vector<std::uint32_t> all = numbers(kLarge);
  const Array<std::uint32_t> there = value(device.array<std::uint32_t>({kLarge}));
  value(device.write(there, all).get());
  std::vector<std::uint32_t> back(all.size());
  value(device.read_into(there, std::span(back)).get());
  EXPECT_TRUE(back == all);
}

TEST_F(Staging, reads_for_those_who_await_it_and_any_view) {
  const Device device = open();
  const std::vector<std::uint32_t> all = numbers(1000 * 1000);
  const Array<std::uint32_t> there = value(device.array<std::uint32_t>({1000, 1000}));
  value(device.write(there, all).get());
  std::vector<std::uint32_t> column(1000);
  value(system.run([](Device on, Array<std::uint32_t> from, std::span<std::uint32_t> into) -> Task<Result<void>> {
    co_return co_await on.read_into(from, into);
  }(device, value(there.select(1, 7)), std::span(column))));
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(column[i], all[1000 * i + 7]);
}

TEST_F(Staging, takes_vectors_arrays_and_spans_of_either_constness) {
  const Device device = open({.standby = Standby::none});
  const Array<float> there = value(device.array<float>({3}));
  std::vector<float> vector = {1, 2, 3};
  const std::array<float, 3> array = {4, 5, 6};
  const float plain[] = {7, 8, 9};
  std::vector<float> back(3);
  const auto comes_back = [&](Call<void> written) {
    value(std::move(written).get());
    back.assign(3, 0);
    value(device.read_into(there, back).get());  // a vector
    return back;
  };
  EXPECT_EQ(comes_back(device.write(there, vector)), vector);
  EXPECT_EQ(comes_back(device.write(there, std::span<float>(vector))), vector);
  EXPECT_EQ(comes_back(device.write(there, std::span<const float>(vector))), vector);
  EXPECT_EQ(comes_back(device.write(there, std::span<float, 3>(vector))), vector);
  EXPECT_EQ(comes_back(device.write(there, array)), std::vector<float>({4, 5, 6}));
  EXPECT_EQ(comes_back(device.write(there, plain)), std::vector<float>({7, 8, 9}));
  EXPECT_EQ(comes_back(device.write(there, {1.5f, 2.5f, 3.5f})), std::vector<float>({1.5f, 2.5f, 3.5f}));

  std::array<float, 3> into{};
  value(device.read_into(there, into).get());
  EXPECT_EQ(into, (std::array<float, 3>{1.5f, 2.5f, 3.5f}));
  into = {};
  value(device.read_into(there, std::span<float, 3>(into)).get());
  EXPECT_EQ(into[2], 3.5f);
  back.assign(3, 0);
  value(system.run([](Device on, Array<float> from, std::vector<float>& result) -> Task<Result<void>> {
    co_return co_await on.read_into(from, result);
  }(device, there, back)));
  EXPECT_EQ(back, std::vector<float>({1.5f, 2.5f, 3.5f}));
  std::vector<float> nine(9);
  EXPECT_EQ(kind_of(device.read_into(there, nine).get()), ErrorKind::invalid_argument);
}

TEST_F(Staging, refuses_another_number_of_elements) {
  const Device device = open();
  const Array<std::uint32_t> there = value(device.array<std::uint32_t>({10}));
  std::vector<std::uint32_t> nine(9);
  EXPECT_EQ(kind_of(device.write(there, nine).get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.read_into(there, std::span(nine)).get()), ErrorKind::invalid_argument);
}

TEST_F(Staging, makes_a_tainted_array_good_again) {
  const Device device = open();
  const std::vector<std::uint32_t> all = numbers(kLarge);
  const Array<std::uint32_t> there = value(device.array<std::uint32_t>({kLarge}));
  ASSERT_FALSE(bad(device, "null", {updates(there)}).get());
  EXPECT_EQ(kind_of(device.wait_for(there).get()), ErrorKind::buffer_tainted);
  value(device.write(there, all).get());
  EXPECT_TRUE(device.wait_for(there).get());
  std::vector<std::uint32_t> back(all.size());
  value(device.read_into(there, std::span(back)).get());
  EXPECT_TRUE(back == all);
}

TEST_F(Staging, survives_kills_in_the_middle) {
  const Device device = open();
  const std::vector<std::uint32_t> all = numbers(kLarge);
  const Array<std::uint32_t> there = value(device.array<std::uint32_t>({kLarge}));
  for (int i = 0; i < 5; ++i) {
    const std::int64_t generation = device.generation();
    std::jthread killer([&] { (void)device.kill_worker(); });
    ASSERT_TRUE(device.write(there, all).get());
    killer.join();
    std::vector<std::uint32_t> back(all.size());
    value(device.read_into(there, std::span(back)).get());
    ASSERT_TRUE(back == all);
    eventually([&] { return device.generation() > generation; });
  }
}

TEST_F(Staging, answers_out_of_memory_when_there_is_no_shared_memory_for_it) {
  const Device device = open({.host_limit_bytes = std::uint64_t{8} << 20, .max_restarts = 1000});
  const Array<std::uint32_t> there = value(device.array<std::uint32_t>({kLarge}));
  const Result<void> end = device.write(there, numbers(kLarge)).get();
  EXPECT_TRUE(end || kind_of(end) == ErrorKind::out_of_memory);  // by how fast pieces come back
}

TEST(CopyTeam, does_every_piece_once_for_several_callers) {
  CopyTeam team(3);
  std::vector<std::jthread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> done(17);
        team.run(done.size(), [&](std::size_t i) { ++done[i]; });
        for (const std::atomic<int>& times : done) wrong += times != 1;
      }
    });
  callers.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Staging, moves_elements_of_any_type_as_bytes) {
  const Device device = open();
  const AnyArray there = value(device.array(DType::i16, {3, 2}));
  EXPECT_EQ(there.dtype(), DType::i16);
  const std::vector<std::int16_t> numbers{1, -2, 3, -4, 5, -6};
  value(device.write_bytes(there, std::as_bytes(std::span(numbers))).get());
  std::vector<std::int16_t> back(6);
  value(device.read_bytes(there, std::as_writable_bytes(std::span(back))).get());
  EXPECT_EQ(back, numbers);
  std::vector<std::int16_t> turned(6);
  value(device.read_bytes(there.transpose(), std::as_writable_bytes(std::span(turned))).get());
  EXPECT_EQ(turned, (std::vector<std::int16_t>{1, 3, 5, -2, -4, -6}));
  EXPECT_EQ(device.write_bytes(there, std::as_bytes(std::span(numbers).first(5))).get().error().message(),
            "write: the array is [3, 2] of i16; it needs 12 bytes, and 10 are given");
  EXPECT_EQ(device.read_bytes(there, {}).get().error().message(),
            "read: the array is [3, 2] of i16; it needs 12 bytes, and 0 are given");
}

}  // namespace
}  // namespace troupe
