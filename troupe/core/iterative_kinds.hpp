// Why an iteration ended, what a preconditioner is made of, and which eigenvalues are meant. As in core/kinds.hpp, the
// numbers travel: append, never reorder.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// Why an iterative solver ended. All but `converged` leave what it had reached by then.
enum class Stopped : std::uint8_t {
  converged,              // the residual, computed anew, is small enough
  max_rounds,             // it took all the rounds that it may take
  breakdown,              // the method cannot go on: it would divide by zero
  not_positive_definite,  // cg: p A p is not positive, or r M r is not: the matrix or preconditioner is not for cg
  stagnated,              // the residual no longer falls: that is all that the type or the restart allows
  not_finite,             // a residual is infinite or NaN
  kLast = not_finite,
};
/// Which matrix is simple enough to solve with, and near enough to help.
enum class Preconditioning : std::uint8_t {
  none,
  jacobi,  // the diagonal
  ilu0,    // L U, with elements where the matrix has them
  ic0,     // L times its adjoint, with elements where the matrix has them
  kLast = ic0,
};
/// Which eigenvalues of a symmetric matrix.
enum class Extreme : std::uint8_t { largest, smallest, kLast = smallest };

/// Why, in a word: "max_rounds".
constexpr std::string_view name(Stopped why) noexcept {
  constexpr std::array<std::string_view, 6> kNames{"converged", "max_rounds", "breakdown", "not_positive_definite",
                                                   "stagnated", "not_finite"};
  return kNames[static_cast<std::size_t>(why)];
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
