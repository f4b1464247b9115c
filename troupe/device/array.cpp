#include "troupe/device/array.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "troupe/core/assert.hpp"
#include "troupe/device/array.hpp"
#include "troupe/device/block.hpp"
#include "troupe/device/vault.hpp"

namespace troupe::inline v0 {
namespace {

Unexpected invalid(std::string sentence) { return fail(ErrorKind::invalid_argument, std::move(sentence)); }

Unexpected empty_handle(const char* function) {
  return invalid(std::string(function) + ": the array is an empty handle: default-constructed or moved from");
}

std::string text(std::int64_t number) { return std::to_string(number); }

template <class PerDimension>
PerDimension without(const PerDimension& values, int dimension) {
  std::array<std::int64_t, kMaxRank> kept{};
  const auto end = std::copy(values.begin() + dimension + 1, values.end(),
                             std::copy(values.begin(), values.begin() + dimension, kept.begin()));
  return PerDimension(std::span<const std::int64_t>(kept.begin(), end));
}

/// Moves element [0, 0, ...] by `index` strides. A view without elements stays: it touches nothing, wherever it is.
void move_origin(op::View& view, std::int64_t index, std::int64_t stride) {
  if (op::element_count(view) == 0) return;
  view.address += static_cast<std::uint64_t>(index * stride * size_bytes(view.dtype));  // unsigned: wraps downwards
}

/// Puts the extent that gives `count` elements in the place of the -1 in `shape`. False when there is none.
bool infer_extent(Shape& shape, std::int64_t count) {
  const auto inferred = static_cast<int>(std::find(shape.begin(), shape.end(), -1) - shape.begin());
  shape[inferred] = 1;
  const Result<std::int64_t> others = element_count(shape);
  if (!others || *others == 0 || count % *others != 0) return false;
  shape[inferred] = count / *others;
  return true;
}

}  // namespace

AnyArray::AnyArray(detail::IntrusivePtr<detail::VaultBlock> block, const op::View& view)
    : block_(std::move(block)), view_(view) {
  const Result<op::Range> touched = op::range_of(view_);
  TROUPE_ASSERT(touched && (touched->empty() || block_->range().covers(*touched)), "a view lies inside its block");
}

AnyArray::AnyArray() noexcept = default;
AnyArray::AnyArray(DType dtype) noexcept { view_.dtype = dtype; }
AnyArray::AnyArray(const AnyArray& other) noexcept = default;
AnyArray& AnyArray::operator=(const AnyArray& other) noexcept = default;
AnyArray::AnyArray(AnyArray&& other) noexcept : block_(std::move(other.block_)), view_(other.view_) {
  other.clear_view();
}
AnyArray::~AnyArray() = default;

AnyArray& AnyArray::operator=(AnyArray&& other) noexcept {
  if (this == &other) return *this;
  block_ = std::move(other.block_);
  view_ = other.view_;
  other.clear_view();
  return *this;
}

Result<AnyArray> AnyArray::over(detail::IntrusivePtr<detail::VaultBlock> block, DType dtype, const Shape& shape) {
  if (!block) return invalid("an array needs a block of memory; there is none");
  const detail::RowMajor layout = TROUPE_TRY(detail::row_major(shape, dtype));
  if (static_cast<std::uint64_t>(layout.size_bytes) > block->size_bytes())
    return invalid("the shape " + shape.to_string() + " of " + std::string(name(dtype)) + " needs " +
                   text(layout.size_bytes) + " bytes; the block has " + std::to_string(block->size_bytes()));
  const op::View view{block->address(), dtype, shape, layout.strides};
  return AnyArray(std::move(block), view);
}

Result<void> AnyArray::allocate(detail::Vault& vault, const Shape& shape, Chunk chunk) {
  const Result<detail::RowMajor> layout = detail::row_major(shape, view_.dtype);
  if (!layout) return fail(layout.error());
  const auto bytes = static_cast<std::uint64_t>(layout->size_bytes);
  block_ = TROUPE_TRY(chunk == Chunk::shared ? vault.allocate(bytes) : vault.allocate_own_chunk(bytes));
  view_.address = block_->address();
  view_.shape = shape;
  view_.strides = layout->strides;
  return {};
}

bool AnyArray::is_sealed() const noexcept { return block_ && block_->is_sealed(); }

int AnyArray::device() const noexcept { return block_ ? block_->device() : -1; }

std::byte* AnyArray::visible_data() const noexcept { return block_->data() + (view_.address - block_->address()); }

op::Range AnyArray::range() const noexcept {
  if (!block_) return {};
  return *op::range_of(view_);  // has been checked
}

Content AnyArray::content() const noexcept {
  if (!block_ || block_->is_whole()) return Content::whole;
  if (!block_->is_tainted(range())) return block_->is_empty() ? Content::empty : Content::whole;
  return block_->is_unknown(range()) ? Content::unknown : Content::skipped;
}

Result<void> AnyArray::accept_skipped() const {
  if (!block_)
    return fail(ErrorKind::invalid_argument,
                "accept_skipped: the array is an empty handle: default-constructed or moved from");
  if (block_->accept_skipped(range())) return {};
  return fail(ErrorKind::buffer_tainted,
              "accept_skipped: an op that was writing the array was cut off or failed; write it whole");
}

Result<void> AnyArray::check_dtype(DType dtype) const {
  if (!block_) return empty_handle("a typed array");
  if (view_.dtype == dtype) return {};
  return invalid("the array is " + std::string(name(view_.dtype)) + "; it must be " + std::string(name(dtype)));
}

Result<void> AnyArray::check_visible(DType dtype) const {
  TROUPE_TRY(check_dtype(dtype));
  if (!is_contiguous())
    return invalid("the array is " + view_.shape.to_string() + " with strides " + view_.strides.to_string() +
                   "; it must be contiguous");
  if (element_count() > 0 && !block_->data())
    return invalid("the array is in memory of device " + text(device()) + " that the app cannot see; read it instead");
  return {};
}

Result<int> AnyArray::dimension_of(const char* function, int dimension) const {
  if (!block_) return empty_handle(function);
  if (const int counted = dimension < 0 ? dimension + rank() : dimension; 0 <= counted && counted < rank())
    return counted;
  return invalid(std::string(function) + ": the array is " + shape().to_string() + "; it has no dimension " +
                 text(dimension));
}

Result<AnyArray> AnyArray::slice(int dimension, std::int64_t begin, std::int64_t end, std::int64_t step) const {
  const int axis = TROUPE_TRY(dimension_of("slice", dimension));
  const std::int64_t extent = view_.shape[axis];
  if (step == 0) return invalid("slice: step is 0; it must not be 0");
  const std::int64_t first = begin < 0 ? begin + extent : begin;
  const std::int64_t last = end < 0 && step > 0 ? end + extent : end;           // downwards, -1 is before the first
  const bool inside = step > 0 ? 0 <= first && first <= last && last <= extent  //
                               : -1 <= last && last <= first && first < extent;
  if (!inside)
    return invalid("slice from " + text(begin) + " to " + text(end) + " with step " + text(step) +
                   " does not lie in dimension " + text(axis) + " of " + view_.shape.to_string());
  const auto length = static_cast<std::uint64_t>(step > 0 ? last - first : first - last);
  const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  const std::uint64_t count = length == 0 ? 0 : (length - 1) / stride + 1;
  op::View sliced = view_;
  sliced.shape[axis] = static_cast<std::int64_t>(count);
  if (count > 1) sliced.strides[axis] *= step;  // reaches no further than the dimension does, so it fits
  move_origin(sliced, first, view_.strides[axis]);
  return AnyArray(block_, sliced);
}

Result<AnyArray> AnyArray::select(int dimension, std::int64_t index) const {
  const int axis = TROUPE_TRY(dimension_of("select", dimension));
  const std::int64_t at = index < 0 ? index + view_.shape[axis] : index;
  if (at < 0 || at >= view_.shape[axis])
    return invalid("select: index is " + text(index) + "; dimension " + text(axis) + " of " + view_.shape.to_string() +
                   " has " + text(view_.shape[axis]) + " indices, counted from 0");
  op::View selected{view_.address, view_.dtype, without(view_.shape, axis), without(view_.strides, axis)};
  move_origin(selected, at, view_.strides[axis]);
  return AnyArray(block_, selected);
}

Result<AnyArray> AnyArray::reshape(const Shape& shape) const {
  if (!block_) return empty_handle("reshape");
  if (!is_contiguous())
    return invalid("reshape: the array is " + view_.shape.to_string() + " with strides " + view_.strides.to_string() +
                   "; it must be contiguous: copy it first");
  const std::int64_t count = element_count();
  const std::string sentence = "reshape of " + view_.shape.to_string() + " to " + shape.to_string() + ": ";
  Shape whole = shape;
  const auto inferred = std::count(shape.begin(), shape.end(), -1);
  if (inferred > 1) return invalid(sentence + "only one extent may be -1");
  if (inferred == 1 && !infer_extent(whole, count))
    return invalid(sentence + "no extent in place of -1 gives as many elements");
  if (TROUPE_TRY(troupe::element_count(whole)) != count) return invalid(sentence + "both must have as many elements");
  return AnyArray(block_, op::View{view_.address, view_.dtype, whole, contiguous_strides(whole)});
}

AnyArray AnyArray::transpose() const {
  AnyArray transposed = *this;
  for (int i = 0; i < rank(); ++i) {
    transposed.view_.shape[i] = view_.shape[rank() - 1 - i];
    transposed.view_.strides[i] = view_.strides[rank() - 1 - i];
  }
  return transposed;
}

Result<AnyArray> AnyArray::permute(std::span<const int> order) const {
  if (!block_) return empty_handle("permute");
  op::View permuted = view_;
  unsigned seen = 0;
  for (std::size_t i = 0; i < order.size() && i < static_cast<std::size_t>(rank()); ++i) {
    const int from = order[i] < 0 ? order[i] + rank() : order[i];
    if (from < 0 || from >= rank()) break;
    permuted.shape[static_cast<int>(i)] = view_.shape[from];
    permuted.strides[static_cast<int>(i)] = view_.strides[from];
    seen |= 1U << from;
  }
  if (order.size() != static_cast<std::size_t>(rank()) || seen != (1U << rank()) - 1)
    return invalid("permute of " + view_.shape.to_string() + ": the order must name each of the " + text(rank()) +
                   " dimensions once");
  return AnyArray(block_, permuted);
}

Result<AnyArray> AnyArray::broadcast(const Shape& shape) const {
  if (!block_) return empty_handle("broadcast");
  TROUPE_TRY(troupe::size_bytes(shape, view_.dtype));
  const int added = shape.rank() - rank();
  op::View repeated{view_.address, view_.dtype, shape, contiguous_strides(shape)};
  bool fits = added >= 0;
  for (int i = 0; i < shape.rank() && fits; ++i) {
    const std::int64_t extent = i < added ? 1 : view_.shape[i - added];
    const std::int64_t stride = i < added ? 0 : view_.strides[i - added];
    fits = extent == 1 || extent == shape[i];
    repeated.strides[i] = extent == shape[i] ? stride : 0;
  }
  if (!fits)
    return invalid("broadcast of " + view_.shape.to_string() + " to " + shape.to_string() +
                   ": counted from the last dimension, extents must be equal or 1");
  return AnyArray(block_, repeated);
}

void detail::index_is_outside(std::int64_t index, std::int64_t count) noexcept {
  std::fprintf(stderr, "troupe: index %lld of %lld elements, counted from 0\n", static_cast<long long>(index),
               static_cast<long long>(count));
  std::abort();
}

}  // namespace troupe::inline v0
