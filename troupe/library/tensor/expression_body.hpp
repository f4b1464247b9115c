// What an expression is made of: each of its arrays, numbers and steps once. Only for the library; users have
// operators.
#pragma once

#include <optional>
#include <vector>

#include "troupe/device/array.hpp"
#include "troupe/library/tensor/expression.hpp"
#include "troupe/library/tensor/tensor.hpp"
#include "troupe/op/expression.hpp"

namespace troupe::inline v0::detail {

struct ExpressionBody {
  std::vector<AnyArray> inputs;
  std::vector<std::complex<double>> numbers;
  std::vector<op::Step> steps;
  op::Operand result;
  /// It has grown beyond its limits, where: then the rest of it is empty.
  std::optional<Error> problem;
};

/// The shape of what it makes, by NumPy's rules; that of a number is empty.
Result<Shape> shape_of_expression(const Expression& expression);

/// The op that computes it. `invalid_argument` or `unsupported`, with the place in the expression, when its shapes or
/// types do not go together.
Result<op::Evaluate> make_evaluate(const ExpressionBody& body, const AnyArray& out);

/// The same for an expression that ends in a reduction of these axes, or of all.
Result<op::EvaluateReduce> make_evaluate_reduce(Reduction function, const ExpressionBody& body,
                                                const std::optional<Axes>& axes, const AnyArray& out);

}  // namespace troupe::inline v0::detail
