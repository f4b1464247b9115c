// Questions whose answers are known, put to a library before it is used: one that is broken, that was built for another
// CPU, or that takes integers of 64 bits is passed over, and nobody's results are wrong. They take microseconds.
#pragma once

#include <cstdint>

#include "troupe/core/result.hpp"

namespace troupe::host {

struct BlasLibrary;

/// A number of elements that is 2 in its low 32 bits and negative in all 64. A function with 32-bit integers works on
/// two elements; one with 64-bit integers does nothing, which BLAS does for every negative number.
inline constexpr std::int64_t kTwoOrNegative = std::int64_t{2} - (std::int64_t{1} << 32);

/// Of cblas_ddot, which is at that address.
bool takes_32_bit_integers(void* ddot) noexcept;

/// `unsupported`, with the answer that is wrong. Needs all of the library's functions.
Result<void> check_blas_answers(const BlasLibrary& blas);

/// The same for the LAPACK in an open library; also when it has none.
Result<void> check_lapack_answers(void* library);

}  // namespace troupe::host
