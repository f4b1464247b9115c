// Whether numbers are finite: what every solver asks of what it computed before it says that all went well. A NaN or
// an infinity stays where it is through all of LAPACK's factorizations, so looking at a factor tells of the matrix,
// too; which of them was the cause is found out only when something is wrong.
#pragma once

#include <bit>

#include "troupe/backend/host/kernels/packed.hpp"
#include "troupe/backend/host/team/team.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::host {

/// By their bits, some vectors at a time: an exponent of all ones, and no other, carries into the sign when its lowest
/// bit is added.
template <class R>
bool all_reals_finite(const R* numbers, std::int64_t count) noexcept {
  using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  using Vector [[gnu::vector_size(64)]] = Bits;
  constexpr auto kPerVector = static_cast<std::int64_t>(sizeof(Vector) / sizeof(R));
  constexpr Bits kExponent = std::bit_cast<Bits>(std::numeric_limits<R>::infinity());
  constexpr Bits kLowest = kExponent & (~kExponent + 1);
  constexpr Bits kSign = ~(~Bits{0} >> 1);
  Vector carried{};
  std::int64_t i = 0;
  for (; i + kPerVector <= count; i += kPerVector) {
    Vector bits;
    std::memcpy(&bits, numbers + i, sizeof bits);
    carried |= (bits & kExponent) + kLowest;
  }
  Bits any = 0;
  for (std::int64_t k = 0; k < kPerVector; ++k) any |= carried[k];
  for (; i < count; ++i) any |= (std::bit_cast<Bits>(numbers[i]) & kExponent) + kLowest;
  return (any & kSign) == 0;
}

template <class T>
inline constexpr std::int64_t kPartsOf = detail::kIsComplex<T> ? 2 : 1;

template <class T>
bool all_finite(std::span<const T> numbers, Team& team = Team::of_one()) noexcept {
  const auto* const first = reinterpret_cast<const detail::RealType<T>*>(numbers.data());
  return team.reduce(
      static_cast<std::int64_t>(numbers.size()), Grain::of_bytes(sizeof(T)), true,
      [first](std::int64_t begin, std::int64_t end) noexcept {
        return all_reals_finite(first + begin * kPartsOf<T>, (end - begin) * kPartsOf<T>);
      },
      [](bool a, bool b) noexcept { return a && b; });
}
template <class T>
bool all_finite(const Packed<T>& m, Team& team) noexcept {
  return all_finite(std::span<const T>(m.elements()), team);
}

/// The same for the lower triangle, the diagonal included.
template <class T>
bool lower_is_finite(const Packed<T>& m, Team& team) noexcept {
  return team.reduce(
      m.columns(), Grain::of_bytes(std::int64_t{m.rows()} * static_cast<std::int64_t>(sizeof(T)) / 2 + 1), true,
      [&m](std::int64_t begin, std::int64_t end) noexcept {
        for (auto column = static_cast<int>(begin); column < end; ++column)
          if (!all_finite(std::span<const T>(&m.at(column, column), static_cast<std::size_t>(m.rows() - column))))
            return false;
        return true;
      },
      [](bool a, bool b) noexcept { return a && b; });
}

/// What is read of a matrix.
enum class Read : std::uint8_t { all, lower };

/// The verdict on a matrix whose factorization went wrong: `otherwise` when the matrix itself is finite.
template <class T>
Result<std::int32_t> why(const HostView& matrix, Read read, std::int32_t otherwise) {
  const auto again = TROUPE_TRY(Packed<T>::from(matrix));
  const bool is_finite =
      read == Read::lower ? lower_is_finite(again, Team::of_one()) : all_finite(again, Team::of_one());
  return is_finite ? otherwise : op::kNotFinite;
}

/// The verdict on the solutions of a linear system with finite factors.
template <class T>
Result<std::int32_t> judge_solutions(const Packed<T>& solutions, const HostView& sides, Team& team) {
  if (all_finite(solutions, team)) return 0;
  const auto again = TROUPE_TRY(Packed<T>::from(sides));
  return all_finite(again, team) ? op::kOverflow : op::kSidesNotFinite;
}

}  // namespace troupe::host
