// The floats a GPU has and C++ lacks: f16, bf16, f8e4m3, f8e5m2. They are storage: the bits, and conversions that
// give what CUDA gives, bit for bit. For arithmetic convert to float, as the hardware does.
//
//   f16 half(0.1f);                         // rounded to nearest even, once
//   float wide = static_cast<float>(half);  // exact
//
// One integer implementation serves every format. A value passes through `Exact`, which holds any finite float,
// double or integer without loss, so each conversion rounds exactly once, also from double and from 64-bit integers.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

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

}  // namespace troupe::inline v0
#pragma GCC visibility pop
