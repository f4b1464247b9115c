#include "troupe/backend/cuda/driver/vendor_library.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace troupe::cuda {
namespace {

namespace fs = std::filesystem;

class CudaLibrary : public ::testing::Test {
 protected:
  CudaLibrary() { fs::create_directories(root); }
  ~CudaLibrary() override { fs::remove_all(root); }
  std::string folder(const std::string& path) {
    fs::create_directories(root / path);
    return (root / path).string();
  }
  fs::path root = fs::temp_directory_path() / ("troupe-library-test-" + std::to_string(getpid()));
};

TEST_F(CudaLibrary, is_looked_for_in_the_option_then_by_the_loader_then_in_toolkits_then_in_pythons_packages) {
  const SearchPaths paths{.option = folder("mine"), .toolkits = {folder("toolkit")}, .pythons = {folder("python")}};
  folder("toolkit/lib64");
  folder("toolkit/targets/some-linux/lib");
  folder("python/nvidia/cu13/lib");
  folder("python/nvidia/no_libraries_here");
  folder("python/cutensor/lib");
  const std::string base = root.string();
  EXPECT_EQ(
      candidates("libx.so", paths),
      (std::vector<std::string>{base + "/mine/libx.so", "libx.so", base + "/toolkit/lib64/libx.so",
                                base + "/toolkit/targets/some-linux/lib/libx.so",
                                base + "/python/nvidia/cu13/lib/libx.so", base + "/python/cutensor/lib/libx.so"}));
}

TEST_F(CudaLibrary, is_not_looked_for_in_folders_that_are_not_there) {
  const SearchPaths paths{.option = "/nonexistent", .toolkits = {"/nonexistent"}, .pythons = {"/nonexistent"}};
  EXPECT_EQ(candidates("libx.so", paths), std::vector<std::string>{"libx.so"});
}

TEST_F(CudaLibrary, that_is_nowhere_is_an_error_that_says_where_it_was_looked_for) {
  const Result<Library> none = Library::open({"libtroupe-no-such.so.2", "libtroupe-no-such.so.1"}, SearchPaths{});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::unsupported);
  EXPECT_EQ(none.error().origin().library, "");
  EXPECT_NE(none.error().message().find("libtroupe-no-such.so.2, libtroupe-no-such.so.1"), std::string_view::npos);
}

TEST_F(CudaLibrary, that_is_there_and_cannot_be_opened_is_an_error_with_the_loaders_reason) {
  const std::string mine = folder("mine");
  std::ofstream(mine + "/libtroupe-no-elf.so")
      << "no library, but longer than the header of one would have to be for it";
  const Result<Library> none =
      Library::open({"libtroupe-no-elf.so"}, SearchPaths{.option = mine, .toolkits = {}, .pythons = {}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::unsupported);
  EXPECT_EQ(none.error().origin().library, mine + "/libtroupe-no-elf.so");
  EXPECT_NE(none.error().message().find("ELF header"), std::string_view::npos) << none.error().message();
}

TEST_F(CudaLibrary, says_which_file_it_is_where_the_loader_found_it) {
  const std::string file = value(Library::open({"libm.so.6"}, SearchPaths{})).file();
  EXPECT_TRUE(fs::path(file).is_absolute()) << file;
  EXPECT_TRUE(fs::exists(file) && !fs::is_symlink(file)) << file;
}

TEST_F(CudaLibrary, gives_its_symbols) {
  const Library math = value(Library::open({"libm.so.6"}, SearchPaths{}));
  EXPECT_EQ(math.path(), "libm.so.6");
  ASSERT_NE(math.find("cos"), nullptr);
  EXPECT_EQ(math.find_function<double(double)>("cos")(0.0), 1.0);
  EXPECT_EQ(math.find("no_such_symbol"), nullptr);
}

}  // namespace
}  // namespace troupe::cuda
