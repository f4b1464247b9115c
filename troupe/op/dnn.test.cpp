// What the ops of the family refuse, and in which words; and one good op of each kind for the tests over all ops.
#include "troupe/op/dnn.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "troupe/op/samples.test.hpp"

namespace troupe::op {

void add_dnn_samples(Samples& add) {
  add(DnnScale{.alpha = 2, .beta = 1, .x = add.view({2, 3}), .y = add.view({2, 3})});
}

namespace {

DnnScale good_scale() {
  Places at;
  return {.alpha = 2, .beta = 1, .x = at({2, 3}), .y = at({2, 3})};
}

/// What the check says of it; "" when it is good.
std::string refusal(const DnnScale& op) {
  const Result<void> good = check(op);
  return good ? "" : std::string(good.error().message());
}

TEST(DnnChecks, let_a_good_scale_pass) { EXPECT_EQ(refusal(good_scale()), ""); }

TEST(DnnChecks, refuse_a_type_that_the_family_has_not) {
  DnnScale op = good_scale();
  op.x.dtype = op.y.dtype = DType::i32;
  EXPECT_EQ(refusal(op), "scale: y is i32; it must be f32 or f64");
  EXPECT_EQ(check(op).error().kind(), ErrorKind::unsupported);
}

TEST(DnnChecks, refuse_arrays_that_do_not_go_together) {
  DnnScale op = good_scale();
  op.x.dtype = DType::f64;
  EXPECT_EQ(refusal(op), "scale: x is f64; it must be f32");
  op = good_scale();
  op.x.shape = {3, 2};
  EXPECT_EQ(refusal(op), "scale: x is [3, 2]; it must be [2, 3]");
}

TEST(DnnChecks, refuse_numbers_that_are_not_finite) {
  DnnScale op = good_scale();
  op.alpha = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(op), "scale: alpha is NaN; it must be finite");
  op = good_scale();
  op.beta = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(op), "scale: beta is infinite; it must be finite");
}

}  // namespace
}  // namespace troupe::op
