// The element types of arrays: their names at run time (`DType`), their C++ types at compile time (`Element`), the way
// from one to the other (`dtype_of`, `element_t`, `visit`), and what it means to convert a number between any two.
//
//   static_assert(dtype_of<float> == DType::f32);
//   visit(dtype, []<class T>(std::type_identity<T>) { fill<T>(...); });
//   convert<std::int8_t>(300.0f) == 127;
#pragma once

#include <bit>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "troupe/core/assert.hpp"

// The floats a GPU has and C++ lacks: f16, bf16, f8e4m3, f8e5m2. They are storage: the bits, and conversions that
// give what CUDA gives, bit for bit. For arithmetic convert to float, as the hardware does.
//
//   f16 half(0.1f);                         // rounded to nearest even, once
//   float wide = static_cast<float>(half);  // exact
//
// One integer implementation serves every format. A value passes through `Exact`, which holds any finite float,
// double or integer without loss, so each conversion rounds exactly once, also from double and from 64-bit integers.

#pragma GCC visibility push(default)
namespace troupe::inline v0 {
namespace float_bits {

enum class Overflow : std::uint8_t { infinity, saturate };

/// A binary float's layout: sign, exponent with the usual bias, mantissa. When `has_infinity` is false, the highest
/// exponent holds ordinary numbers and the only NaN is all ones.
template <class BitsType, int exponent_bits, int mantissa_bits, Overflow overflow, bool has_infinity = true>
struct Format {
  using Bits = BitsType;
  static constexpr bool kHasInfinity = has_infinity;
  static constexpr int kMantissaBits = mantissa_bits;
  static constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  static constexpr int kLeastExponent = 1 - kBias;  // of a normal number
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (exponent_bits + mantissa_bits));
  static constexpr Bits kMagnitude = static_cast<Bits>(kSign - 1);
  static constexpr Bits kInfinity = static_cast<Bits>(kMagnitude - ((Bits{1} << mantissa_bits) - 1));
  static constexpr Bits kLargest = static_cast<Bits>((has_infinity ? kInfinity : kMagnitude) - 1);
  static constexpr Bits kTooLarge = overflow == Overflow::infinity ? kInfinity : kLargest;
  static_assert(has_infinity || overflow == Overflow::saturate, "a format without infinities can only saturate");
  static_assert(sizeof(Bits) * 8 == 1 + exponent_bits + mantissa_bits, "the fields fill the bits");

  static constexpr bool is_nan(Bits magnitude) { return magnitude > (has_infinity ? kInfinity : kLargest); }
  static constexpr bool is_infinity(Bits magnitude) { return has_infinity && magnitude == kInfinity; }
};

using Binary64 = Format<std::uint64_t, 11, 52, Overflow::infinity>;
using Binary32 = Format<std::uint32_t, 8, 23, Overflow::infinity>;

/// How many bits a number needs.
constexpr int width_of(std::uint64_t number) noexcept {
#ifdef __CUDA_ARCH__  // here `std::bit_width` compiles, but its answers are wrong (CUDA 13.0, libstdc++ 13)
  return 64 - __clzll(static_cast<long long>(number));
#else
  return static_cast<int>(std::bit_width(number));
#endif
}

/// A finite number without loss: (-1)^negative * significand * 2^exponent.
struct Exact {
  bool negative;
  std::uint64_t significand;
  int exponent;
};

constexpr Exact exact(std::integral auto value) noexcept {
  const bool negative = value < decltype(value){};
  const auto wide = static_cast<std::uint64_t>(+value);
  return {negative, negative ? 0 - wide : wide, 0};
}

/// Needs the bits of a finite number.
template <class From>
constexpr Exact exact_of(typename From::Bits bits) noexcept {
  const bool negative = (bits & From::kSign) != 0;
  const std::uint64_t magnitude = bits & From::kMagnitude;
  const std::uint64_t implicit_one = std::uint64_t{1} << From::kMantissaBits;
  const std::uint64_t mantissa = magnitude & (implicit_one - 1);
  const int field = static_cast<int>(magnitude >> From::kMantissaBits);
  if (field == 0) return {negative, mantissa, From::kLeastExponent - From::kMantissaBits};
  return {negative, mantissa | implicit_one, field - From::kBias - From::kMantissaBits};
}

/// Rounds to nearest, ties to even; too large a number becomes `To::kTooLarge`.
template <class To>
constexpr typename To::Bits round_to(Exact value) noexcept {
  using Bits = typename To::Bits;
  const Bits sign = value.negative ? To::kSign : Bits{0};
  if (value.significand == 0) return sign;
  const int width = width_of(value.significand);
  const int top = value.exponent + width - 1;
  const int exponent = top > To::kLeastExponent ? top : To::kLeastExponent;
  const int dropped = exponent - To::kMantissaBits - value.exponent;  // bits below the result's last place
  if (dropped > width) return sign;                                   // less than half of the smallest number
  std::uint64_t kept = 0;
  if (dropped <= 0) {
    kept = value.significand << -dropped;
  } else {
    // NOLINTNEXTLINE(clang-analyzer-core.BitwiseShift): dropped <= width <= 64
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    const std::uint64_t rest = value.significand & (half | (half - 1));
    kept = value.significand >> (dropped - 1) >> 1;
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  // `kept` has its implicit one, so it adds one to the exponent field; a carry out of rounding does the same.
  const auto field = static_cast<std::uint64_t>(exponent - To::kLeastExponent);
  const std::uint64_t magnitude = (field << To::kMantissaBits) + kept;
  return static_cast<Bits>(sign | (magnitude > To::kLargest ? To::kTooLarge : magnitude));
}

/// What CUDA makes of a NaN: all ones and no sign. Its conversions from double to 8 bits are the exception, in host
/// and device code alike: there the sign stays and, in f8e5m2, the top of the payload too, made quiet.
template <class To, class From>
constexpr typename To::Bits nan_from(typename From::Bits bits) noexcept {
  using Bits = typename To::Bits;
  if constexpr (sizeof(Bits) > 1 || sizeof(bits) < 8) {
    return To::kMagnitude;
  } else {
    const Bits sign = (bits & From::kSign) != 0 ? To::kSign : Bits{0};
    if constexpr (!To::kHasInfinity) return sign | To::kMagnitude;
    const auto payload = static_cast<Bits>(bits >> (From::kMantissaBits - To::kMantissaBits));
    const Bits quiet = Bits{1} << (To::kMantissaBits - 1);
    return static_cast<Bits>(sign | To::kInfinity | quiet | (payload & (quiet | (quiet - 1))));
  }
}

/// The bits of a number in one format from its bits in another.
template <class To, class From>
constexpr typename To::Bits reformat(typename From::Bits bits) noexcept {
  using ToBits = typename To::Bits;
  const auto magnitude = static_cast<typename From::Bits>(bits & From::kMagnitude);
  if constexpr (To::kBias == From::kBias && sizeof(ToBits) > sizeof(bits)) {
    return static_cast<ToBits>(bits) << (To::kMantissaBits - From::kMantissaBits);  // bf16 is the top of a float
  } else if (From::is_nan(magnitude)) {
    return nan_from<To, From>(bits);
  } else if (From::is_infinity(magnitude)) {
    return static_cast<ToBits>((bits != magnitude ? To::kSign : ToBits{0}) | To::kTooLarge);
  } else {
    return round_to<To>(exact_of<From>(bits));
  }
}

}  // namespace float_bits

/// A float of 8 or 16 bits: `f16`, `bf16` and the others are made of it. Trivially copyable, exactly as large as its
/// bits, and uninitialized by default like a float. Equality is that of the numbers (a NaN equals nothing, -0 equals
/// 0); compare `bits` for the representation.
template <class FormatType>
struct SmallFloat {
  /// How its bits are used.
  using Format = FormatType;
  /// An unsigned integer of its size.
  using Bits = typename Format::Bits;

  Bits bits;  // the representation

  SmallFloat() = default;
  explicit constexpr SmallFloat(float value) noexcept
      : bits(float_bits::reformat<Format, float_bits::Binary32>(std::bit_cast<std::uint32_t>(value))) {}
  explicit constexpr SmallFloat(double value) noexcept
      : bits(float_bits::reformat<Format, float_bits::Binary64>(std::bit_cast<std::uint64_t>(value))) {}
  explicit constexpr SmallFloat(std::integral auto value) noexcept
      : bits(float_bits::round_to<Format>(float_bits::exact(value))) {}

  /// The number with that representation.
  static constexpr SmallFloat from_bits(Bits bits) noexcept {
    SmallFloat result{};
    result.bits = bits;
    return result;
  }

  /// Exact. A NaN becomes 0x7FFFFFFF; bf16, being the top half of a float, keeps its bits.
  explicit constexpr operator float() const noexcept {
    return std::bit_cast<float>(float_bits::reformat<float_bits::Binary32, Format>(bits));
  }
  /// Exact.
  explicit constexpr operator double() const noexcept { return static_cast<float>(*this); }

  friend constexpr bool operator==(SmallFloat a, SmallFloat b) noexcept {
    return static_cast<float>(a) == static_cast<float>(b);
  }
};

/// A float of IEEE half precision: up to 65504; larger numbers become infinity.
using f16 = SmallFloat<float_bits::Format<std::uint16_t, 5, 10, float_bits::Overflow::infinity>>;
/// A float with the range of `float` and 8 bits of precision; larger numbers become infinity.
using bf16 = SmallFloat<float_bits::Format<std::uint16_t, 8, 7, float_bits::Overflow::infinity>>;
/// A float of 8 bits with 3 of mantissa: up to 448, no infinities. Larger numbers and infinities saturate, as in
/// cvt.rn.satfinite.
using f8e4m3 = SmallFloat<float_bits::Format<std::uint8_t, 4, 3, float_bits::Overflow::saturate, false>>;
/// A float of 8 bits with 2 of mantissa: up to 57344. It has infinities, yet conversions saturate, as in
/// cvt.rn.satfinite: only `from_bits` makes one.
using f8e5m2 = SmallFloat<float_bits::Format<std::uint8_t, 5, 2, float_bits::Overflow::saturate>>;

static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2 && sizeof(f8e4m3) == 1 && sizeof(f8e5m2) == 1);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // g++ 12 says that the scoped `DType::f16` shadows the type `f16`
/// The type of an array's elements, known at run time. Its number travels between processes: append, never reorder. A
/// number from outside must be less than `kDTypes`; check that before you call the functions below.
enum class DType : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  f8e4m3,
  f8e5m2,
  i8,
  u8,
  i16,
  i32,
  u32,
  i64,
  u64,
  boolean,  // its name is "bool"
  c64,      // complex, two f32
  c128,     // complex, two f64
  u16,
};
#pragma GCC diagnostic pop

/// How many element types there are.
inline constexpr int kDTypes = 17;

/// The name of an element type: spelled as its enumerator, except that `boolean` is "bool".
std::string_view name(DType dtype) noexcept;

namespace detail {

/// The C++ type of each `DType`, in its order.
using ElementTypes = std::tuple<double, float, f16, bf16, f8e4m3, f8e5m2, std::int8_t, std::uint8_t, std::int16_t,
                                std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, bool, std::complex<float>,
                                std::complex<double>, std::uint16_t>;
static_assert(std::tuple_size_v<ElementTypes> == kDTypes);
static_assert(sizeof(bool) == 1, "a bool in an array is one byte");

}  // namespace detail

/// The C++ type of the elements that a `DType` names.
template <DType dtype>
using element_t = std::tuple_element_t<static_cast<std::size_t>(dtype), detail::ElementTypes>;

namespace detail {

/// The position of `T` in `ElementTypes`, or `kDTypes` when it is not there.
template <class T>
inline constexpr int kElementIndex = []<class... Ts>(std::type_identity<std::tuple<Ts...>>) {
  int index = 0;
  (void)((std::same_as<T, Ts> || (++index, false)) || ...);
  return index;
}(std::type_identity<ElementTypes>{});

}  // namespace detail

/// A type that an array can hold. `long long` and `char` are not among them, even where one of the same width is.
template <class T>
concept Element = detail::kElementIndex<T> < kDTypes;

/// The `DType` of a C++ type.
template <Element T>
inline constexpr DType dtype_of = static_cast<DType>(detail::kElementIndex<T>);

/// Calls `f(std::type_identity<T>{})` with the C++ type of `dtype` and returns what `f` returns.
template <class F>
constexpr decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64: return f(std::type_identity<element_t<DType::f64>>{});
    case DType::f32: return f(std::type_identity<element_t<DType::f32>>{});
    case DType::f16: return f(std::type_identity<element_t<DType::f16>>{});
    case DType::bf16: return f(std::type_identity<element_t<DType::bf16>>{});
    case DType::f8e4m3: return f(std::type_identity<element_t<DType::f8e4m3>>{});
    case DType::f8e5m2: return f(std::type_identity<element_t<DType::f8e5m2>>{});
    case DType::i8: return f(std::type_identity<element_t<DType::i8>>{});
    case DType::u8: return f(std::type_identity<element_t<DType::u8>>{});
    case DType::i16: return f(std::type_identity<element_t<DType::i16>>{});
    case DType::i32: return f(std::type_identity<element_t<DType::i32>>{});
    case DType::u32: return f(std::type_identity<element_t<DType::u32>>{});
    case DType::i64: return f(std::type_identity<element_t<DType::i64>>{});
    case DType::u64: return f(std::type_identity<element_t<DType::u64>>{});
    case DType::boolean: return f(std::type_identity<element_t<DType::boolean>>{});
    case DType::c64: return f(std::type_identity<element_t<DType::c64>>{});
    case DType::c128: return f(std::type_identity<element_t<DType::c128>>{});
    case DType::u16: return f(std::type_identity<element_t<DType::u16>>{});
  }
  detail::assert_failed("dtype < kDTypes", "a DType is one of its enumerators", __FILE__, __LINE__);
}

namespace detail {

template <class T>
inline constexpr bool kIsSmallFloat = false;
template <class Format>
inline constexpr bool kIsSmallFloat<SmallFloat<Format>> = true;

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

/// The unsigned type of an integer, with the same width, so that it is not widened in a vector register; any other `T`
/// itself.
template <class T>
struct UnsignedOf {
  using type = T;
};
template <std::integral T>
struct UnsignedOf<T> {
  using type = std::make_unsigned_t<T>;
};
template <>
struct UnsignedOf<bool> {
  using type = bool;
};

template <class T>
struct RealTypeOf {
  using type = T;
};
template <class T>
struct RealTypeOf<std::complex<T>> {
  using type = T;
};

/// The type of a complex number's parts; any other `T` itself.
template <class T>
using RealType = typename detail::RealTypeOf<T>::type;

template <class T>
struct ComputeOf {
  using type = T;
};
template <class Format>
struct ComputeOf<SmallFloat<Format>> {
  using type = float;
};
template <std::integral T>
struct ComputeOf<T> {
  using type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};

/// The type that `T` is computed in: f32 for small floats; for integers an unsigned type (it wraps) of 32 or 64 bits.
template <class T>
using ComputeType = typename detail::ComputeOf<T>::type;

/// Only the low bits of an integer count, so its sign is not extended.
template <class T>
constexpr ComputeType<T> to_compute(T value) noexcept {
  return static_cast<ComputeType<T>>(static_cast<typename detail::UnsignedOf<T>::type>(value));
}

}  // namespace detail

/// How many bytes an element of that type takes.
constexpr std::int64_t size_bytes(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) { return static_cast<std::int64_t>(sizeof(T)); });
}

/// Whether a type is a real floating-point type, of any size.
constexpr bool is_floating(DType dtype) {
  return visit(dtype,
               []<class T>(std::type_identity<T>) { return std::floating_point<T> || detail::kIsSmallFloat<T>; });
}
/// Whether a type is c64 or c128.
constexpr bool is_complex(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) { return detail::kIsComplex<T>; });
}

namespace detail {

/// f32 for c64, f64 for c128; otherwise the type itself.
constexpr DType real_type(DType dtype) noexcept {
  return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
}

}  // namespace detail

/// Whether a type is an integer type; `bool` is not one.
constexpr bool is_integer(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) { return std::integral<T> && !std::same_as<T, bool>; });
}
/// Whether a type can hold -1: the signed integers, all floating-point types, and complex.
constexpr bool is_signed(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) { return !std::unsigned_integral<T>; });
}

namespace detail {

/// Rounds toward zero and saturates; NaN becomes 0.
template <std::integral To, std::floating_point From>
constexpr To saturate_to(From from) noexcept {
  using Limits = std::numeric_limits<To>;
  constexpr From least = static_cast<From>(Limits::min());
  constexpr From beyond = From{2} * static_cast<From>(To{1} << (Limits::digits - 1));  // exact; max() may not be
  if (from >= beyond) return Limits::max();
  if (from >= least) return static_cast<To>(from);
  return from < least ? Limits::min() : To{0};  // a NaN is neither
}

}  // namespace detail

/// Converts between any two element types. The same rules on every backend:
///  - to a floating-point type: to nearest, ties to even, rounded once, also from 64-bit integers. Beyond the range is
///    infinity, but the 8-bit types saturate. NaN stays NaN (see `SmallFloat` for the bits of the small ones).
///  - floating-point to integer: toward zero; beyond the range saturates; NaN becomes 0. A GPU's own cvt gives 0 only
///    when neither side has 64 bits, and 1 << (bits - 1) otherwise: a kernel must test for NaN itself.
///  - integer to integer: wraps, that is, keeps the low bits.
///  - to bool: whether it is not zero. NaN is true; a complex number is true when either part is. From bool: 0 or 1.
///  - complex to real: the real part. Real to complex: the imaginary part is 0. Complex to complex: part by part.
template <Element To, Element From>
constexpr To convert(From from) noexcept {
  if constexpr (std::same_as<To, From>) {
    return from;
  } else if constexpr (detail::kIsComplex<From> && detail::kIsComplex<To>) {
    using Part = typename To::value_type;
    return To(convert<Part>(from.real()), convert<Part>(from.imag()));
  } else if constexpr (detail::kIsComplex<To>) {
    return To(convert<typename To::value_type>(from), 0);
  } else if constexpr (detail::kIsSmallFloat<From>) {
    return convert<To>(static_cast<float>(from));
  } else if constexpr (std::same_as<To, bool>) {
    return from != From{};
  } else if constexpr (detail::kIsComplex<From>) {
    return convert<To>(from.real());
  } else if constexpr (std::integral<To> && std::floating_point<From>) {
    return detail::saturate_to<To>(from);
  } else {
    return static_cast<To>(from);
  }
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
