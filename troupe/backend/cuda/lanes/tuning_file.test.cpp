#include "troupe/backend/cuda/lanes/tuning_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace troupe::cuda {
namespace {

class TuningFileTest : public ::testing::Test {
 protected:
  ~TuningFileTest() override { std::filesystem::remove(path); }
  const std::string path =
      (std::filesystem::temp_directory_path() / ("troupe_tuning_" + std::to_string(getpid()))).string();
  const AlgorithmBytes some{1, 2, 3, 0xffffffffffffffff, 5, 6, 7, 0x123456789abcdef0};
};

TEST_F(TuningFileTest, comes_back_from_its_file) {
  TuningFile first(path, "matmul", "13.1, H200");
  EXPECT_FALSE(first.find("a problem"));
  ASSERT_TRUE(first.add("a problem", some));
  ASSERT_TRUE(first.add("another", {}));
  EXPECT_EQ(first.find("a problem"), some);
  const TuningFile second(path, "matmul", "13.1, H200");
  EXPECT_EQ(second.size(), 2U);
  EXPECT_EQ(second.find("a problem"), some);
}

TEST_F(TuningFileTest, of_another_library_or_gpu_is_begun_anew) {
  ASSERT_TRUE(TuningFile(path, "matmul", "13.1, H200").add("a problem", some));
  TuningFile other(path, "matmul", "13.2, H200");
  EXPECT_EQ(other.size(), 0U);
  ASSERT_TRUE(other.add("another", some));
  EXPECT_EQ(TuningFile(path, "matmul", "13.1, H200").size(), 0U);
  EXPECT_EQ(TuningFile(path, "matmul", "13.2, H200").size(), 1U);
}

TEST_F(TuningFileTest, leaves_out_lines_that_are_cut_short) {
  ASSERT_TRUE(TuningFile(path, "matmul", "x").add("a problem", some));
  std::ofstream(path, std::ios::app) << "cut\t0123";
  EXPECT_EQ(TuningFile(path, "matmul", "x").size(), 1U);
}

TEST_F(TuningFileTest, without_a_file_is_remembered_all_the_same) {
  TuningFile nobody("", "matmul", "x");
  ASSERT_TRUE(nobody.add("a problem", some));
  EXPECT_EQ(nobody.find("a problem"), some);
}

TEST_F(TuningFileTest, that_cannot_be_written_says_so_and_counts) {
  TuningFile tuning("/no/such/folder/tuning", "matmul", "x");
  EXPECT_FALSE(tuning.add("a problem", some));
  EXPECT_EQ(tuning.find("a problem"), some);
}

}  // namespace
}  // namespace troupe::cuda
