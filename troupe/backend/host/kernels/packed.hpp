// A matrix as LAPACK wants it: in scratch memory, in columns, without gaps. Ops take their inputs into such matrices
// and give their results out of them, so that views may have any strides and no input is ever written.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <span>

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"
#include "troupe/core/assert.hpp"

namespace troupe::host {

/// LAPACK's integers have 32 bits, and its work space is a few times the matrix.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

template <class T>
class Packed {
 public:
  /// `unsupported` when LAPACK could not count its elements.
  static Result<Packed> make(std::int64_t rows, std::int64_t columns) {
    if (std::max(rows, columns) > kMostElements || rows * columns > kMostElements)
      return fail(ErrorKind::unsupported,
                  "a matrix " + Shape{rows, columns}.to_string() +
                      " is too large for LAPACK: " + "on the CPU solvers take up to 2^28 elements");
    Scratch memory = TROUPE_TRY(make_scratch(rows * columns * static_cast<std::int64_t>(sizeof(T))));
    return Packed(static_cast<int>(rows), static_cast<int>(columns), std::move(memory));
  }
  /// With what is in a view of rank 2.
  static Result<Packed> from(const HostView& view) {
    Packed made = TROUPE_TRY(make(view.shape[0], view.shape[1]));
    TROUPE_TRY(copy(view, made.view()));
    return made;
  }

  int rows() const noexcept { return rows_; }
  int columns() const noexcept { return columns_; }
  /// From one column to the next; LAPACK wants at least 1.
  int leading() const noexcept { return std::max(rows_, 1); }
  T* data() const noexcept { return reinterpret_cast<T*>(memory_.get()); }
  T& at(int row, int column) const noexcept {
    return data()[static_cast<std::size_t>(column) * static_cast<std::size_t>(rows_) + static_cast<std::size_t>(row)];
  }
  std::span<T> elements() const noexcept {
    return {data(), static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_)};
  }
  /// Needs a view of rank 2 with no more rows and columns than this has; the first ones are written to it.
  Result<void> give(const HostView& to) const {
    HostView first = view();
    first.shape = to.shape;
    return copy(first, to);
  }
  void fill(T value) const noexcept { std::ranges::fill(elements(), value); }
  void make_identity() const noexcept {
    fill(T(0));
    for (int i = 0; i < std::min(rows_, columns_); ++i) at(i, i) = T(1);
  }

 private:
  Packed(int rows, int columns, Scratch memory) noexcept : rows_(rows), columns_(columns), memory_(std::move(memory)) {}
  HostView view() const noexcept {
    return {.data = memory_.get(), .dtype = dtype_of<T>, .shape = {rows_, columns_}, .strides = {1, rows_}};
  }

  int rows_;
  int columns_;
  Scratch memory_;
};

/// One of a batch: without the first dimension.
inline HostView one_of(const HostView& batch, std::int64_t which) {
  TROUPE_ASSERT(batch.shape.rank() > 1, "a batch of matrices or vectors");
  const auto rest = [](const auto& all) { return std::span<const std::int64_t>(all.begin() + 1, all.end()); };
  HostView one{.data = batch.data,
               .dtype = batch.dtype,
               .shape = Shape(rest(batch.shape)),
               .strides = Strides(rest(batch.strides))};
  if (one.data) one.data += which * batch.strides[0] * size_bytes(batch.dtype);
  return one;
}

/// Rows become columns.
inline HostView transposed(const HostView& view) {
  HostView turned = view;
  const int last = view.shape.rank() - 1;
  std::swap(turned.shape[last - 1], turned.shape[last]);
  std::swap(turned.strides[last - 1], turned.strides[last]);
  return turned;
}

/// A vector without gaps to or from a view of rank 1.
template <class T>
HostView view_of(std::span<T> vector) noexcept {
  return {.data = reinterpret_cast<std::byte*>(vector.data()),
          .dtype = dtype_of<std::remove_const_t<T>>,
          .shape = {static_cast<std::int64_t>(vector.size())},
          .strides = {1}};
}

template <class T>
T conjugate(T number) noexcept {
  if constexpr (detail::kIsComplex<T>)
    return std::conj(number);
  else
    return number;
}

template <class T>
bool is_finite(T number) noexcept {
  if constexpr (detail::kIsComplex<T>)
    return std::isfinite(number.real()) && std::isfinite(number.imag());
  else
    return std::isfinite(number);
}

}  // namespace troupe::host
