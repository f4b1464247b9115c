// Dense matrices in higher precision, as plainly as can be: what results of linear algebra are compared with. A number
// is a matrix of one element that multiplies any other.
#pragma once

#include <algorithm>

#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {

/// A number of a test in the type of a reference; its imaginary part is lost where there is none.
template <class W>
W number(std::complex<double> from) {
  if constexpr (detail::kIsComplex<W>)
    return W(from.real(), from.imag());
  else
    return static_cast<W>(from.real());
}

template <class T>
class Dense {
 public:
  using W = Wide<T>;

  explicit Dense(std::complex<double> only) : Dense(1, 1) { elements_[0] = number<W>(only); }
  Dense(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), elements_(static_cast<std::size_t>(rows * columns)) {}
  /// Row-major.
  Dense(const std::vector<T>& values, std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), elements_(widened(values)) {}
  Dense(const Sample<T>& sample, std::int64_t rows, std::int64_t columns) : Dense(sample.values(), rows, columns) {}

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  W& operator()(std::int64_t i, std::int64_t j) { return elements_[static_cast<std::size_t>(i * columns_ + j)]; }
  const W& operator()(std::int64_t i, std::int64_t j) const {
    return elements_[static_cast<std::size_t>(i * columns_ + j)];
  }
  const std::vector<W>& elements() const noexcept { return elements_; }
  /// In the type of the op, for comparing a product of its results.
  std::vector<T> rounded() const {
    std::vector<T> rounded;
    for (const W& element : elements_) {
      if constexpr (detail::kIsComplex<T>) {
        using Part = typename T::value_type;
        rounded.push_back(T(static_cast<Part>(element.real()), static_cast<Part>(element.imag())));
      } else {
        rounded.push_back(static_cast<T>(element));
      }
    }
    return rounded;
  }

  Dense transposed() const {
    Dense turned(columns_, rows_);
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < columns_; ++j) turned(j, i) = (*this)(i, j);
    return turned;
  }
  Dense conjugated_if(bool conjugates) const {
    Dense other = *this;
    if (conjugates)
      for (W& element : other.elements_) element = conjugate(element);
    return other;
  }
  /// The whole matrix that one half stands for.
  Dense symmetric(Triangle triangle, bool hermitian) const {
    Dense whole = *this;
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < columns_; ++j) {
        if (triangle == Triangle::lower ? i < j : i > j)
          whole(i, j) = hermitian ? conjugate((*this)(j, i)) : (*this)(j, i);
        if constexpr (detail::kIsComplex<W>)
          if (i == j && hermitian) whole(i, j) = W(whole(i, j).real());
      }
    return whole;
  }
  Dense triangular(Triangle triangle, bool unit_diagonal) const {
    Dense whole = *this;
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < columns_; ++j) {
        if (triangle == Triangle::lower ? i < j : i > j) whole(i, j) = W{};
        if (i == j && unit_diagonal) whole(i, j) = W(1);
      }
    return whole;
  }

  friend Dense operator+(Dense a, const Dense& b) {
    for (std::size_t i = 0; i < a.elements_.size(); ++i) a.elements_[i] += b.elements_[i];
    return a;
  }
  friend Dense operator*(const Dense& a, const Dense& b) {
    if (a.rows_ == 1 && a.columns_ == 1 && b.rows_ != 1) return scaled(b, a.elements_[0]);
    Dense c(a.rows_, b.columns_);
    for (std::int64_t i = 0; i < a.rows_; ++i)
      for (std::int64_t k = 0; k < a.columns_; ++k)
        for (std::int64_t j = 0; j < b.columns_; ++j) c(i, j) += a(i, k) * b(k, j);
    return c;
  }

 private:
  static Dense scaled(Dense matrix, W by) {
    for (W& element : matrix.elements_) element *= by;
    return matrix;
  }

  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<W> elements_;
};

/// A square matrix, row-major, with a heavy diagonal: what divides by it stays near what it was.
template <class T>
std::vector<T> well_conditioned(std::vector<T> values, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      T& element = values[static_cast<std::size_t>(i * n + j)];
      element = i == j ? element + T(2) : element / T(static_cast<float>(n));
    }
  return values;
}

}  // namespace troupe::conformance
