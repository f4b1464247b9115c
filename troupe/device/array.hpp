// What users hold: an N-dimensional strided view of a block, with its element type (`Array<T>`) or without it
// (`AnyArray`). Copies are cheap and share the memory; it is freed when the last copy is gone and the last op that uses
// it has ended. Everything is checked when a view is made, so every view lies inside its block.
//
//   Array<float> m = TROUPE_TRY(Array<float>::over(block, {4, 6}));
//   Array<float> odd_columns = TROUPE_TRY(m.slice(1, 1, 6, 2));  // shape {4, 3}, the same memory
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "troupe/core/assert.hpp"
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

// Elements in ordinary memory, as functions take them that copy from there or to there: a vector, an array, a span or
// any other range whose elements lie side by side, of either constness. What does not fit is answered by a sentence.
#pragma GCC visibility push(default)
namespace troupe::inline v0::detail {

/// A range whose elements lie side by side. (`std::vector<bool>` is none: it packs bits.)
template <class R>
concept Contiguous = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

/// The same with elements of `T`.
template <class R, class T>
concept ContiguousOf = Contiguous<R> && std::same_as<std::ranges::range_value_t<R>, T>;

/// The same with elements that may be written.
template <class R, class T>
concept WritableOf = ContiguousOf<R, T> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// Whether the elements are still there when the call that got `R&&` has returned: it was given a name, or it is a view
/// of elements that are elsewhere.
template <class R>
concept Lasting = std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>;

}  // namespace troupe::inline v0::detail
#pragma GCC visibility pop

// An array in memory that the app and the workers share: contiguous, and the app reads and writes it like a vector.
// Reads from a device land here, and writes to it start here, without a second copy.
//
//   HostArray<float> out = CO_TRY(co_await gpu.read(c));
//   float sum = std::accumulate(out.begin(), out.end(), 0.0f);
#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

/// Says which index of how many elements, and aborts.
[[noreturn]] void index_is_outside(std::int64_t index, std::int64_t count) noexcept;

}  // namespace detail

/// An array in memory that the app and the workers share. Copies share the memory, too: what is written through one is
/// seen through all. A const array gives const elements, as a vector does, but a copy of it does not. While an op uses
/// the memory, the app must leave it alone.
template <Element T>
class HostArray : public AnyArray {
 public:
  using value_type = T;

  HostArray() noexcept : AnyArray(dtype_of<T>) {}
  HostArray(const HostArray&) = default;
  HostArray& operator=(const HostArray&) = default;
  HostArray(HostArray&& other) noexcept
      : AnyArray(static_cast<AnyArray&&>(other)), elements_(std::exchange(other.elements_, {})) {}
  HostArray& operator=(HostArray&& other) noexcept {
    AnyArray::operator=(static_cast<AnyArray&&>(other));
    if (this != &other) elements_ = std::exchange(other.elements_, {});
    return *this;
  }
  ~HostArray() = default;

  /// Row-major over the first bytes of the block. `invalid_argument` as for `AnyArray::over`, and when the app does not
  /// see the block.
  static Result<HostArray> over(detail::IntrusivePtr<detail::VaultBlock> block, const Shape& shape) {
    return from_result(AnyArray::over(std::move(block), dtype_of<T>, shape));
  }
  /// The same memory. `invalid_argument` unless the elements are `T`, contiguous, and where the app sees them.
  static Result<HostArray> from(const AnyArray& array) {
    TROUPE_TRY(array.check_visible(dtype_of<T>));
    return HostArray(array);
  }

  T* data() noexcept { return elements_.data(); }
  const T* data() const noexcept { return elements_.data(); }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(elements_.size()); }
  bool empty() const noexcept { return elements_.empty(); }
  std::span<T> span() noexcept { return elements_; }
  std::span<const T> span() const noexcept { return elements_; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size(); }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size(); }

  /// Needs 0 <= flat < size(), counted in row-major order.
  T& operator[](std::int64_t flat) { return elements_[checked(flat)]; }
  const T& operator[](std::int64_t flat) const { return elements_[checked(flat)]; }
  /// Needs an index inside the shape for each dimension.
  T& at(std::initializer_list<std::int64_t> index) { return elements_[flat_index(index)]; }
  const T& at(std::initializer_list<std::int64_t> index) const { return elements_[flat_index(index)]; }

  /// The indices `begin` to before `end` of the first dimension, which are contiguous too.
  Result<HostArray> slice_rows(std::int64_t begin, std::int64_t end) const {
    return from_result(AnyArray::slice(0, begin, end));
  }
  /// The same memory in another shape, as `AnyArray::reshape`.
  Result<HostArray> reshape(const Shape& shape) const { return from_result(AnyArray::reshape(shape)); }

 private:
  explicit HostArray(const AnyArray& array) noexcept : AnyArray(array) {
    if (const std::int64_t count = element_count(); count > 0)
      elements_ = {reinterpret_cast<T*>(visible_data()), static_cast<std::size_t>(count)};
  }
  static Result<HostArray> from_result(Result<AnyArray> array) {
    if (!array) return fail(std::move(array).error());
    return from(*array);
  }

  std::size_t checked(std::int64_t flat) const {
    if (flat < 0 || flat >= size()) [[unlikely]]
      detail::index_is_outside(flat, size());
    return static_cast<std::size_t>(flat);
  }
  std::size_t flat_index(std::initializer_list<std::int64_t> index) const {
    TROUPE_ASSERT(static_cast<std::int64_t>(index.size()) == rank(), "at() takes an index for each dimension");
    std::int64_t flat = 0;
    int dimension = 0;
    for (const std::int64_t i : index) {
      if (i < 0 || i >= shape()[dimension]) [[unlikely]]
        detail::index_is_outside(i, shape()[dimension]);
      flat = flat * shape()[dimension++] + i;
    }
    return checked(flat);
  }

  std::span<T> elements_;  // what the view covers; empty for an empty handle
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
