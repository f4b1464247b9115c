// Limits and waiting: full rings, deadlines of ops that have not begun, timeouts, cancellation.
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

  Device small = open({.lanes = Lanes::per_family(), .ring_units = kUnits, .max_restarts = 1000});
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
    TROUPE_TRY(small.nop().wait_at_most(std::chrono::seconds(20)).get());
    return small.blas().gemm(one, one, sum, {.beta = 1.0}).wait_at_most(std::chrono::seconds(20)).get();
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

TEST_F(BackPressure, lets_a_plain_loop_submit_more_than_may_wait) {
  const Device tiny = open({.ring_units = kUnits, .max_waiting = 1000});
  const Array<float> array = value(tiny.array<float>({4}));
  constexpr int kFills = kSanitized ? 20'000 : 200'000;
  for (int i = 0; i < kFills; ++i) ASSERT_TRUE(tiny.fill(array, static_cast<float>(i)).submit()) << i;
  EXPECT_TRUE(all_equal(tiny, array, static_cast<float>(kFills - 1)));
}

/// A device whose ring is full, whose lane is held up, and for which `max_waiting` ops wait.
class FullDevice : public BackPressure {
 protected:
  static constexpr std::uint32_t kMaxWaiting = 10;

  void SetUp() override {
    block(tiny);
    while (tiny.stats().waiting < kMaxWaiting) ASSERT_TRUE(tiny.fill(array, 1.0f).submit());
  }
  void wait_until_held(std::uint64_t submitters) {
    eventually([&] { return tiny.stats().waiting == kMaxWaiting + submitters; });
  }

  Device tiny = open({.ring_units = kUnits, .max_waiting = kMaxWaiting, .max_restarts = 0});
  Array<float> array = value(tiny.array<float>({4}));
  Array<float> other = filled(tiny, {4}, 1.0f);
};

TEST_F(FullDevice, holds_a_thread_back_that_submits_until_there_is_room) {
  std::atomic<bool> is_through{false};
  std::jthread submitter([&] {
    EXPECT_TRUE(tiny.fill(other, 2.0f).submit());
    is_through = true;
  });
  wait_until_held(1);
  EXPECT_FALSE(is_through);
  release();
  submitter.join();
  EXPECT_TRUE(all_equal(tiny, other, 2.0f));
}

TEST_F(FullDevice, ends_the_wait_for_room_with_the_op_s_deadline_and_taints_nothing) {
  EXPECT_EQ(kind_of<void>(tiny.fill(other, 2.0f).deadline(std::chrono::milliseconds(5)).submit()),
            ErrorKind::deadline_exceeded);
  EXPECT_EQ(kind_of<void>(tiny.fill(other, 2.0f).wait_at_most(std::chrono::milliseconds(5)).submit()),
            ErrorKind::timeout);
  std::stop_source stop;
  std::jthread stopper([&] {
    wait_until_held(1);
    stop.request_stop();
  });
  EXPECT_EQ(kind_of<void>(tiny.fill(other, 2.0f).cancel_on(stop.get_token()).submit()), ErrorKind::cancelled);
  EXPECT_EQ(tiny.stats().waiting, kMaxWaiting);
  release();
  EXPECT_TRUE(all_equal(tiny, other, 1.0f));
}

TEST_F(FullDevice, refuses_at_once_those_who_will_not_wait) {
  EXPECT_EQ(kind_of<void>(tiny.fill(other, 2.0f).try_now().submit()), ErrorKind::queue_full);
  EXPECT_EQ(kind_of(tiny.fill(other, 2.0f).try_now().get()), ErrorKind::queue_full);
  release();
  EXPECT_TRUE(all_equal(tiny, other, 1.0f));
}

TEST_F(FullDevice, ends_those_who_wait_for_room_when_it_is_closed) {
  Result<void> end;
  std::jthread submitter([&] { end = tiny.fill(other, 2.0f).submit(); });
  wait_until_held(1);
  tiny.close();
  submitter.join();
  EXPECT_EQ(kind_of(end), ErrorKind::stopped);
}

TEST_F(FullDevice, ends_those_who_wait_for_room_when_it_is_lost) {
  Result<void> end;
  std::jthread submitter([&] { end = tiny.fill(other, 2.0f).submit(); });
  wait_until_held(1);
  ASSERT_TRUE(tiny.kill_worker());  // it may not be lost even once
  submitter.join();
  EXPECT_EQ(kind_of(end), ErrorKind::device_lost);
}

/// Answers as long as a thread of the pool is free.
struct Ping {
  using Reply = int;
};
class Echo {
 public:
  int on(const Ping&) { return 1; }
};

TEST_F(FullDevice, suspends_tasks_that_submit_and_holds_up_no_thread_of_the_pool) {
  constexpr int kTasks = 8;  // more than the pool has threads
  constexpr int kFills = 100;
  std::vector<Array<float>> arrays;
  for (int i = 0; i < kTasks; ++i) arrays.push_back(value(tiny.array<float>({4})));
  const auto submit_many = [](Device gpu, Array<float> to) -> Task<Result<void>> {
    for (int i = 0; i < kFills; ++i) CO_TRY(co_await gpu.fill(to, static_cast<float>(i)).submit());
    co_return co_await gpu.wait_for(to);
  };
  std::vector<std::jthread> threads;
  for (const Array<float>& to : arrays)
    threads.emplace_back([&, to] { EXPECT_TRUE(system.run(submit_many(tiny, to))); });
  wait_until_held(kTasks);
  const Ref<Echo> echo = value(system.spawn<Echo>({.name = "echo"}));
  EXPECT_EQ(value(echo.ask<Ping>().get()), 1);
  release();
  threads.clear();
  for (const Array<float>& to : arrays) EXPECT_TRUE(all_equal(tiny, to, static_cast<float>(kFills - 1)));
}

TEST_F(FullDevice, ends_the_wait_of_tasks_as_it_ends_that_of_threads) {
  const auto submit = [](Device gpu, Array<float> to) -> Task<Result<void>> {
    co_return co_await gpu.fill(to, 2.0f).deadline(std::chrono::milliseconds(5)).submit();
  };
  EXPECT_EQ(kind_of(system.run(submit(tiny, other))), ErrorKind::deadline_exceeded);
  const auto cut_off = [](Device gpu, Array<float> to) -> Task<Result<void>> {
    const auto forever = [](Device on, Array<float> into) -> Task<Result<void>> {
      co_return co_await on.fill(into, 2.0f).submit();
    };
    co_return co_await with_timeout(forever(gpu, to), std::chrono::milliseconds(5));
  };
  EXPECT_EQ(kind_of(system.run(cut_off(tiny, other))), ErrorKind::timeout);
  EXPECT_EQ(tiny.stats().waiting, kMaxWaiting) << "what was not taken never begins";
  release();
  EXPECT_TRUE(all_equal(tiny, other, 1.0f));
}

struct Submit {
  using Reply = ErrorKind;
};
class Submitter {
 public:
  Submitter(Device device, Array<float> to) : device_(std::move(device)), to_(std::move(to)) {}
  ErrorKind on(const Submit&) {
    const Result<void> end = device_.fill(to_, 2.0f).submit();
    return end ? ErrorKind::internal : end.error().kind();
  }

 private:
  const Device device_;
  const Array<float> to_;
};

TEST_F(FullDevice, refuses_a_handler_that_cannot_wait_and_taints_nothing) {
  const Ref<Submitter> submitter = value(system.spawn<Submitter>({.name = "submitter"}, tiny, other));
  EXPECT_EQ(value(submitter.ask<Submit>().get()), ErrorKind::queue_full);
  EXPECT_EQ(tiny.stats().waiting, kMaxWaiting);
  release();
  EXPECT_TRUE(all_equal(tiny, other, 1.0f));
}

TEST_F(FullDevice, lets_those_in_who_wait_for_the_op_s_end) {
  const auto await_many = [](Device gpu, Array<float> to) -> Task<Result<void>> {
    std::vector<Task<Result<void>>> tasks;
    for (int i = 0; i < 100; ++i) tasks.push_back(gpu.fill(to, static_cast<float>(i)));
    for (Result<void>& end : co_await when_all(std::move(tasks))) CO_TRY(std::move(end));
    co_return Result<void>();
  };
  std::jthread opener([&] {
    wait_until_held(101);
    release();
  });
  std::jthread waiter([&] { EXPECT_TRUE(tiny.nop().get()); });
  EXPECT_TRUE(system.run(await_many(tiny, other)));
  EXPECT_TRUE(all_equal(tiny, other, 99.0f));
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
  EXPECT_EQ(kind_of(bad(small, "scale", {updates(array)}, parameters).wait_at_most(std::chrono::milliseconds(5)).get()),
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

// The error shows in what the op would have written, at its place in the order: fills before it do not make it whole.
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
  // If the worker was quicker than the poller, the op had begun, and is done or has cost a worker.
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
