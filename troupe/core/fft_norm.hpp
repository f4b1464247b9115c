// Where the factor of a Fourier transform is, by NumPy's and PyTorch's names. A transform and its inverse of one norm
// give the input back.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// Which way is divided by the number of elements that are transformed together.
enum class FftNorm : std::uint8_t {
  backward,  // the inverse
  ortho,     // both, by the square root of the number
  forward,   // the forward transform
  kLast = forward
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
