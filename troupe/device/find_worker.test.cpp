#include "troupe/device/find_worker.hpp"

#include <gtest/gtest.h>

#include <filesystem>

// As in a bundle that knows the path of its worker; nothing is there, so the worker beside this program is found.
extern "C" const char troupe_worker_path[];  // NOLINT(readability-identifier-naming)
const char troupe_worker_path[] = "/srv/bundle/../bundle/troupe-worker";

namespace troupe {
namespace {

namespace fs = std::filesystem;

TEST(FindWorker, takes_the_one_that_is_named) { EXPECT_EQ(find_worker_executable("/some/worker"), "/some/worker"); }

TEST(FindWorker, finds_the_worker_beside_the_program) {
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / "troupe-worker";
  EXPECT_EQ(find_worker_executable({}), beside.string());
}

TEST(FindWorker, looks_beside_the_program_then_where_it_was_told_then_where_troupe_is_installed) {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  const std::vector<std::string> places = worker_places();
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[0], (program / "troupe-worker").string());
  EXPECT_EQ(places[1], (program.parent_path() / "libexec/troupe/troupe-worker").string());
  EXPECT_EQ(places[2], "/srv/bundle/troupe-worker");
  EXPECT_TRUE(places[3].ends_with("/libexec/troupe/troupe-worker")) << places[3];
}

}  // namespace
}  // namespace troupe
