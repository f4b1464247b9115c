// Guard mode: an op that writes outside its arrays is told so, with the array's name, and everybody else goes on.
#include "troupe/device/device_fixture.test.hpp"
#include "troupe/op/fences.hpp"

namespace troupe {
namespace {

/// What the plugin's function `overrun` takes.
struct OverrunAt {
  std::int64_t element = 0;  // from the array's first one
  std::int32_t array = 0;
  std::int32_t status = 0;
};

class GuardTest : public DeviceTest {
 protected:
  static DeviceOptions guarded(Isolation isolation) {
    DeviceOptions options = patient();
    options.guard = true;
    options.isolation = isolation;
    if (isolation == Isolation::thread) options.standby = Standby::none;
    return options;
  }
  static Result<void> write_element(const Device& device, std::vector<ArrayUse> arrays, const OverrunAt& at) {
    return bad(device, "overrun", std::move(arrays), std::as_bytes(std::span(&at, 1))).get();
  }
  static void expect_told(const Result<void>& end, const std::string& message) {
    ASSERT_EQ(kind_of(end), ErrorKind::library_error);
    EXPECT_EQ(end.error().message(), message);
    EXPECT_EQ(end.error().origin().library, "guard");
    EXPECT_EQ(end.error().origin().op, "plugin.call overrun");
    EXPECT_NE(end.error().origin().where.line(), 0U);
  }
};

class Guard : public GuardTest, public ::testing::WithParamInterface<Isolation> {
 protected:
  const Device device = open(guarded(GetParam()));
};
INSTANTIATE_TEST_SUITE_P(In, Guard, ::testing::Values(Isolation::process, Isolation::thread),
                         [](const auto& param) { return param.param == Isolation::process ? "Process" : "Thread"; });

TEST_P(Guard, tells_of_one_element_behind_an_array) {
  const Array<float> before = filled(device, {128}, 1.0f);
  const Array<float> array = filled(device, {128}, 2.0f);
  const Array<float> after = filled(device, {128}, 3.0f);
  expect_told(write_element(device, {updates(array)}, {.element = 128}),
              "array 0, [128] of f32, was overrun: 4 bytes were written right behind its last element");
  EXPECT_EQ(kind_of(device.read(array).get()), ErrorKind::buffer_tainted);
  EXPECT_TRUE(all_equal(device, before, 1.0f));
  EXPECT_TRUE(all_equal(device, after, 3.0f));
  value(device.fill(array, 4.0f).get());
  EXPECT_TRUE(all_equal(device, array, 4.0f)) << "written whole it is good again";
  EXPECT_EQ(device.generation(), 1) << "the worker goes on";
}

TEST_P(Guard, tells_of_one_element_in_front_of_an_array) {
  const Array<double> array = filled(device, {3, 5}, 2.0);
  expect_told(write_element(device, {updates(array)}, {.element = -1}),
              "array 0, [3, 5] of f64, was overrun: 8 bytes were written right in front of its first element");
}

TEST_P(Guard, tells_which_array_of_an_op_it_was) {
  const Array<float> from = filled(device, {16}, 1.0f);
  const Array<float> to = filled(device, {20}, 2.0f);
  expect_told(write_element(device, {reads(from), writes(to)}, {.element = 20, .array = 1}),
              "array 1, [20] of f32, was overrun: 4 bytes were written right behind its last element");
  expect_told(write_element(device, {reads(from), writes(to)}, {.element = 16, .array = 0}),
              "array 0, [16] of f32, was overrun: 4 bytes were written right behind its last element");
  EXPECT_TRUE(all_equal(device, from, 1.0f)) << "what an op only reads is not tainted";
  EXPECT_EQ(kind_of(device.read(to).get()), ErrorKind::buffer_tainted);
}

TEST_P(Guard, says_how_far_away_it_was) {
  const Array<std::uint8_t> array = filled<std::uint8_t>(device, {100}, 1);
  expect_told(write_element(device, {writes(array)}, {.element = 100 + 3000}),
              "array 0, [100] of u8, was overrun: 1 byte was written behind its last element, the farthest 3001 bytes "
              "away");
  expect_told(write_element(device, {writes(array)}, {.element = -4096}),
              "array 0, [100] of u8, was overrun: 1 byte was written in front of its first element, the farthest 4096 "
              "bytes away");
}

TEST_P(Guard, accuses_nobody_who_stays_inside) {
  for (const std::int64_t count : {1, 3, 127, 128, 129, 5000}) {
    const Array<float> array = filled(device, {count}, 2.0f);
    for (const std::int64_t element : {std::int64_t{0}, count - 1}) {
      const Result<void> end = write_element(device, {updates(array)}, {.element = element});
      ASSERT_TRUE(end) << end.error().to_string();
    }
    const HostArray<float> content = value(device.read(array).get());
    EXPECT_EQ(content[0], content[static_cast<std::size_t>(count - 1)]);
  }
}

TEST_P(Guard, accuses_the_culprit_and_not_who_comes_after_it) {
  const Array<float> array = filled(device, {16}, 2.0f);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(write_element(device, {updates(array)}, {.element = 16}));
    const Result<void> next = device.fill(array, 1.0f).get();
    ASSERT_TRUE(next) << next.error().to_string();
    EXPECT_TRUE(write_element(device, {updates(array)}, {.element = 15}));
  }
}

TEST_P(Guard, looks_at_the_whole_array_of_a_view) {
  const Array<float> table = filled(device, {4, 8}, 1.0f);
  const Array<float> middle = value(table.slice(0, 1, 3));
  EXPECT_TRUE(write_element(device, {writes(middle)}, {.element = 2 * 8})) << "it is the same array's";
  EXPECT_NE(value(device.read(table).get())[3 * 8], 1.0f);
  expect_told(
      write_element(device, {writes(middle)}, {.element = 3 * 8}),
      "array 0, [2, 8] of f32 in an array of 128 bytes, was overrun: 4 bytes were written right behind its last "
      "element");
  expect_told(
      write_element(device, {writes(middle)}, {.element = -8 - 1}),
      "array 0, [2, 8] of f32 in an array of 128 bytes, was overrun: 4 bytes were written right in front of its "
      "first element");
}

TEST_P(Guard, names_all_views_of_the_array) {
  const Array<float> table = filled(device, {4, 8}, 1.0f);
  const Array<float> top = value(table.slice(0, 0, 2)), bottom = value(table.slice(0, 2, 4));
  expect_told(
      write_element(device, {reads(top), writes(bottom)}, {.element = 16, .array = 1}),
      "array 0, [2, 8] of f32 in an array of 128 bytes, or array 1, [2, 8] of f32 in an array of 128 bytes, was "
      "overrun: 4 bytes were written right behind its last element");
}

TEST_P(Guard, tells_of_an_op_that_failed_besides) {
  const Array<float> array = filled(device, {16}, 2.0f);
  const Result<void> end = write_element(device, {updates(array)}, {.element = 16, .status = 1});
  ASSERT_EQ(kind_of(end), ErrorKind::library_error);
  EXPECT_TRUE(
      end.error().message().starts_with("array 0, [16] of f32, was overrun: 4 bytes were written right behind "
                                        "its last element; the op itself ended in library_error: "))
      << end.error().message();
  const Result<void> plain = bad(device, "error", {writes(array)}).get();
  ASSERT_EQ(kind_of(plain), ErrorKind::library_error);
  EXPECT_EQ(plain.error().message(), "the plugin said no");
}

TEST_P(Guard, tells_of_memory_shared_with_the_app_and_of_memory_that_dies_with_its_worker) {
  const HostArray<float> shared = value(device.host_array<float>({16}));
  expect_told(write_element(device, {updates(shared)}, {.element = 16}),
              "array 0, [16] of f32, was overrun: 4 bytes were written right behind its last element");
  const Array<float> managed = value(device.managed_array<float>({16}));
  expect_told(write_element(device, {updates(managed)}, {.element = 16}),
              "array 0, [16] of f32, was overrun: 4 bytes were written right behind its last element");
}

TEST_P(Guard, runs_all_that_runs_without_it) {
  const Array<float> a = filled(device, {20, 30}, 1.0f), b = filled(device, {30, 10}, 2.0f);
  const Array<float> c = value(device.array<float>({20, 10})), none = value(device.array<float>({0}));
  value(device.blas().gemm(a, b, c).get());
  EXPECT_TRUE(all_equal(device, c, 60.0f));
  EXPECT_EQ(value(device.blas().dot(c, c).get()), 60.0f * 60.0f * 200.0f);
  value(device.fill(none, 1.0f).get());
  value(device.nop().get());
  value(device.tensor().evaluate(c + c, c).get());
  EXPECT_TRUE(all_equal(device, c, 120.0f));
  const std::vector<float> many(3'000'000, 5.0f);  // goes in pieces
  const Array<float> large = value(device.array<float>({3'000'000}));
  value(device.write(large, many).get());
  EXPECT_TRUE(all_equal(device, large, 5.0f));
}

TEST_P(Guard, answers_each_of_many_callers) {
  constexpr int kThreads = 4, kRounds = 40;
  std::atomic<int> told{0}, wrong{0};
  std::vector<std::thread> callers;
  for (int thread = 0; thread < kThreads; ++thread)
    callers.emplace_back([&, thread] {
      const Array<float> array = filled(device, {64}, 0.0f);
      for (int round = 0; round < kRounds; ++round) {
        const bool overruns = (round + thread) % 4 == 0;
        (void)device.fill(array, 1.0f).submit();
        const Result<void> end = write_element(device, {updates(array)}, {.element = overruns ? 64 : 63});
        if (overruns && !end && end.error().origin().library == "guard") told.fetch_add(1);
        if (overruns == end.has_value()) wrong.fetch_add(1);
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(told, kThreads * kRounds / 4);
}

class GuardInProcess : public GuardTest {};

TEST_F(GuardInProcess, recovers_from_crashes_as_ever) {
  const Device device = open(guarded(Isolation::process));
  const Array<float> array = filled(device, {16}, 2.0f), other = filled(device, {16}, 3.0f);
  EXPECT_EQ(kind_of(bad(device, "null", {writes(array)}).get()), ErrorKind::worker_crashed);
  EXPECT_EQ(kind_of(bad(device, "abort", {writes(array)}).get()), ErrorKind::worker_crashed);
  value(device.fill(array, 4.0f).get());
  EXPECT_FALSE(write_element(device, {writes(array)}, {.element = 16}));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(device.fill(array, 5.0f).submit());
  kill_worker(device);
  EXPECT_TRUE(all_equal(device, array, 5.0f));
  EXPECT_TRUE(all_equal(device, other, 3.0f));
}

TEST_F(GuardInProcess, stops_an_op_at_its_deadline) {
  const Device device = open(guarded(Isolation::process));
  const Array<float> array = filled(device, {16}, 2.0f);
  EXPECT_EQ(kind_of(bad(device, "loop").deadline(std::chrono::milliseconds(200)).get()), ErrorKind::deadline_exceeded);
  EXPECT_TRUE(all_equal(device, array, 2.0f));
}

TEST_F(GuardInProcess, leaves_sealed_arrays_to_the_seal) {
  const Device device = open(guarded(Isolation::process));
  const Array<float> weights = value(device.sealable_array<float>({16})), out = filled(device, {16}, 0.0f);
  value(device.fill(weights, 2.0f).get());
  value(device.seal(weights).get());
  value(device.copy(weights, out).get());
  EXPECT_TRUE(all_equal(device, out, 2.0f));
  EXPECT_EQ(kind_of(write_element(device, {reads(weights)}, {.element = 16})), ErrorKind::worker_crashed);
  value(device.unseal(weights).get());
  expect_told(write_element(device, {updates(weights)}, {.element = 16}),
              "array 0, [16] of f32, was overrun: 4 bytes were written right behind its last element");
}

TEST_F(GuardInProcess, is_off_unless_asked_for) {
  const Device device = open();
  const Array<float> array = filled(device, {128}, 2.0f), neighbour = filled(device, {128}, 3.0f);
  EXPECT_EQ(device.stats().memory.used_bytes, 2 * 512U);
  const std::int64_t away = static_cast<std::int64_t>(neighbour.view().address - array.view().address) / 4;
  EXPECT_TRUE(write_element(device, {updates(array)}, {.element = away})) << "nobody notices";
  EXPECT_NE(value(device.read(neighbour).get())[0], 3.0f) << "until it is read";
}

}  // namespace
}  // namespace troupe
