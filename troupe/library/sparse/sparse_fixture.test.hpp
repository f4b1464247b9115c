// What the suites of the sparse family share: random matrices in ordinary memory, the same on a device in every format
// and with both types of indices, and what they are as dense ones.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {

inline constexpr std::array kFormats{SparseFormat::csr, SparseFormat::csc, SparseFormat::coo, SparseFormat::bsr};
inline constexpr std::array kIndexTypes{DType::i32, DType::i64};
inline constexpr std::int64_t kBlockSize = 3;

/// A matrix as it is in no format: sorted triplets.
template <class T>
struct Plain {
  Triplets<T> triplets;

  std::int64_t rows() const { return triplets.rows; }
  std::int64_t columns() const { return triplets.columns; }
  /// Row-major, in higher precision.
  std::vector<Wide<T>> dense() const {
    std::vector<Wide<T>> all(static_cast<std::size_t>(rows() * columns()));
    for (const Triplet<T>& element : triplets.elements)
      all[static_cast<std::size_t>(element.row * columns() + element.column)] += widen(element.value);
    return all;
  }
  template <class F>
  void for_each(bool transpose, bool conjugates, F&& f) const {
    for (const Triplet<T>& element : triplets.elements) {
      const Wide<T> value = conjugates ? conjugate(widen(element.value)) : widen(element.value);
      if (transpose)
        f(element.column, element.row, value);
      else
        f(element.row, element.column, value);
    }
  }
};

template <class T>
class SparseConformance : public Conformance<T> {
 protected:
  using Number = T;

  /// About `per_row` elements in each row; every fifth row has none.
  Plain<Number> random_matrix(std::int64_t rows, std::int64_t columns, double per_row = 4) {
    Plain<Number> plain{{rows, columns, {}}};
    std::mt19937_64& random = this->random_numbers();
    if (columns == 0) return plain;
    const double chance = std::min(1.0, per_row / static_cast<double>(columns));
    std::geometric_distribution<std::int64_t> gap(std::max(chance, 1e-9));
    for (std::int64_t row = 0; row < rows; ++row) {
      if (row % 5 == 4) continue;
      for (std::int64_t column = chance < 1 ? gap(random) : 0; column < columns;
           column += 1 + (chance < 1 ? gap(random) : 0))
        plain.triplets.elements.push_back({row, column, random_element<Number>(random)});
    }
    return plain;
  }
  /// The same on the device; made as CSR, and converted. BSR needs extents that blocks of three divide.
  SparseMatrix on_device(const Plain<Number>& plain, SparseFormat format, DType index_type) {
    const SparseMatrix csr = value(this->device().sparse().from_triplets(plain.triplets, index_type));
    return value(this->device().sparse().convert(csr, format, kBlockSize).get());
  }
  /// Changes the signs of some of its values, and says what it is then.
  Plain<Number> with_other_values(const SparseMatrix& matrix) {
    const Array<Number> values = value(matrix.template values_as<Number>());
    const HostArray<Number> before = value(this->device().read(values).get());
    std::vector<Number> after;
    for (std::int64_t i = 0; i < before.size(); ++i)
      after.push_back(random_element<std::uint8_t>(this->random_numbers()) % 2 == 0 ? before[i] : -before[i]);
    value(this->device().write(values, after).get());
    return {value(this->device().sparse().template triplets<Number>(matrix).get())};
  }
  static bool can_be(SparseFormat format, std::int64_t rows, std::int64_t columns) {
    return format != SparseFormat::bsr || (rows % kBlockSize == 0 && columns % kBlockSize == 0);
  }
  /// Calls `f(format, index_type)` for all formats that a matrix of these extents can have.
  template <class F>
  void for_each_kind(std::int64_t rows, std::int64_t columns, F&& f) {
    for (const SparseFormat format : kFormats)
      for (const DType index_type : kIndexTypes)
        if (can_be(format, rows, columns)) {
          SCOPED_TRACE(std::string(troupe::name(format)) + " " + std::string(troupe::name(index_type)) + " " +
                       std::to_string(rows) + " x " + std::to_string(columns));
          f(format, index_type);
        }
  }
  Wide<Number> factor(double real, double imaginary) const {
    if constexpr (detail::kIsComplex<Number>)
      return Wide<Number>(real, imaginary);
    else
      return Wide<Number>(real);
  }
  detail::Factor as_factor(double real, double imaginary) const {
    return {real, detail::kIsComplex<Number> ? imaginary : 0.0};
  }
};

/// Extents of which BSR divides some.
inline const std::vector<std::pair<std::int64_t, std::int64_t>> kSmallExtents{
    {0, 0}, {0, 6}, {6, 0}, {1, 1}, {3, 3}, {5, 7}, {12, 9}, {31, 17}, {33, 60}};

}  // namespace troupe::conformance
