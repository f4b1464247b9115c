// The shapes of results, for those who make them: one place for each rule. That of an expression is beside its body
// (troupe/library/tensor/expression_body.hpp). Only for the library.
#pragma once

#include <optional>
#include <span>

#include "troupe/library/tensor/tensor.hpp"

namespace troupe::inline v0::detail {

/// Of a product by NumPy's rules: axes in front of matrices are batches, which broadcast.
Result<Shape> shape_of_product(const Shape& a, const Shape& b);
/// What is left when these axes, counted from the start, are reduced.
Shape shape_of_reduction(const Shape& shape, const Axes& axes, bool keep_axes);
/// Of arrays one behind the other along the axis, which is counted from the start.
Result<Shape> shape_of_concatenation(std::span<const AnyArray> parts, int axis);
/// Of half the spectrum of real numbers: along the last of the axes, n / 2 + 1.
Result<Shape> shape_of_half_spectrum(const Shape& whole, const Axes& axes);
/// Of the real numbers whose half of a spectrum it is: along the last of the axes, `length`, or 2 (n - 1).
Result<Shape> shape_of_real(const Shape& half, const Axes& axes, std::optional<std::int64_t> length);

}  // namespace troupe::inline v0::detail
