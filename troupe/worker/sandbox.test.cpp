// The sandbox on older kernels: a newer kernel accepts the rules of an older one, so they can be tested here.
#include "troupe/worker/sandbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "troupe/wire/sandbox_support.hpp"
#include "troupe/worker/landlock.hpp"
#include "troupe/worker/seccomp_filter.hpp"

namespace troupe::worker {
namespace {

/// What `body` gives in a process of its own, which it may sandbox; -1 when that process crashes.
template <class Body>
int in_process(const Body& body) {
  const pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    _exit(body());
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool enters(int version, LandlockDomain::Closes closes) {
  Result<LandlockDomain> domain = LandlockDomain::make(version, closes);
  return domain && domain->enter();
}

bool opens(const std::string& path, int flags) {
  const wire::Descriptor file(open(path.c_str(), flags | O_CLOEXEC, 0600));
  return static_cast<bool>(file);
}

class LandlockVersions : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (wire::sandbox_support().landlock < GetParam()) GTEST_SKIP() << "this kernel's Landlock is older";
    std::filesystem::create_directories(folder / "from");
    std::filesystem::create_directories(folder / "to");
    std::ofstream(folder / "from" / "file") << "text";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       ("landlock-" + std::to_string(getpid()) + "-" + std::to_string(GetParam()));
};

TEST_P(LandlockVersions, closes_the_way_to_other_processes_and_leaves_files_alone) {
  const std::string memory = "/proc/" + std::to_string(getpid()) + "/mem";
  const int moved = in_process([&] {
    if (!enters(GetParam(), LandlockDomain::Closes::processes)) return 1;
    if (opens(memory, O_RDWR)) return 2;
    if (!opens("/etc/passwd", O_RDONLY) || !opens(folder / "from" / "file", O_RDWR)) return 3;
    std::error_code why;
    std::filesystem::rename(folder / "from" / "file", folder / "to" / "file", why);
    return why ? 4 : 0;
  });
  EXPECT_EQ(moved, GetParam() == 1 ? 4 : 0);  // the first version moves nothing between folders
}

TEST_P(LandlockVersions, closes_files) {
  const int left_open = in_process([&] {
    Result<LandlockDomain> domain = LandlockDomain::make(GetParam(), LandlockDomain::Closes::files);
    if (!domain || !domain->allow(folder / "from", FileAccess::read)) return 1;
    if (!domain->allow(folder / "to", FileAccess::read_write)) return 2;
    if (domain->allow("/nowhere/at/all", FileAccess::read).value_or(true)) return 3;
    if (!domain->enter()) return 4;
    if (opens("/etc/passwd", O_RDONLY)) return 5;
    if (!opens(folder / "from" / "file", O_RDONLY) || opens(folder / "from" / "file", O_RDWR)) return 6;
    return opens(folder / "to", O_TMPFILE | O_RDWR) || errno == EOPNOTSUPP ? 0 : 7;
  });
  EXPECT_EQ(left_open, 0);
}

INSTANTIATE_TEST_SUITE_P(All, LandlockVersions, ::testing::Range(1, 8));

TEST(SeccompFilter, refuses_what_is_on_its_list_and_nothing_else) {
  if (!wire::sandbox_support().seccomp) GTEST_SKIP() << "this kernel has no filters";
  EXPECT_TRUE(filter_of(Sandbox::none, "host").empty());
  EXPECT_EQ(in_process([] {
              if (!install_filter(filter_of(Sandbox::standard, "host"))) return 1;
              const wire::Descriptor made(socket(AF_INET, SOCK_STREAM, 0));
              return made ? 0 : 2;
            }),
            0);
  EXPECT_EQ(in_process([] {
              if (!install_filter(filter_of(Sandbox::strict, "host"))) return 1;
              if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM) return 2;
              if (fork() >= 0 || errno != EPERM) return 3;
              if (execl("/bin/true", "true", nullptr) != -1 || errno != EPERM) return 4;
              if (socket(AF_UNIX, SOCK_SEQPACKET, 0) >= 0 || errno != EPERM) return 5;
              return getppid() > 0 ? 0 : 6;
            }),
            0);
}

TEST(SeccompFilter, lets_a_gpu_s_driver_make_a_socket_that_it_cannot_connect) {
  if (!wire::sandbox_support().seccomp) GTEST_SKIP() << "this kernel has no filters";
  EXPECT_EQ(in_process([] {
              if (!install_filter(filter_of(Sandbox::strict, "cuda"))) return 1;
              const wire::Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
              if (!made) return 2;
              sockaddr_un address{.sun_family = AF_UNIX, .sun_path = "/tmp/nobody"};
              if (connect(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 || errno != EPERM)
                return 3;
              if (socket(AF_UNIX, SOCK_DGRAM, 0) >= 0 || errno != EPERM) return 4;
              if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM) return 5;
              if (socket(AF_INET, SOCK_SEQPACKET, 0) >= 0 || errno != EPERM) return 6;
              return fork() >= 0 || errno != EPERM ? 7 : 0;
            }),
            0);
}

}  // namespace
}  // namespace troupe::worker
