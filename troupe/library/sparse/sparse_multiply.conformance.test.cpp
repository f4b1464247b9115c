#include "troupe/library/sparse/sparse_fixture.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class SparseMultiplyConformance : public SparseConformance<T> {
 protected:
  using Number = T;

  /// One product with every option that matters, against sums in higher precision.
  void try_product(const Plain<Number>& plain, const SparseMatrix& matrix, std::int64_t columns, Layout layout,
                   SparseMultiplyOptions options, Wide<Number> alpha, Wide<Number> beta) {
    const std::int64_t in = options.transpose ? plain.rows() : plain.columns();
    const std::int64_t out = options.transpose ? plain.columns() : plain.rows();
    const Shape x_shape = columns == 0 ? Shape{in} : Shape{in, columns};
    const Shape y_shape = columns == 0 ? Shape{out} : Shape{out, columns};
    const std::int64_t width = std::max<std::int64_t>(columns, 1);
    Sample<Number> x = this->random(x_shape, layout);
    Sample<Number> y =
        beta == Wide<Number>{} ? this->poisoned(y_shape, next(layout)) : this->random(y_shape, next(layout));
    std::vector<Wide<Number>> want(static_cast<std::size_t>(out * width));
    if (beta != Wide<Number>{})
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = beta * widen(y.values()[i]);
    plain.for_each(options.transpose, options.conjugate,
                   [&](std::int64_t row, std::int64_t column, Wide<Number> element) {
                     for (std::int64_t j = 0; j < width; ++j)
                       want[static_cast<std::size_t>(row * width + j)] +=
                           alpha * element * widen(x.values()[static_cast<std::size_t>(column * width + j)]);
                   });
    value(this->device().sparse().multiply(matrix, x.array(), y.array(), options).get());
    this->expect_close(y.read(), want, 60);
  }
  void try_all_options(const Plain<Number>& plain, const SparseMatrix& matrix, std::int64_t columns, Layout layout) {
    for (const bool transpose : {false, true})
      for (const bool conjugates : {false, true}) {
        if (conjugates && !detail::kIsComplex<Number>) continue;
        SparseMultiplyOptions options{.transpose = transpose, .conjugate = conjugates};
        try_product(plain, matrix, columns, layout, options, this->factor(1, 0), this->factor(0, 0));
        options.alpha = this->as_factor(-0.5, 0.25);
        options.beta = this->as_factor(2, -1);
        try_product(plain, matrix, columns, layout, options, this->factor(-0.5, 0.25), this->factor(2, -1));
      }
  }
};
CONFORMANCE_SUITE(SparseMultiplyConformance, FourTypes);

CONFORMANCE_TEST(SparseMultiplyConformance, spmv) {
  this->covers("sparse", "spmv");
  int round = 0;
  for (const auto& [rows, columns] : kSmallExtents) {
    const auto plain = this->random_matrix(rows, columns);
    this->for_each_kind(rows, columns, [&](SparseFormat format, DType index_type) {
      const SparseMatrix matrix = this->on_device(plain, format, index_type);
      this->try_all_options(plain, matrix, 0, kLayouts[static_cast<std::size_t>(round++) % kLayouts.size()]);
    });
  }
}

CONFORMANCE_TEST(SparseMultiplyConformance, spmv_of_many_rows) {
  this->covers("sparse", "spmv");
  const auto plain = this->random_matrix(10'002, 9'999, 7);
  this->for_each_kind(10'002, 9'999, [&](SparseFormat format, DType index_type) {
    const SparseMatrix matrix = this->on_device(plain, format, index_type);
    this->try_product(plain, matrix, 0, Layout::dense, {}, this->factor(1, 0), this->factor(0, 0));
    this->try_product(plain, matrix, 0, Layout::sliced, {.transpose = true}, this->factor(1, 0), this->factor(0, 0));
  });
}

// A backend may keep what it computes from a structure for the next product of that matrix, whatever its values are by
// then, but not for another matrix that is later in the same place.

CONFORMANCE_TEST(SparseMultiplyConformance, spmv_again_with_other_values) {
  this->covers("sparse", "spmv");
  const auto plain = this->random_matrix(1'002, 999, 7);
  this->for_each_kind(1'002, 999, [&](SparseFormat format, DType index_type) {
    const SparseMatrix matrix = this->on_device(plain, format, index_type);
    for (int round = 0; round < 4; ++round)
      this->try_all_options(this->with_other_values(matrix), matrix, 0, kLayouts[static_cast<std::size_t>(round)]);
  });
}

CONFORMANCE_TEST(SparseMultiplyConformance, spmv_of_matrices_that_come_and_go) {
  this->covers("sparse", "spmv");
  std::vector<SparseMatrix> staying;
  for (int round = 0; round < 80; ++round) {
    const auto plain = this->random_matrix(54, 48, 4);
    const SparseMatrix matrix =
        this->on_device(plain, round % 3 == 0 ? SparseFormat::csc : SparseFormat::csr, DType::i32);
    for (int again = 0; again < 3; ++again)
      this->try_product(plain, matrix, 0, Layout::dense, {.transpose = round % 5 == 0}, this->factor(1, 0),
                        this->factor(0, 0));
    if (round % 4 == 0) staying.push_back(matrix);
  }
}

CONFORMANCE_TEST(SparseMultiplyConformance, spmv_without_elements) {
  this->covers("sparse", "spmv");
  const Plain<T> nothing{{6, 9, {}}};
  this->for_each_kind(6, 9, [&](SparseFormat format, DType index_type) {
    const SparseMatrix matrix = this->on_device(nothing, format, index_type);
    EXPECT_EQ(matrix.nonzeros(), 0);
    this->try_all_options(nothing, matrix, 0, Layout::sliced);
    this->try_all_options(nothing, matrix, 2, Layout::padded);
  });
}

CONFORMANCE_TEST(SparseMultiplyConformance, spmm) {
  this->covers("sparse", "spmm");
  int round = 0;
  for (const auto& [rows, columns] : kSmallExtents)
    for (const std::int64_t width : {1, 4, 7}) {
      const auto plain = this->random_matrix(rows, columns);
      this->for_each_kind(rows, columns, [&](SparseFormat format, DType index_type) {
        const SparseMatrix matrix = this->on_device(plain, format, index_type);
        this->try_all_options(plain, matrix, width, kLayouts[static_cast<std::size_t>(round++) % kLayouts.size()]);
      });
    }
}

CONFORMANCE_TEST(SparseMultiplyConformance, spmm_of_many_rows) {
  this->covers("sparse", "spmm");
  const auto plain = this->random_matrix(10'002, 3'000, 5);
  for (const SparseFormat format : kFormats) {
    const SparseMatrix matrix = this->on_device(plain, format, DType::i32);
    this->try_product(plain, matrix, 8, Layout::dense, {}, this->factor(1, 0), this->factor(0, 0));
    this->try_product(plain, matrix, 8, Layout::transposed, {.transpose = true}, this->factor(1, 0),
                      this->factor(0, 0));
  }
}

CONFORMANCE_TEST(SparseMultiplyConformance, sddmm) {
  this->covers("sparse", "sddmm");
  int round = 0;
  for (const auto& [rows, columns] : kSmallExtents)
    for (const std::int64_t depth : {0, 1, 13, 37}) {
      const auto plain = this->random_matrix(rows, columns);
      this->for_each_kind(rows, columns, [&](SparseFormat format, DType index_type) {
        const Layout layout = kLayouts[static_cast<std::size_t>(round++) % kLayouts.size()];
        Sample<T> a = this->random({rows, depth}, layout);
        Sample<T> b = this->random({depth, columns}, next(layout));
        for (const bool adds : {false, true}) {
          const SparseMatrix matrix = this->on_device(plain, format, index_type);
          // Blocks have zeros where the plain one has nothing, and those are elements, too.
          const Triplets<T> before = value(this->device().sparse().template triplets<T>(matrix).get());
          const Wide<T> alpha = this->factor(0.5, 2);
          const Wide<T> beta = adds ? this->factor(-1, 1) : this->factor(0, 0);
          value(this->device()
                    .sparse()
                    .sddmm(
                        a.array(), b.array(), matrix,
                        {.alpha = this->as_factor(0.5, 2), .beta = adds ? this->as_factor(-1, 1) : detail::Factor(0.0)})
                    .get());
          const Triplets<T> after = value(this->device().sparse().template triplets<T>(matrix).get());
          std::vector<T> got;
          std::vector<Wide<T>> want;
          for (const Triplet<T>& element : before.elements) {
            Wide<T> sum{};
            for (std::int64_t k = 0; k < depth; ++k)
              sum += widen(a.values()[static_cast<std::size_t>(element.row * depth + k)]) *
                     widen(b.values()[static_cast<std::size_t>(k * columns + element.column)]);
            want.push_back(alpha * sum + beta * widen(element.value));
          }
          for (const Triplet<T>& element : after.elements) got.push_back(element.value);
          this->expect_close(got, want, 60);
        }
      });
    }
}

}  // namespace
}  // namespace troupe::conformance
