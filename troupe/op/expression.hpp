// An expression of elements as data: a short program of steps, each a function of inputs, numbers and earlier steps.
// One op computes all of it in one pass over memory. The last step is the result.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "troupe/core/kinds.hpp"
#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kTensorFamily{8};

inline constexpr std::size_t kMaxExpressionInputs = 8;
inline constexpr std::size_t kMaxExpressionNumbers = 32;
inline constexpr std::size_t kMaxExpressionSteps = 64;

/// What a step is applied to, as one byte.
struct Operand {
  enum class From : std::uint8_t { input, number, step };
  std::uint8_t code = 0;

  static constexpr Operand of(From from, std::size_t index) noexcept {
    return {static_cast<std::uint8_t>(static_cast<unsigned>(from) << 6 | index)};
  }
  constexpr unsigned from_number() const noexcept { return code >> 6; }
  constexpr From from() const noexcept { return static_cast<From>(from_number()); }
  constexpr std::size_t index() const noexcept { return code & 0x3f; }
  friend constexpr bool operator==(Operand, Operand) = default;
};

/// A function of one, two or three operands: `Unary`, `Binary` or `Ternary`. The operands that it does not have are 0.
struct Step {
  std::uint8_t arity = 1;
  std::uint8_t function = 0;
  Operand operands[3];
  friend constexpr bool operator==(const Step&, const Step&) = default;
};
static_assert(std::is_trivially_copyable_v<Step> && sizeof(Step) == 5);

/// The steps, and what they are done to. Inputs are all of one shape, by strides of 0 where they are repeated.
struct ExpressionProgram {
  std::vector<std::byte> steps;    // of `Step`s
  std::vector<std::byte> numbers;  // of complex f64
  std::vector<Argument> inputs;

  std::size_t step_count() const noexcept { return steps.size() / sizeof(Step); }
  Step step(std::size_t i) const noexcept;
  std::size_t number_count() const noexcept { return numbers.size() / sizeof(std::complex<double>); }
  std::complex<double> number(std::size_t i) const noexcept;
  void set(std::span<const Step> all_steps, std::span<const std::complex<double>> all_numbers);
  /// Whether an input or a number is.
  bool is_complex_anywhere() const noexcept;
  /// The type of the numbers that it is computed with for that output: f32 or f64, or complex.
  DType computed_for(DType out, bool as_complex) const noexcept;
  /// So many elements cost so much.
  std::uint64_t work_for(const Shape& shape) const noexcept;

  friend bool operator==(const ExpressionProgram&, const ExpressionProgram&) = default;
};

/// out = the last step. Inputs have the shape of out, by strides of 0 where they are repeated, and any types that are
/// computed together: real ones, or real and complex ones for a complex out. Everything is computed in f32, or in f64
/// where the promotion of all types is f64 or c128, and rounded once. A bool out says whether the result is not 0.
struct Evaluate : ExpressionProgram {
  static constexpr Kind kKind = kind(kTensorFamily, 5);
  static constexpr std::string_view kName = "tensor.evaluate";
  static constexpr bool kTakesInPlace = true;
  View out;

  /// The type of the numbers that it is computed with: f32, f64, c64 or c128.
  DType computed_in() const noexcept { return computed_for(out.dtype, is_complex(out.dtype)); }
  std::uint64_t work() const noexcept { return work_for(out.shape); }

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("steps", self.steps);
    v.field("numbers", self.numbers);
    v.arguments("arrays", self.inputs);
    v.writes("out", self.out);
  }
  friend bool operator==(const Evaluate&, const Evaluate&) = default;
};
Result<void> check(const Evaluate& op);

/// out = what the last step is reduced to. Inputs are of one shape, and out of its rank: where the extents differ,
/// out's is 1, and the expression is reduced along that axis. Elements are computed as those of `Evaluate`, put
/// together in f64 or c128, and rounded once. Complex ones make complex numbers, but their norm is real.
struct EvaluateReduce : ExpressionProgram {
  static constexpr Kind kKind = kind(kTensorFamily, 6);
  static constexpr std::string_view kName = "tensor.evaluate_reduce";
  Reduction function{};
  View out;

  /// Of what is reduced. Needs an input.
  const Shape& shape() const noexcept { return inputs.front().view.shape; }
  /// The type of the elements that are reduced: f32, f64, c64 or c128.
  DType computed_in() const noexcept { return computed_for(out.dtype, is_complex(out.dtype) || is_complex_anywhere()); }
  std::uint64_t work() const noexcept { return inputs.empty() ? 0 : work_for(shape()); }

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("function", self.function);
    v.field("steps", self.steps);
    v.field("numbers", self.numbers);
    v.arguments("arrays", self.inputs);
    v.writes("out", self.out);
  }
  friend bool operator==(const EvaluateReduce&, const EvaluateReduce&) = default;
};
Result<void> check(const EvaluateReduce& op);

/// Whether numbers of a type have the function. Needs a step that can be.
bool takes(const Step& step, DType dtype) noexcept;

/// The last of the steps as it would be written: "tanh(x0 * x1 + 2)". Needs steps that can be.
std::string text_of(std::span<const Step> steps, std::span<const std::complex<double>> numbers);
/// The same of a program that was checked.
std::string text_of(const ExpressionProgram& program);

}  // namespace troupe::inline v0::op
