#include "troupe/core/assert.hpp"

#include <gtest/gtest.h>

namespace troupe {

TEST(Assert, says_nothing_while_the_invariant_holds) {
  int evaluated = 0;
  TROUPE_ASSERT(++evaluated == 1, "a condition is evaluated once");
  EXPECT_EQ(evaluated, 1);
}

TEST(AssertDeathTest, dies_with_the_sentence_and_the_condition) {
  EXPECT_DEATH(TROUPE_ASSERT(1 + 1 == 3, "sums are right"), "broken invariant: sums are right \\(1 \\+ 1 == 3\\)");
}

}  // namespace troupe
