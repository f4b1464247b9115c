// Conversions to and from the floats of 16 bits without a branch, so that compilers turn loops of them into vector
// instructions. The bits are those of element.hpp, which says what they mean.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "troupe/core/element.hpp"

namespace troupe::host {

inline float to_float(f16 half) noexcept {
  constexpr std::uint32_t kExponent = std::uint32_t{0x7C00} << 13;
  constexpr std::uint32_t kRebias = std::uint32_t{127 - 15} << 23;
  constexpr auto kLeastNormal = std::bit_cast<float>(std::uint32_t{113} << 23);
  const std::uint32_t sign = std::uint32_t{half.bits & 0x8000U} << 16;
  const std::uint32_t magnitude = std::uint32_t{half.bits & 0x7FFFU} << 13;
  const std::uint32_t normal = magnitude + kRebias;
  // A subnormal number is what its bits are above the least normal one.
  const auto small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(normal + (1U << 23)) - kLeastNormal);
  const std::uint32_t special = magnitude > kExponent ? 0x7FFF'FFFFU : sign | 0x7F80'0000U;
  const std::uint32_t finite = sign | ((magnitude & kExponent) == 0 ? small : normal);
  return std::bit_cast<float>(magnitude >= kExponent ? special : finite);
}

inline float to_float(bf16 half) noexcept { return std::bit_cast<float>(std::uint32_t{half.bits} << 16); }

inline f16 to_f16(float number) noexcept {
  constexpr std::uint32_t kInfinity = 0x7F80'0000U;
  constexpr std::uint32_t kTooLarge = std::uint32_t{127 + 16} << 23;
  constexpr std::uint32_t kLeastNormal = std::uint32_t{127 - 14} << 23;
  constexpr std::uint32_t kRebias = std::uint32_t{127 - 15} << 23;
  // Adding it makes the last place of a subnormal f16 the last place of a float, which rounds.
  constexpr std::uint32_t kShift = std::uint32_t{127 - 15 + 23 - 10 + 1} << 23;
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t magnitude = bits & 0x7FFF'FFFFU;
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t small =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kShift)) - kShift;
  const std::uint32_t normal = (magnitude - kRebias + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
  const std::uint32_t finite = sign | (magnitude < kLeastNormal ? small : normal);
  const std::uint32_t special = magnitude > kInfinity ? 0x7FFFU : sign | 0x7C00U;
  return f16::from_bits(static_cast<std::uint16_t>(magnitude >= kTooLarge ? special : finite));
}

inline bf16 to_bf16(float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  return bf16::from_bits(static_cast<std::uint16_t>((bits & 0x7FFF'FFFFU) > 0x7F80'0000U ? 0x7FFFU : rounded));
}

/// The float next to the number whose last bit is odd, unless the number is a float itself. Rounded once more, to fewer
/// bits, it gives what the number would.
inline float to_odd_float(double number) noexcept {
  const auto near = static_cast<float>(number);
  const auto exact = static_cast<double>(near);
  const auto bits = std::bit_cast<std::uint32_t>(near);
  const std::uint32_t toward_zero = std::fabs(exact) > std::fabs(number) ? bits - 1 : bits;
  return std::bit_cast<float>(exact == number ? bits : toward_zero | 1U);
}

/// `convert`, without branches for the types of 16 bits.
template <Element To, Element From>
To convert_number(From from) noexcept {
  constexpr bool kIsHalf = std::same_as<From, f16> || std::same_as<From, bf16>;
  constexpr bool kIsExactAsDouble = std::floating_point<From> || (std::integral<From> && sizeof(From) <= 4);
  if constexpr (std::same_as<To, From>) {
    return from;
  } else if constexpr (kIsHalf) {
    return convert_number<To>(to_float(from));
  } else if constexpr (std::same_as<To, f16> && std::same_as<From, float>) {
    return to_f16(from);
  } else if constexpr (std::same_as<To, f16> && std::integral<From>) {
    return to_f16(static_cast<float>(from));  // what a float cannot hold is far beyond an f16
  } else if constexpr (std::same_as<To, f16> && kIsExactAsDouble) {
    return to_f16(to_odd_float(from));
  } else if constexpr (std::same_as<To, bf16> && std::same_as<From, float>) {
    return to_bf16(from);
  } else if constexpr (std::same_as<To, bf16> && kIsExactAsDouble) {
    return to_bf16(to_odd_float(static_cast<double>(from)));
  } else {
    return convert<To>(from);
  }
}

}  // namespace troupe::host
