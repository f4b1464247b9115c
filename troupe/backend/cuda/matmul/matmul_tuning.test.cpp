#include "troupe/backend/cuda/matmul/matmul_tuning.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace troupe::cuda {
namespace {

class MatmulTuningTest : public ::testing::Test {
 protected:
  ~MatmulTuningTest() override { std::filesystem::remove(path); }
  const std::string path =
      (std::filesystem::temp_directory_path() / ("troupe_tuning_" + std::to_string(getpid()))).string();
  const AlgorithmBytes some{1, 2, 3, 0xffffffffffffffff, 5, 6, 7, 0x123456789abcdef0};
};

TEST_F(MatmulTuningTest, comes_back_from_its_file) {
  MatmulTuning first(path, "13.1, H200");
  EXPECT_FALSE(first.find("a problem"));
  ASSERT_TRUE(first.add("a problem", some));
  ASSERT_TRUE(first.add("another", {}));
  EXPECT_EQ(first.find("a problem"), some);
  const MatmulTuning second(path, "13.1, H200");
  EXPECT_EQ(second.size(), 2U);
  EXPECT_EQ(second.find("a problem"), some);
}

TEST_F(MatmulTuningTest, of_another_library_or_gpu_is_begun_anew) {
  ASSERT_TRUE(MatmulTuning(path, "13.1, H200").add("a problem", some));
  MatmulTuning other(path, "13.2, H200");
  EXPECT_EQ(other.size(), 0U);
  ASSERT_TRUE(other.add("another", some));
  EXPECT_EQ(MatmulTuning(path, "13.1, H200").size(), 0U);
  EXPECT_EQ(MatmulTuning(path, "13.2, H200").size(), 1U);
}

TEST_F(MatmulTuningTest, leaves_out_lines_that_are_cut_short) {
  ASSERT_TRUE(MatmulTuning(path, "x").add("a problem", some));
  std::ofstream(path, std::ios::app) << "cut\t0123";
  EXPECT_EQ(MatmulTuning(path, "x").size(), 1U);
}

TEST_F(MatmulTuningTest, without_a_file_is_remembered_all_the_same) {
  MatmulTuning nobody("", "x");
  ASSERT_TRUE(nobody.add("a problem", some));
  EXPECT_EQ(nobody.find("a problem"), some);
}

TEST_F(MatmulTuningTest, that_cannot_be_written_says_so_and_counts) {
  MatmulTuning tuning("/no/such/folder/tuning", "x");
  EXPECT_FALSE(tuning.add("a problem", some));
  EXPECT_EQ(tuning.find("a problem"), some);
}

}  // namespace
}  // namespace troupe::cuda
