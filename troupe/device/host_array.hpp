// An array in memory that the app and the workers share: contiguous, and the app reads and writes it like a vector.
// Reads from a device land here, and writes to it start here, without a second copy.
//
//   HostArray<float> out = CO_TRY(co_await gpu.read(c));
//   float sum = std::accumulate(out.begin(), out.end(), 0.0f);
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "troupe/core/assert.hpp"
#include "troupe/device/array.hpp"

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
