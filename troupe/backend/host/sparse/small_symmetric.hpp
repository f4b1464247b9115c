// A small symmetric matrix of doubles with its eigenvalues and eigenvectors, by Jacobi's rotations: no library, the
// same bits everywhere, and exact enough for every type that iterations have.
#pragma once

#include <cstdint>

#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/core/result.hpp"

namespace troupe::host {

class SmallSymmetric {
 public:
  /// Zeros, for up to `most` rows.
  static Result<SmallSymmetric> make(std::int64_t most);

  double& at(std::int64_t i, std::int64_t j) noexcept { return numbers_[i * most_ + j]; }
  /// Turns the first `count` rows and columns into a diagonal.
  void diagonalize(std::int64_t count) noexcept;
  /// Puts the largest eigenvalue first, or the smallest.
  void sort(std::int64_t count, bool largest_first) noexcept;

  // After that:
  double value(std::int64_t i) const noexcept { return numbers_[i * most_ + i]; }
  /// Element `j` of eigenvector `i`.
  double vector(std::int64_t i, std::int64_t j) const noexcept { return vectors_[i * most_ + j]; }

 private:
  SmallSymmetric() = default;
  double sweep(std::int64_t count) noexcept;
  void rotate(std::int64_t p, std::int64_t q, std::int64_t count) noexcept;

  std::int64_t most_ = 0;
  Scratch memory_;
  double* numbers_ = nullptr;
  double* vectors_ = nullptr;  // by rows
};

}  // namespace troupe::host
