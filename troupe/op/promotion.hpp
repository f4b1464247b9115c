// The type that numbers of several types are computed in together: NumPy's table of promotion, in one place, for
// tensors, expressions and whoever binds them to another language. Types that NumPy lacks follow its rule: the smallest
// type that holds what both can be.
//
//   static_assert(promoted(DType::i8, DType::u8) == DType::i16);
//   static_assert(promoted(DType::i32, DType::f32) == DType::f64);
#pragma once

#include <initializer_list>

#include "troupe/core/element.hpp"

namespace troupe::inline v0::op {

namespace internal {

/// Of two signed or two unsigned types the larger one. Of a mixed pair the least signed type that holds both; nothing
/// holds u64 and signed numbers, so these are f64.
constexpr DType promoted_integers(DType a, DType b) noexcept {
  if (is_signed(a) == is_signed(b)) return size_bytes(a) > size_bytes(b) ? a : b;
  const DType whole = is_signed(a) ? a : b;
  const DType natural = is_signed(a) ? b : a;
  if (size_bytes(whole) > size_bytes(natural)) return whole;
  switch (natural) {
    case DType::u64: return DType::f64;
    case DType::u32: return DType::i64;
    case DType::u16: return DType::i32;
    default: return DType::i16;
  }
}

/// The larger type. f16 and bf16 hold each other's numbers neither way, so they are f32; the types of 8 bits are f16.
constexpr DType promoted_floats(DType a, DType b) noexcept {
  if (size_bytes(a) != size_bytes(b)) return size_bytes(a) > size_bytes(b) ? a : b;
  return size_bytes(a) == 2 ? DType::f32 : DType::f16;
}

/// i8 and u8 fit into f16 and bf16, i16 and u16 fit into f32, and all others are f64, though 64 bits do not fit.
constexpr DType promoted_mix(DType floating, DType integer) noexcept {
  const DType least = size_bytes(integer) == 1 ? DType::f16 : size_bytes(integer) == 2 ? DType::f32 : DType::f64;
  return size_bytes(floating) >= size_bytes(least) ? floating : least;
}

}  // namespace internal

/// The type of a and b together. Bool counts as the other type; real numbers with complex ones are complex, with parts
/// of f64 where the real number or the complex one needs them.
constexpr DType promoted(DType a, DType b) noexcept {
  if (a == b || b == DType::boolean) return a;
  if (a == DType::boolean) return b;
  if (is_complex(a) || is_complex(b))
    return promoted(detail::real_type(a), detail::real_type(b)) == DType::f64 ? DType::c128 : DType::c64;
  if (is_floating(a) && is_floating(b)) return internal::promoted_floats(a, b);
  if (is_floating(a)) return internal::promoted_mix(a, b);
  if (is_floating(b)) return internal::promoted_mix(b, a);
  return internal::promoted_integers(a, b);
}

/// The type of all of them together, in whatever order they come: the floating-point and complex types first, and then
/// the integers, one by one. Bool for none.
template <class Types = std::initializer_list<DType>>
constexpr DType promoted(const Types& types) noexcept {
  DType all = DType::boolean;
  for (const DType type : types)
    if (is_floating(type) || is_complex(type)) all = promoted(all, type);
  for (const DType type : types)
    if (is_integer(type)) all = promoted(all, type);
  return all;
}

/// Whether numbers of a type become numbers of another by promotion.
constexpr bool is_promoted_to(DType from, DType to) noexcept { return promoted(from, to) == to; }

}  // namespace troupe::inline v0::op
