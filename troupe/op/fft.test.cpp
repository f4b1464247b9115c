// What the ops of the family refuse, and in which words; and one good op of each kind for the tests over all ops.
#include "troupe/op/fft.hpp"

#include <gtest/gtest.h>

#include <string>

#include "troupe/op/refusals.test.hpp"
#include "troupe/op/samples.test.hpp"

namespace troupe::op {

namespace {
using enum DType;
constexpr FftAxes kLast{.count = 1, .first = 1, .second = 0, .third = 0};
}  // namespace

void add_fft_samples(Samples& add) {
  add(FftForward{.norm = FftNorm::ortho, .axes = kLast, .x = add.view({2, 3}, c64), .y = add.view({2, 3}, c64)});
  add(FftInverse{.norm = FftNorm::backward, .axes = kLast, .x = add.view({2, 2}, c64), .y = add.view({2, 3})});
}

std::vector<Refusal> fft_refusals() {
  return {
      {bad<FftForward>([](FftForward& op) { op.y.dtype = f32; }), "forward: y is f32; it must be c64, c128 or f16",
       ErrorKind::unsupported},
      {bad<FftForward>([](FftForward& op) { op.x.dtype = f64; }),
       "forward: x is f64; it must be c64 or f32 when y is c64"},
      {bad<FftForward>([](FftForward& op) { op.axes.count = 0; }),
       "forward: 0 axes are given; a transform takes 1 to 3"},
      {bad<FftForward>([](FftForward& op) { op.axes.count = 4; }),
       "forward: 4 axes are given; a transform takes 1 to 3"},
      {bad<FftForward>([](FftForward& op) { op.axes.third = 1; }),
       "forward: behind the last of the axes is 1; it must be 0"},
      {bad<FftForward>([](FftForward& op) { op.axes.first = 2; }), "forward: x is [2, 3]; it has no axis 2"},
      {bad<FftForward>([](FftForward& op) { op.axes = {.count = 2, .first = 1, .second = 1, .third = 0}; }),
       "forward: axis 1 is given twice"},
      {bad<FftForward>([](FftForward& op) {
         for (View* view : {&op.x, &op.y}) {
           view->shape = Shape{1, kMaxFftLength + 1};
           view->strides = Strides{0, 0};
         }
       }),
       "forward: x is [1, 2147483649]; a transform takes up to 2^31 elements along an axis", ErrorKind::unsupported},
      {bad<FftForward>([](FftForward& op) { reshape(op.y, {3, 2}); }),
       "forward: x is [2, 3] and y is [3, 2]; they must have the same shape"},
      {bad<FftForward>([](FftForward& op) { op.x.dtype = f32; }),
       "forward: y is [2, 3]; x is real and [2, 3], so it must be [2, 2]"},
      {bad<FftForward>([](FftForward& op) {
         op.x.dtype = f32;
         reshape(op.x, {2, 0});
         reshape(op.y, {2, 1});
       }),
       "forward: x is [2, 0]; a real transform needs at least one element along its last axis"},
      {bad<FftForward>([](FftForward& op) { op.x.dtype = op.y.dtype = f16; }),
       "forward: y is f16 and [2, 3]; complex numbers of f16 are pairs, so its last axis must have 2 elements"},
      {bad<FftForward>([](FftForward& op) {
         op.x.dtype = op.y.dtype = f16;
         op.axes = {};
         reshape(op.x, {3, 2});
         reshape(op.y, {3, 2});
       }),
       "forward: x is f16 and has 3 numbers along axis 0; of f16 they must be a power of two: use f32",
       ErrorKind::unsupported},
      {bad<FftForward>([](FftForward& op) {
         op.x.dtype = op.y.dtype = f16;
         op.axes = {};
         reshape(op.x, {4});
         reshape(op.y, {4, 2});
       }),
       "forward: y is [4, 2]; x is real and [4], so it must be [3, 2]"},
      {bad<FftForward>([](FftForward& op) { op.y.address = op.x.address + 8; }),
       "forward: x and y overlap, and the op would write one of them; use another array"},
      {bad<FftForward>([](FftForward& op) { op.y.strides = Strides{1, 1}; }),
       "forward would write y, and elements of y overlap each other: its shape is [2, 3], its strides are [1, 1]"},
      {bad<FftInverse>([](FftInverse& op) { op.x.dtype = f32; }), "inverse: x is f32; it must be c64, c128 or f16",
       ErrorKind::unsupported},
      {bad<FftInverse>([](FftInverse& op) { op.y.dtype = i32; }),
       "inverse: y is i32; it must be c64 or f32 when x is c64"},
      {bad<FftInverse>([](FftInverse& op) { reshape(op.x, {2, 3}); }),
       "inverse: x is [2, 3]; y is real and [2, 3], so it must be [2, 2]"},
      {bad<FftInverse>([](FftInverse& op) { op.y.address = op.x.address; }),
       "inverse: x and y overlap, and the op would write one of them; use another array"},
  };
}

namespace {

TEST(FftRefusals, read_as_they_stand_in_the_table) {
  for (const Refusal& row : fft_refusals()) {
    const Error refused = refusal_of(row.make());
    EXPECT_EQ(refused.message(), row.text);
    EXPECT_EQ(name(refused.kind()), name(row.kind)) << row.text;
  }
}

TEST(FftChecks, let_every_kind_of_transform_pass) {
  for (const Kind kind : {FftForward::kKind, FftInverse::kKind})
    EXPECT_EQ(refusal_of(sample(kind)).message(), "(it is not refused)");
  FftForward in_place = *sample(FftForward::kKind).get_if<FftForward>();
  in_place.y = in_place.x;
  EXPECT_EQ(refusal_of(AnyOp(in_place)).message(), "(it is not refused)");
  in_place.axes = {.count = 2, .first = 1, .second = 0, .third = 0};
  EXPECT_EQ(refusal_of(AnyOp(in_place)).message(), "(it is not refused)");
  reshape(in_place.x, {2, 0});
  reshape(in_place.y, {2, 0});
  EXPECT_EQ(refusal_of(AnyOp(in_place)).message(), "(it is not refused)") << "of no elements";
}

TEST(FftChecks, know_the_factor_of_each_norm) {
  const FftAxes both{.count = 2, .first = 0, .second = 2, .third = 0};
  const Shape shape{4, 7, 9};
  EXPECT_EQ(fft_factor(false, FftNorm::backward, both, shape), 1);
  EXPECT_EQ(fft_factor(true, FftNorm::backward, both, shape), 1.0 / 36);
  EXPECT_EQ(fft_factor(false, FftNorm::ortho, both, shape), 1.0 / 6);
  EXPECT_EQ(fft_factor(true, FftNorm::ortho, both, shape), 1.0 / 6);
  EXPECT_EQ(fft_factor(false, FftNorm::forward, both, shape), 1.0 / 36);
  EXPECT_EQ(fft_factor(true, FftNorm::forward, both, shape), 1);
}

}  // namespace
}  // namespace troupe::op
