// Limits, waiting and changing one's mind: full rings, deadlines of ops that have not begun, timeouts, cancellation.
#include <thread>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class BackPressure : public DeviceTest {
 protected:
  static constexpr std::uint64_t kUnits = 256;

  /// Holds up the plugins' lane until `release`.
  void block(const Device& on) {
    flag = value(on.host_array<std::uint32_t>({1}));
    flag[0] = 0;
    ASSERT_TRUE(bad(on, "wait_for_flag", {reads(flag)}).submit());
  }
  void release() { std::atomic_ref(flag[0]).store(1); }

  Device small = open({.ring_units = kUnits, .max_restarts = 1000});
  HostArray<std::uint32_t> flag;
};

TEST_F(BackPressure, answers_queue_full_to_those_who_will_not_wait) {
  block(small);
  const Array<float> array = value(small.array<float>({4}));
  // Ops behind the blocked one stay in the ring, since a ring frees its places in order.
  int taken = 0;
  Result<void> end;
  while ((end = small.fill(array, 1.0f).try_now().submit())) ASSERT_LT(++taken, static_cast<int>(kUnits));
  EXPECT_EQ(kind_of(end), ErrorKind::queue_full);
  EXPECT_GT(taken, static_cast<int>(kUnits) / 4);
  release();
  eventually([&] { return small.nop().try_now().get().has_value(); });
}

TEST_F(BackPressure, suspends_those_who_wait_and_serves_them_in_order) {
  block(small);
  const Array<double> sum = filled(small, {1}, 0.0);
  const Array<double> one = filled(small, {1}, 1.0);
  constexpr int kOps = 1000;
  const auto flood = [&](Device gpu) -> Task<Result<void>> {
    std::vector<Task<Result<void>>> tasks;
    for (int i = 0; i < kOps; ++i) tasks.push_back(gpu.blas().axpy(1.0, one, sum));
    for (const Result<void>& end : co_await when_all(std::move(tasks))) EXPECT_TRUE(end);
    co_return Result<void>();
  };
  std::jthread opener([&] {
    eventually([&] { return small.stats().waiting > 500; });
    release();
  });
  ASSERT_TRUE(system.run(flood(small)));
  EXPECT_TRUE(all_equal(small, sum, static_cast<double>(kOps)));
}

// Records of one unit and of two, so that the ring's rounds end with a skip here and there.
TEST_F(BackPressure, goes_round_a_small_ring_from_several_threads_at_once) {
  constexpr int kThreads = 4;
  constexpr int kOps = kSanitized ? 2000 : 12'000;
  const Array<double> one = filled(small, {1, 1}, 1.0);
  std::vector<Array<double>> sums;
  for (int i = 0; i < kThreads; ++i) sums.push_back(filled(small, {1, 1}, 0.0));
  const auto once = [&](const Array<double>& sum) -> Result<void> {
    TROUPE_TRY(small.nop().within(std::chrono::seconds(20)).get());
    return small.blas().gemm(one, one, sum, {.beta = 1.0}).within(std::chrono::seconds(20)).get();
  };
  std::atomic<int> failed{0};
  {
    std::vector<std::jthread> threads;
    for (const Array<double>& sum : sums)
      threads.emplace_back([&] {
        for (int i = 0; i < kOps && failed == 0; ++i)
          if (!once(sum)) ++failed;
      });
  }
  ASSERT_EQ(failed, 0) << "an op was not answered within 20 s";
  for (const Array<double>& sum : sums) EXPECT_TRUE(all_equal(small, sum, static_cast<double>(kOps)));
}

TEST_F(BackPressure, bounds_what_waits_in_the_app) {
  const Device tiny = open({.ring_units = kUnits, .max_waiting = 10});
  block(tiny);
  const Array<float> array = value(tiny.array<float>({4}));
  Result<void> end;
  for (int i = 0; i < 1000 && end; ++i) end = tiny.fill(array, 1.0f).submit();
  EXPECT_EQ(kind_of(end), ErrorKind::queue_full);
  EXPECT_EQ(tiny.stats().waiting, 10U);
  release();
}

TEST_F(BackPressure, does_not_begin_an_op_after_its_deadline_and_kills_nobody_for_it) {
  block(small);
  const Array<float> array = filled(small, {4}, 1.0f);
  const float two = 2.0f;
  const auto parameters = std::as_bytes(std::span(&two, 1));
  const Result<void> late =
      bad(small, "scale", {updates(array)}, parameters).deadline(std::chrono::milliseconds(20)).get();
  EXPECT_EQ(kind_of(late), ErrorKind::deadline_exceeded);
  release();
  EXPECT_TRUE(all_equal(small, array, 1.0f));
  EXPECT_EQ(small.generation(), 1);
}

TEST_F(BackPressure, does_not_begin_what_nobody_waits_for_any_more) {
  block(small);
  const Array<float> array = filled(small, {4}, 1.0f);
  const float two = 2.0f;
  const auto parameters = std::as_bytes(std::span(&two, 1));
  EXPECT_EQ(kind_of(bad(small, "scale", {updates(array)}, parameters).within(std::chrono::milliseconds(5)).get()),
            ErrorKind::timeout);
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(kind_of(bad(small, "scale", {updates(array)}, parameters).cancel_on(stop.get_token()).get()),
            ErrorKind::cancelled);
  const auto cut_off = [&](Device gpu) -> Task<Result<void>> {
    Task<Result<void>> scale = gpu.call_plugin(beside("libbad_plugin.so"), "scale", parameters, updates(array));
    co_return co_await with_timeout(std::move(scale), std::chrono::milliseconds(5));
  };
  EXPECT_EQ(kind_of(system.run(cut_off(small))), ErrorKind::timeout);
  release();
  EXPECT_TRUE(all_equal(small, array, 1.0f));
}

TEST_F(BackPressure, keeps_deadlines_of_ops_that_wait_in_the_app) {
  const Device tiny = open({.ring_units = kUnits});
  block(tiny);
  const Array<float> array = value(tiny.array<float>({4}));
  while (tiny.stats().waiting == 0) ASSERT_TRUE(tiny.fill(array, 1.0f).submit());
  EXPECT_EQ(kind_of(tiny.fill(array, 1.0f).deadline(std::chrono::milliseconds(10)).get()),
            ErrorKind::deadline_exceeded);
  release();
  EXPECT_TRUE(tiny.nop().get());
}

// It shows in what the op would have written, and in its place in the order: the fills before it do not make it good.
TEST_F(BackPressure, taints_by_the_deadline_of_an_op_that_nobody_waits_for) {
  block(small);
  const Array<float> array = value(small.array<float>({4}));
  while (small.stats().waiting == 0) ASSERT_TRUE(small.fill(array, 1.0f).submit());
  ASSERT_TRUE(small.fill(array, 2.0f).deadline(std::chrono::microseconds(1)).submit());
  const Array<float> other = value(small.array<float>({4}));
  EXPECT_EQ(kind_of(small.fill(other, 2.0f).deadline(std::chrono::milliseconds(1)).get()),
            ErrorKind::deadline_exceeded);
  release();
  const auto read = small.read(array).get();
  // Where the worker was quicker than the poller, the op was begun, and is done or has cost a worker.
  const bool as_asked = read && (*read)[0] == 2.0f;
  EXPECT_TRUE(as_asked || kind_of(read) == ErrorKind::buffer_tainted);
  value(small.fill(array, 3.0f).get());
  EXPECT_TRUE(all_equal(small, array, 3.0f));
}

TEST_F(BackPressure, taints_nothing_when_whoever_submits_is_told_at_once) {
  block(small);
  const Array<float> array = filled(small, {4}, 1.0f);
  Result<void> end;
  while (end) end = small.fill(array, 1.0f).try_now().submit();
  EXPECT_EQ(kind_of(end), ErrorKind::queue_full);
  release();
  EXPECT_TRUE(all_equal(small, array, 1.0f));
}

}  // namespace
}  // namespace troupe
