// Faults are real here: worker processes crash, hang and are killed, and everybody but the culprit goes on.
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

struct Fault {
  const char* function;
  ErrorKind kind;
  std::string_view says;
  bool kills;
};

class EveryFault : public DeviceTest, public ::testing::WithParamInterface<Fault> {};
INSTANTIATE_TEST_SUITE_P(Recovery, EveryFault,
                         ::testing::Values(Fault{"null", ErrorKind::worker_crashed, "SIGSEGV", true},
                                           Fault{"abort", ErrorKind::worker_crashed, "SIGABRT", true},
                                           Fault{"divide", ErrorKind::worker_crashed, "was killed by signal", true},
                                           Fault{"exit", ErrorKind::worker_crashed, "exited with code 7", true},
                                           Fault{"stack", ErrorKind::worker_crashed, "was killed by signal", true},
                                           Fault{"wild", ErrorKind::worker_crashed, "SIGSEGV", true},
                                           // whoever asks for memory next may die of it first
                                           Fault{"memory_null", ErrorKind::worker_crashed, "was killed by", true},
                                           Fault{"memory", ErrorKind::out_of_memory, "out of memory", false},
                                           Fault{"error", ErrorKind::library_error, "the plugin said no", false},
                                           Fault{"throw", ErrorKind::library_error, "threw", false}),
                         [](const auto& param) { return param.param.function; });

TEST_P(EveryFault, costs_its_own_caller_and_nobody_else) {
  const Fault& fault = GetParam();
  if (kSanitized && std::string_view(fault.function).starts_with("memory"))
    GTEST_SKIP() << "under a sanitizer a worker has no limit on its memory";
  const Device device = open();
  const Array<float> kept = filled(device, {1000}, 4.0f);
  const Array<float> written = filled(device, {10}, 1.0f);
  // Others have ops before, beside and after it.
  std::vector<Array<float>> others;
  for (int i = 0; i < 20; ++i) {
    others.push_back(value(device.array<float>({1000})));
    ASSERT_TRUE(device.copy(kept, others.back()).submit());
    if (i == 10) {
      const Result<void> bad_end = bad(device, fault.function, {writes(written)}).get();
      ASSERT_EQ(kind_of(bad_end), fault.kind) << bad_end.error().to_string();
      if (!kSanitized) {
        EXPECT_NE(bad_end.error().message().find(fault.says), std::string_view::npos) << bad_end.error().to_string();
      }
      const ErrorOrigin& origin = bad_end.error().origin();
      EXPECT_EQ(origin.op, "plugin.call " + std::string(fault.function));
      if (!fault.kills) {
        EXPECT_EQ(origin.library, "bad_plugin") << "as the worker said it";
      }
    }
  }
  for (const Array<float>& other : others) EXPECT_TRUE(all_equal(device, other, 4.0f));
  EXPECT_TRUE(all_equal(device, kept, 4.0f));
  EXPECT_EQ(kind_of(device.read(written).get()), ErrorKind::buffer_tainted);
  ASSERT_TRUE(device.fill(written, 2.0f).get());
  EXPECT_TRUE(all_equal(device, written, 2.0f));
  EXPECT_EQ(device.generation(), fault.kills ? 2 : 1) << "a culprit costs one generation, though it is tried twice";
}

class Recovery : public DeviceTest {
 protected:
  /// The end of an op that hangs until its deadline. On a busy machine that can pass before the op has begun, which
  /// costs nobody anything; then it is called again.
  static Result<void> end_of_hung(const Device& device, const char* function, const std::vector<ArrayUse>& arrays) {
    Result<void> end;
    eventually([&] {
      end = bad(device, function, arrays).deadline(std::chrono::milliseconds(30)).get();
      return end || end.error().message().find("before the op began") == std::string_view::npos;
    });
    return end;
  }
};

TEST_F(Recovery, reruns_an_op_that_was_cut_off_when_that_is_safe) {
  const Device device = open();
  Gate gate = make_gate(device);
  const Array<float> from = filled(device, {100}, 3.0f);
  const Array<float> to = filled(device, {100}, 0.0f);
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(from), writes(to)}).submit());
  gate.wait_until_begun();
  kill_worker(device);
  EXPECT_TRUE(all_equal(device, from, 3.0f)) << "reading what it reads does not wait for it";
  gate.open();
  EXPECT_TRUE(all_equal(device, to, 3.0f));
  EXPECT_EQ(device.stats().reruns, 1U);
  EXPECT_EQ(device.stats().culprits, 0U);
}

TEST_F(Recovery, reruns_an_op_that_writes_the_odd_columns_of_what_it_reads_the_even_ones_of) {
  const Device device = open();
  Gate gate = make_gate(device);
  const Array<float> table = filled(device, {50, 4}, 3.0f);
  const Array<float> even = value(table.slice(1, 0, 4, 2));
  const Array<float> odd = value(table.slice(1, 1, 4, 2));
  ASSERT_TRUE(device.fill(odd, 0.0f).get());
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(even), writes(odd)}).submit());
  gate.wait_until_begun();
  kill_worker(device);
  gate.open();
  EXPECT_TRUE(all_equal(device, table, 3.0f));
  EXPECT_EQ(device.stats().reruns, 1U);
}

TEST_F(Recovery, survives_any_number_of_kills_while_an_op_is_tried) {
  const Device device = open();
  Gate gate = make_gate(device);
  const Array<float> to = filled(device, {4}, 0.0f);
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(filled(device, {4}, 1.0f)), writes(to)}).submit());
  gate.wait_until_begun();
  for (int i = 0; i < 5; ++i) {
    kill_worker(device);
    ASSERT_TRUE(device.nop().get());
  }
  gate.open();
  EXPECT_TRUE(all_equal(device, to, 1.0f));
}

TEST_F(Recovery, runs_ops_that_had_not_begun_exactly_once) {
  const Device device = open();
  const Array<float> array = filled(device, {64}, 1.0f);
  const float twice = 2.0f;
  const auto parameters = std::as_bytes(std::span(&twice, 1));
  ASSERT_TRUE(bad(device, "print").get());  // the plugin is there, so that the next one begins long before its deadline
  // Behind a hung op of the same lane: none of these can begin, and all change their array in place.
  auto hung = bad(device, "loop", {writes(filled(device, {1}, 0.0f))}).deadline(std::chrono::seconds(1));
  const auto wait = [](Call<void> call) -> Task<Result<void>> { co_return co_await std::move(call); };
  const auto both = [&](Device gpu) -> Task<Result<void>> {
    std::vector<Task<Result<void>>> tasks;
    tasks.push_back(wait(std::move(hung)));
    for (int i = 0; i < 5; ++i) tasks.push_back(bad(gpu, "scale", {updates(array)}, parameters));
    std::vector<Result<void>> ends = co_await when_all(std::move(tasks));
    EXPECT_EQ(kind_of(ends[0]), ErrorKind::deadline_exceeded);
    for (std::size_t i = 1; i < ends.size(); ++i) EXPECT_TRUE(ends[i]) << ends[i].error().to_string();
    co_return Result<void>();
  };
  ASSERT_TRUE(system.run(both(device)));
  EXPECT_TRUE(all_equal(device, array, 32.0f));
  EXPECT_EQ(device.generation(), 2);
}

TEST_F(Recovery, taints_nothing_when_the_worker_refused_the_op_before_it_began) {
  const Device device = open();
  const Array<float> array = filled(device, {4}, 1.0f);
  EXPECT_EQ(kind_of(bad(device, "no_such_function", {writes(array)}).get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.call_plugin("/no/such/plugin.so", "f", {writes(array)}).get()), ErrorKind::invalid_argument);
  EXPECT_TRUE(all_equal(device, array, 1.0f));
}

TEST_F(Recovery, taints_what_an_op_changed_in_place_when_it_was_cut_off) {
  const Device device = open();
  const Array<float> array = filled(device, {64}, 1.0f);
  const Array<float> after = filled(device, {64}, 1.0f);
  const Result<void> hung = end_of_hung(device, "loop", {updates(value(array.slice(0, 0, 32)))});
  ASSERT_EQ(kind_of(hung), ErrorKind::deadline_exceeded) << hung.error().to_string();
  EXPECT_EQ(kind_of(device.read(array).get()), ErrorKind::buffer_tainted);
  EXPECT_TRUE(device.read(value(array.slice(0, 32, 64))).get()) << "the other half is whole";
  EXPECT_EQ(kind_of(device.copy(array, after).get()), ErrorKind::buffer_tainted);
  EXPECT_EQ(kind_of(device.read(after).get()), ErrorKind::buffer_tainted) << "what depends on it is unknown too";
  ASSERT_TRUE(device.fill(value(array.slice(0, 0, 16)), 2.0f).get());
  EXPECT_EQ(kind_of(device.read(array).get()), ErrorKind::buffer_tainted);
  ASSERT_TRUE(device.fill(array, 2.0f).submit());
  EXPECT_TRUE(all_equal(device, array, 2.0f));
}

TEST_F(Recovery, an_error_in_a_chain_reaches_the_one_who_awaits_its_end) {
  const Device device = open();
  const Array<float> a = filled(device, {8}, 1.0f);
  const Array<float> b = filled(device, {8}, 1.0f);
  const Array<float> c = filled(device, {8}, 1.0f);
  (void)bad(device, "error", {writes(a)}).submit();  // it may have failed by now
  ASSERT_TRUE(device.copy(a, b).submit());
  ASSERT_TRUE(device.blas().axpy(1.0, b, c).submit());
  EXPECT_EQ(kind_of(device.read(c).get()), ErrorKind::buffer_tainted);
}

// What an op cannot write because its input is unknown is unknown from its place in the order on, and not before.
TEST_F(Recovery, taints_nothing_under_those_who_came_before) {
  const Device device = open();
  Gate gate = make_gate(device);
  const Array<float> lost = filled(device, {8}, 1.0f);
  const Array<float> middle = filled(device, {8}, 2.0f);
  const Array<float> to = filled(device, {8}, 0.0f);
  ASSERT_FALSE(bad(device, "error", {writes(lost)}).get());
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(middle), writes(to)}).submit());
  ASSERT_TRUE(device.copy(lost, middle).submit());
  gate.open();
  EXPECT_TRUE(all_equal(device, to, 2.0f));
  EXPECT_EQ(kind_of(device.read(middle).get()), ErrorKind::buffer_tainted);
}

TEST_F(Recovery, runs_nothing_on_what_is_unknown) {
  const Device device = open();
  const Array<float> lost = filled(device, {8}, 1.0f);
  ASSERT_FALSE(bad(device, "error", {writes(lost)}).get());
  const std::int64_t generation = device.generation();
  EXPECT_EQ(kind_of(bad(device, "abort", {reads(lost)}).get()), ErrorKind::buffer_tainted);
  EXPECT_EQ(device.generation(), generation) << "it would have killed its worker";
}

TEST_F(Recovery, orders_conflicting_work_behind_the_ghosts) {
  const Device device = open();
  Gate gate = make_gate(device);
  const Array<float> from = filled(device, {16}, 5.0f);
  const Array<float> to = filled(device, {16}, 0.0f);
  const Array<float> copy = filled(device, {16}, 0.0f);
  ASSERT_TRUE(bad(device, "wait_for_flag", {reads(gate.flag), reads(from), writes(to)}).submit());
  ASSERT_TRUE(device.copy(to, copy).submit());
  gate.wait_until_begun();
  kill_worker(device);
  // These conflict with what is cut off: they come after it, though they are handed in while it is a ghost or on trial.
  ASSERT_TRUE(device.fill(from, 6.0f).submit());
  ASSERT_TRUE(device.copy(from, to).submit());
  EXPECT_TRUE(device.nop().get());
  gate.open();
  EXPECT_TRUE(all_equal(device, copy, 5.0f));
  EXPECT_TRUE(all_equal(device, to, 6.0f));
}

TEST_F(Recovery, works_without_a_standby) {
  const Device device = open({.standby = Standby::none, .max_restarts = 1000});
  const Array<float> kept = filled(device, {16}, 5.0f);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(kind_of(bad(device.as("caller " + std::to_string(i)), "null").get()), ErrorKind::worker_crashed);
    EXPECT_TRUE(all_equal(device, kept, 5.0f));
  }
  EXPECT_EQ(device.generation(), 4);
}

TEST_F(Recovery, gives_the_device_up_at_the_restart_limit) {
  const Device device = open({.max_restarts = 2});
  const Array<float> array = filled(device, {16}, 5.0f);
  for (int i = 0; i < 2; ++i) kill_worker(device);
  eventually([&] { return device.kill_worker(); });
  Result<void> end;
  eventually([&] { return kind_of(end = device.fill(array, 1.0f).get()) == ErrorKind::device_lost; });
  EXPECT_NE(end.error().message().find("SIGKILL"), std::string_view::npos) << end.error().message();
  EXPECT_EQ(kind_of(device.array<float>({1})), ErrorKind::device_lost);
}

TEST_F(Recovery, the_first_evidence_stands_when_a_trial_runs_into_the_deadline) {
  const Device device = open();
  const Array<float> array = filled(device, {16}, 5.0f);
  const std::int32_t ms = 1000;
  const Result<void> end = bad(device, "abort_after_ms", {writes(array)}, std::as_bytes(std::span(&ms, 1)))
                               .deadline(std::chrono::milliseconds(1800))
                               .get();
  EXPECT_EQ(kind_of(end), ErrorKind::worker_crashed) << end.error().to_string();
  EXPECT_EQ(kind_of(device.read(array).get()), ErrorKind::buffer_tainted) << "when the trial has ended";
  EXPECT_EQ(device.stats().culprits, 1U);
}

TEST_F(Recovery, an_op_whose_worker_died_in_another_one_is_not_told_that_it_crashed) {
  const Device device = open({.lanes = Lanes::pool(2), .max_restarts = 1000});
  const Array<float> hung = filled(device, {16}, 5.0f), lost = filled(device, {16}, 5.0f);
  const auto both = [&]() -> Task<std::vector<Result<void>>> {
    std::vector<Task<Result<void>>> calls;
    calls.push_back(bad(device, "loop", {reads(hung)}).deadline(std::chrono::milliseconds(600)));
    calls.push_back(bad(device, "null", {writes(lost)}));
    co_return co_await when_all(std::move(calls));
  };
  const std::vector<Result<void>> ends = value(system.run(both()));
  EXPECT_EQ(kind_of(ends[1]), ErrorKind::worker_crashed);
  ASSERT_EQ(kind_of(ends[0]), ErrorKind::deadline_exceeded) << ends[0].error().to_string();
}

TEST_F(Recovery, of_two_past_their_deadlines_the_first_is_blamed_and_the_other_run_again) {
  struct {
    std::int32_t ms;
    float value;
  } const parameters{.ms = 800, .value = 7.0f};
  for (int attempt = 0; attempt < 5; ++attempt) {
    const Device device = open({.lanes = Lanes::pool(2), .max_restarts = 1000});
    const Array<float> hung = filled(device, {16}, 5.0f), array = filled(device, {16}, 5.0f);
    ASSERT_TRUE(bad(device, "loop", {writes(hung)}).deadline(std::chrono::milliseconds(500)).submit());
    const Result<void> late = bad(device, "spin_ms", {writes(array)}, std::as_bytes(std::span(&parameters, 1)))
                                  .deadline(std::chrono::milliseconds(500))
                                  .get();
    EXPECT_EQ(kind_of(device.read(hung).get()), ErrorKind::buffer_tainted);
    if (late) continue;  // the machine stood still, and went on when both its time and its deadline were over
    ASSERT_EQ(kind_of(late), ErrorKind::deadline_exceeded) << late.error().to_string();
    // On a busy machine half a second may pass before the second one begins. Then it never does.
    const bool began = late.error().message().find("before the op began") == std::string_view::npos;
    EXPECT_TRUE(all_equal(device, array, began ? 7.0f : 5.0f)) << "too late for its caller, and whole";
    EXPECT_EQ(device.stats().culprits, 1U);
    eventually([&] { return log.has("plugin.call loop ran past its deadline"); });
    if (began) return;
  }
  FAIL() << "the second op never began in time";
}

struct GenerationKeeper {
  struct Last {
    using Reply = std::int64_t;
  };
  void on(const GenerationChanged& changed) { last = changed.generation; }
  std::int64_t on(Last) const { return last; }
  std::int64_t last = 0;
};

// The end of a trial and the wish to close nudge the context at nearly the same time.
TEST_F(Recovery, can_be_closed_at_the_end_of_a_trial) {
  for (int round = 0; round < 20; ++round) {
    Device device = open();
    const Array<float> lost = filled(device, {8}, 1.0f), from = filled(device, {8}, 2.0f),
                       to = filled(device, {8}, 0.0f);
    (void)bad(device, "null", {writes(lost)}).submit();  // it may have failed already
    EXPECT_TRUE(bad(device, "copy", {reads(from), writes(to)}).get());
    const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(5 * round);
    while (std::chrono::steady_clock::now() < moment) {
    }
    device.close();  // a test that hangs here has failed
  }
}

TEST_F(Recovery, tells_those_who_watch_the_generation) {
  const Device device = open();
  const Ref<GenerationKeeper> keeper = value(system.spawn<GenerationKeeper>({.name = "keeper"}));
  device.watch_generation(keeper);
  kill_worker(device);
  eventually([&] { return value(keeper.ask<GenerationKeeper::Last>().get()) == 2; });
}

TEST_F(Recovery, hands_what_a_worker_prints_to_the_log) {
  const Device device = open();
  (void)bad(device, "error").get();
  eventually([&] { return log.has("about to say no"); });
}

TEST_F(Recovery, loses_a_device_whose_worker_thread_hangs) {
  const Device device = open({.isolation = Isolation::thread});
  Gate gate = make_gate(device);
  const Result<void> hung = end_of_hung(device, "wait_for_flag", {reads(gate.flag)});
  EXPECT_EQ(kind_of(hung), ErrorKind::device_lost) << hung.error().to_string();
  EXPECT_EQ(kind_of(device.nop().get()), ErrorKind::device_lost);
  gate.open();
}

}  // namespace
}  // namespace troupe
