// The elements of sparse matrices in ordinary memory, and in Matrix Market files, the format in which collections of
// matrices are published. Coordinates of real, complex, integer and pattern matrices (whose elements are ones);
// general, symmetric, skew-symmetric and Hermitian.
//
//   %%MatrixMarket matrix coordinate real general
//   3 4 2
//   1 1  2.5
//   3 4 -1
//
// A file is read as the elements of the whole matrix, both halves of a symmetric one. A file that is wrong is
// `invalid_argument`, with the number of the line.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "troupe/core/result.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// One element of a sparse matrix; indices count from 0.
template <class T>
struct Triplet {
  std::int64_t row = 0;
  std::int64_t column = 0;
  T value{};
  friend bool operator==(const Triplet&, const Triplet&) = default;
};

/// The elements of a sparse matrix in ordinary memory, and its extents.
template <class T>
struct Triplets {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Triplet<T>> elements;  // in any order
};

/// The limits of a Matrix Market file; one that exceeds them is refused before memory is taken.
struct MatrixMarketLimits {
  std::int64_t rows_or_columns = std::int64_t{1} << 31;  // the most of either
  std::int64_t elements = std::int64_t{1} << 28;         // in the file
  std::int64_t line_bytes = 1024;                        // the format itself has 1024
};

/// Reads a Matrix Market file. `T` is f32, f64, c64 or c128; a complex file needs a complex one. Elements come in the
/// order of the file.
template <class T>
Result<Triplets<T>> read_matrix_market(std::istream& in, const MatrixMarketLimits& limits = {});
template <class T>
Result<Triplets<T>> read_matrix_market(const std::string& path, const MatrixMarketLimits& limits = {});

/// Writes a Matrix Market file: real or complex, general, with numbers that are read back exactly.
template <class T>
Result<void> write_matrix_market(std::ostream& out, const Triplets<T>& matrix);
template <class T>
Result<void> write_matrix_market(const std::string& path, const Triplets<T>& matrix);

}  // namespace troupe::inline v0
#pragma GCC visibility pop
