// Processes that a plugin has started must end with their worker, because they hold memory of the vault.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>

#include "troupe/device/device_fixture.test.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe {
namespace {

class Stragglers : public DeviceTest {
 protected:
  static int leave_one(const Device& device) {
    const Array<std::int32_t> number = value(device.array<std::int32_t>({1}));
    value(bad(device, "leave_process", {writes(number)}).get());
    return value(device.read(number).get())[0];
  }
  static wire::Descriptor open_process(int pid) {
    return wire::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  }
  static bool has_ended(const wire::Descriptor& process) {
    pollfd end{.fd = process.get(), .events = POLLIN, .revents = 0};
    return poll(&end, 1, 0) == 1;
  }
};

TEST_F(Stragglers, end_with_their_worker) {
  const Device device = open();
  const wire::Descriptor left = open_process(leave_one(device));
  ASSERT_TRUE(left);
  EXPECT_FALSE(has_ended(left));
  kill_worker(device);
  eventually([&] { return has_ended(left); });
  EXPECT_TRUE(all_equal(device, filled(device, {100}, 1.0f), 1.0f));
}

TEST_F(Stragglers, end_with_a_worker_that_crashes) {
  const Device device = open();
  const wire::Descriptor left = open_process(leave_one(device));
  ASSERT_TRUE(left);
  EXPECT_EQ(kind_of(bad(device, "null").get()), ErrorKind::worker_crashed);
  eventually([&] { return has_ended(left); });
}

TEST_F(Stragglers, are_made_while_others_use_the_threads_of_a_library) {
  const Device device = open();
  const Array<float> ones = filled(device, {400, 400}, 1.0f);
  const Array<float> product = value(device.array<float>({400, 400}));
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(device.blas().gemm(ones, ones, product).submit());
    leave_one(device);
    ASSERT_TRUE(device.wait_for(product).wait_at_most(std::chrono::seconds(60)).get())
        << "a fork has stopped those threads";
  }
  EXPECT_TRUE(all_equal(device, product, 400.0f));
}

TEST_F(Stragglers, are_gone_when_the_system_is) {
  std::optional<System> mine(std::in_place, system_options(log));
  const int left = leave_one(value(mine->device("host", patient())));
  EXPECT_TRUE(std::filesystem::exists("/proc/" + std::to_string(left)));
  mine.reset();
  EXPECT_FALSE(std::filesystem::exists("/proc/" + std::to_string(left)));
}

}  // namespace
}  // namespace troupe
