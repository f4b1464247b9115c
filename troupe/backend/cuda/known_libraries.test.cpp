#include "troupe/backend/cuda/known_libraries.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace troupe::cuda {
namespace {

namespace fs = std::filesystem;

/// All but the driver, and the names in the order in which they were announced.
std::vector<wire::FoundLibrary> find_all(std::vector<std::string>& announced, const SearchPaths& paths) {
  std::vector<wire::FoundLibrary> all;
  find_libraries([&](std::string_view name) { announced.emplace_back(name); },
                 [&](const wire::FoundLibrary& found) { all.push_back(found); }, paths);
  return all;
}

TEST(KnownLibraries, are_announced_before_they_are_looked_for) {
  std::vector<std::string> announced;
  const auto all = find_all(announced, SearchPaths{});
  EXPECT_EQ(announced, (std::vector<std::string>{"cuBLAS", "cuBLASLt", "cuDNN", "cuFFT", "cuRAND", "cuSOLVER",
                                                 "cuSPARSE", "cuTENSOR", "NVRTC", "NCCL"}));
  ASSERT_EQ(all.size(), announced.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].name, announced[i]);
}

TEST(KnownLibraries, that_are_there_tell_their_version_and_their_file) {
  std::vector<std::string> announced;
  int usable = 0;
  for (const wire::FoundLibrary& found : find_all(announced, SearchPaths::from_environment())) {
    EXPECT_FALSE(found.source.empty()) << found.name;
    if (!found.usable()) continue;
    ++usable;
    EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(found.version[0]))) << found.name << ": " << found.version;
    EXPECT_GE(std::ranges::count(found.version, '.'), 1) << found.name << ": " << found.version;
    EXPECT_TRUE(fs::path(found.path).is_absolute() && fs::exists(found.path)) << found.path;
  }
  if (usable == 0) GTEST_SKIP() << "none of NVIDIA's libraries is here";
}

TEST(KnownLibraries, are_taken_from_the_users_folder_first) {
  const fs::path mine = fs::temp_directory_path() / ("troupe-known-test-" + std::to_string(getpid()));
  fs::create_directories(mine);
  const std::string math = value(Library::open({"libm.so.6"}, SearchPaths{})).file();
  fs::create_symlink(math, mine / "libcuda.so.1");
  const wire::FoundLibrary driver = find_driver(SearchPaths{.option = mine.string(), .toolkits = {}, .pythons = {}});
  fs::remove_all(mine);
  EXPECT_TRUE(driver.usable());
  EXPECT_EQ(driver.path, math);
  EXPECT_EQ(driver.version, "") << "it has no function that tells one";
}

}  // namespace
}  // namespace troupe::cuda
