#include "troupe/library/tensor/expression.hpp"

#include <gtest/gtest.h>

#include "troupe/library/dense.test.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

class ExpressionTest : public ::testing::Test {
 protected:
  System system{{.log = log_nothing()}};
  Device device = value(system.device("host"));

  template <Element T = float>
  Array<T> array(const Shape& shape) {
    Array<T> made = value(device.array<T>(shape));
    value(device.fill(made, T(1)).get());
    return made;
  }
  std::string refusal(const Expression& expression, const AnyArray& out) {
    const Result<void> done = device.tensor().evaluate(expression, out).get();
    return done ? "it went well" : std::string(done.error().message());
  }
};

TEST_F(ExpressionTest, is_written_as_it_is_computed) {
  const auto x = array({4}), b = array({4}), m = array({4});
  EXPECT_EQ((tanh(2 * x + b) * m).to_string(), "tanh(2 * x0 + x1) * x2");
  EXPECT_EQ((x - (b - m)).to_string(), "x0 - (x1 - x2)");
  EXPECT_EQ((x - b - m).to_string(), "x0 - x1 - x2");
  EXPECT_EQ((x / (b * m)).to_string(), "x0 / (x1 * x2)");
  EXPECT_EQ(((x + b) * 0.5).to_string(), "(x0 + x1) * 0.5");
  EXPECT_EQ((-x).to_string(), "neg(x0)");
  EXPECT_EQ(select(x, b, 0).to_string(), "select(x0, x1, 0)");
  EXPECT_EQ(Expression(x).to_string(), "x0");
  EXPECT_EQ((x * std::complex<double>(1, -2)).to_string(), "x0 * (1 - 2i)");
}

TEST_F(ExpressionTest, has_each_array_number_and_step_once) {
  const auto x = array({4});
  const Expression e = exp(x);
  EXPECT_EQ((e / (1 + e)).to_string(), "exp(x0) / (1 + exp(x0))");
  Expression deep = x;
  for (int i = 0; i < 60; ++i) deep = deep * deep + 1;  // twice as long in words every time
  EXPECT_NE(deep.to_string().find("it may have 64"), std::string::npos) << "120 steps, and not 2^60";
  Expression fits = x;
  for (int i = 0; i < 32; ++i) fits = fits * fits + 1;
  EXPECT_TRUE(device.tensor().evaluate(fits, array({4})).get());
}

TEST_F(ExpressionTest, refuses_what_is_too_large_with_its_place) {
  std::vector<Array<float>> arrays;
  Expression sum = 0;
  for (int i = 0; i < 9; ++i) sum = sum + arrays.emplace_back(array({4}));
  EXPECT_EQ(refusal(tanh(sum), array({4})),
            "evaluate: the expression add(0 + x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7, x0) has 9 arrays; it may have 8");
  Expression numbers = arrays[0];
  for (int i = 0; i < 33; ++i) numbers = numbers + i;
  EXPECT_NE(refusal(numbers, array({4})).find("has 33 numbers; it may have 32"), std::string::npos);
  Expression steps = arrays[0];
  for (int i = 0; i < 65; ++i) steps = exp(steps);
  EXPECT_NE(refusal(steps, array({4})).find("has 65 steps; it may have 64"), std::string::npos);
}

TEST_F(ExpressionTest, refuses_shapes_and_types_that_do_not_go_together_with_their_place) {
  const auto x = array({3, 4}), y = array({5}), out = array({3, 4});
  EXPECT_EQ(refusal(exp(x) * (1 + tanh(x + y)), out),
            "evaluate: in x0 + x1: the operands are [3, 4] and [5]; their shapes must broadcast");
  EXPECT_EQ(refusal(x + 1, array({3})), "evaluate: out is [3]; x0 + 1 makes [3, 4]");
  const auto z = array<std::complex<float>>({3, 4});
  EXPECT_EQ(refusal(x + relu(z * 2), z), "evaluate: in relu(x1 * 2): it takes no complex numbers");
  EXPECT_EQ(refusal(x * z, out), "evaluate: x0 * x1 is complex and out is f32; out must be complex, too");
  EXPECT_EQ(refusal(x * std::complex<double>(0, 1), out),
            "evaluate: x0 * (0 + 1i) is complex and out is f32; out must be complex, too");
  EXPECT_EQ(refusal(x * array<f8e4m3>({3, 4}), out), "evaluate: x1 is f8e4m3; expressions have no floats of 8 bits");
  EXPECT_EQ(refusal(x, array<std::int32_t>({3, 4})),
            "evaluate: out is i32; it must be f32, f64, f16, bf16, c64, c128 or bool");
  EXPECT_EQ(refusal(x + Array<float>(), out), "evaluate: x1 is an empty handle: default-constructed or moved from");
  EXPECT_EQ(refusal(Expression(2), out), "evaluate: there are 0 arrays; an expression takes 1 to 8")
      << "that is a fill";
  const auto tall = array({4, 4});
  const Array<float> upper = value(tall.slice(0, 0, 3)), lower = value(tall.slice(0, 1, 4));
  EXPECT_NE(refusal(x + upper, lower).find("overlap"), std::string::npos);
}

TEST_F(ExpressionTest, that_ends_in_a_reduction_is_refused_with_its_place) {
  const auto x = array({3, 4}), y = array({5}), out = array({3});
  const auto reduced = [&](const Expression& expression, detail::Axes axes, const AnyArray& to) {
    const Result<void> done = device.tensor().reduce(Reduction::sum, expression, axes, to).get();
    return done ? "it went well" : std::string(done.error().message());
  };
  EXPECT_EQ(reduced(exp(x) * 2, {1}, out), "it went well");
  EXPECT_EQ(reduced(exp(x) * (x + y), {1}, out),
            "sum: in x0 + x1: the operands are [3, 4] and [5]; their shapes must broadcast");
  EXPECT_EQ(reduced(exp(x), {2}, out), "sum: exp(x0) is [3, 4]; it has no axis 2");
  EXPECT_EQ(reduced(exp(x), {1, 1}, out), "sum: axis 1 is given twice");
  EXPECT_EQ(reduced(exp(x), {0}, out), "sum: exp(x0) is [3, 4] and out is [3]; out must be [1, 4] or [4]");
  const auto z = array<std::complex<float>>({3, 4});
  EXPECT_EQ(reduced(x * z, {1}, out), "sum: x0 * x1 is complex and out is f32; out must be complex, too");
  EXPECT_EQ(reduced(relu(z), {1}, out), "sum: in relu(x0): it takes no complex numbers");
  EXPECT_EQ(reduced(x + Array<float>(), {1}, out), "sum: x1 is an empty handle: default-constructed or moved from");
  EXPECT_TRUE(device.tensor().reduce(Reduction::max, x * 2, array({})).get());
  EXPECT_TRUE(device.tensor().reduce(Reduction::norm, z * 2, array({})).get());
}

}  // namespace
}  // namespace troupe
