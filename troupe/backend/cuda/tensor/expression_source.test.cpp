#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/tensor/expression_source.hpp"

#include <gtest/gtest.h>

#include "troupe/backend/cuda/jit/nvrtc.hpp"
#include "troupe/core/sanitized.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::cuda {
namespace {

using op::Operand;
using op::Step;
using From = Operand::From;

op::View view(DType dtype) { return {.address = 0, .dtype = dtype, .shape = {64}, .strides = {1}}; }

op::Evaluate evaluate(std::initializer_list<DType> inputs, DType out, const std::vector<Step>& steps) {
  op::Evaluate op;
  op.set(steps, std::vector<std::complex<double>>{2.0});
  for (const DType input : inputs) op.inputs.push_back({.access = op::Access::read, .view = view(input)});
  op.out = view(out);
  EXPECT_TRUE(op::check(op));
  return op;
}

op::EvaluateReduce reduce(Reduction function, const op::Evaluate& of, DType out) {
  op::EvaluateReduce op;
  static_cast<op::ExpressionProgram&>(op) = of;
  op.function = function;
  op.out = {.address = 0, .dtype = out, .shape = {1}, .strides = {0}};
  EXPECT_TRUE(op::check(op));
  return op;
}

constexpr Operand kX{Operand::of(From::input, 0)};
constexpr Operand kY{Operand::of(From::input, 1)};
constexpr Operand kNumber{Operand::of(From::number, 0)};

template <class F>
Step step(F function, Operand a, Operand b = {}, Operand c = {}) {
  constexpr std::uint8_t kArity = std::is_same_v<F, Unary> ? 1 : std::is_same_v<F, Binary> ? 2 : 3;
  return {.arity = kArity, .function = static_cast<std::uint8_t>(function), .operands = {a, b, c}};
}

/// Each function that numbers of the type have, of the one before.
std::vector<Step> all_functions(DType dtype) {
  std::vector<Step> steps{step(Unary::identity, kX)};
  const auto last = [&] { return Operand::of(From::step, steps.size() - 1); };
  const auto add = [&]<class F>(F, const auto&... others) {
    for (int i = 0; i <= static_cast<int>(F::kLast); ++i)
      if (op::takes(static_cast<F>(i), dtype)) steps.push_back(step(static_cast<F>(i), last(), others...));
  };
  add(Unary{});
  add(Binary{}, kY);
  add(Ternary{}, kY, kNumber);
  return steps;
}

TEST(ExpressionSource, has_a_line_for_each_step) {
  const op::Evaluate op = evaluate({DType::f32, DType::bf16}, DType::f16,
                                   {step(Binary::mul, kX, kNumber), step(Unary::tanh, Operand::of(From::step, 0)),
                                    step(Binary::add, Operand::of(From::step, 1), kY)});
  const std::string source = source_of(op, {.is_plain = true, .single = 2});
  for (const char* const line : {
           "using C = float;",
           "using Out = troupe::f16;",
           "PlainGroup<4>::of_thread(m)",
           "const auto in0 = group.load<float>(m, 0);",
           "const C x1 = converted<C>(*static_cast<const troupe::bf16*>(m.in[1]));",
           "const C s0 = rounded(tensor::apply<Binary::mul>(x0, number_of<C>(m, 0)), m.zero);",
           "const C s1 = rounded(tensor::apply<Unary::tanh>(s0), m.zero);",
           "const C s2 = tensor::apply<Binary::add>(s1, x1);",
           "out.items[i] = written<Out>(s2);",
       })
    EXPECT_NE(source.find(line), std::string::npos) << line << "\nis not in\n" << source;
  EXPECT_NE(source_of(op, {}).find("StridedGroup<4>"), std::string::npos);
}

TEST(ExpressionSource, takes_sixteen_bytes_of_the_largest_type_at_a_time) {
  const std::vector<Step> steps{step(Unary::exp, kX)};
  EXPECT_EQ(items_of(evaluate({DType::f32}, DType::f32, steps)), 4);
  EXPECT_EQ(items_of(evaluate({DType::f16}, DType::f16, steps)), 8);
  EXPECT_EQ(items_of(evaluate({DType::f16}, DType::f64, steps)), 2);
  EXPECT_EQ(items_of(evaluate({DType::c64}, DType::c64, steps)), 2);
  EXPECT_EQ(items_of(evaluate({DType::c128}, DType::c128, steps)), 1);
  EXPECT_EQ(items_of(evaluate({DType::u8}, DType::boolean, steps)), 8);
}

TEST(ExpressionSource, is_known_by_steps_types_and_layout_and_not_by_numbers) {
  const std::vector<Step> steps{step(Binary::mul, kX, kNumber)};
  const auto key = [](const op::Evaluate& op, const ExpressionLayout& layout = {}) {
    return std::string(ExpressionKey(op, layout).bytes());
  };
  const op::Evaluate first = evaluate({DType::f32}, DType::f32, steps);
  op::Evaluate other = first;
  other.set(steps, std::vector<std::complex<double>>{3.0});
  EXPECT_EQ(key(first), key(other));
  EXPECT_EQ(source_of(first, {}), source_of(other, {}));
  EXPECT_NE(key(first), key(evaluate({DType::f16}, DType::f32, steps)));
  EXPECT_NE(key(first), key(evaluate({DType::f32}, DType::f16, steps)));
  EXPECT_NE(key(first), key(evaluate({DType::f32}, DType::f32, {step(Binary::add, kX, kNumber)})));
  EXPECT_NE(key(first), key(first, {.is_plain = true, .single = 0}));
  EXPECT_NE(key(first, {.is_plain = true, .single = 1}), key(first, {.is_plain = true, .single = 0}));
}

TEST(ExpressionSource, of_a_reduction_is_known_by_its_function_way_and_computed_type) {
  const op::Evaluate of = evaluate({DType::f32}, DType::f32, {step(Unary::exp, kX)});
  const auto key = [](const op::EvaluateReduce& op, bool by_columns = false) {
    return std::string(ExpressionKey(op, by_columns).bytes());
  };
  const op::EvaluateReduce sum = reduce(Reduction::sum, of, DType::f32);
  EXPECT_EQ(key(sum), key(reduce(Reduction::mean, of, DType::f16))) << "a mean is a sum until the end";
  EXPECT_EQ(source_of(sum, false), source_of(reduce(Reduction::mean, of, DType::f16), false));
  EXPECT_NE(key(sum), key(sum, true));
  EXPECT_NE(key(sum), key(reduce(Reduction::max, of, DType::f32)));
  EXPECT_NE(key(sum), key(reduce(Reduction::sum, of, DType::f64)));
  EXPECT_NE(key(sum), std::string(ExpressionKey(of, {}).bytes()));
}

TEST(ExpressionSource, is_plain_where_all_lie_side_by_side_or_are_one_element) {
  const op::Evaluate op = evaluate({DType::f32, DType::f32}, DType::f32, {step(Binary::add, kX, kY)});
  GroupAxes<9> axes{};
  axes.groups = 16;
  EXPECT_EQ(layout_of(op, axes), (ExpressionLayout{.is_plain = true, .single = 0}));
  axes.ways[1] = Way::single;
  EXPECT_EQ(layout_of(op, axes), (ExpressionLayout{.is_plain = true, .single = 2}));
  axes.rows.rank = 1;
  EXPECT_EQ(layout_of(op, axes), ExpressionLayout());
  axes.rows.rank = 0;
  axes.ways[0] = Way::strided;
  EXPECT_EQ(layout_of(op, axes), ExpressionLayout());
}

/// By NVRTC itself, which needs no GPU: the headers that the worker carries are all that it has.
TEST(ExpressionSource, compiles_with_every_function_type_and_layout) {
  if (kSanitized) GTEST_SKIP() << "the compiler is not ours, and a sanitizer makes it slow";
  const auto compiles = [](const auto& op, const auto& layout) {
    const std::string source = source_of(op, layout);
    const Result<CompiledCode> code = compile(source, kExpressionFlags, 90, source_headers());
    EXPECT_TRUE(code) << code.error().to_string() << "\n" << source;
    if (code) {
      EXPECT_EQ(code->log, "");
    }
  };
  const std::vector<Step> sum{step(Binary::add, kX, kY)};
  const op::Evaluate simple = evaluate({DType::f32, DType::f32}, DType::f32, sum);
  if (const Result<CompiledCode> code = compile(source_of(simple, {}), kExpressionFlags, 90, source_headers());
      !code && code.error().kind() == ErrorKind::unsupported)
    GTEST_SKIP() << code.error().to_string();
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::c128}) {
    SCOPED_TRACE(name(dtype));
    const op::Evaluate op = evaluate({dtype, dtype}, dtype, all_functions(dtype));
    compiles(op, ExpressionLayout());
    compiles(op, ExpressionLayout{.is_plain = true, .single = 2});
    compiles(reduce(Reduction::sum, op, dtype), false);
    compiles(reduce(Reduction::norm, evaluate({dtype, dtype}, dtype, sum), detail::real_type(dtype)), true);
    if (!is_complex(dtype)) compiles(reduce(Reduction::max, evaluate({dtype, dtype}, dtype, sum), dtype), true);
  }
  for (int i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (is_floating(dtype) && size_bytes(dtype) == 1) continue;
    SCOPED_TRACE(name(dtype));
    const DType out = is_complex(dtype) ? dtype : DType::f64;
    compiles(evaluate({dtype, DType::f16}, out, sum), ExpressionLayout{.is_plain = true, .single = 0});
    if (is_floating(dtype) || is_complex(dtype) || dtype == DType::boolean)
      compiles(evaluate({DType::f64, is_complex(dtype) ? dtype : DType::i8}, dtype, sum), ExpressionLayout());
  }
}

}  // namespace
}  // namespace troupe::cuda

#endif
