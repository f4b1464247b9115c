// What an error says: which op failed, in which line of the program, and why an array cannot be read.
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class Causes : public DeviceTest {
 protected:
  static std::string text_of(const Result<void>& end) { return end ? "no error" : std::string(end.error().message()); }
  static std::uint_least32_t line_of(const Error& error) { return error.origin().where.line(); }
  static std::uint_least32_t here(std::source_location where = std::source_location::current()) { return where.line(); }

  Device device = open();
};

TEST_F(Causes, an_error_has_the_line_that_submitted_the_op) {
  const Array<float> a = filled(device, {4}, 1.0f);
  const Result<void> failed = bad(device, "error", {updates(a)}).get();
  ASSERT_FALSE(failed);
  EXPECT_EQ(line_of(failed.error()), here() - 2);
  EXPECT_NE(failed.error().to_string().find("at causes.test.cpp:" + std::to_string(here() - 3)), std::string::npos)
      << failed.error().to_string();
  const Array<float> b = filled(device, {5}, 1.0f);
  const Result<void> refused = device.copy(a, b).submit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(line_of(refused.error()), here() - 2);
}

TEST_F(Causes, a_task_has_the_line_of_its_await) {
  struct Worker {
    struct Go {
      using Reply = std::uint_least32_t;
      Device device;
      Array<float> array;
    };
    Task<Result<std::uint_least32_t>> on(Go message) {
      Call<void> call = bad(message.device, "error", {updates(message.array)});
      const Result<void> end = co_await std::move(call);
      co_return end ? 0 : line_of(end.error());
    }
    static std::uint_least32_t line() { return here() - 3; }
  };
  const Ref<Worker> worker = value(system.spawn<Worker>({}));
  EXPECT_EQ(value(worker.ask<Worker::Go>(device, filled(device, {4}, 1.0f)).get()), Worker::line());
}

TEST_F(Causes, what_cannot_be_read_says_which_op_has_left_it_so) {
  const Array<float> a = filled(device, {4}, 1.0f), b = filled(device, {4}, 2.0f), c = filled(device, {4}, 3.0f);
  EXPECT_FALSE(bad(device, "error", {updates(a)}).get());
  const std::string line = std::to_string(here() - 1);
  EXPECT_FALSE(device.copy(a, b).get());  // held back, and what it would write is as it was
  EXPECT_FALSE(device.copy(b, c).get());
  const Result<HostArray<float>> read = device.read(c).get();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind(), ErrorKind::buffer_tainted);
  EXPECT_EQ(read.error().origin().op, "read") << "as the program calls it";
  const std::string message(read.error().message());
  EXPECT_TRUE(message.starts_with("in was not written: plugin.call error at causes.test.cpp:" + line +
                                  ", which writes it, ended in library_error: "))
      << message;
  EXPECT_TRUE(message.ends_with("; write it whole, or take it as it is with accept_skipped()")) << message;
  const std::string direct = text_of(device.copy(a, b).get());
  EXPECT_TRUE(direct.starts_with("in is unknown: plugin.call error at causes.test.cpp:" + line)) << direct;
  EXPECT_TRUE(direct.ends_with("; write it whole to use it again")) << direct;
}

TEST_F(Causes, the_first_cause_stays_until_the_array_is_whole) {
  const Array<float> a = filled(device, {4}, 1.0f);
  EXPECT_FALSE(bad(device, "error", {updates(a)}).get());
  const std::string line = std::to_string(here() - 1);
  EXPECT_FALSE(bad(device, "error", {writes(a)}).get());
  EXPECT_NE(text_of(device.wait_for(a).get()).find("causes.test.cpp:" + line), std::string::npos);
  value(device.fill(a, 1.0f).get());
  EXPECT_FALSE(bad(device, "error", {writes(a)}).get());
  const std::string later = std::to_string(here() - 1);
  EXPECT_NE(text_of(device.wait_for(a).get()).find("causes.test.cpp:" + later), std::string::npos);
}

TEST_F(Causes, a_crash_is_the_cause_of_what_it_left) {
  const Array<float> a = filled(device, {4}, 1.0f);
  EXPECT_FALSE(bad(device, "null", {updates(a)}).get());
  const std::string message = text_of(device.wait_for(a).get());
  EXPECT_NE(message.find("ended in worker_crashed: "), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << "one line, without the frames: " << message;
}

}  // namespace
}  // namespace troupe
