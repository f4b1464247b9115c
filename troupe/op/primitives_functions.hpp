// What the primitives ops mean for single elements, for the CPU and the GPU alike: in which order keys come, what two
// elements make together, in which bin an element is.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "troupe/core/element.hpp"
#include "troupe/core/kinds.hpp"
#include "troupe/op/complex_functions.hpp"  // TROUPE_EVERYWHERE

namespace troupe::inline v0::primitives {

// ---- keys ----

template <std::size_t size>
struct BitsOfSize;
template <>
struct BitsOfSize<1> {
  using type = std::uint8_t;
};
template <>
struct BitsOfSize<2> {
  using type = std::uint16_t;
};
template <>
struct BitsOfSize<4> {
  using type = std::uint32_t;
};
template <>
struct BitsOfSize<8> {
  using type = std::uint64_t;
};
/// The unsigned integer as large as a key.
template <class Key>
using KeyBits = typename BitsOfSize<sizeof(Key)>::type;

/// How the bits of a key become a rank, an unsigned integer: ranks compare as keys do. One for each kind of type, so
/// that a sort need not know the type but only its size.
enum class KeyKind : std::uint8_t { whole, with_sign, floating };

constexpr KeyKind key_kind(DType dtype) noexcept {
  if (is_floating(dtype)) return KeyKind::floating;
  return is_integer(dtype) && is_signed(dtype) ? KeyKind::with_sign : KeyKind::whole;
}

/// How a key's bits become its rank. Of numbers: by `sign` and, for negative floating-point ones, all other bits; every
/// NaN has the greatest rank, and -0 that of 0. `infinity` is the rank of infinity, or the greatest rank for integers.
template <class Bits>
struct Ranking {
  Bits sign = 0;
  Bits infinity = 0;
  bool is_floating = false;

  TROUPE_EVERYWHERE constexpr Bits operator()(Bits bits) const {
    if (!is_floating) return static_cast<Bits>(bits ^ sign);
    // `sign` more than what the number's bits are as a signed integer: 0 and -0 meet.
    const auto rank = static_cast<Bits>((bits & sign) != 0 ? Bits{0} - bits : bits + sign);
    // A NaN is beyond infinity, or below minus infinity.
    const auto minus_infinity = static_cast<Bits>(Bits{0} - infinity);
    return rank > infinity || rank < minus_infinity ? static_cast<Bits>(~Bits{0}) : rank;
  }
};

template <class Bits>
constexpr Ranking<Bits> ranking_of(KeyKind kind, Bits infinity_bits) noexcept {
  const auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  switch (kind) {
    case KeyKind::whole: return {};
    case KeyKind::with_sign: return {.sign = sign};
    case KeyKind::floating: break;
  }
  return {.sign = sign, .infinity = static_cast<Bits>(infinity_bits + sign), .is_floating = true};
}
/// By the type's name.
template <class Bits>
constexpr Ranking<Bits> ranking_of(DType dtype) noexcept {
  std::uint64_t infinity = 0;
  switch (dtype) {
    case DType::f64: infinity = 0x7ff0'0000'0000'0000; break;
    case DType::f32: infinity = 0x7f80'0000; break;
    case DType::f16: infinity = 0x7c00; break;
    case DType::bf16: infinity = 0x7f80; break;
    default: break;
  }
  return ranking_of<Bits>(key_kind(dtype), static_cast<Bits>(infinity));
}
template <class Key>
TROUPE_EVERYWHERE constexpr KeyBits<Key> rank_of(Key key) {
  constexpr Ranking<KeyBits<Key>> kRanking = ranking_of<KeyBits<Key>>(dtype_of<Key>);
  if constexpr (std::same_as<Key, bool>)
    return key ? 1 : 0;
  else
    return kRanking(std::bit_cast<KeyBits<Key>>(key));
}

// ---- what two elements make together ----

/// A float or double, exactly; integers are what they are.
template <class T>
TROUPE_EVERYWHERE constexpr auto widened(T element) {
  if constexpr (detail::kIsSmallFloat<T>)
    return static_cast<float>(element);
  else
    return element;
}

/// What a scan to `Out` keeps while it runs: f32 for the small floats.
template <class Out>
using Held = decltype(widened(Out{}));

template <class T>
TROUPE_EVERYWHERE constexpr bool is_nan(T number) {
  return number != number;  // NOLINT(misc-redundant-expression)
}

/// The element that changes nothing.
template <Combine function, class T>
TROUPE_EVERYWHERE constexpr T neutral() {
  using Limits = std::numeric_limits<T>;
  constexpr bool kIsFloat = std::floating_point<T>;
  if constexpr (function == Combine::product)
    return T(1);
  else if constexpr (function == Combine::min)
    return kIsFloat ? Limits::infinity() : Limits::max();
  else if constexpr (function == Combine::max)
    return kIsFloat ? -Limits::infinity() : Limits::lowest();
  else if constexpr (function == Combine::bit_and)
    return std::same_as<T, bool> ? T(1) : static_cast<T>(-1);
  else
    return T{};
}

/// Needs a function that the type has. Integers wrap.
template <Combine function, class T>
TROUPE_EVERYWHERE constexpr T combine(T a, T b) {
  if constexpr (function == Combine::min || function == Combine::max) {
    if constexpr (std::floating_point<T>)
      if (is_nan(a) || is_nan(b)) return is_nan(a) ? a : b;
    if constexpr (function == Combine::min)
      return b < a ? b : a;
    else
      return a < b ? b : a;
  } else if constexpr (std::floating_point<T>) {
    return function == Combine::sum ? a + b : a * b;
  } else if constexpr (std::same_as<T, bool>) {
    return function == Combine::bit_and ? a && b : function == Combine::bit_or ? a || b : a != b;
  } else {
    // Unsigned and wide: what is smaller than an int would be widened to one that overflows.
    using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const Wide x = static_cast<Wide>(a), y = static_cast<Wide>(b);
    switch (function) {
      case Combine::sum: return static_cast<T>(x + y);
      case Combine::product: return static_cast<T>(x * y);
      case Combine::bit_and: return static_cast<T>(x & y);
      case Combine::bit_or: return static_cast<T>(x | y);
      default: return static_cast<T>(x ^ y);
    }
  }
}

// ---- bins ----

/// The bin of n equal ones between low and high in which a number is, -1 outside and for NaN. The last one has its
/// upper bound, too.
TROUPE_EVERYWHERE constexpr std::int64_t bin_of(double number, double low, double high, std::int64_t bins) {
  if (!(number >= low && number <= high)) return -1;
  const auto bin = static_cast<std::int64_t>((number - low) / (high - low) * static_cast<double>(bins));
  return bin < bins ? bin : bins - 1;
}

}  // namespace troupe::inline v0::primitives
