// What users hold: an N-dimensional strided view of a block, with its element type (`Array<T>`) or without it
// (`AnyArray`). Copies are cheap and share the memory; it is freed when the last copy is gone and the last op that uses
// it has ended. Everything is checked when a view is made, so every view lies inside its block.
//
//   Array<float> m = TROUPE_TRY(Array<float>::over(block, {4, 6}));
//   Array<float> odd_columns = TROUPE_TRY(m.slice(1, 1, 6, 2));  // shape {4, 3}, the same memory
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "troupe/core/intrusive.hpp"
#include "troupe/core/result.hpp"
#include "troupe/core/shape.hpp"
#include "troupe/op/view.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {
class Vault;
class VaultBlock;
}  // namespace detail

template <Element T>
class Array;

/// What is known of an array's content. An op that reads an array which is not `whole` ends in `buffer_tainted`.
enum class Content : std::uint8_t {
  whole,    // the result of all ops on it, in their order
  empty,    // nothing has been written to it
  skipped,  // an op that would write it never began, because it reads an unknown array: it is as it was
  unknown,  // an op that was writing it was cut off or failed
};

/// An array of a device whose element type is known at run time. A handle: whether it is const says nothing about its
/// elements. A handle that is default-constructed or moved from is empty: it has no memory, and what needs memory
/// answers `invalid_argument`. One handle is used by one thread at a time; copies of it are independent.
class AnyArray {
 public:
  AnyArray() noexcept;
  /// An empty handle that knows its type.
  explicit AnyArray(DType dtype) noexcept;
  AnyArray(const AnyArray& other) noexcept;
  AnyArray& operator=(const AnyArray& other) noexcept;
  AnyArray(AnyArray&& other) noexcept;
  AnyArray& operator=(AnyArray&& other) noexcept;
  ~AnyArray();

  /// Row-major over the first bytes of the block. `invalid_argument` when there is no block, the shape is not valid, or
  /// it needs more bytes than the block has.
  static Result<AnyArray> over(detail::IntrusivePtr<detail::VaultBlock> block, DType dtype, const Shape& shape);
  /// Whether its block shares a chunk with others, or has its own, so that it can be sealed.
  enum class Chunk : std::uint8_t { shared, own };
  /// Makes this a row-major array of its type over a new block. Unchanged after an error of the shape or the vault.
  Result<void> allocate(detail::Vault& vault, const Shape& shape, Chunk chunk = Chunk::shared);

  explicit operator bool() const noexcept { return static_cast<bool>(block_); }
  const op::View& view() const noexcept { return view_; }
  const detail::IntrusivePtr<detail::VaultBlock>& block() const noexcept { return block_; }
  /// The device that the memory belongs to; -1 when empty.
  int device() const noexcept;

  DType dtype() const noexcept { return view_.dtype; }
  const Shape& shape() const noexcept { return view_.shape; }
  const Strides& strides() const noexcept { return view_.strides; }
  int rank() const noexcept { return view_.shape.rank(); }
  std::int64_t element_count() const noexcept { return block_ ? op::element_count(view_) : 0; }
  /// The size of the elements, without the gaps between them.
  std::int64_t size_bytes() const noexcept { return element_count() * troupe::size_bytes(view_.dtype); }
  /// Whether elements lie side by side in row-major order.
  bool is_contiguous() const { return troupe::is_contiguous(view_.shape, view_.strides); }
  /// Whether its memory is sealed, or about to be: ops that would write it are refused.
  bool is_sealed() const noexcept;
  /// The memory that the view touches, gaps included.
  op::Range range() const noexcept;

  // Each of these gives another view of the same memory, or `invalid_argument` and the reason. Dimensions and indices
  // below 0 are counted from the end, as in Python.

  /// The elements `begin`, `begin + step`, ... before `end` of one dimension: `slice(-1, 2, -1)` is the last dimension
  /// without its first two and its last index. With a negative step they run downwards, to after `end`, which may then
  /// be -1 and means the first: `slice(0, -1, -1, -1)` is the reverse. Needs begin <= end for a positive step, and end
  /// <= begin for a negative one.
  Result<AnyArray> slice(int dimension, std::int64_t begin, std::int64_t end, std::int64_t step = 1) const;
  /// One index of a dimension; the result does not have that dimension.
  Result<AnyArray> select(int dimension, std::int64_t index) const;
  /// The same elements in row-major order in another shape. Only for contiguous arrays, because nothing is ever copied.
  /// One extent may be -1: it follows from the others.
  Result<AnyArray> reshape(const Shape& shape) const;
  /// Reverses the dimensions. The transpose of an empty handle is empty.
  AnyArray transpose() const;
  /// Dimension i of the result is dimension `order[i]` of this one; `order` has each dimension once.
  Result<AnyArray> permute(std::span<const int> order) const;
  Result<AnyArray> permute(std::initializer_list<int> order) const {
    return permute(std::span<const int>(order.begin(), order.size()));
  }
  /// Repeats extents of 1, and adds dimensions in front, until the shape is `shape`. The repeated elements are the same
  /// memory (stride 0), so the result can be read but not written.
  Result<AnyArray> broadcast(const Shape& shape) const;

  /// What is known of its content.
  Content content() const noexcept;
  /// Accepts the array as it is after ops that would have written it were skipped: it holds what it held before them.
  /// `buffer_tainted` when some of it is unknown, `invalid_argument` when the handle is empty.
  Result<void> accept_skipped() const;

  /// The same array with its type at compile time; `invalid_argument` when it has another or is empty.
  template <Element T>
  Result<Array<T>> as() const;

  /// `invalid_argument` when it is empty or has elements of another type.
  Result<void> check_dtype(DType dtype) const;
  /// What a `HostArray` needs: also `invalid_argument` when it is not contiguous or the app does not see its memory.
  Result<void> check_visible(DType dtype) const;

 protected:
  /// The app's address of its first element. Needs an array with elements in memory that the app sees.
  std::byte* visible_data() const noexcept;

 private:
  AnyArray(detail::IntrusivePtr<detail::VaultBlock> block, const op::View& view);
  void clear_view() noexcept { view_ = op::View{0, view_.dtype, {}, {}}; }
  /// Counted from the start.
  Result<int> dimension_of(const char* function, int dimension) const;

  detail::IntrusivePtr<detail::VaultBlock> block_;  // shared with other views of it and with the ops under way
  op::View view_;                                   // inside the block, and valid
};

/// An array of a device whose elements are `T`: an `AnyArray` whose views are typed, too.
template <Element T>
class Array : public AnyArray {
 public:
  using value_type = T;

  Array() noexcept : AnyArray(dtype_of<T>) {}

  static Result<Array> over(detail::IntrusivePtr<detail::VaultBlock> block, const Shape& shape) {
    return typed(AnyArray::over(std::move(block), dtype_of<T>, shape));
  }

  Result<Array> slice(int dimension, std::int64_t begin, std::int64_t end, std::int64_t step = 1) const {
    return typed(AnyArray::slice(dimension, begin, end, step));
  }
  Result<Array> select(int dimension, std::int64_t index) const { return typed(AnyArray::select(dimension, index)); }
  Result<Array> reshape(const Shape& shape) const { return typed(AnyArray::reshape(shape)); }
  Array transpose() const { return Array(AnyArray::transpose()); }
  Result<Array> permute(std::span<const int> order) const { return typed(AnyArray::permute(order)); }
  Result<Array> permute(std::initializer_list<int> order) const { return typed(AnyArray::permute(order)); }
  Result<Array> broadcast(const Shape& shape) const { return typed(AnyArray::broadcast(shape)); }

 private:
  friend class AnyArray;  // makes one in `as`
  explicit Array(AnyArray array) noexcept : AnyArray(std::move(array)) {}
  static Result<Array> typed(Result<AnyArray> array) {
    if (!array) return fail(std::move(array).error());
    return Array(std::move(*array));
  }
};

template <Element T>
Result<Array<T>> AnyArray::as() const {
  TROUPE_TRY(check_dtype(dtype_of<T>));
  return Array<T>(*this);
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
