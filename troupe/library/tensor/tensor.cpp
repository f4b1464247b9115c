#include "troupe/library/tensor/tensor.hpp"

#include <cmath>

#include "troupe/device/make_call.hpp"
#include "troupe/library/tensor/broadcast.hpp"
#include "troupe/library/tensor/einsum.hpp"
#include "troupe/library/tensor/expression_body.hpp"
#include "troupe/library/tensor/reduced_axes.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/contraction_plan.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::inline v0 {
namespace {

// ---- element by element ----

/// An elementwise op, and its arrays.
template <class Op>
struct Elements {
  Op op;
  std::array<const AnyArray*, Op::kInputs + 1> arrays{};  // of the op's views, in their order
  std::size_t count = 0;
};

Result<void> check_shapes(std::string_view name, std::span<const detail::Operand> operands, const AnyArray& out) {
  Shape shape;
  std::string all;
  for (const detail::Operand& operand : operands) {
    if (operand.array() == nullptr) continue;
    const Shape& next = operand.array()->shape();
    all += (all.empty() ? "" : " and ") + next.to_string();
    if (!broadcast_shapes(shape, next))
      return op::refuse(name, "the operands are " + all + "; their shapes must broadcast");
  }
  if (all.empty() || shape == out.shape()) return {};
  return op::refuse(name, "out is " + out.shape().to_string() + "; operands of " + all + " make " + shape.to_string());
}

template <class Op, class F>
Result<Elements<Op>> make_elementwise(F function, std::span<const detail::Operand> operands, const AnyArray& out,
                                      const ElementwiseOptions& options) {
  const std::string_view called = name(function);
  const std::array<detail::Factor, 3> factors{options.alpha, options.beta, options.gamma};
  TROUPE_TRY(check_shapes(called, operands, out));
  Elements<Op> made;
  made.op.function = function;
  made.op.out = out.view();
  for (std::size_t i = 0; i < Op::kInputs; ++i) {
    const AnyArray* const array = operands[i].array();
    made.op.factors[i] = array != nullptr ? op::Scalar(factors[i]) : operands[i].number();
    if (array == nullptr) {
      made.op.numbers |= static_cast<std::uint8_t>(1U << i);
      continue;
    }
    made.op.in[i] = repeated(array->view(), out.shape());
    made.arrays[made.count++] = array;
  }
  made.arrays[made.count++] = &out;
  return made;
}

template <class Op>
Call<void> submit(const Device& device, Result<Elements<Op>> made) {
  if (!made) return fail(std::move(made).error());
  return make_call(device, made->op, std::span<const AnyArray* const>(made->arrays.data(), made->count));
}

// ---- reductions ----

Result<op::Reduce> make_reduction(Reduction function, const AnyArray& in, detail::Axes axes, const AnyArray& out,
                                  const ReduceOptions& options) {
  op::Reduce op;
  op.function = function;
  op.alpha = op::Scalar(options.alpha);
  op.beta = op::Scalar(options.beta);
  op.in = in.view();
  op.out = TROUPE_TRY(detail::with_axes("reduce", "in", in.shape(), axes, out));
  return op;
}

// ---- einsum ----

Result<op::Contract> make_contraction(std::string_view text, const AnyArray& a, const AnyArray& b, const op::View& c,
                                      const EinsumOptions& options) {
  const Einsum einsum = TROUPE_TRY(parse_einsum(text, 2));
  op::Contract op = TROUPE_TRY(make_contract(einsum, a.view(), b.view(), c));
  op.alpha = op::Scalar(options.alpha);
  op.beta = op::Scalar(options.beta);
  op.engine = options.engine;
  op.tunes = options.autotune;
  return op;
}

bool is_empty(const op::View& view) { return op::element_count(view) == 0; }

Result<EinsumPlan> explained(const op::Contract& op, std::string_view backend) {
  EinsumPlan explained;
  explained.sums_a_first = op.groups.summed_a > 0;
  explained.sums_b_first = op.groups.summed_b > 0;
  explained.engine = TensorEngine::loops;
  if (is_empty(op.a) || is_empty(op.b)) return explained;  // nothing to multiply
  const op::AxisList axes = op::axes_of(op);
  const op::ContractionPlan plan = TROUPE_TRY(op::plan_contraction(axes, op.c.dtype, op.engine, op::rates_of(backend)));
  explained.engine = plan.engine;
  explained.takes_cutensor = plan.takes_cutensor;
  explained.permutes_a = plan.packs_a;
  explained.permutes_b = plan.packs_b;
  explained.permutes_c = plan.packs_c;
  explained.calls = plan.calls;
  explained.flops = plan.flops;
  explained.bytes_moved = plan.bytes_moved;
  explained.seconds = plan.seconds;
  if (plan.engine == TensorEngine::gemm) {
    for (const op::ContractionAxis& axis : plan.batch) explained.batch *= axis.extent;
    explained.rows = plan.rows.extent;
    explained.columns = plan.columns.extent;
    explained.depth = plan.depth.extent;
    return explained;
  }
  for (const op::ContractionAxis& axis : axes)
    (axis.role == op::AxisRole::batch    ? explained.batch
     : axis.role == op::AxisRole::row    ? explained.rows
     : axis.role == op::AxisRole::column ? explained.columns
                                         : explained.depth) *= axis.extent;
  return explained;
}

}  // namespace

std::string EinsumPlan::to_string() const {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  std::string text = std::string(name(engine)) + (takes_cutensor ? " or, where it is there, cutensor: " : ": ");
  text += number(batch) + " x [" + number(rows) + " x " + number(depth) + "] [" + number(depth) + " x " +
          number(columns) + "]";
  if (sums_a_first) text += ", a summed first";
  if (sums_b_first) text += ", b summed first";
  if (permutes_a) text += ", a permuted";
  if (permutes_b) text += ", b permuted";
  if (permutes_c) text += ", c permuted";
  return text + "; " + number(std::llround(flops)) + " flops, " + number(std::llround(bytes_moved)) + " bytes moved, " +
         number(calls) + (calls == 1 ? " call" : " calls");
}

Call<void> Tensor::einsum(std::string_view text, const AnyArray& a, const AnyArray& b, const AnyArray& c,
                          EinsumOptions options) const {
  Result<op::Contract> op = make_contraction(text, a, b, c.view(), options);
  if (!op) return fail(std::move(op).error());
  if (Result<void> can = check_engine(*op, device_.info().backend); !can) return fail(std::move(can).error());
  return make_call(device_, *op, {&a, &b, &c});
}

Call<void> Tensor::einsum(std::string_view text, const AnyArray& a, const AnyArray& c, EinsumOptions options) const {
  if (options.engine != TensorEngine::automatic)
    return op::refuse_unsupported(
        "einsum", "options.engine is " + std::string(name(options.engine)) + "; with one operand it must be automatic");
  const auto make = [&]() -> Result<op::Reduce> {
    TROUPE_TRY(op::check_same_types("einsum", {{"a", a.view()}, {"c", c.view()}}));
    const Einsum einsum = TROUPE_TRY(parse_einsum(text, 1));
    return make_reduce(einsum, a.view(), c.view());
  };
  Result<op::Reduce> op = make();
  if (!op) return fail(std::move(op).error());
  op->alpha = op::Scalar(options.alpha);
  op->beta = op::Scalar(options.beta);
  if (op->in.shape != op->out.shape || op->reads_out()) return make_call(device_, *op, {&a, &c});
  op::UnaryOp moves;  // nothing is summed
  moves.factors[0] = op->alpha;
  moves.in[0] = op->in;
  moves.out = op->out;
  return make_call(device_, moves, {&a, &c});
}

Result<EinsumPlan> Tensor::explain(std::string_view text, const AnyArray& a, const AnyArray& b, const AnyArray& c,
                                   EinsumOptions options) const {
  return explained(TROUPE_TRY(make_contraction(text, a, b, c.view(), options)), device_.info().backend);
}

Result<EinsumPlan> Tensor::explain(std::string_view text, const AnyArray& a, const AnyArray& b,
                                   EinsumOptions options) const {
  const Einsum einsum = TROUPE_TRY(parse_einsum(text, 2));
  const std::array views{&a.view(), &b.view()};
  const Shape shape = TROUPE_TRY(output_shape(einsum, views));
  const op::View c{0, a.dtype(), shape, contiguous_strides(shape)};
  return explained(TROUPE_TRY(make_contraction(text, a, b, c, options)), device_.info().backend);
}

Call<void> Tensor::reduce(Reduction function, const AnyArray& in, detail::Axes axes, const AnyArray& out,
                          ReduceOptions options) const {
  Result<op::Reduce> op = make_reduction(function, in, axes, out, options);
  if (!op) return fail(std::move(op).error());
  return make_call(device_, *op, {&in, &out});
}

Call<void> Tensor::reduce_all(Reduction function, const AnyArray& in, const AnyArray& out) const {
  op::Reduce op;
  op.function = function;
  op.alpha = op::Scalar(1.0);
  op.in = in.view();
  op.out = out.view();
  op.out.shape = op.in.shape;
  op.out.strides = op.in.strides;
  for (int i = 0; i < in.rank(); ++i) {
    op.out.shape[i] = 1;
    op.out.strides[i] = 0;
  }
  return make_call(device_, op, {&in, &out});
}

Call<void> Tensor::permute(const AnyArray& in, detail::Axes order, const AnyArray& out, detail::Factor alpha) const {
  Result<AnyArray> permuted = in.permute(std::span<const int>(order.begin(), order.end()));
  if (!permuted) return fail(std::move(permuted).error());
  if (permuted->shape() != out.shape())
    return op::refuse("permute", "out is " + out.shape().to_string() + "; it must be " + permuted->shape().to_string());
  return unary(Unary::identity, *permuted, out, {.alpha = alpha});
}

Call<void> Tensor::unary(Unary function, const AnyArray& a, const AnyArray& out, ElementwiseOptions options) const {
  const std::array<detail::Operand, 1> operands{a};
  return submit(device_, make_elementwise<op::UnaryOp>(function, operands, out, options));
}

Call<void> Tensor::binary(Binary function, detail::Operand a, detail::Operand b, const AnyArray& out,
                          ElementwiseOptions options) const {
  const std::array<detail::Operand, 2> operands{a, b};
  return submit(device_, make_elementwise<op::BinaryOp>(function, operands, out, options));
}

Call<void> Tensor::ternary(Ternary function, detail::Operand a, detail::Operand b, detail::Operand c,
                           const AnyArray& out, ElementwiseOptions options) const {
  const std::array<detail::Operand, 3> operands{a, b, c};
  return submit(device_, make_elementwise<op::TernaryOp>(function, operands, out, options));
}

namespace {

/// The op of an expression, which reads all of the expression's arrays.
template <class Op>
Call<void> submit(const Device& device, const Result<Op>& op, const Expression& expression, const AnyArray& out) {
  if (!op) return fail(op.error());
  const std::vector<AnyArray>& inputs = expression.body().inputs;
  std::vector<const AnyArray*> arrays;
  arrays.reserve(inputs.size() + 1);
  for (const AnyArray& input : inputs) arrays.push_back(&input);
  arrays.push_back(&out);
  return make_call(device, *op, arrays);
}

}  // namespace

Call<void> Tensor::evaluate(const Expression& expression, const AnyArray& out) const {
  return submit(device_, detail::make_evaluate(expression.body(), out), expression, out);
}

Call<void> Tensor::reduce(Reduction function, const Expression& expression, detail::Axes axes,
                          const AnyArray& out) const {
  return submit(device_, detail::make_evaluate_reduce(function, expression.body(), axes, out), expression, out);
}

Call<void> Tensor::reduce(Reduction function, const Expression& expression, const AnyArray& out) const {
  return submit(device_, detail::make_evaluate_reduce(function, expression.body(), std::nullopt, out), expression, out);
}

Tensor Device::tensor() const { return Tensor(*this); }

}  // namespace troupe::inline v0
