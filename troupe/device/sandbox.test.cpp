// What a worker may do at each level of its sandbox: a plugin tries it.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "troupe/device/device_fixture.test.hpp"
#include "troupe/wire/sandbox_support.hpp"

namespace troupe {
namespace {

/// A process that is neither the worker nor one of its own, of the same user: what the app is to a worker.
class Bystander {
 public:
  Bystander() : pid_(fork()) {
    if (pid_ == 0)
      for (;;) pause();
  }
  Bystander(const Bystander&) = delete;
  ~Bystander() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  int pid() const { return pid_; }

 private:
  const pid_t pid_;
};

class SandboxTest : public DeviceTest {
 protected:
  void SetUp() override {
    const std::string missing = wire::sandbox_support().missing_for(Sandbox::strict);
    if (!missing.empty()) GTEST_SKIP() << "this machine has no " << missing;
  }

  Device open_with(Sandbox level, std::span<const std::string_view> readable = {},
                   std::span<const std::string_view> writable = {}) {
    return value(system.device(
        "host", {.max_restarts = 1000, .sandbox = level, .readable_paths = readable, .writable_paths = writable}));
  }
  Device open_strict(std::span<const std::string_view> writable = {}) {
    const std::string plugin = nosy();
    const std::array<std::string_view, 1> readable{plugin};
    return open_with(Sandbox::strict, readable, writable);
  }
  static std::string nosy() { return beside("libnosy_plugin.so"); }

  /// What the plugin's function gives.
  static int attempt(const Device& device, const char* deed, int process = 0, const std::string& text = {}) {
    std::vector<std::byte> parameters(sizeof process + text.size());
    std::memcpy(parameters.data(), &process, sizeof process);
    if (!text.empty()) std::memcpy(parameters.data() + sizeof process, text.data(), text.size());
    const Array<std::int32_t> answer = value(device.array<std::int32_t>({1}));
    value(device.call_plugin(nosy(), deed, {writes(answer)}, parameters).get());
    return value(device.read(answer).get())[0];
  }
};

TEST_F(SandboxTest, without_one_a_worker_may_do_what_the_app_may) {
  const Bystander bystander;
  const Device device = open_with(Sandbox::none);
  EXPECT_EQ(attempt(device, "signal_process", bystander.pid()), 0);
  EXPECT_EQ(attempt(device, "change_limits", bystander.pid()), 0);
  EXPECT_EQ(attempt(device, "has_no_new_privileges"), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  char scope = '0';
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope != '0') GTEST_SKIP() << "this machine lets no process look into one that it has not started (Yama)";
  EXPECT_EQ(attempt(device, "attach", bystander.pid()), 0);
  EXPECT_EQ(attempt(device, "open_memory", bystander.pid()), 0);
  EXPECT_EQ(attempt(device, "read_memory", bystander.pid()), EFAULT);
}

TEST_F(SandboxTest, keeps_a_worker_out_of_other_processes) {
  const Bystander bystander;
  for (const Device& device : {open(), open_strict()})
    for (const int pid : {bystander.pid(), getpid()}) {
      EXPECT_EQ(attempt(device, "attach", pid), EPERM);
      EXPECT_NE(attempt(device, "open_memory", pid), 0);
      EXPECT_EQ(attempt(device, "read_memory", pid), EPERM);
      EXPECT_EQ(attempt(device, "take_descriptor", pid), EPERM);
      EXPECT_EQ(attempt(device, "change_limits", pid), EPERM);
      const bool closes_signals = wire::sandbox_support().landlock >= wire::kLandlockWithSignals;
      EXPECT_EQ(attempt(device, "signal_process", pid), closes_signals ? EPERM : 0);
    }
}

TEST_F(SandboxTest, keeps_a_worker_from_more_rights_and_from_core_dumps) {
  for (const Device& device : {open(), open_strict()}) {
    EXPECT_EQ(attempt(device, "has_no_new_privileges"), 1);
    EXPECT_EQ(attempt(device, "core_limit"), 0);
    EXPECT_EQ(attempt(device, "is_dumped"), 0);
  }
}

TEST_F(SandboxTest, gives_a_worker_no_input) {
  EXPECT_EQ(attempt(open(), "input_bytes"), 0);
  EXPECT_EQ(attempt(open_strict(), "input_bytes"), 0);
}

TEST_F(SandboxTest, gives_a_worker_the_variables_it_needs_and_those_named) {
  setenv("SECRET_OF_THE_APP", "42", 1);      // NOLINT(concurrency-mt-unsafe): no worker is being started
  setenv("WANTED_BY_A_PLUGIN", "yes", 1);    // NOLINT(concurrency-mt-unsafe)
  setenv("TROUPE_TEST_VARIABLE", "yes", 1);  // NOLINT(concurrency-mt-unsafe)
  const std::array<std::string_view, 2> named{"WANTED_BY_A_PLUGIN", "SET_FOR_A_PLUGIN=1"};
  const Device device = value(system.device("host", {.worker_environment = named}));
  const Device unboxed = open_with(Sandbox::none);
  for (const char* name : {"SECRET_OF_THE_APP", "WANTED_BY_A_PLUGIN", "TROUPE_TEST_VARIABLE"}) {
    EXPECT_EQ(attempt(device, "has_variable", 0, name), std::string_view(name) == "SECRET_OF_THE_APP" ? 0 : 1) << name;
    EXPECT_EQ(attempt(unboxed, "has_variable", 0, name), 1) << name;
    unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
  }
  EXPECT_EQ(attempt(device, "has_variable", 0, "SET_FOR_A_PLUGIN"), 1);
  const std::array<std::string_view, 1> nameless{"=1"};
  EXPECT_EQ(kind_of(system.device("host", {.worker_environment = nameless})), ErrorKind::invalid_argument);
}

TEST_F(SandboxTest, standard_leaves_files_the_network_and_processes_open) {
  const Device device = open();
  EXPECT_EQ(attempt(device, "read_file", 0, "/etc/passwd"), 0);
  EXPECT_EQ(attempt(device, "open_socket"), 0);
  EXPECT_EQ(attempt(device, "make_process"), 0);
}

TEST_F(SandboxTest, strict_closes_files_the_network_and_processes) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("sandbox-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string written = (folder / "written").string();
  const std::string given = folder.string();
  const std::array<std::string_view, 1> writable{given};
  const Device device = open_strict();
  EXPECT_EQ(attempt(device, "read_file", 0, "/etc/passwd"), EACCES);
  EXPECT_EQ(attempt(device, "write_file", 0, written), EACCES);
  EXPECT_EQ(attempt(device, "open_socket"), EPERM);
  EXPECT_EQ(attempt(device, "make_process"), EPERM);
  EXPECT_EQ(attempt(device, "make_thread"), 0);
  EXPECT_EQ(attempt(open_strict(writable), "write_file", 0, written), 0);
  EXPECT_TRUE(std::filesystem::exists(written));
  std::filesystem::remove_all(folder);
}

TEST_F(SandboxTest, strict_computes_with_the_library_and_its_threads) {
  const Device device = open_strict();
  const Array<double> a = filled(device, {400, 400}, 1.0);
  const Array<double> b = filled(device, {400, 400}, 2.0);
  const Array<double> c = filled(device, {400, 400}, 0.0);
  value(device.blas().gemm(a, b, c).get());
  EXPECT_TRUE(all_equal(device, c, 800.0));
}

TEST_F(SandboxTest, strict_is_there_after_a_crash_too) {
  const std::string bad_plugin = beside("libbad_plugin.so"), nosy_plugin = nosy();
  const std::array<std::string_view, 2> readable{bad_plugin, nosy_plugin};
  const Device device = open_with(Sandbox::strict, readable);
  EXPECT_EQ(kind_of(bad(device, "null").get()), ErrorKind::worker_crashed);
  EXPECT_EQ(attempt(device, "open_socket"), EPERM);
}

TEST_F(SandboxTest, strict_loads_no_plugin_that_is_not_named) {
  const std::filesystem::path elsewhere =
      std::filesystem::temp_directory_path() / ("elsewhere-" + std::to_string(getpid()) + ".so");
  std::filesystem::copy_file(nosy(), elsewhere, std::filesystem::copy_options::overwrite_existing);
  const Device device = open_strict();
  const Array<std::int32_t> answer = value(device.array<std::int32_t>({1}));
  EXPECT_FALSE(device.call_plugin(elsewhere.string(), "make_thread", {writes(answer)}).get());
  std::filesystem::remove(elsewhere);
}

TEST_F(SandboxTest, strict_names_a_path_that_is_not_there) {
  const std::array<std::string_view, 1> nowhere{"/nowhere/at/all"};
  const Result<Device> device = system.device("host", {.sandbox = Sandbox::strict, .readable_paths = nowhere});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind(), ErrorKind::invalid_argument);
  EXPECT_NE(device.error().message().find("/nowhere/at/all"), std::string_view::npos);
}

TEST(SandboxSupport, strict_is_unsupported_in_a_thread_and_says_what_is_missing) {
  System system({.threads = 2, .log = log_nothing()});
  const Result<Device> device = system.device("host", {.isolation = Isolation::thread, .sandbox = Sandbox::strict});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind(), ErrorKind::unsupported);
  const wire::SandboxSupport nothing;
  EXPECT_NE(nothing.missing_for(Sandbox::strict).find("Landlock"), std::string::npos);
  EXPECT_NE(nothing.missing_for(Sandbox::standard).find("seccomp"), std::string::npos);
  EXPECT_EQ(nothing.missing_for(Sandbox::none), "");
  EXPECT_EQ((wire::SandboxSupport{.landlock = 1, .seccomp = true}.missing_for(Sandbox::strict)), "");
}

}  // namespace
}  // namespace troupe
