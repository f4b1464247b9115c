#include <gtest/gtest.h>

#include "troupe/backend/host/kernels/op_memory.test.hpp"
#include "troupe/backend/host/tensor/expression_rows.hpp"
#include "troupe/backend/host/tensor/tensor_ops.hpp"
#include "troupe/core/sanitized.hpp"

namespace troupe::host {
namespace {

using op::Operand;
using op::Step;
using From = Operand::From;

Step step(Unary function, Operand a) { return {1, static_cast<std::uint8_t>(function), {a, {}, {}}}; }
Step step(Binary function, Operand a, Operand b) { return {2, static_cast<std::uint8_t>(function), {a, b, {}}}; }
Operand input(std::size_t i) { return Operand::of(From::input, i); }
Operand result(std::size_t i) { return Operand::of(From::step, i); }

/// tanh(a b) + a / 3.
std::vector<Step> some_steps() {
  return {step(Binary::mul, input(0), input(1)), step(Unary::tanh, result(0)),
          step(Binary::div, input(0), Operand::of(From::number, 0)), step(Binary::add, result(1), result(2))};
}

class TensorExpression : public RandomTest {
 protected:
  /// What the expression of random numbers is reduced to along these axes.
  std::vector<std::byte> reduced(Reduction function, DType dtype, const Shape& shape, const Shape& out, Team& team) {
    OpMemory memory;
    op::EvaluateReduce op;
    op.set(some_steps(), std::vector<std::complex<double>>{3.0});
    op.function = function;
    Random numbers(7);
    for (int i = 0; i < 2; ++i) {
      GuardedArray in(dtype, shape);
      numbers.fill(in);
      op.inputs.push_back({.access = op::Access::read, .view = memory.place(in, shape, contiguous_strides(shape))});
    }
    op.out = memory.place(dtype, out, contiguous_strides(out));
    EXPECT_TRUE(check(op));
    EXPECT_TRUE(run_op(op, memory.here(team)));
    const HostView view = memory.here()(op.out);
    const std::int64_t bytes = op::element_count(op.out) * size_bytes(dtype);
    return {view.data, view.data + bytes};
  }
};

TEST_F(TensorExpression, that_ends_in_a_reduction_has_the_same_bits_for_every_team) {
  struct Case {
    Shape shape, out;
  };
  const Case cases[] = {{{200'003}, {1}},           {{3, 70'003}, {3, 1}},  {{70'003, 3}, {1, 3}},
                        {{300, 700}, {300, 1}},     {{300, 700}, {1, 700}}, {{300, 700}, {1, 1}},
                        {{30, 40, 50}, {30, 1, 50}}};
  Team one(1);
  // A sanitizer looks at each element; one type shows it all that it can see.
  const std::vector<DType> all{DType::f32, DType::f64, DType::bf16, DType::c64};
  for (const DType dtype : std::span(all).first(kSanitized ? 1 : all.size()))
    for (const Reduction function : {Reduction::sum, Reduction::mean, Reduction::max})
      for (const Case& each : cases) {
        if (is_complex(dtype) && function == Reduction::max) continue;
        SCOPED_TRACE(std::string(name(function)) + " " + std::string(name(dtype)) + " " + each.shape.to_string() +
                     " to " + each.out.to_string());
        const std::vector<std::byte> expected = reduced(function, dtype, each.shape, each.out, one);
        for (const int size : {2, 3, 16}) {
          Team team(size);
          EXPECT_TRUE(reduced(function, dtype, each.shape, each.out, team) == expected) << size << " threads";
        }
      }
}

TEST_F(TensorExpression, uses_rows_again_that_no_step_needs_any_more) {
  // Each step is used by the next and by the one after it, and the first by the last.
  std::vector<Step> steps{step(Unary::identity, input(0)), step(Binary::add, result(0), input(0))};
  for (std::size_t i = 2; i < 20; ++i) steps.push_back(step(Binary::sub, result(i - 1), result(i - 2)));
  steps.push_back(step(Binary::add, result(19), result(0)));
  op::Evaluate op;
  op.set(steps, {});
  std::vector<float> numbers{1, 2, 5};
  op.inputs.push_back(
      {.access = op::Access::read, .view = {.address = 0, .dtype = DType::f32, .shape = {3}, .strides = {1}}});
  const ExpressionRows<float> rows(op);
  Pointers<9> at{};
  Steps<9> by{};
  at[0] = reinterpret_cast<std::byte*>(numbers.data());
  by[0] = sizeof(float);
  const float* const got = rows.compute(at, by, rows.singles(at, by, 3), 0, 3);
  for (std::size_t element = 0; element < 3; ++element) {
    std::vector<float> want{numbers[element], 2 * numbers[element]};
    for (std::size_t i = 2; i < 20; ++i) want.push_back(want[i - 1] - want[i - 2]);
    EXPECT_EQ(got[element], want[19] + want[0]);
  }
}

}  // namespace
}  // namespace troupe::host
