#include "troupe/op/view.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

namespace troupe::inline v0::op {

namespace {

/// In one go over the dimensions; none where something is unusual or wrong, which `footprint_of` then finds out.
std::optional<Footprint> usual_footprint_of(const View& view) noexcept {
  const int rank = view.shape.rank();
  if (chunk_of(view.address) >= kMaxChunks || view.shape.too_long() || view.strides.rank() != rank) return std::nullopt;
  const std::int64_t* const extents = view.shape.begin();
  const std::int64_t* const strides = view.strides.begin();
  std::int64_t count = 1;
  std::int64_t last = 0;  // the last element, counted from the first
  bool is_row_major = true;
  for (int i = rank - 1; i >= 0; --i) {
    std::int64_t further = 0;
    if (extents[i] <= 0 || strides[i] < 0 || __builtin_mul_overflow(extents[i] - 1, strides[i], &further) ||
        __builtin_add_overflow(last, further, &last))
      return std::nullopt;
    is_row_major &= strides[i] == count;
    if (__builtin_mul_overflow(count, extents[i], &count)) return std::nullopt;
  }
  const std::int64_t size = size_bytes(view.dtype);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(last, size, &bytes) || __builtin_add_overflow(bytes, size, &bytes) ||
      static_cast<std::uint64_t>(bytes) > kMaxChunkBytes - offset_of(view.address))
    return std::nullopt;
  return Footprint{.range = {view.address, view.address + static_cast<std::uint64_t>(bytes)},
                   .elements = count,
                   .is_row_major = is_row_major};
}

/// Row-major and without gaps. False also of some that are.
bool is_plainly_dense(const View& view) noexcept {
  const std::optional<Footprint> usual = usual_footprint_of(view);
  return usual && usual->is_row_major;
}

}  // namespace

Result<Range> range_of(const View& view) {
  const Footprint found = TROUPE_TRY(footprint_of(view));
  return found.range;
}

Result<Footprint> footprint_of(const View& view) {
  if (const std::optional<Footprint> usual = usual_footprint_of(view)) [[likely]]
    return *usual;
  const OffsetSpan span = TROUPE_TRY(span_of(view.shape, view.strides));
  if (span.empty()) return Footprint{.range = {view.address, view.address}};
  const std::uint32_t chunk = chunk_of(view.address);
  if (chunk >= kMaxChunks)  // beyond, the end of a range could even wrap to 0 and look like that of an empty one
    return fail(ErrorKind::invalid_argument, "its address is in chunk " + std::to_string(chunk) +
                                                 "; a vault has chunks 0 to " + std::to_string(kMaxChunks - 1));
  const std::int64_t element = size_bytes(view.dtype);
  const auto offset = static_cast<std::int64_t>(offset_of(view.address));
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  const bool too_large = __builtin_mul_overflow(span.lowest, element, &lowest) ||
                         __builtin_add_overflow(lowest, offset, &lowest) ||
                         __builtin_mul_overflow(span.highest, element, &highest) ||
                         __builtin_add_overflow(highest, offset + element, &highest);
  if (too_large || lowest < 0 || highest > static_cast<std::int64_t>(kMaxChunkBytes))
    return fail(ErrorKind::invalid_argument, "the shape " + view.shape.to_string() + " with the strides " +
                                                 view.strides.to_string() + " reaches out of its chunk of memory");
  return Footprint{.range = {address_of(chunk, static_cast<std::uint64_t>(lowest)),
                             address_of(chunk, 0) + static_cast<std::uint64_t>(highest)},
                   .elements = element_count(view)};
}

std::int64_t element_count(const View& view) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : view.shape) count *= extent;
  return count;
}

namespace {

struct Dimension {
  std::int64_t distance;  // of neighbours, in elements, without its sign
  std::int64_t extent;
};

/// The dimensions that have neighbours, densest first; `count` of them.
std::array<Dimension, kMaxRank> by_distance(const View& view, int& count) noexcept {
  std::array<Dimension, kMaxRank> dimensions{};
  count = 0;
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (view.shape[i] <= 1) continue;
    // The least number has no counterpart; the largest is as far out of every chunk.
    const std::int64_t stride = std::max(view.strides[i], -std::numeric_limits<std::int64_t>::max());
    const Dimension dimension{std::abs(stride), view.shape[i]};
    auto place = static_cast<std::size_t>(count++);
    for (; place > 0 && dimensions[place - 1].distance > dimension.distance; --place)
      dimensions[place] = dimensions[place - 1];
    dimensions[place] = dimension;
  }
  return dimensions;
}

}  // namespace

bool is_dense(const View& view) noexcept {
  if (is_plainly_dense(view)) return true;
  if (view.shape.rank() != view.strides.rank() || !check(view.shape)) return false;
  int count = 0;
  const auto dimensions = by_distance(view, count);
  std::int64_t expected = 1;
  for (int i = 0; i < count; ++i) {
    const Dimension& dimension = dimensions[static_cast<std::size_t>(i)];
    if (dimension.distance != expected) return element_count(view) == 0;
    expected *= dimension.extent;
  }
  return true;
}

bool may_overlap_itself(const View& view) noexcept {
  if (is_plainly_dense(view)) return false;
  if (view.shape.rank() != view.strides.rank() || !check(view.shape)) return true;
  if (element_count(view) == 0) return false;
  int count = 0;
  const auto dimensions = by_distance(view, count);
  std::int64_t reach = 0;  // from the first to the last element of the denser dimensions
  for (int i = 0; i < count; ++i) {
    const Dimension& dimension = dimensions[static_cast<std::size_t>(i)];
    std::int64_t further = 0;
    if (dimension.distance <= reach) return true;
    if (__builtin_mul_overflow(dimension.distance, dimension.extent - 1, &further) ||
        __builtin_add_overflow(reach, further, &reach))
      return true;
  }
  return false;
}

}  // namespace troupe::inline v0::op
