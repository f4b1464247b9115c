// An expression as CUDA C++, and what it is known by: its steps, its types and how its arrays lie. Not its numbers and
// its shapes, which are arguments of the kernel, so that one kernel serves them all.
#pragma once

#include <string>
#include <string_view>

#include "troupe/backend/cuda/kernels/group_axes.hpp"
#include "troupe/op/expression.hpp"

namespace troupe::cuda {

/// The name of the kernel in the source.
inline constexpr const char* kExpressionKernel = "troupe_expression";
/// What NVRTC is told besides.
inline constexpr std::string_view kExpressionFlags =
    "--std=c++20 --device-as-default-execution-space -diag-suppress=161,177,186";

/// How the arrays lie, as far as the kernel has code for it.
struct ExpressionLayout {
  /// All lie side by side, or are one element: then a group has a number, and that is all that a thread needs.
  bool is_plain = false;
  unsigned single = 0;  // bit i: input i is one element. Only where it is plain.

  friend bool operator==(const ExpressionLayout&, const ExpressionLayout&) = default;
};

/// The reduction that is computed first: a mean is a sum until the end.
constexpr Reduction reduced_by(Reduction function) noexcept {
  return function == Reduction::mean ? Reduction::sum : function;
}

/// How many elements a thread takes at a time: 16 bytes of the largest type.
int items_of(const op::Evaluate& op) noexcept;

/// By the ways of the inputs and, last, of the output. For one row of groups or several.
ExpressionLayout layout_of(const op::Evaluate& op, const GroupAxes<op::kMaxExpressionInputs + 1>& axes) noexcept;

/// What the kernel is known by, as bytes in place: expressions with the same key have the same source.
class ExpressionKey {
 public:
  ExpressionKey(const op::Evaluate& op, const ExpressionLayout& layout) noexcept;
  /// Of an expression that ends in a reduction, by groups of outputs or of terms.
  ExpressionKey(const op::EvaluateReduce& op, bool by_columns) noexcept;
  std::string_view bytes() const noexcept { return {bytes_, size_}; }

 private:
  void add_program(const op::ExpressionProgram& program) noexcept;

  static constexpr std::size_t kMaxBytes = 4 + op::kMaxExpressionInputs + op::kMaxExpressionSteps * sizeof(op::Step);
  char bytes_[kMaxBytes];
  std::size_t size_ = 0;
};

/// Needs an op that was checked.
std::string source_of(const op::Evaluate& op, const ExpressionLayout& layout);
std::string source_of(const op::EvaluateReduce& op, bool by_columns);

}  // namespace troupe::cuda
