#include "troupe/core/seed.test.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace troupe {
namespace {

/// Sets the variable for one test.
class SeedTest : public ::testing::Test {
 protected:
  SeedTest() {
    if (const char* const text = std::getenv("TROUPE_TEST_SEED")) before_ = text;
    unsetenv("TROUPE_TEST_SEED");
  }
  ~SeedTest() override {
    if (before_)
      setenv("TROUPE_TEST_SEED", before_->c_str(), 1);
    else
      unsetenv("TROUPE_TEST_SEED");
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(SeedTest, is_the_same_in_every_run) {
  EXPECT_EQ(test_seed(), kDefaultTestSeed);
  EXPECT_EQ(test_seed(), test_seed());
}

TEST_F(SeedTest, is_what_the_environment_says) {
  setenv("TROUPE_TEST_SEED", "18446744073709551615", 1);
  EXPECT_EQ(test_seed(), ~std::uint64_t{0});
}

TEST_F(SeedTest, refuses_what_is_not_a_number) {
  for (const char* text : {"a", "7a", "-1", "18446744073709551616"}) {
    setenv("TROUPE_TEST_SEED", text, 1);
    EXPECT_THROW(test_seed(), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace troupe
