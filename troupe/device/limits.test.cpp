// A process that has run out of descriptors or of address space: typed errors, nothing hangs or aborts, and everything
// works again when they are free again.
#include "troupe/device/device_fixture.test.hpp"
#include "troupe/device/low_limit.test.hpp"

namespace troupe {
namespace {

class Limits : public DeviceTest {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer needs descriptors of its own to look at memory";
  }
};

/// So low that no new descriptor can be opened. Open ones stay.
constexpr rlim_t kHardlyAnyDescriptors = 4;
constexpr std::int64_t kManyElements = 64 << 20;  // more than a chunk that is there

TEST_F(Limits, a_device_serves_and_recovers_when_there_are_no_descriptors) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    const Device device = open();
    const Array<float> array = filled(device, {16}, 3.0f);
    EXPECT_TRUE(all_equal(device, array, 3.0f)) << "the memory to read into is there from now on";
    bool had_standby = false;
    {
      const LowLimit none(RLIMIT_NOFILE, kHardlyAnyDescriptors);
      EXPECT_TRUE(all_equal(device, array, 3.0f));
      const std::int64_t generation = device.generation();
      eventually([&] { return device.kill_worker(); });
      // The standby takes over, and no other can be started. On a busy machine it may not have been ready.
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
      while (device.generation() == generation && std::chrono::steady_clock::now() < until) std::this_thread::yield();
      had_standby = device.generation() > generation;
      if (had_standby) {
        EXPECT_TRUE(all_equal(device, array, 3.0f));
        eventually([&] { return log.has("a worker could not be started: out_of_memory"); });
        EXPECT_TRUE(all_equal(device, array, 3.0f)) << "it serves without a standby";
      }
    }
    kill_worker(device);  // before or after there is a standby again
    EXPECT_TRUE(all_equal(device, array, 3.0f));
    if (had_standby) return;
  }
  FAIL() << "no standby was ever ready";
}

TEST_F(Limits, a_device_without_a_worker_waits_until_there_are_descriptors) {
  const Device device = open();
  const Array<float> array = filled(device, {16}, 3.0f);
  const std::int64_t before = device.generation();
  {
    const LowLimit none(RLIMIT_NOFILE, kHardlyAnyDescriptors);
    // The worker is killed, and the standby, if it was ready before there were no descriptors left.
    Result<void> end;
    eventually([&] {
      (void)device.kill_worker();
      end = device.fill(array, 4.0f).deadline(std::chrono::milliseconds(200)).get();
      return !end;
    });
    EXPECT_EQ(kind_of(end), ErrorKind::deadline_exceeded) << "whoever waits for a worker may limit that";
    eventually([&] { return log.has("a worker could not be started: out_of_memory"); });
  }
  EXPECT_TRUE(device.fill(array, 5.0f).get());
  EXPECT_TRUE(all_equal(device, array, 5.0f));
  EXPECT_GT(device.generation(), before);
}

TEST_F(Limits, new_memory_without_descriptors_is_an_error_and_comes_later) {
  const Device device = open();
  {
    const LowLimit none(RLIMIT_NOFILE, kHardlyAnyDescriptors);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(kind_of(device.array<float>({kManyElements})), ErrorKind::out_of_memory);
      EXPECT_EQ(kind_of(device.host_array<float>({kManyElements})), ErrorKind::out_of_memory);
    }
  }
  EXPECT_TRUE(device.array<float>({kManyElements}));
  EXPECT_TRUE(device.host_array<float>({kManyElements}));
}

/// The limit of descriptors of another process that is in force there.
rlim_t descriptors_of(int pid) {
  rlimit limit{};
  EXPECT_EQ(prlimit(pid, RLIMIT_NOFILE, nullptr, &limit), 0);
  return limit.rlim_cur;
}

TEST_F(Limits, a_worker_started_while_descriptors_are_few_may_have_more) {
  constexpr rlim_t kFew = 200;
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const LowLimit few(RLIMIT_NOFILE, kFew);
  const Device device = open();
  EXPECT_TRUE(device.nop().get());
  EXPECT_EQ(descriptors_of(device.worker_pid()), usual.rlim_max);
}

TEST_F(Limits, opening_and_closing_a_device_without_descriptors_ends) {
  Device device = open();
  const LowLimit none(RLIMIT_NOFILE, kHardlyAnyDescriptors);
  EXPECT_EQ(kind_of(system.device("host")), ErrorKind::out_of_memory);
  device.close();
  EXPECT_EQ(kind_of(device.nop().get()), ErrorKind::stopped);
}

}  // namespace
}  // namespace troupe
