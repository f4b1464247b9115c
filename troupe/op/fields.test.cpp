#include "troupe/op/fields.hpp"

#include <gtest/gtest.h>

#include <string>

#include "troupe/op/blas.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/samples.test.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::op {
namespace {

TEST(OpText, says_an_op_on_one_line) {
  const View a{address_of(1, 64), DType::f32, {2, 3}, {3, 1}};
  const View b{address_of(1, 256), DType::f32, {2, 3}, {1, 2}};
  EXPECT_EQ(describe(AnyOp(Copy{.in = a, .out = b})),
            "memory.copy(in=f32[2, 3] at 1+0x40, out=f32[2, 3] strides [1, 2] at 1+0x100)");
  EXPECT_EQ(describe(AnyOp(Nop{})), "control.nop()");
  EXPECT_EQ(describe(AnyOp(Axpy{.alpha = Scalar(std::complex<double>(0.5, -2)), .x = a, .y = a})),
            "blas.axpy(alpha=0.5-2i, x=f32[2, 3] at 1+0x40, y=f32[2, 3] at 1+0x40)");
}

TEST(OpText, names_the_fields_in_which_two_ops_differ) {
  Places at;
  const Gemm one{.alpha = Scalar(1.0), .beta = Scalar(1.0), .a = at({2, 3}), .b = at({3, 4}), .c = at({2, 4})};
  Gemm other = one;
  other.beta = Scalar(0.0);
  other.compute = Compute::tf32;
  EXPECT_EQ(difference(AnyOp(one), AnyOp(other)), "beta: 1 against 0; compute: standard against tf32");
  EXPECT_EQ(difference(AnyOp(one), AnyOp(one)), "");
  EXPECT_EQ(difference(AnyOp(one), AnyOp(Nop{})), "blas.gemm against control.nop");
  Svd values;
  values.spectrum = Spectrum::values;
  EXPECT_NE(difference(AnyOp(Svd{}), AnyOp(values)).find("vt: f32[] at 0+0x0 against nothing"), std::string::npos);
}

TEST(OpText, says_what_is_wrong_with_json) {
  const auto message = [](std::string_view text) { return std::string(from_json(text).error().message()); };
  EXPECT_EQ(message("{\"op\": \"memory.melt\"}"), "there is no op \"memory.melt\"");
  EXPECT_EQ(message("{}"), "the field \"op\" is missing");
  EXPECT_EQ(message("{\"op\": \"memory.ready\"}"), "memory.ready: the field \"in\" is missing");
  EXPECT_EQ(message("{\"op\": \"memory.ready\", \"in\": 3}"),
            "memory.ready: the field \"in\" cannot have the value that is given");
  EXPECT_EQ(message("{\"op\": \"control.nop\", \"x\": 3}"), "control.nop has no field \"x\"");
  EXPECT_EQ(message("{\"op\": "), "this is not JSON from byte 7 on");
}

TEST(OpText, says_what_every_op_is) {
  for (const auto& [kind, op] : sample_ops()) {
    const std::string line = describe(op);
    EXPECT_TRUE(line.starts_with(op.info().name)) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
    for (const Field& field : fields_of(op)) EXPECT_NE(line.find(field.name + "="), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace troupe::op
