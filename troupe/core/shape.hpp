// How many elements an array has along each dimension (`Shape`), and how far apart they are (`Strides`, in elements).
// Values without a heap, for up to `kMaxRank` dimensions.
//
//   Shape matrix{2, 3};
//   element_count(matrix);       // 6
//   contiguous_strides(matrix);  // {3, 1}
//
// A shape is often written from numbers that a user sent, so making one never fails and never crashes: `Shape{n, -1}`
// is a shape that is not valid. `check`, and every function here that returns a `Result`, answers `invalid_argument`
// for such a shape and says what is wrong. Shapes from outside the process come through `Shape::make`.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "troupe/core/assert.hpp"
#include "troupe/core/element.hpp"
#include "troupe/core/result.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// The element type with that name, or `invalid_argument`. The function is here and not in element.hpp, which GPU code
/// includes.
Result<DType> parse_dtype(std::string_view name);

/// How many dimensions an array may have.
inline constexpr int kMaxRank = 8;

namespace detail {

struct ExtentTag;
struct StrideTag;

/// A number per dimension, outermost first: what `Shape` and `Strides` have in common. A list that is too long is cut
/// to its first `kMaxRank` numbers, and `too_long` remembers it, so that loops up to `rank()` are always safe. The tag
/// makes two types of it.
template <class Tag>
class PerDimension {
 public:
  constexpr PerDimension() = default;
  /// `{2, 3}`. No std::initializer_list, which g++ 12 cannot compile in a coroutine's `CO_TRY(gpu.array<T>({2, 3}))`.
  template <std::integral... I>
    requires(sizeof...(I) > 0)
  constexpr PerDimension(I... values)  // NOLINT(google-explicit-constructor): a shape is written in braces
      : PerDimension(std::span<const std::int64_t>(
            std::array<std::int64_t, sizeof...(I)>{static_cast<std::int64_t>(values)...})) {}
  explicit constexpr PerDimension(std::span<const std::int64_t> values)
      : rank_(static_cast<std::int32_t>(std::min<std::size_t>(values.size(), kMaxRank))),
        too_long_(values.size() > kMaxRank) {
    std::copy_n(values.begin(), rank_, values_.begin());
  }

  constexpr int rank() const noexcept { return rank_; }
  /// Whether it was made from more than `kMaxRank` numbers.
  constexpr bool too_long() const noexcept { return too_long_; }

  /// Needs 0 <= dimension < rank().
  constexpr std::int64_t operator[](int dimension) const {
    TROUPE_ASSERT(0 <= dimension && dimension < rank_, "a dimension is below the rank");
    return values_[static_cast<std::size_t>(dimension)];
  }
  constexpr std::int64_t& operator[](int dimension) {
    TROUPE_ASSERT(0 <= dimension && dimension < rank_, "a dimension is below the rank");
    return values_[static_cast<std::size_t>(dimension)];
  }

  constexpr const std::int64_t* begin() const noexcept { return values_.data(); }
  constexpr const std::int64_t* end() const noexcept { return values_.data() + rank_; }

  /// "[2, 3]"; a list that was too long ends in "...".
  std::string to_string() const;

  friend constexpr bool operator==(const PerDimension&, const PerDimension&) = default;

 private:
  std::array<std::int64_t, kMaxRank> values_{};  // zero beyond the rank, so that equality can be memberwise
  std::int32_t rank_ = 0;
  bool too_long_ = false;
};

extern template class PerDimension<ExtentTag>;
extern template class PerDimension<StrideTag>;

}  // namespace detail

/// The extents of an array. Rank 0 is a single element; an extent of 0 makes the array empty.
class Shape : public detail::PerDimension<detail::ExtentTag> {
 public:
  using PerDimension::PerDimension;

  /// A valid shape, or `invalid_argument`.
  static Result<Shape> make(std::span<const std::int64_t> extents);
};

/// The distances between neighbours along each dimension, in elements; negative and zero ones are fine.
class Strides : public detail::PerDimension<detail::StrideTag> {
 public:
  using PerDimension::PerDimension;
};

/// `invalid_argument` for a shape that is not valid. A valid one has at most `kMaxRank` extents, none of them negative,
/// and a product that fits in 63 bits; for the product an extent of 0 counts as 1, so that a row-major layout always
/// exists.
Result<void> check(const Shape& shape);

/// How many elements an array of that shape has.
Result<std::int64_t> element_count(const Shape& shape);
/// How many bytes the elements of an array of that shape take.
Result<std::int64_t> size_bytes(const Shape& shape, DType dtype);

namespace detail {

/// Where elements of one type lie when nothing is between them and the last dimension is the densest.
struct RowMajor {
  Strides strides;
  std::int64_t size_bytes = 0;
};
/// `invalid_argument` when the shape is not valid, or the bytes do not fit in 63 bits.
Result<RowMajor> row_major(const Shape& shape, DType dtype);

}  // namespace detail

/// The strides of a row-major array: the last dimension is the densest. A shape that is not valid has no layout; its
/// strides are all zero.
Strides contiguous_strides(const Shape& shape);

/// Whether an array's elements lie side by side in row-major order. Strides along extents of 1 do not matter, and an
/// empty array is contiguous. A shape that is not valid, or strides of another rank, are not.
bool is_contiguous(const Shape& shape, const Strides& strides);

/// The offsets of an array's first and last element in memory, in elements from element [0, 0, ...].
struct OffsetSpan {
  std::int64_t lowest = 0;    // of the first element in memory; not positive
  std::int64_t highest = -1;  // of the last one

  constexpr bool empty() const noexcept { return highest < lowest; }
  /// Elements from the lowest to the highest, gaps included.
  constexpr std::int64_t length() const noexcept { return highest - lowest + 1; }
  friend constexpr bool operator==(const OffsetSpan&, const OffsetSpan&) = default;
};

/// The memory that an array touches; `empty()` when it has no elements. `invalid_argument` when the shape is not valid,
/// when the ranks differ, or when an offset or the span's length does not fit in 63 bits.
Result<OffsetSpan> span_of(const Shape& shape, const Strides& strides);

}  // namespace troupe::inline v0
#pragma GCC visibility pop
