// What `ps` shows of a device's processes: which of them serves, as which generation, and which stand by.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "troupe/core/sanitized.hpp"
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// As `ps` shows it: up to the zeros.
std::string title(int pid) { return content("/proc/" + std::to_string(pid) + "/cmdline").c_str(); }

std::string comm(int pid) {
  std::string line = content("/proc/" + std::to_string(pid) + "/comm");
  if (!line.empty()) line.pop_back();
  return line;
}

int parent_of(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("PPid:")) return std::atoi(line.c_str() + 5);
  return 0;
}

/// Our workers with that title.
std::vector<int> processes_called(const std::string& wanted) {
  std::vector<int> found;
  std::error_code gone;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", gone)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && title(pid) == wanted && parent_of(parent_of(pid)) == getpid()) found.push_back(pid);
  }
  return found;
}

class Titles : public DeviceTest {};

TEST_F(Titles, tell_the_serving_worker_from_the_standby) {
  const Device device = open();
  const int first = device.worker_pid();
  eventually([&] { return title(first) == "troupe-worker host serving generation 1"; });
  EXPECT_EQ(comm(first), "troupe:host:g1");
  EXPECT_EQ(comm(parent_of(first)), "keeper:host");
  eventually([&] { return processes_called("troupe-worker host standby").size() == 1; });
  const int standby = processes_called("troupe-worker host standby").at(0);
  EXPECT_EQ(comm(standby), "troupe:host:sby");

  ASSERT_TRUE(device.kill_worker());
  eventually([&] { return device.generation() == 2 && device.worker_pid() == standby; });
  eventually([&] { return title(standby) == "troupe-worker host serving generation 2"; });
  EXPECT_EQ(comm(standby), "troupe:host:g2");
  eventually([&] { return processes_called("troupe-worker host standby").size() == 1; });
}

TEST_F(Titles, do_not_show_in_a_backtrace) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer catches crashes itself";
  const Device device = open();
  const Result<void> crash = bad(device, "null").get();
  ASSERT_FALSE(crash);
  const std::string text = crash.error().to_string();
  EXPECT_NE(text.find(", troupe-worker+0x"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  #0 "), std::string::npos) << text;
  EXPECT_EQ(text.find("_Z"), std::string::npos) << "names are as in the source: " << text;
  EXPECT_EQ(log.all().find('#'), std::string::npos) << "the log has a short line: " << log.all();
}

TEST_F(Titles, keep_out_of_the_environment) {
  const Device device = open({.standby = Standby::none, .max_restarts = 1000});
  const int pid = device.worker_pid();
  eventually([&] { return title(pid).ends_with("generation 1"); });
  const std::string line = content("/proc/" + std::to_string(pid) + "/cmdline");
  EXPECT_EQ(line.back(), '\0') << "without it the kernel shows the environment, too";
  EXPECT_EQ(line.find("=", 0), std::string::npos) << line;
}

}  // namespace
}  // namespace troupe
