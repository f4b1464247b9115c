// The program itself, on the machine that runs the tests, with or without a GPU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "tools/troupe/script.test.hpp"
#include "troupe/backend/cuda/blas/cublas_library.hpp"
#include "troupe/wire/protocol.hpp"
#include "troupe/wire/run_child.hpp"

namespace troupe::tool {
namespace {

namespace fs = std::filesystem;

fs::path build_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

/// Long enough for a sanitized worker that opens every library on a busy machine.
constexpr Duration kPatience = std::chrono::seconds(100);

wire::ChildAnswer run_tool(const std::string& argument) {
  return value(wire::run_child((build_folder() / "bin" / "troupe").string(), {argument}, {}, kPatience));
}

int code_of(const wire::ChildAnswer& run) { return run.end && !run.end->signalled ? run.end->code : -1; }

/// An environment variable, for as long as this lives.
// NOLINTBEGIN(concurrency-mt-unsafe): no other thread of this test looks at the environment
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  Variable(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};
// NOLINTEND(concurrency-mt-unsafe)

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TroupeTool, prints_its_version_and_its_help) {
  const wire::ChildAnswer version = run_tool("--version");
  EXPECT_EQ(code_of(version), 0);
  EXPECT_EQ(version.printed, wire::protocol_version() + "\n");
  const wire::ChildAnswer help = run_tool("--help");
  EXPECT_EQ(code_of(help), 0);
  EXPECT_TRUE(contains(help.printed, "doctor")) << help.printed;
}

TEST(TroupeTool, answers_an_unknown_command_with_2_and_nothing_on_standard_output) {
  const wire::ChildAnswer run = run_tool("surgeon");
  EXPECT_EQ(code_of(run), 2);
  EXPECT_EQ(run.printed, "");
}

TEST(Doctor, finds_the_worker_and_a_host_device_that_computes) {
  const wire::ChildAnswer run = run_tool("doctor");
  EXPECT_TRUE(contains(run.printed, (build_folder() / "bin" / "troupe-worker").string())) << run.printed;
  EXPECT_TRUE(contains(run.printed, "ok       host device    computes")) << run.printed;
  if (access("/dev/nvidiactl", F_OK) == 0) return;
  EXPECT_EQ(code_of(run), 0);
  EXPECT_TRUE(contains(run.printed, "missing  kernel driver  no /dev/nvidiactl")) << run.printed;
  EXPECT_TRUE(run.printed.ends_with("No GPU can be used here; programs run on the host device.\n")) << run.printed;
}

TEST(Doctor, finds_a_library_exactly_where_it_can_be_opened) {
  const Result<cuda::OpenLibrary> opened = cuda::open(cuda::kCublas);
  const std::string printed = run_tool("doctor").printed;
  EXPECT_EQ(contains(printed, "ok       cuBLAS  "), opened.has_value()) << printed;
  EXPECT_EQ(contains(printed, "missing  cuBLAS  "), !opened) << printed;
  if (opened) {
    EXPECT_TRUE(contains(printed, opened->library.file())) << printed;
  }
}

TEST(Doctor, fails_without_a_worker_and_says_what_to_do) {
  const Variable worker("TROUPE_WORKER", "/nonexistent/troupe-worker");
  const wire::ChildAnswer run = run_tool("doctor");
  EXPECT_EQ(code_of(run), 1);
  EXPECT_TRUE(contains(run.printed, "broken   executable")) << run.printed;
  EXPECT_TRUE(contains(run.printed, "Set TROUPE_WORKER to the path of")) << run.printed;
}

TEST(Doctor, fails_far_from_a_worker_and_names_the_places_where_it_looked) {
  const fs::path folder = fs::temp_directory_path() / ("troupe-doctor-" + std::to_string(getpid()));
  fs::create_directory(folder);
  fs::copy_file(build_folder() / "bin" / "troupe", folder / "troupe");
  const wire::ChildAnswer run =
      value(wire::run_child((folder / "troupe").string(), {"doctor", "--json"}, {}, kPatience));
  fs::remove_all(folder);
  if (code_of(run) == 0) GTEST_SKIP() << "a worker is installed where this build would be";
  EXPECT_EQ(code_of(run), 1);
  EXPECT_TRUE(contains(run.printed, "looked for " + (folder / "troupe-worker").string())) << run.printed;
}

TEST(Doctor, fails_with_a_worker_of_another_version) {
  const Script script("echo troupe 0.0");
  const Variable worker("TROUPE_WORKER", script.path());
  const wire::ChildAnswer run = run_tool("doctor");
  EXPECT_EQ(code_of(run), 1);
  EXPECT_TRUE(contains(run.printed, "\"troupe 0.0\", and this program is \"" + wire::protocol_version() + "\""))
      << run.printed;
}

TEST(Doctor, outlives_a_library_that_kills_whoever_opens_it) {
  // A worker in all else; its look at the machine ends as it does when a driver crashes.
  const Script script(
      "if [ \"$1\" = --doctor ]; then printf 'backend\\thost\\nlooking\\tthe NVIDIA driver\\n'; kill -SEGV $$; fi\n"
      "exec '" +
      (build_folder() / "troupe-worker").string() + "' \"$@\"");
  const Variable worker("TROUPE_WORKER", script.path());
  const wire::ChildAnswer run = run_tool("doctor");
  EXPECT_EQ(code_of(run), 1);
  EXPECT_TRUE(contains(run.printed, "stopped at the NVIDIA driver: it was killed by signal 11 (SIGSEGV)"))
      << run.printed;
  EXPECT_TRUE(contains(run.printed, "ok       host device    computes")) << run.printed;
}

}  // namespace
}  // namespace troupe::tool
