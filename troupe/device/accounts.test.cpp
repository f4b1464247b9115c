// Whoever costs workers pays for them, and nobody else.
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

class Accounts : public DeviceTest {
 protected:
  static Call<void> kill_with(const Device& device, const Array<float>& in_place) {
    return bad(device, "null", {updates(in_place)});
  }
};

TEST_F(Accounts, one_past_its_budget_is_refused_for_a_time_and_nobody_else) {
  const Device device = open({.crash_budget = {.deaths = 2, .first_refusal = 300ms}});
  const Device killer = device.as("killer"), other = device.as("other");
  const Array<float> array = filled(other, {16}, 1.0f);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(kind_of(bad(killer, "abort").get()), ErrorKind::worker_crashed) << i;
  const Result<void> refused = killer.nop().get();
  ASSERT_EQ(kind_of(refused), ErrorKind::over_budget);
  EXPECT_NE(refused.error().message().find("\"killer\" has cost 3 workers"), std::string_view::npos)
      << refused.error().message();
  EXPECT_NE(refused.error().message().find("plugin.call abort"), std::string_view::npos) << refused.error().message();
  EXPECT_EQ(kind_of<void>(killer.nop().submit()), ErrorKind::over_budget);
  EXPECT_TRUE(other.fill(array, 2.0f).get());
  EXPECT_TRUE(device.fill(array, 3.0f).get()) << "who has no name is somebody else, too";
  EXPECT_EQ(kind_of(bad(other, "abort").get()), ErrorKind::over_budget) << "what kills is refused to everybody";
  eventually([&] { return killer.nop().get().has_value(); });
  EXPECT_EQ(kind_of(bad(killer, "null").get()), ErrorKind::worker_crashed);
  EXPECT_EQ(kind_of(killer.nop().get()), ErrorKind::over_budget) << "once more is too much now";
  eventually([&] { return log.has("refused for 600 ms: the account \"killer\""); });
}

TEST_F(Accounts, a_thread_without_a_name_is_a_caller_of_its_own) {
  const Device device = open({.crash_budget = {.deaths = 1, .first_refusal = 1min}});
  std::jthread([&] {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(kind_of(bad(device, "abort").get()), ErrorKind::worker_crashed);
    EXPECT_EQ(kind_of(device.nop().get()), ErrorKind::over_budget);
  }).join();
  EXPECT_TRUE(device.nop().get());
}

TEST_F(Accounts, ops_that_kill_do_not_lose_the_device) {
  const Device device = open({.max_restarts = 2, .crash_budget = {.deaths = 1000}});
  const Array<float> array = filled(device, {16}, 1.0f);
  for (int i = 0; i < 8; ++i) {
    const Device caller = device.as("caller " + std::to_string(i));
    EXPECT_EQ(kind_of(i % 2 ? kill_with(caller, array).get() : bad(caller, "abort").get()), ErrorKind::worker_crashed);
    EXPECT_TRUE(device.fill(array, 1.0f).get()) << i;
  }
}

TEST_F(Accounts, what_killed_in_place_runs_alone_from_then_on) {
  const Device device = open();
  const Array<float> array = filled(device, {16}, 1.0f);
  EXPECT_EQ(kind_of(kill_with(device, array).get()), ErrorKind::worker_crashed);
  eventually([&] { return device.generation() == 2; });
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(device.fill(array, 1.0f).get());
    EXPECT_EQ(kind_of(kill_with(device, array).get()), ErrorKind::worker_crashed);
  }
  EXPECT_EQ(device.generation(), 2) << "the worker that serves does not see it again";
  EXPECT_EQ(kind_of(device.read(array).get()), ErrorKind::buffer_tainted);
}

TEST_F(Accounts, an_innocent_that_ran_beside_it_runs_alone_once_and_in_order) {
  const Device device = open({.lanes = Lanes::pool(2), .max_restarts = 1000});
  const Array<float> array = filled(device, {1000}, 1.0f);
  struct {
    std::int32_t ms;
    float value;
  } const parameters{.ms = 150, .value = 7.0f};
  const auto fill_in_place = [&] {
    return bad(device, "spin_ms", {updates(array)}, std::as_bytes(std::span(&parameters, 1)));
  };
  // The op is under way in one lane when an op of another lane kills the worker. Each time it has a new caller, so that
  // it does not run alone.
  eventually([&, attempt = 0]() mutable {
    EXPECT_TRUE(device.fill(array, 1.0f).get());
    EXPECT_TRUE(fill_in_place().submit());
    EXPECT_FALSE(bad(device.as("caller " + std::to_string(++attempt)), "abort").get());
    return !device.wait_for(array).get();
  });
  const std::int64_t generation = device.generation();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(device.fill(array, 2.0f).submit());
    EXPECT_TRUE(fill_in_place().submit());
    EXPECT_TRUE(device.blas().scal(2.0, array).submit());
    EXPECT_TRUE(all_equal(device, array, 14.0f));
  }
  EXPECT_EQ(device.generation(), generation);
}

TEST_F(Accounts, one_that_would_run_alone_on_what_is_unknown_is_skipped) {
  const Device device = open();
  const Array<float> input = filled(device, {16}, 1.0f), array = filled(device, {16}, 5.0f);
  const auto kill = [&] { return bad(device, "null", {reads(input), updates(array)}).get(); };
  EXPECT_EQ(kind_of(kill()), ErrorKind::worker_crashed);
  EXPECT_EQ(array.content(), Content::unknown);
  ASSERT_TRUE(device.fill(array, 5.0f).get());
  ASSERT_FALSE(bad(device, "error", {writes(input)}).get());
  EXPECT_EQ(kind_of(kill()), ErrorKind::buffer_tainted);
  EXPECT_EQ(array.content(), Content::skipped);
  EXPECT_TRUE(array.accept_skipped());
  EXPECT_TRUE(all_equal(device, array, 5.0f));
}

TEST_F(Accounts, a_deadline_while_it_waits_to_run_alone_ends_it_and_taints_nothing) {
  const Device device = open();
  const Array<float> array = filled(device, {16}, 1.0f), other = filled(device, {16}, 5.0f);
  EXPECT_EQ(kind_of(kill_with(device, array).get()), ErrorKind::worker_crashed);
  ASSERT_TRUE(device.fill(array, 1.0f).get());
  Gate gate = make_gate(device);  // in front of it
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(other), writes(array)}).submit());
  EXPECT_EQ(kind_of(kill_with(device, array).deadline(50ms).get()), ErrorKind::deadline_exceeded);
  gate.open();
  EXPECT_TRUE(all_equal(device, array, 5.0f)) << "it never began";
}

}  // namespace
}  // namespace troupe
