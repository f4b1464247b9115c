#include "troupe/library/scope/inferred.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "troupe/device/make_call.hpp"
#include "troupe/library/tensor/broadcast.hpp"
#include "troupe/library/tensor/einsum.hpp"
#include "troupe/library/tensor/expression_body.hpp"
#include "troupe/library/tensor/reduced_axes.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/fft.hpp"

namespace troupe::inline v0::detail {

Result<Shape> shape_of_product(const Shape& a, const Shape& b) {
  constexpr std::string_view kCall = "matmul";
  const std::string both = a.to_string() + " and " + b.to_string();
  if (a.rank() == 0 || b.rank() == 0 || (a.rank() == 1 && b.rank() == 1))
    return op::refuse(kCall, "a and b are " + both + "; at least one must be a matrix");
  const std::int64_t depth = a[a.rank() - 1];
  if (depth != b[b.rank() == 1 ? 0 : b.rank() - 2])
    return op::refuse(kCall, "a and b are " + both + "; a has " + std::to_string(depth) + " columns and b " +
                                 std::to_string(b[b.rank() == 1 ? 0 : b.rank() - 2]) + " rows");
  if ((a.rank() == 1 && b.rank() > 2) || (b.rank() == 1 && a.rank() > 2))
    return op::refuse(kCall, "a and b are " + both + "; a vector meets one matrix, not a batch");
  const auto batch_of = [](const Shape& shape) {
    return Shape(std::vector<std::int64_t>(shape.begin(), shape.begin() + std::max(0, shape.rank() - 2)));
  };
  Shape batch = batch_of(a);
  if (!broadcast_shapes(batch, batch_of(b)))
    return op::refuse(kCall, "a and b are " + both + "; their batches do not go together");
  std::vector<std::int64_t> extents(batch.begin(), batch.end());
  if (a.rank() > 1) extents.push_back(a[a.rank() - 2]);
  if (b.rank() > 1) extents.push_back(b[b.rank() - 1]);
  return Shape(extents);
}

Shape shape_of_reduction(const Shape& shape, const Axes& axes, bool keep_axes) {
  std::vector<std::int64_t> extents;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end())
      extents.push_back(shape[axis]);
    else if (keep_axes)
      extents.push_back(1);
  return Shape(extents);
}

Result<Shape> shape_of_concatenation(std::span<const AnyArray> parts, int axis) {
  constexpr std::string_view kCall = "concat";
  if (parts.empty()) return op::refuse(kCall, "there is no array");
  Shape whole = parts.front().shape();
  if (axis < 0 || axis >= whole.rank())
    return op::refuse(kCall, "the arrays are " + whole.to_string() + "; they have no axis " + std::to_string(axis));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    Shape expected = parts[i].shape();
    if (expected.rank() == whole.rank()) expected[axis] = whole[axis];
    if (expected != whole)
      return op::refuse(kCall, "array " + std::to_string(i) + " is " + parts[i].shape().to_string() +
                                   " and array 0 is " + parts.front().shape().to_string() + "; all but axis " +
                                   std::to_string(axis) + " must be equal");
    whole[axis] += parts[i].shape()[axis];
  }
  return whole;
}

namespace {

/// The axis along which a real transform has half a spectrum, from the start.
Result<int> last_axis(std::string_view call, const Shape& shape, const Axes& axes) {
  const Axes counted = TROUPE_TRY(counted_axes(call, "x", shape, axes));
  if (counted.size() == 0) return op::refuse(call, "no axis is given");
  return *(counted.end() - 1);
}

}  // namespace

Result<Shape> shape_of_half_spectrum(const Shape& whole, const Axes& axes) {
  const int last = TROUPE_TRY(last_axis("rfft", whole, axes));
  Shape half = whole;
  half[last] = op::half_of(half[last]);
  return half;
}

Result<Shape> shape_of_real(const Shape& half, const Axes& axes, std::optional<std::int64_t> length) {
  constexpr std::string_view kCall = "irfft";
  const int last = TROUPE_TRY(last_axis(kCall, half, axes));
  if (half[last] > op::kMaxFftLength)
    return op::refuse_unsupported(kCall, "x is " + half.to_string() + ", which is too long");
  const std::int64_t along = length.value_or(2 * (half[last] - 1));
  if (along < 1)
    return op::refuse(kCall, "the result would have " + std::to_string(along) +
                                 " elements along its last axis; say with length how many it has");
  if (op::half_of(along) != half[last])
    return op::refuse(kCall, "x is " + half.to_string() + " and length is " + std::to_string(along) +
                                 "; half a spectrum of it has " + std::to_string(op::half_of(along)) + " numbers");
  Shape whole = half;
  whole[last] = along;
  return whole;
}

Result<Shape> shape_of_einsum(const Device& device, std::string_view text, std::span<const AnyArray* const> operands) {
  std::vector<const op::View*> views;
  for (const AnyArray* const array : operands) {
    TROUPE_TRY(DeviceParts::check(device, "einsum", "operand " + std::to_string(views.size() + 1), *array));
    views.push_back(&array->view());
  }
  const Einsum einsum = TROUPE_TRY(parse_einsum(text, views.size()));
  TROUPE_TRY(label_inputs(einsum, views));
  return output_shape(einsum, views);
}

MatrixShapes::MatrixShapes(const Shape& shape) {
  if (shape.rank() == 3) batch = shape[0];
  if (shape.rank() > 1) rows = shape[shape.rank() - 2];
  if (shape.rank() > 0) columns = shape[shape.rank() - 1];
}

Shape MatrixShapes::matrix(std::int64_t of_rows, std::int64_t of_columns) const {
  return batch ? Shape{*batch, of_rows, of_columns} : Shape{of_rows, of_columns};
}

Shape MatrixShapes::vector(std::int64_t length) const { return batch ? Shape{*batch, length} : Shape{length}; }

Shape shape_of_solution(const Shape& a, const Shape& b) {
  const MatrixShapes matrices(a);
  const int axis = matrices.batch ? 1 : 0;
  Shape x = b;
  if (axis < x.rank()) x[axis] = matrices.columns;
  return x;
}

Shape with_rows(const Shape& shape, std::int64_t rows) {
  Shape other = shape;
  if (other.rank() > 0) other[0] = rows;
  return other;
}

Shape with_batch(const Shape& shape) {
  std::vector<std::int64_t> extents(shape.begin(), shape.end());
  extents.insert(extents.begin(), 1);
  return Shape(extents);
}

Shape with_extent(const Shape& shape, int axis, std::int64_t extent) {
  const int counted = axis < 0 ? axis + shape.rank() : axis;
  Shape other = shape;
  if (counted >= 0 && counted < shape.rank()) other[counted] = extent;
  return other;
}

Shape without_axis(const Shape& shape, int axis) {
  const int counted = axis < 0 ? axis + shape.rank() : axis;
  std::array<std::int64_t, kMaxRank> kept{};
  std::size_t count = 0;
  for (int i = 0; i < shape.rank(); ++i)
    if (i != counted) kept[count++] = shape[i];
  return Shape(std::span(kept).first(count));
}

Shape shape_of_gathered(const Shape& x, const Shape& indices, int axis) {
  return indices.rank() == 1 ? with_extent(x, axis, indices[0]) : indices;
}

}  // namespace troupe::inline v0::detail
