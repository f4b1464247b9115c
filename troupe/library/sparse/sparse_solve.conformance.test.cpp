#include "troupe/library/sparse/sparse_fixture.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class SparseSolveConformance : public SparseConformance<T> {
 protected:
  using Number = T;

  /// Elements in both triangles, and a diagonal that is never small: solutions stay small.
  Plain<Number> solvable(std::int64_t n) {
    Plain<Number> plain = this->random_matrix(n, n, 3);
    std::erase_if(plain.triplets.elements,
                  [](const Triplet<Number>& element) { return element.row == element.column; });
    for (Triplet<Number>& element : plain.triplets.elements) element.value *= Number(0.25F);
    for (std::int64_t i = 0; i < n; ++i) {
      Number diagonal = random_element<Number>(this->random_numbers());
      diagonal += std::abs(diagonal) < 0.5 || std::abs(diagonal + Number(2)) > 1.0 ? Number(2) : Number(-2);
      plain.triplets.elements.push_back({i, i, diagonal});
    }
    return plain;
  }
  /// What the solver is to invert: (row, column, value), transformed.
  template <class F>
  void for_each_used(const Plain<Number>& plain, const SparseSolveOptions& options, F&& f) {
    for (const Triplet<Number>& element : plain.triplets.elements) {
      const bool is_diagonal = element.row == element.column;
      const bool is_used = options.upper ? element.column > element.row : element.column < element.row;
      if (!is_used && (!is_diagonal || options.unit_diagonal)) continue;
      const Wide<Number> number = options.conjugate ? conjugate(widen(element.value)) : widen(element.value);
      f(options.transpose ? element.column : element.row, options.transpose ? element.row : element.column, number);
    }
    if (!options.unit_diagonal) return;
    for (std::int64_t i = 0; i < plain.rows(); ++i) f(i, i, Wide<Number>(1));
  }
  void try_solve(const Plain<Number>& plain, const SparseMatrix& matrix, std::int64_t columns, Layout layout,
                 SparseSolveOptions options) {
    const std::int64_t n = plain.rows();
    const std::int64_t width = std::max<std::int64_t>(columns, 1);
    const Shape shape = columns == 0 ? Shape{n} : Shape{n, columns};
    Sample<Number> b = this->random(shape, layout);
    Sample<Number> x = this->poisoned(shape, next(layout));
    options.alpha = this->as_factor(0.5, -1);
    const Wide<Number> alpha = this->factor(0.5, -1);
    value(this->device().sparse().solve(matrix, b.array(), x.array(), options).get());
    const std::vector<Number> got = x.read();
    // The solution multiplied by the matrix gives the right-hand side.
    std::vector<Wide<Number>> back(got.size());
    for_each_used(plain, options, [&](std::int64_t row, std::int64_t column, Wide<Number> element) {
      for (std::int64_t j = 0; j < width; ++j)
        back[static_cast<std::size_t>(row * width + j)] +=
            element * widen(got[static_cast<std::size_t>(column * width + j)]);
    });
    std::vector<Number> rounded;
    std::vector<Wide<Number>> want;
    double largest = 1;
    for (const Number& element : got) largest = std::max(largest, static_cast<double>(std::abs(element)));
    for (std::size_t i = 0; i < back.size(); ++i) {
      rounded.push_back(Number(back[i]));
      want.push_back(alpha * widen(b.values()[i]));
    }
    this->expect_close(rounded, want, 60, 4 * largest);
  }
  void try_all_options(const Plain<Number>& plain, const SparseMatrix& matrix, std::int64_t columns, Layout layout) {
    for (const bool upper : {false, true})
      for (const bool unit : {false, true})
        for (const bool transpose : {false, true})
          for (const bool conjugates : {false, true}) {
            if (conjugates && !detail::kIsComplex<Number>) continue;
            SCOPED_TRACE(std::string(upper ? "upper " : "lower ") + (unit ? "unit " : "") +
                         (transpose ? "transposed " : "") + (conjugates ? "conjugated" : ""));
            try_solve(plain, matrix, columns, layout,
                      {.upper = upper, .unit_diagonal = unit, .transpose = transpose, .conjugate = conjugates});
          }
  }
  /// Puts something small where a zero is stored, and says what the matrix is then.
  Plain<Number> without_zeros(const SparseMatrix& matrix) {
    const Array<Number> values = value(matrix.template values_as<Number>());
    const HostArray<Number> before = value(this->device().read(values).get());
    std::vector<Number> after;
    for (std::int64_t i = 0; i < before.size(); ++i)
      after.push_back(before[i] == Number{} ? Number(0.125F) : before[i]);
    value(this->device().write(values, after).get());
    return {value(this->device().sparse().template triplets<Number>(matrix).get())};
  }
  void try_again_with_other_values(std::int64_t columns) {
    const Plain<Number> plain = solvable(300);
    for (const SparseFormat format : kFormats)
      for (const DType index_type : kIndexTypes) {
        const SparseMatrix matrix = this->on_device(plain, format, index_type);
        for (int round = 0; round < 3; ++round)
          try_all_options(this->with_other_values(matrix), matrix, columns, kLayouts[static_cast<std::size_t>(round)]);
      }
  }
  void try_matrices_that_come_and_go(std::int64_t columns) {
    std::vector<SparseMatrix> staying;
    for (int round = 0; round < 80; ++round) {
      const Plain<Number> plain = solvable(54);
      const SparseFormat format = round % 3 == 0 ? SparseFormat::csc : SparseFormat::csr;
      const SparseMatrix matrix = this->on_device(plain, format, DType::i32);
      for (int again = 0; again < 3; ++again)
        try_solve(plain, matrix, columns, Layout::dense, {.upper = round % 2 == 0, .transpose = round % 5 == 0});
      if (round % 4 == 0) staying.push_back(matrix);
    }
  }
};
CONFORMANCE_SUITE(SparseSolveConformance, FourTypes);

CONFORMANCE_TEST(SparseSolveConformance, spsv) {
  this->covers("sparse", "spsv");
  int round = 0;
  for (const std::int64_t n : {0, 1, 2, 7, 12, 31}) {
    const auto plain = this->solvable(n);
    this->for_each_kind(n, n, [&](SparseFormat format, DType index_type) {
      this->try_all_options(plain, this->on_device(plain, format, index_type), 0,
                            kLayouts[static_cast<std::size_t>(round++) % kLayouts.size()]);
    });
  }
}

CONFORMANCE_TEST(SparseSolveConformance, spsv_of_many_rows) {
  this->covers("sparse", "spsv");
  const auto plain = this->solvable(10'005);
  for (const SparseFormat format : kFormats) {
    const SparseMatrix matrix = this->on_device(plain, format, DType::i32);
    this->try_solve(plain, matrix, 0, Layout::dense, {});
    this->try_solve(plain, matrix, 0, Layout::reversed, {.upper = true, .transpose = true});
  }
}

CONFORMANCE_TEST(SparseSolveConformance, spsm) {
  this->covers("sparse", "spsm");
  int round = 0;
  for (const std::int64_t n : {0, 1, 7, 12, 31})
    for (const std::int64_t columns : {1, 5}) {
      const auto plain = this->solvable(n);
      this->for_each_kind(n, n, [&](SparseFormat format, DType index_type) {
        this->try_all_options(plain, this->on_device(plain, format, index_type), columns,
                              kLayouts[static_cast<std::size_t>(round++) % kLayouts.size()]);
      });
    }
}

// A backend may keep what it computes from a structure for the next solve with that matrix, whatever its values are by
// then, but not for another matrix that is later in the same place.

CONFORMANCE_TEST(SparseSolveConformance, spsv_again_with_other_values) {
  this->covers("sparse", "spsv");
  this->try_again_with_other_values(0);
}
CONFORMANCE_TEST(SparseSolveConformance, spsm_again_with_other_values) {
  this->covers("sparse", "spsm");
  this->try_again_with_other_values(5);
}

CONFORMANCE_TEST(SparseSolveConformance, spsv_with_matrices_that_come_and_go) {
  this->covers("sparse", "spsv");
  this->try_matrices_that_come_and_go(0);
}
CONFORMANCE_TEST(SparseSolveConformance, spsm_with_matrices_that_come_and_go) {
  this->covers("sparse", "spsm");
  this->try_matrices_that_come_and_go(3);
}

CONFORMANCE_TEST(SparseSolveConformance, solve_says_which_diagonal_element_is_missing_or_zero) {
  this->covers("sparse", "spsv");
  constexpr std::int64_t kRows = 12;
  for (const SparseFormat format : kFormats)
    for (const DType index_type : kIndexTypes)
      for (const bool stores_zero : {false, true}) {
        auto plain = this->solvable(kRows);
        std::erase_if(plain.triplets.elements, [&](Triplet<T>& element) {
          if (element.row != element.column || element.row < 6) return false;
          if (element.row == 6 && stores_zero) element.value = T{};
          return element.row == 6 && !stores_zero;
        });
        const SparseMatrix matrix = this->on_device(plain, format, index_type);
        Sample<T> b = this->random({kRows});
        Sample<T> x = this->poisoned({kRows});
        const Result<void> result = this->device().sparse().solve(matrix, b.array(), x.array()).get();
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().kind(), ErrorKind::numerical_error);
        EXPECT_NE(result.error().message().find("row 6"), std::string::npos) << result.error().message();
        value(this->device().sparse().solve(matrix, b.array(), x.array(), {.unit_diagonal = true}).get());
        this->count_case();
        if (stores_zero) this->try_solve(this->without_zeros(matrix), matrix, 0, Layout::dense, {});
      }
}

}  // namespace
}  // namespace troupe::conformance
