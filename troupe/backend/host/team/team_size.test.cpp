#include "troupe/backend/host/team/team_size.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace troupe::host {
namespace {

/// A machine of files: only the control groups are its own, the cores are this machine's.
class FakeGroups {
 public:
  explicit FakeGroups(const std::string& groups) {
    root_ = (std::filesystem::temp_directory_path() / "troupe-team-XXXXXX").string();
    EXPECT_NE(mkdtemp(root_.data()), nullptr);
    write("/proc/self/cgroup", groups);
  }
  FakeGroups(const FakeGroups&) = delete;
  ~FakeGroups() { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

int cores() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  return CPU_COUNT(&set);
}

/// Lets this thread run on one core only, until it is destroyed.
class OnOneCore {
 public:
  OnOneCore() {
    sched_getaffinity(0, sizeof(before_), &before_);
    int first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  }
  OnOneCore(const OnOneCore&) = delete;
  ~OnOneCore() { sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  cpu_set_t before_;
};

}  // namespace

TEST(TeamSize, is_between_one_and_the_cores_of_this_process) {
  EXPECT_GE(team_size_limit(), 1);
  EXPECT_LE(team_size_limit(), cores());
}

TEST(TeamSize, follows_the_affinity) {
  const OnOneCore narrow;
  EXPECT_EQ(team_size_limit(), 1);
}

TEST(TeamSize, is_all_cores_without_a_quota) {
  EXPECT_EQ(team_size_limit("/nowhere"), cores());
  const FakeGroups machine("0::/service\n");
  machine.write("/sys/fs/cgroup/service/cpu.max", "max 100000\n");
  EXPECT_EQ(team_size_limit(machine.root()), cores());
}

TEST(TeamSize, rounds_a_quota_up) {
  const FakeGroups machine("0::/service\n");
  machine.write("/sys/fs/cgroup/service/cpu.max", "50000 100000\n");
  EXPECT_EQ(team_size_limit(machine.root()), 1);
  machine.write("/sys/fs/cgroup/service/cpu.max", "100001 100000\n");
  EXPECT_EQ(team_size_limit(machine.root()), std::min(2, cores()));
}

TEST(TeamSize, is_limited_by_the_tightest_group_around_the_process) {
  const FakeGroups machine("0::/service/web\n");
  machine.write("/sys/fs/cgroup/service/web/cpu.max", "900000 100000\n");
  machine.write("/sys/fs/cgroup/service/cpu.max", "100000 100000\n");
  EXPECT_EQ(team_size_limit(machine.root()), 1);
}

TEST(TeamSize, knows_the_root_of_a_container_whose_path_is_the_hosts) {
  const FakeGroups machine("0::/of/the/host\n");
  machine.write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(team_size_limit(machine.root()), 1);
}

TEST(TeamSize, knows_groups_of_the_first_version) {
  for (const std::string controllers : {"cpu", "cpu,cpuacct"}) {
    const FakeGroups machine("5:memory:/service\n3:" + controllers + ":/service\n0::/\n");
    const std::string group = "/sys/fs/cgroup/" + controllers + "/service";
    machine.write(group + "/cpu.cfs_quota_us", "30000\n");
    machine.write(group + "/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(team_size_limit(machine.root()), 1) << controllers;
    machine.write(group + "/cpu.cfs_quota_us", "-1\n");
    EXPECT_EQ(team_size_limit(machine.root()), cores()) << controllers;
  }
}

TEST(TeamSize, takes_no_harm_from_what_cannot_be_read) {
  const FakeGroups machine("nonsense\n7\n3:cpu\n0::service\n");
  machine.write("/sys/fs/cgroup/cpu.max", "0 0\n");
  machine.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "much\n");
  EXPECT_EQ(team_size_limit(machine.root()), cores());
}

TEST(TeamSize, refuses_none_and_more_than_the_limit_and_names_it) {
  EXPECT_EQ(check_team_size(1, 4).value(), 1);
  EXPECT_EQ(check_team_size(4, 4).value(), 4);
  for (const int size : {-1, 0, 5}) {
    const Result<int> refused = check_team_size(size, 4);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(refused.error().message(),
              "cpu_threads is " + std::to_string(size) +
                  "; it must be 1 to 4, which is how many cores the affinity and CPU quota of "
                  "this process allow");
  }
}

}  // namespace troupe::host
