#include "troupe/op/expression.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "troupe/op/check.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::inline v0::op {
namespace {

using Complex = std::complex<double>;

std::string_view name_of_function(const Step& step) noexcept {
  if (step.arity == 1) return name(static_cast<Unary>(step.function));
  if (step.arity == 2) return name(static_cast<Binary>(step.function));
  return name(static_cast<Ternary>(step.function));
}

bool has_function(const Step& step) noexcept {
  const auto last = step.arity == 1   ? static_cast<unsigned>(Unary::kLast)
                    : step.arity == 2 ? static_cast<unsigned>(Binary::kLast)
                                      : static_cast<unsigned>(Ternary::kLast);
  return step.function <= last;
}

// ---- text ----

std::string number_text(double number) {
  std::array<char, 32> digits;
  const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return problem == std::errc() ? std::string(digits.data(), end) : "?";
}
std::string number_text(Complex number) {
  if (number.imag() == 0) return number_text(number.real());
  return "(" + number_text(number.real()) + (number.imag() < 0 ? " - " : " + ") + number_text(std::abs(number.imag())) +
         "i)";
}

/// How tightly the text of a step holds together: a sum, a product, or anything else.
int tightness(const Step& step) noexcept {
  if (step.arity != 2) return 2;
  switch (static_cast<Binary>(step.function)) {
    case Binary::add:
    case Binary::sub: return 0;
    case Binary::mul:
    case Binary::div: return 1;
    default: return 2;
  }
}

class Text {
 public:
  Text(std::span<const Step> steps, std::span<const Complex> numbers) noexcept : steps_(steps), numbers_(numbers) {}

  std::string of(Operand operand) const {
    if (operand.from() == Operand::From::input) return "x" + std::to_string(operand.index());
    if (operand.from() == Operand::From::number) return number_text(numbers_[operand.index()]);
    return of(steps_[operand.index()]);
  }
  std::string of(const Step& step) const {
    if (++written_ > kMostWritten) return "...";
    const int mine = tightness(step);
    if (mine == 2) {
      std::string text(name_of_function(step));
      for (std::size_t i = 0; i < step.arity; ++i) text += (i == 0 ? "(" : ", ") + of(step.operands[i]);
      return text + ")";
    }
    const auto function = static_cast<Binary>(step.function);
    const char* const sign = function == Binary::add   ? " + "
                             : function == Binary::sub ? " - "
                             : function == Binary::mul ? " * "
                                                       : " / ";
    const bool turns = function == Binary::sub || function == Binary::div;  // a - (b - c) is not a - b - c
    return in_place(step.operands[0], mine) + sign + in_place(step.operands[1], mine + (turns ? 1 : 0));
  }

 private:
  /// A step that is used often is written as often, and that may be 2^64 times.
  static constexpr int kMostWritten = 64;

  std::string in_place(Operand operand, int at_least) const {
    const bool is_loose = operand.from() == Operand::From::step && tightness(steps_[operand.index()]) < at_least;
    return is_loose ? "(" + of(operand) + ")" : of(operand);
  }

  std::span<const Step> steps_;
  std::span<const Complex> numbers_;
  mutable int written_ = 0;  // steps
};

// ---- checks ----

/// Checks a program for the call that it is part of.
class Checked {
 public:
  Checked(std::string_view call, const ExpressionProgram& program) noexcept : call_(call), program_(program) {}

  Result<void> steps() const {
    const std::size_t count = program_.step_count();
    if (program_.steps.size() % sizeof(Step) != 0 || count == 0 || count > kMaxExpressionSteps)
      return refuse(call_, "there are " + std::to_string(program_.steps.size()) +
                               " bytes of steps; there must be 1 to " + std::to_string(kMaxExpressionSteps) +
                               " steps of " + std::to_string(sizeof(Step)));
    if (program_.numbers.size() % sizeof(Complex) != 0 || program_.number_count() > kMaxExpressionNumbers)
      return refuse(call_, "there are " + std::to_string(program_.numbers.size()) + " bytes of numbers; there may be " +
                               std::to_string(kMaxExpressionNumbers) + " numbers of " +
                               std::to_string(sizeof(Complex)));
    for (std::size_t i = 0; i < count; ++i) {
      const Step step = program_.step(i);
      if (step.arity < 1 || step.arity > 3 || !has_function(step))
        return refuse(call_, "step " + std::to_string(i) + " is function " + std::to_string(step.function) + " of " +
                                 std::to_string(step.arity) + " operands; there is none");
      for (std::size_t j = 0; j < 3; ++j) {
        if (j < step.arity)
          TROUPE_TRY(operand(i, j));
        else if (step.operands[j] != Operand{})
          return refuse(call_, "step " + std::to_string(i) + " has more operands than its function");
      }
    }
    return {};
  }

  Result<void> inputs(const Shape& shape) const {
    if (program_.inputs.empty() || program_.inputs.size() > kMaxExpressionInputs)
      return refuse(call_, "there are " + std::to_string(program_.inputs.size()) +
                               " arrays; an expression takes 1 to " + std::to_string(kMaxExpressionInputs));
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      const Argument& input = program_.inputs[i];
      const std::string called = "x" + std::to_string(i);
      if (input.access != Access::read) return refuse(call_, called + " is written; an expression reads its arrays");
      if (is_floating(input.view.dtype) && size_bytes(input.view.dtype) == 1)
        return refuse_unsupported(
            call_, called + " is " + std::string(name(input.view.dtype)) + "; expressions have no floats of 8 bits");
      TROUPE_TRY(check_shape(call_, {called, input.view}, shape));
    }
    return {};
  }

  /// That complex numbers are nowhere; `why` says what is real.
  Result<void> is_real(const std::string& why) const {
    for (std::size_t i = 0; i < program_.inputs.size(); ++i)
      if (const DType type = program_.inputs[i].view.dtype; is_complex(type))
        return refuse_unsupported(call_, "x" + std::to_string(i) + " is " + std::string(name(type)) + " and " + why +
                                             "; out must be complex, too");
    for (std::size_t i = 0; i < program_.number_count(); ++i)
      if (program_.number(i).imag() != 0)
        return refuse(call_, "the number " + number_text(program_.number(i)) + " is complex, and " + why);
    return {};
  }

  /// That numbers of that type have all functions; `why` says why they are of it.
  Result<void> functions(DType computed_in, const std::string& why) const {
    for (std::size_t i = 0; i < program_.step_count(); ++i) {
      const Step step = program_.step(i);
      if (!takes(step, DType::f32))
        return refuse_unsupported(call_,
                                  std::string(name_of_function(step)) +
                                      " takes integers and bool only, and expressions compute in floating point");
      if (is_complex(computed_in) && !takes(step, computed_in))
        return refuse_unsupported(call_, std::string(name_of_function(step)) + " takes no complex numbers, and " + why);
    }
    return {};
  }

 private:
  Result<void> operand(std::size_t at, std::size_t which) const {
    const Operand operand = program_.step(at).operands[which];
    const auto refuse_it = [&](const std::string& why) {
      return refuse(call_, "operand " + std::to_string(which) + " of step " + std::to_string(at) + " is " + why);
    };
    if (operand.from_number() > 2) return refuse_it("nothing: its code is " + std::to_string(operand.code));
    const bool is_input = operand.from() == Operand::From::input;
    const bool is_number = operand.from() == Operand::From::number;
    const std::size_t limit = is_input ? program_.inputs.size() : is_number ? program_.number_count() : at;
    const char* const what = is_input ? "input " : is_number ? "number " : "step ";
    if (operand.index() < limit) return {};
    return refuse_it(what + std::to_string(operand.index()) + "; there are " + std::to_string(limit) + " before it");
  }

  std::string_view call_;
  const ExpressionProgram& program_;
};

}  // namespace

bool takes(const Step& step, DType dtype) noexcept {
  if (step.arity == 1) return takes(static_cast<Unary>(step.function), dtype);
  if (step.arity == 2) return takes(static_cast<Binary>(step.function), dtype);
  return takes(static_cast<Ternary>(step.function), dtype);
}

Step ExpressionProgram::step(std::size_t i) const noexcept {
  Step step;
  std::memcpy(&step, steps.data() + i * sizeof step, sizeof step);
  return step;
}

std::complex<double> ExpressionProgram::number(std::size_t i) const noexcept {
  Complex number;
  std::memcpy(&number, numbers.data() + i * sizeof number, sizeof number);
  return number;
}

void ExpressionProgram::set(std::span<const Step> all_steps, std::span<const Complex> all_numbers) {
  const auto bytes = [](const auto& all) { return std::as_bytes(all); };
  steps.assign(bytes(all_steps).begin(), bytes(all_steps).end());
  numbers.assign(bytes(all_numbers).begin(), bytes(all_numbers).end());
}

bool ExpressionProgram::is_complex_anywhere() const noexcept {
  for (const Argument& input : inputs)
    if (is_complex(input.view.dtype)) return true;
  for (std::size_t i = 0; i < number_count(); ++i)
    if (number(i).imag() != 0) return true;
  return false;
}

DType ExpressionProgram::computed_for(DType out, bool as_complex) const noexcept {
  DType all = promoted(out, DType::f16);
  for (const Argument& input : inputs) all = promoted(all, promoted(input.view.dtype, DType::f16));
  const bool is_wide = detail::real_type(all) == DType::f64;
  if (as_complex) return is_wide ? DType::c128 : DType::c64;
  return is_wide ? DType::f64 : DType::f32;
}

std::uint64_t ExpressionProgram::work_for(const Shape& shape) const noexcept {
  std::uint64_t work = step_count() + inputs.size();
  bool is_huge = false;
  for (const std::int64_t extent : shape) is_huge |= __builtin_mul_overflow(work, std::uint64_t(extent), &work);
  return is_huge ? ~std::uint64_t{0} : work;
}

Result<void> check(const Evaluate& op) {
  const Checked checked("evaluate", op);
  TROUPE_TRY(checked.steps());
  TROUPE_TRY(
      check_type_is_one_of("evaluate", {"out", op.out},
                           {DType::f32, DType::f64, DType::f16, DType::bf16, DType::c64, DType::c128, DType::boolean}));
  TROUPE_TRY(checked.inputs(op.out.shape));
  const std::string out_is = "out is " + std::string(name(op.out.dtype));
  if (!is_complex(op.out.dtype)) TROUPE_TRY(checked.is_real(out_is));
  return checked.functions(op.computed_in(), out_is);
}

Result<void> check(const EvaluateReduce& op) {
  const std::string_view call = name(op.function);
  const Checked checked(call, op);
  TROUPE_TRY(checked.steps());
  TROUPE_TRY(check_type_is_one_of(call, {"out", op.out},
                                  {DType::f32, DType::f64, DType::f16, DType::bf16, DType::c64, DType::c128}));
  TROUPE_TRY(checked.inputs(op.inputs.empty() ? Shape() : op.shape()));
  const std::string out_is = "out is " + std::string(name(op.out.dtype));
  const bool is_norm = op.function == Reduction::norm;
  if (!is_complex(op.out.dtype) && !is_norm) TROUPE_TRY(checked.is_real(out_is));
  const DType computed_in = op.computed_in();
  if (!takes(op.function, computed_in))
    return refuse_unsupported(call, "expressions of " + std::string(name(computed_in)) + " have none");
  if (is_norm && is_complex(computed_in) && op.out.dtype != DType::f32 && op.out.dtype != DType::f64)
    return refuse(call, out_is + "; the norm of complex numbers is f32 or f64");
  TROUPE_TRY(checked.functions(computed_in, is_complex(op.out.dtype) ? out_is : "there are some"));
  const Shape& shape = op.shape();
  bool fits = shape.rank() == op.out.shape.rank();
  for (int i = 0; fits && i < shape.rank(); ++i) fits = op.out.shape[i] == shape[i] || op.out.shape[i] == 1;
  if (!fits)
    return refuse(call, "the expression is " + shape.to_string() + " and out is " + op.out.shape.to_string() +
                            "; each extent of out must be that of the expression, or 1 where it is reduced");
  const bool has_none =
      op.function == Reduction::min || op.function == Reduction::max || op.function == Reduction::mean;
  if (has_none && element_count(op.inputs.front().view) == 0 && element_count(op.out) != 0)
    return refuse(call, "the expression is " + shape.to_string() + "; it must have at least one element");
  return {};
}

std::string text_of(std::span<const Step> steps, std::span<const Complex> numbers) {
  return Text(steps, numbers).of(steps.back());
}

std::string text_of(const ExpressionProgram& program) {
  std::vector<Step> steps(program.step_count());
  std::vector<Complex> numbers(program.number_count());
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = program.step(i);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = program.number(i);
  return text_of(steps, numbers);
}

}  // namespace troupe::inline v0::op
