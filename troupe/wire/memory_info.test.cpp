#include "troupe/wire/memory_info.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace troupe::wire {
namespace {

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

/// A machine of files: 16 GiB, 10 GiB of them available.
class FakeMachine {
 public:
  FakeMachine() {
    root_ = (std::filesystem::temp_directory_path() / "troupe-memory-XXXXXX").string();
    EXPECT_NE(mkdtemp(root_.data()), nullptr);
    write("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:   10485760 kB\n");
  }
  FakeMachine(const FakeMachine&) = delete;
  ~FakeMachine() { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace

TEST(MachineMemory, knows_this_machine) {
  const MemoryInfo info = machine_memory();
  EXPECT_GT(info.available_bytes, kMiB);
  EXPECT_LE(info.available_bytes, info.total_bytes);
  EXPECT_LT(info.total_bytes, 1'000'000 * kGiB);
}

TEST(MachineMemory, is_what_the_machine_has_without_a_control_group) {
  const FakeMachine machine;
  const MemoryInfo info = machine_memory(machine.root());
  EXPECT_EQ(info.total_bytes, 16 * kGiB);
  EXPECT_EQ(info.available_bytes, 10 * kGiB);
}

TEST(MachineMemory, is_limited_by_the_tightest_group_around_the_process) {
  const FakeMachine machine;
  machine.write("/proc/self/cgroup", "0::/service/web\n");
  machine.write("/sys/fs/cgroup/service/web/memory.max", "max\n");
  machine.write("/sys/fs/cgroup/service/web/memory.current", std::to_string(kGiB));
  machine.write("/sys/fs/cgroup/service/memory.max", std::to_string(4 * kGiB));
  machine.write("/sys/fs/cgroup/service/memory.current", std::to_string(3 * kGiB));
  machine.write("/sys/fs/cgroup/service/memory.stat", "anon 1\ninactive_file " + std::to_string(2 * kGiB) + "\n");
  const MemoryInfo info = machine_memory(machine.root());
  EXPECT_EQ(info.total_bytes, 4 * kGiB);
  EXPECT_EQ(info.available_bytes, 3 * kGiB);  // two of the three in use are file cache that can be dropped
}

TEST(MachineMemory, finds_its_group_in_a_container_that_shows_the_hosts_path) {
  const FakeMachine machine;
  machine.write("/proc/self/cgroup", "0::/docker/0123456789\n");
  machine.write("/sys/fs/cgroup/memory.max", std::to_string(2 * kGiB));
  machine.write("/sys/fs/cgroup/memory.current", std::to_string(3 * kGiB));
  EXPECT_EQ(machine_memory(machine.root()).available_bytes, 0u);
}

TEST(MachineMemory, knows_groups_of_the_first_version) {
  const FakeMachine machine;
  machine.write("/proc/self/cgroup", "9:cpu:/\n4:memory:/batch\n0::/\n");
  machine.write("/sys/fs/cgroup/memory/batch/memory.limit_in_bytes", std::to_string(kGiB));
  machine.write("/sys/fs/cgroup/memory/batch/memory.usage_in_bytes", std::to_string(kGiB / 4));
  EXPECT_EQ(machine_memory(machine.root()).available_bytes, 3 * kGiB / 4);
}

TEST(FormatBytes, shows_one_decimal_where_it_tells_something) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(kGiB + kGiB / 2), "1.5 GiB");
  EXPECT_EQ(format_bytes(8 * 1024 * kGiB), "8 TiB");
  EXPECT_EQ(format_bytes(kGiB - 1), "1 GiB");
  EXPECT_EQ(format_bytes(~std::uint64_t{0}), "16 EiB");
}

}  // namespace troupe::wire
