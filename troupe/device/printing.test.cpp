// What workers print, and a log that does not take it.
#include <condition_variable>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

/// A log that takes nothing until it is opened. Shared with the system, whose log thread may be left behind in it.
class BlockedLog {
 public:
  LogSink sink(const std::shared_ptr<BlockedLog>& self) {
    return [self](const LogRecord& record) {
      {
        std::unique_lock lock(self->mutex_);
        self->opened_.wait(lock, [&] { return self->is_open_; });
      }
      self->keeper_.sink()(record);
    };
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }
  LogKeeper& keeper() { return keeper_; }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
  LogKeeper keeper_;
};

class Printing : public DeviceTest {
 protected:
  static SystemOptions with_log(LogSink sink) {
    SystemOptions options;
    options.threads = 2;
    options.log = std::move(sink);
    return options;
  }
  /// Prints so many numbered lines.
  static Call<void> print(const Device& device, const char* function, std::int64_t lines) {
    return bad(device, function, {}, std::as_bytes(std::span(&lines, 1)));
  }

  const std::shared_ptr<BlockedLog> blocked = std::make_shared<BlockedLog>();
};

TEST_F(Printing, a_log_that_takes_nothing_holds_up_neither_the_op_nor_the_recovery) {
  System own(with_log(blocked->sink(blocked)));
  {
    const Device device = value(own.device("host", patient()));
    constexpr std::int64_t kLines = 100'000;
    EXPECT_TRUE(print(device, "print", kLines).get());  // far more than a pipe holds
    for (int i = 0; i < 3; ++i) kill_worker(device);
    EXPECT_TRUE(device.nop().get());
    const Array<float> array = filled(device, {16}, 2.0f);
    EXPECT_TRUE(all_equal(device, array, 2.0f));
    blocked->open();
    eventually([&] { return blocked->keeper().has("line " + std::to_string(kLines - 1)); });
    EXPECT_TRUE(blocked->keeper().has(" printed faster than the log takes it: "));
    eventually([&] { return blocked->keeper().has("generation 4 serves"); });
  }
}

TEST_F(Printing, a_system_ends_although_its_log_takes_nothing) {
  {
    System own(with_log(blocked->sink(blocked)));
    Device device = value(own.device("host", patient()));
    EXPECT_TRUE(print(device, "print", 10).get());
    device.close();
  }  // a test that hangs here has failed
  EXPECT_EQ(blocked->keeper().all(), "");
  blocked->open();
}

TEST_F(Printing, a_worker_that_prints_without_end_is_stopped_at_its_deadline) {
  const Device device = open();
  const Result<void> end = bad(device, "print_for_ever").deadline(std::chrono::milliseconds(300)).get();
  EXPECT_EQ(kind_of(end), ErrorKind::deadline_exceeded) << end.error().to_string();
  EXPECT_TRUE(device.nop().get());
}

TEST_F(Printing, the_last_lines_of_a_dying_worker_arrive) {
  const Device device = open();
  constexpr std::int64_t kLines = 1000;
  EXPECT_EQ(kind_of(print(device, "print_and_abort", kLines).get()), ErrorKind::worker_crashed);
  eventually([&] { return log.has("line " + std::to_string(kLines - 1)); });
  eventually([&] { return log.has("and one without a line end"); });
  EXPECT_TRUE(log.has(": line 0"));
}

}  // namespace
}  // namespace troupe
