// Rows of elements to and from the type that is computed in, a block at a time: kernels then compute with plain arrays
// of that type, whatever the elements' type and strides. Rows that lie side by side are converted by vectors.
#pragma once

#include <array>
#include <complex>
#include <type_traits>

#include "troupe/backend/host/kernels/host_view.hpp"
#include "troupe/backend/host/kernels/spread_rows.hpp"
#include "troupe/backend/host/vectors/vector_rows.hpp"
#include "troupe/op/promotion.hpp"

namespace troupe::host {

/// Elements in a block: a few of them stay in the nearest cache.
inline constexpr std::int64_t kRowBlock = 256;
template <class C>
using Block = std::array<C, kRowBlock>;

/// An element as a `C`; true is 1.
template <class C, Element T>
C to_number(T element) noexcept {
  if constexpr (detail::kIsComplex<C> && detail::kIsComplex<T>)
    return C(element.real(), element.imag());
  else if constexpr (detail::kIsComplex<C>)
    return C(to_number<typename C::value_type>(element));
  else if constexpr (detail::kIsComplex<T>)
    return static_cast<C>(element.real());
  else
    return static_cast<C>(element);
}

template <class C>
using LoadRow = void (*)(const std::byte* from, std::int64_t step, std::int64_t count, C* to) noexcept;
template <class C>
using StoreRow = void (*)(const C* from, std::int64_t count, std::byte* to, std::int64_t step) noexcept;

template <class C, Element T>
void load_row(const std::byte* from, std::int64_t step, std::int64_t count, C* to) noexcept {
  if (step == 0) {
    std::fill_n(to, count, to_number<C>(load<T>(from)));
    return;
  }
  auto* const out = reinterpret_cast<std::byte*>(to);
  if constexpr (std::same_as<C, T>) return gather_row(from, step, sizeof(T), out, count);
  if (const ConvertRow convert = convert_row_for(dtype_of<T>, dtype_of<C>))
    return convert_spread(convert, from, step, sizeof(T), out, sizeof(C), count);
  for (std::int64_t i = 0; i < count; ++i, from += step) to[i] = to_number<C>(load<T>(from));
}

template <class C, Element T>
void store_row(const C* from, std::int64_t count, std::byte* to, std::int64_t step) noexcept {
  if (step == static_cast<std::int64_t>(sizeof(T)))
    if (const ConvertRow dense = convert_row_for(dtype_of<C>, dtype_of<T>))
      return dense(reinterpret_cast<const std::byte*>(from), to, count);
  for (std::int64_t i = 0; i < count; ++i, to += step) store(to, to_number<T>(from[i]));
}

/// Needs a type that is promoted to that of `C`.
template <class C>
LoadRow<C> load_row_for(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) -> LoadRow<C> {
    if constexpr (op::is_promoted_to(dtype_of<T>, dtype_of<C>))
      return load_row<C, T>;
    else
      return nullptr;
  });
}

/// Whether numbers of type `C` are stored as elements of type `T`: in floating point; integers as integers, of which
/// the low bits are kept; and all as bool, which says whether they are not 0.
template <class C, class T>
inline constexpr bool kIsStoredAs =
    std::same_as<T, bool> ||
    (std::integral<C> ? std::integral<T>
                      : !std::integral<T> && sizeof(T) > 1 && (detail::kIsComplex<C> || !detail::kIsComplex<T>));

/// Needs such a type. Of complex numbers as real ones the imaginary part goes.
template <class C>
StoreRow<C> store_row_for(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) -> StoreRow<C> {
    if constexpr (kIsStoredAs<C, T>)
      return store_row<C, T>;
    else
      return nullptr;
  });
}

}  // namespace troupe::host
