// An array in this process's memory: what kernels are given, with its strides as users have them, in elements. walk.hpp
// goes over several arrays of one shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "troupe/core/result.hpp"
#include "troupe/core/shape.hpp"

namespace troupe::host {

/// Element [0, 0, ...] at `data`, neighbours `strides` elements apart. The memory need not be aligned.
struct HostView {
  std::byte* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;
};

/// `invalid_argument` unless the shape is valid and has a stride for each dimension.
inline Result<void> check(const HostView& view) {
  if (Result<void> valid = troupe::check(view.shape); !valid) return valid;
  if (view.shape.rank() == view.strides.rank()) return {};
  return fail(ErrorKind::invalid_argument,
              "the strides " + view.strides.to_string() + " are not those of a shape " + view.shape.to_string());
}

/// Both valid and of one shape, or `invalid_argument`.
inline Result<void> check_same_shape(const HostView& a, const HostView& b) {
  if (Result<void> valid = check(a); !valid) return valid;
  if (Result<void> valid = check(b); !valid) return valid;
  if (a.shape == b.shape) return {};
  return fail(ErrorKind::invalid_argument,
              "the shapes " + a.shape.to_string() + " and " + b.shape.to_string() + " differ");
}

inline Result<void> check_same_dtype(const HostView& a, const HostView& b) {
  if (a.dtype == b.dtype) return {};
  return fail(ErrorKind::invalid_argument,
              "the types " + std::string(name(a.dtype)) + " and " + std::string(name(b.dtype)) + " differ");
}

/// An element from memory that may be unaligned. Any byte but 0 is true.
template <Element T>
T load(const std::byte* from) noexcept {
  if constexpr (std::same_as<T, bool>) {
    return *from != std::byte{0};
  } else {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
  }
}

template <Element T>
void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof(T));
}

template <std::size_t n>
using Pointers = std::array<std::byte*, n>;
/// Bytes from one element to the next, for each view.
template <std::size_t n>
using Steps = std::array<std::int64_t, n>;

}  // namespace troupe::host
