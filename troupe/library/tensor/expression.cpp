#include "troupe/library/tensor/expression.hpp"

#include <algorithm>
#include <cstring>

#include "troupe/library/tensor/broadcast.hpp"
#include "troupe/library/tensor/expression_body.hpp"
#include "troupe/library/tensor/reduced_axes.hpp"
#include "troupe/op/check.hpp"

namespace troupe::inline v0 {
namespace {

using detail::ExpressionBody;
using op::Operand;
using op::Step;
using From = Operand::From;

constexpr std::string_view kEvaluate = "evaluate";

/// Where `item` stands in `all`; it is added when it is new.
template <class T, class Same>
std::size_t place_of(std::vector<T>& all, const T& item, const Same& same) {
  const auto found = std::ranges::find_if(all, [&](const T& other) { return same(other, item); });
  const auto place = static_cast<std::size_t>(found - all.begin());
  if (found == all.end()) all.push_back(item);
  return place;
}

bool is_same_array(const AnyArray& a, const AnyArray& b) {
  return a.block().get() == b.block().get() && a.view() == b.view();
}
bool is_same_number(const std::complex<double>& a, const std::complex<double>& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;  // -0.0 is another number than 0.0
}
bool is_same_step(const Step& a, const Step& b) { return a == b; }

std::string text_of(const ExpressionBody& body) {
  if (body.result.from() == From::step) return op::text_of(body.steps, body.numbers);
  Step identity;
  identity.operands[0] = body.result;
  const std::string text = op::text_of(std::span(&identity, 1), body.numbers);  // "identity(x0)"
  return text.substr(9, text.size() - 10);
}

/// Adds what `other` is made of to `body`; gives its result there.
Operand take_in(ExpressionBody& body, const ExpressionBody& other) {
  std::vector<Operand> moved;  // other's steps, in `body`
  const auto translate = [&](Operand operand) {
    switch (operand.from()) {
      case From::input:
        return Operand::of(From::input, place_of(body.inputs, other.inputs[operand.index()], is_same_array));
      case From::number:
        return Operand::of(From::number, place_of(body.numbers, other.numbers[operand.index()], is_same_number));
      case From::step: break;
    }
    return moved[operand.index()];
  };
  for (Step step : other.steps) {
    for (std::size_t i = 0; i < step.arity; ++i) step.operands[i] = translate(step.operands[i]);
    moved.push_back(Operand::of(From::step, place_of(body.steps, step, is_same_step)));
  }
  return translate(other.result);
}

/// Which limit it is beyond; empty when it is beyond none.
std::string excess_of(const ExpressionBody& body) {
  const auto more = [](std::size_t count, std::size_t limit, const char* what) {
    return count <= limit ? std::string()
                          : std::to_string(count) + " " + what + "; it may have " + std::to_string(limit);
  };
  if (std::string text = more(body.inputs.size(), op::kMaxExpressionInputs, "arrays"); !text.empty()) return text;
  if (std::string text = more(body.numbers.size(), op::kMaxExpressionNumbers, "numbers"); !text.empty()) return text;
  return more(body.steps.size(), op::kMaxExpressionSteps, "steps");
}

/// The names that it would have, without its steps: their numbers are beyond what can be written.
template <class F>
Error too_large(F function, std::span<const ExpressionBody* const> operands, const std::string& excess) {
  std::string place(name(function));
  for (const ExpressionBody* const operand : operands)
    place += (operand == operands.front() ? "(" : ", ") + text_of(*operand);
  return op::refuse(kEvaluate, "the expression " + place + ") has " + excess).error();
}

template <class F>
std::shared_ptr<const ExpressionBody> applied(F function, std::initializer_list<const Expression*> operands) {
  auto body = std::make_shared<ExpressionBody>();
  std::vector<const ExpressionBody*> all;
  for (const Expression* const operand : operands) all.push_back(&operand->body());
  for (const ExpressionBody* const operand : all) {
    if (!operand->problem) continue;
    body->problem = operand->problem;
    return body;
  }
  Step step{
      .arity = static_cast<std::uint8_t>(all.size()), .function = static_cast<std::uint8_t>(function), .operands = {}};
  std::string excess;
  for (std::size_t i = 0; i < all.size() && excess.empty(); ++i) {
    step.operands[i] = take_in(*body, *all[i]);
    excess = excess_of(*body);
  }
  body->steps.push_back(step);
  if (excess.empty()) excess = excess_of(*body);
  if (!excess.empty()) {
    auto refused = std::make_shared<ExpressionBody>();
    refused->problem = too_large(function, all, excess);
    return refused;
  }
  body->result = Operand::of(From::step, body->steps.size() - 1);
  return body;
}

/// The shapes of all steps: the last one is that of the result.
Result<Shape> shape_of(std::string_view call, const ExpressionBody& body) {
  std::vector<Shape> shapes;
  const auto shape_of_operand = [&](Operand operand) {
    return operand.from() == From::input    ? body.inputs[operand.index()].shape()
           : operand.from() == From::number ? Shape()
                                            : shapes[operand.index()];
  };
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    Shape shape;
    std::string all;
    for (std::size_t j = 0; j < body.steps[i].arity; ++j) {
      const Shape next = shape_of_operand(body.steps[i].operands[j]);
      all += (j == 0 ? "" : " and ") + next.to_string();
      if (!broadcast_shapes(shape, next))
        return op::refuse(call, "in " + op::text_of(std::span(body.steps).first(i + 1), body.numbers) +
                                    ": the operands are " + all + "; their shapes must broadcast");
    }
    shapes.push_back(shape);
  }
  return shapes.back();
}

/// Whether the result is complex. Some functions take no complex numbers.
Result<bool> is_complex_result(std::string_view call, const ExpressionBody& body) {
  std::vector<bool> is_complex_step;
  const auto is_complex_operand = [&](Operand operand) -> bool {
    return operand.from() == From::input    ? is_complex(body.inputs[operand.index()].dtype())
           : operand.from() == From::number ? body.numbers[operand.index()].imag() != 0
                                            : is_complex_step[operand.index()];
  };
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    const Step& step = body.steps[i];
    const auto operands = std::span(step.operands).first(step.arity);
    const bool is_complex_here = std::ranges::any_of(operands, is_complex_operand);
    is_complex_step.push_back(is_complex_here);
    if (is_complex_here && !op::takes(step, DType::c128))
      return op::refuse_unsupported(call, "in " + op::text_of(std::span(body.steps).first(i + 1), body.numbers) +
                                              ": it takes no complex numbers");
  }
  return bool(is_complex_step.back());
}

/// Of which the last step is the result, also where the result is an array or a number.
ExpressionBody with_a_step(const ExpressionBody& body) {
  ExpressionBody copy = body;
  if (body.result.from() == From::step) return copy;
  Step identity;
  identity.operands[0] = body.result;
  copy.steps.push_back(identity);
  copy.result = Operand::of(From::step, 0);
  return copy;
}

Result<void> check_handles(std::string_view call, const ExpressionBody& body) {
  for (std::size_t i = 0; i < body.inputs.size(); ++i)
    if (!body.inputs[i])
      return op::refuse(call, "x" + std::to_string(i) + " is an empty handle: default-constructed or moved from");
  return {};
}

void set_program(const ExpressionBody& body, const Shape& shape, op::ExpressionProgram& program) {
  program.set(body.steps, body.numbers);
  program.inputs.reserve(body.inputs.size());
  for (const AnyArray& input : body.inputs)
    program.inputs.push_back({.access = op::Access::read, .view = repeated(input.view(), shape)});
}

}  // namespace

Expression::Expression(const AnyArray& array) {
  auto body = std::make_shared<ExpressionBody>();
  body->inputs.push_back(array);
  body->result = Operand::of(From::input, 0);
  body_ = std::move(body);
}

Expression::Expression(std::complex<double> number) {
  auto body = std::make_shared<ExpressionBody>();
  body->numbers.push_back(number);
  body->result = Operand::of(From::number, 0);
  body_ = std::move(body);
}

Expression Expression::of(Unary function, const Expression& a) { return Expression(applied(function, {&a})); }
Expression Expression::of(Binary function, const Expression& a, const Expression& b) {
  return Expression(applied(function, {&a, &b}));
}
Expression Expression::of(Ternary function, const Expression& a, const Expression& b, const Expression& c) {
  return Expression(applied(function, {&a, &b, &c}));
}

Result<Shape> detail::shape_of_expression(const Expression& expression) {
  const ExpressionBody& body = expression.body();
  if (body.problem) return fail(*body.problem);
  TROUPE_TRY(check_handles(kEvaluate, body));
  return shape_of(kEvaluate, body.result.from() == From::step ? body : with_a_step(body));
}

Result<op::Evaluate> detail::make_evaluate(const ExpressionBody& body, const AnyArray& out) {
  if (body.problem) return fail(*body.problem);
  if (body.result.from() != From::step) return make_evaluate(with_a_step(body), out);
  TROUPE_TRY(check_handles(kEvaluate, body));
  const Shape shape = TROUPE_TRY(shape_of(kEvaluate, body));
  if (TROUPE_TRY(is_complex_result(kEvaluate, body)) && !is_complex(out.dtype()))
    return op::refuse_unsupported(kEvaluate, text_of(body) + " is complex and out is " +
                                                 std::string(name(out.dtype())) + "; out must be complex, too");
  if (shape != out.shape() && !body.inputs.empty())
    return op::refuse(kEvaluate,
                      "out is " + out.shape().to_string() + "; " + text_of(body) + " makes " + shape.to_string());
  op::Evaluate op;
  set_program(body, out.shape(), op);
  op.out = out.view();
  return op;
}

Result<op::EvaluateReduce> detail::make_evaluate_reduce(Reduction function, const ExpressionBody& body,
                                                        const std::optional<Axes>& axes, const AnyArray& out) {
  const std::string_view call = name(function);
  if (body.problem) return fail(*body.problem);
  if (body.result.from() != From::step) return make_evaluate_reduce(function, with_a_step(body), axes, out);
  TROUPE_TRY(check_handles(call, body));
  const Shape shape = TROUPE_TRY(shape_of(call, body));
  const bool is_complex_here = TROUPE_TRY(is_complex_result(call, body));
  if (is_complex_here && function != Reduction::norm && !is_complex(out.dtype()))
    return op::refuse_unsupported(call, text_of(body) + " is complex and out is " + std::string(name(out.dtype())) +
                                            "; out must be complex, too");
  op::EvaluateReduce op;
  op.function = function;
  set_program(body, shape, op);
  op.out = TROUPE_TRY(with_axes(call, text_of(body), shape, axes, out));
  return op;
}

std::string Expression::to_string() const { return body_->problem ? body_->problem->to_string() : text_of(*body_); }

}  // namespace troupe::inline v0
