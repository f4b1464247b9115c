#include "troupe/core/shape.hpp"

namespace troupe::inline v0 {
namespace {

Unexpected invalid(const Shape& shape, const std::string& what) {
  return fail(ErrorKind::invalid_argument, "the shape " + shape.to_string() + ' ' + what);
}

Strides zeros(int rank) {
  constexpr std::array<std::int64_t, kMaxRank> kZeros{};
  return Strides(std::span<const std::int64_t>(kZeros).first(static_cast<std::size_t>(rank)));
}

}  // namespace

namespace detail {

template <class Tag>
std::string PerDimension<Tag>::to_string() const {
  std::string text = "[";
  for (const std::int64_t value : *this) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(value);
  }
  return text + (too_long_ ? ", ...]" : "]");
}

template class PerDimension<ExtentTag>;
template class PerDimension<StrideTag>;

}  // namespace detail

Result<Shape> Shape::make(std::span<const std::int64_t> extents) {
  const Shape shape(extents);
  TROUPE_TRY(check(shape));
  return shape;
}

Result<void> check(const Shape& shape) {
  if (shape.too_long())
    return invalid(shape, "has too many dimensions; at most " + std::to_string(kMaxRank) + " are possible");
  std::int64_t product = 1;
  bool overflow = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return invalid(shape, "has a negative extent; extents must be 0 or more");
    overflow |= __builtin_mul_overflow(product, std::max<std::int64_t>(extent, 1), &product);
  }
  if (overflow) return invalid(shape, "has more elements than 63 bits can count");
  return {};
}

Result<std::int64_t> element_count(const Shape& shape) {
  TROUPE_TRY(check(shape));
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

Result<std::int64_t> size_bytes(const Shape& shape, DType dtype) {
  const std::int64_t count = TROUPE_TRY(element_count(shape));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, size_bytes(dtype), &bytes)) {
    return invalid(shape, "of " + std::string(name(dtype)) + " has more bytes than 63 bits can count");
  }
  return bytes;
}

namespace detail {

Result<RowMajor> row_major(const Shape& shape, DType dtype) {
  Result<RowMajor> layout(RowMajor{.strides = zeros(shape.rank())});  // made where the caller wants it
  std::int64_t count = 1;
  bool is_empty = false;
  bool is_invalid = shape.too_long();
  for (int i = shape.rank() - 1; i >= 0; --i) {
    const std::int64_t extent = shape[i];
    layout->strides[i] = count;
    is_empty |= extent == 0;
    is_invalid |= extent < 0 || __builtin_mul_overflow(count, std::max<std::int64_t>(extent, 1), &count);
  }
  is_invalid |= __builtin_mul_overflow(is_empty ? 0 : count, size_bytes(dtype), &layout->size_bytes);
  if (is_invalid) layout = fail(size_bytes(shape, dtype).error());  // says why
  return layout;
}

}  // namespace detail

Strides contiguous_strides(const Shape& shape) {
  Strides strides = zeros(shape.rank());
  if (!check(shape)) return strides;
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

bool is_contiguous(const Shape& shape, const Strides& strides) {
  if (!check(shape) || strides.too_long() || strides.rank() != shape.rank()) return false;
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  std::int64_t dense = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (strides[i] != dense) return false;
    dense *= shape[i];
  }
  return true;
}

Result<OffsetSpan> span_of(const Shape& shape, const Strides& strides) {
  const std::int64_t count = TROUPE_TRY(element_count(shape));
  if (strides.too_long() || strides.rank() != shape.rank()) {
    return invalid(shape, "has the strides " + strides.to_string() + "; it needs one for each extent");
  }
  if (count == 0) return OffsetSpan{};
  OffsetSpan span{0, 0};
  bool overflow = false;
  for (int i = 0; i < shape.rank(); ++i) {
    std::int64_t& end = strides[i] < 0 ? span.lowest : span.highest;
    std::int64_t reach = 0;
    overflow |= __builtin_mul_overflow(shape[i] - 1, strides[i], &reach);
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  std::int64_t length = 0;
  overflow |= __builtin_sub_overflow(span.highest, span.lowest, &length);
  overflow |= __builtin_add_overflow(length, 1, &length);
  if (overflow)
    return invalid(shape, "with the strides " + strides.to_string() + " reaches further than 63 bits can count");
  return span;
}

}  // namespace troupe::inline v0
