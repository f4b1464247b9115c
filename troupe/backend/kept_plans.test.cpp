#include "troupe/backend/kept_plans.hpp"

#include <gtest/gtest.h>

namespace troupe::backend {
namespace {

struct Numbered {
  int key = 0;
  std::uint64_t size_bytes = 0;
};
using Numbers = KeptPlans<Numbered>;

std::unique_ptr<Numbered> plan(int key, std::uint64_t size_bytes = 1) {
  return std::make_unique<Numbered>(Numbered{key, size_bytes});
}
/// Which of the first ten are there, each looked at once and left as it was.
std::vector<int> kept(Numbers& plans) {
  std::vector<int> keys;
  for (int key = 0; key < 10; ++key)
    if (auto there = plans.take(key)) {
      keys.push_back(key);
      plans.keep(std::move(there));
    }
  return keys;
}

TEST(KeptPlans, gives_back_the_one_with_the_key_and_does_not_have_it_then) {
  Numbers plans;
  plans.keep(plan(1, 10));
  plans.keep(plan(2, 20));
  const auto taken = plans.take(1);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->size_bytes, 10U);
  EXPECT_FALSE(plans.take(1));
  EXPECT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans.size_bytes(), 20U);
}

TEST(KeptPlans, drops_what_was_used_longest_ago_when_there_are_too_many) {
  Numbers plans({.plans = 3});
  for (const int key : {1, 2, 3}) plans.keep(plan(key));
  plans.keep(plans.take(1));
  plans.keep(plan(4));
  EXPECT_EQ(kept(plans), (std::vector{1, 3, 4}));
  EXPECT_EQ(plans.size(), 3U);
}

TEST(KeptPlans, drops_as_many_as_it_takes_to_have_room_for_the_bytes) {
  Numbers plans({.plans = 10, .bytes = 100});
  for (const int key : {1, 2, 3}) plans.keep(plan(key, 30));
  plans.keep(plan(4, 60));
  EXPECT_EQ(kept(plans), (std::vector{3, 4}));
  EXPECT_EQ(plans.size_bytes(), 90U);
}

TEST(KeptPlans, does_not_keep_one_that_is_larger_than_all_may_be) {
  Numbers plans({.plans = 10, .bytes = 100});
  plans.keep(plan(1, 30));
  plans.keep(plan(2, 101));
  EXPECT_EQ(kept(plans), (std::vector{1}));
  plans.keep(plan(3, 100));
  EXPECT_EQ(kept(plans), (std::vector{3}));
}

TEST(KeptPlans, has_none_when_cleared) {
  Numbers plans;
  plans.keep(plan(1, 30));
  plans.clear();
  EXPECT_EQ(plans.size(), 0U);
  EXPECT_EQ(plans.size_bytes(), 0U);
}

}  // namespace
}  // namespace troupe::backend
