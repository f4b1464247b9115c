#include <gtest/gtest.h>

#include "troupe/backend/host/kernels/op_memory.test.hpp"
#include "troupe/backend/host/tensor/tensor_ops.hpp"

namespace troupe::host {
namespace {

/// Runs an op whose arrays lie in these layouts; the last is the output's.
template <class Op>
void run(decltype(Op::function) function, std::vector<GuardedArray>& in, GuardedArray& out, const Shape& shape,
         const std::vector<NamedStrides>& layouts, OpMemory& memory, Team& team) {
  Op op;
  op.function = function;
  memory.clear();
  for (std::size_t i = 0; i < Op::kInputs; ++i) {
    op.factors[i] = op::Scalar(1.0);
    op.in[i] = memory.place(in[i], shape, layouts[i].strides);
  }
  op.out = memory.place(out.dtype(), shape, layouts.back().strides);
  ASSERT_TRUE(run_op(op, memory.here(team)));
  ASSERT_TRUE(copy(memory.here()(op.out), out.view()));
}

template <class Op>
void expect_same_in_all_layouts(decltype(Op::function) function, DType dtype, const Shape& shape, Random& random,
                                OpMemory& memory, Team& team) {
  constexpr std::size_t n = Op::kInputs;
  std::vector<GuardedArray> in;
  for (std::size_t i = 0; i < n; ++i) {
    in.emplace_back(dtype, shape);
    random.fill(in.back());
  }
  GuardedArray expected(dtype, shape);
  GuardedArray out(dtype, shape);
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::vector<NamedStrides> used;
    std::string names = shape.to_string() + " " + std::string(name(dtype));
    for (std::size_t i = 0; i <= n; ++i) {
      used.push_back(random.one_of(i < n ? input_layouts(shape) : layouts(shape)));
      names += " " + used.back().name;
    }
    SCOPED_TRACE(names + ", " + std::to_string(team.size()) + " threads");
    // Where elements repeat, what is read is what was written there last.
    for (std::size_t i = 0; i < n; ++i) {
      memory.clear();
      const op::View view = memory.place(in[i], shape, used[i].strides);
      ASSERT_TRUE(copy(memory.here()(view), in[i].view()));
    }
    const std::vector<NamedStrides> plain(n + 1, {"contiguous", contiguous_strides(shape)});
    run<Op>(function, in, expected, shape, plain, memory, Team::of_one());
    run<Op>(function, in, out, shape, used, memory, team);
    EXPECT_EQ(differences(out, expected), 0);
  }
}

class TensorElementwise : public RandomTest, public testing::WithParamInterface<int> {};

TEST_P(TensorElementwise, has_the_same_bits_in_all_layouts) {
  OpMemory memory;
  Team team(GetParam());
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128})
    for (const Shape& shape : {Shape{}, Shape{0, 3}, Shape{1}, Shape{700}, Shape{5, 3, 7}, Shape{130, 140},
                               Shape{300, 6}, Shape{3, 170, 90}, Shape{40, 1, 2, 3, 33}, Shape{4, 5, 6, 3, 2, 7}}) {
      expect_same_in_all_layouts<op::UnaryOp>(Unary::identity, dtype, shape, random, memory, team);
      expect_same_in_all_layouts<op::UnaryOp>(Unary::exp, dtype, shape, random, memory, team);
      expect_same_in_all_layouts<op::BinaryOp>(Binary::add, dtype, shape, random, memory, team);
      expect_same_in_all_layouts<op::TernaryOp>(Ternary::fma, dtype, shape, random, memory, team);
    }
}

INSTANTIATE_TEST_SUITE_P(Threads, TensorElementwise, testing::Values(1, 2, 3));

}  // namespace
}  // namespace troupe::host
