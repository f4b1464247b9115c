// The shapes of results, for those who make them: one place for each rule. That of an expression is beside its body
// (troupe/library/tensor/expression_body.hpp). Not for users, although their scopes see it.
#pragma once

#include <optional>
#include <span>

#include "troupe/library/tensor/tensor.hpp"

#pragma GCC visibility push(default)
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
/// Of an einsum, also of one operand.
Result<Shape> shape_of_einsum(const Device& device, std::string_view text, std::span<const AnyArray* const> operands);

// The ops below say themselves what is wrong with their inputs, in their own words. So these rules give a shape for
// every input, and the right one for a good input.

/// Of matrices that are made of a matrix, or of a batch of matrices, with this shape.
struct MatrixShapes {
  explicit MatrixShapes(const Shape& shape);
  std::int64_t lesser() const noexcept { return rows < columns ? rows : columns; }
  Shape matrix(std::int64_t of_rows, std::int64_t of_columns) const;
  Shape vector(std::int64_t length) const;

  std::optional<std::int64_t> batch;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};
/// Of x in a x = b.
Shape shape_of_solution(const Shape& a, const Shape& b);
/// The same with another number of rows.
Shape with_rows(const Shape& shape, std::int64_t rows);
/// A batch of one.
Shape with_batch(const Shape& shape);
/// With another extent along the axis, which counts from the end when it is below 0; the same where it has no such
/// axis.
Shape with_extent(const Shape& shape, int axis, std::int64_t extent);
/// Without that axis.
Shape without_axis(const Shape& shape, int axis);
/// Of what `gather` makes of x by indices along the axis: a vector of them is for all rows alike.
Shape shape_of_gathered(const Shape& x, const Shape& indices, int axis);

}  // namespace troupe::inline v0::detail
#pragma GCC visibility pop
