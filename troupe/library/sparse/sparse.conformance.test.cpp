#include "troupe/library/sparse/sparse_fixture.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class SparseStructureConformance : public SparseConformance<T> {
 protected:
  using Number = T;

  void expect_elements(const SparseMatrix& matrix, const Plain<Number>& plain) {
    EXPECT_EQ(matrix.rows(), plain.rows());
    EXPECT_EQ(matrix.columns(), plain.columns());
    Triplets<Number> got = value(this->device().sparse().template triplets<Number>(matrix).get());
    // Blocks are filled up with zeros.
    if (matrix.block_size() > 1 || matrix.nonzeros() != static_cast<std::int64_t>(plain.triplets.elements.size()))
      std::erase_if(got.elements, [](const Triplet<Number>& element) { return element.value == Number{}; });
    EXPECT_TRUE(got.elements == plain.triplets.elements);
    this->count_case();
  }
  /// Made of its arrays, by the function of its format.
  template <class I>
  Result<SparseMatrix> made_of_arrays(const Plain<Number>& plain, SparseFormat format) {
    const Sparse sparse = this->device().sparse();
    std::vector<Triplet<Number>> elements = plain.triplets.elements;
    const bool by_columns = format == SparseFormat::csc;
    if (by_columns)
      std::ranges::sort(elements, [](const auto& a, const auto& b) {
        return std::pair(a.column, a.row) < std::pair(b.column, b.row);
      });
    std::vector<I> lines, indices;
    std::vector<I> offsets(static_cast<std::size_t>(by_columns ? plain.columns() : plain.rows()) + 1, I{0});
    std::vector<Number> values;
    for (const Triplet<Number>& element : elements) {
      lines.push_back(static_cast<I>(by_columns ? element.column : element.row));
      indices.push_back(static_cast<I>(by_columns ? element.row : element.column));
      values.push_back(element.value);
      ++offsets[static_cast<std::size_t>(lines.back()) + 1];
    }
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] = static_cast<I>(offsets[i] + offsets[i - 1]);
    const auto count = static_cast<std::int64_t>(values.size());
    const Sample<I> at(this->device(), {count}, Layout::sliced, indices);
    const Sample<Number> what(this->device(), {count}, Layout::offset, values);
    if (format == SparseFormat::coo) {
      const Sample<I> rows(this->device(), {count}, Layout::reversed, lines);
      return sparse.coo(plain.rows(), plain.columns(), rows.array(), at.array(), what.array()).get();
    }
    const Sample<I> begins(this->device(), {static_cast<std::int64_t>(offsets.size())}, Layout::sliced, offsets);
    if (by_columns) return sparse.csc(plain.rows(), plain.columns(), begins.array(), at.array(), what.array()).get();
    return sparse.csr(plain.rows(), plain.columns(), begins.array(), at.array(), what.array()).get();
  }
};
CONFORMANCE_SUITE(SparseStructureConformance, FourTypes);

CONFORMANCE_TEST(SparseStructureConformance, matrices_of_arrays) {
  this->covers("sparse", "checked structure");
  for (const auto& [rows, columns] : kSmallExtents) {
    const auto plain = this->random_matrix(rows, columns);
    this->for_each_kind(rows, columns, [&](SparseFormat format, DType index_type) {
      if (format == SparseFormat::bsr) return;
      const SparseMatrix matrix =
          value(index_type == DType::i32 ? this->template made_of_arrays<std::int32_t>(plain, format)
                                         : this->template made_of_arrays<std::int64_t>(plain, format));
      EXPECT_EQ(matrix.format(), format);
      EXPECT_EQ(matrix.index_type(), index_type);
      this->expect_elements(matrix, plain);
    });
  }
}

CONFORMANCE_TEST(SparseStructureConformance, matrices_of_blocks) {
  this->covers("sparse", "checked structure");
  const Sample<std::int32_t> offsets(this->device(), {3}, Layout::dense, {0, 1, 3});
  const Sample<std::int32_t> indices(this->device(), {3}, Layout::dense, {1, 0, 2});
  Sample<T> values = this->random({3, 2, 2});
  const SparseMatrix matrix =
      value(this->device().sparse().bsr(4, 6, 2, offsets.array(), indices.array(), values.array()).get());
  Sample<T> dense = this->poisoned({4, 6}, Layout::transposed);
  value(this->device().sparse().to_dense(matrix, dense.array()).get());
  std::vector<T> want(24, T{});
  const std::array<std::array<int, 2>, 3> kPlaces{{{0, 1}, {1, 0}, {1, 2}}};
  for (std::size_t block = 0; block < 3; ++block)
    for (std::size_t r = 0; r < 2; ++r)
      for (std::size_t c = 0; c < 2; ++c)
        want[(static_cast<std::size_t>(kPlaces[block][0]) * 2 + r) * 6 +
             static_cast<std::size_t>(kPlaces[block][1]) * 2 + c] = values.values()[block * 4 + r * 2 + c];
  this->expect_equal(dense.read(), want);
}

CONFORMANCE_TEST(SparseStructureConformance, conversions) {
  this->covers("sparse", "convert");
  for (const auto& [rows, columns] : kSmallExtents) {
    const auto plain = this->random_matrix(rows, columns);
    this->for_each_kind(rows, columns, [&](SparseFormat from, DType index_type) {
      const SparseMatrix matrix = this->on_device(plain, from, index_type);
      for (const SparseFormat to : kFormats) {
        if (!this->can_be(to, rows, columns)) continue;
        const SparseMatrix converted = value(this->device().sparse().convert(matrix, to, kBlockSize).get());
        EXPECT_EQ(converted.format(), to);
        EXPECT_EQ(converted.index_type(), index_type);
        this->expect_elements(converted, plain);
      }
    });
  }
}

CONFORMANCE_TEST(SparseStructureConformance, conversions_of_many_rows) {
  this->covers("sparse", "convert");
  const auto plain = this->random_matrix(10'002, 300, 5);
  for (const SparseFormat from : kFormats)
    for (const SparseFormat to : kFormats)
      this->expect_elements(
          value(this->device().sparse().convert(this->on_device(plain, from, DType::i32), to, kBlockSize).get()),
          plain);
}

CONFORMANCE_TEST(SparseStructureConformance, to_dense) {
  this->covers("sparse", "to_dense");
  int round = 0;
  for (const auto& [rows, columns] : kSmallExtents) {
    const auto plain = this->random_matrix(rows, columns);
    this->for_each_kind(rows, columns, [&](SparseFormat format, DType index_type) {
      Sample<T> dense = this->poisoned({rows, columns}, kLayouts[static_cast<std::size_t>(round++) % kLayouts.size()]);
      value(this->device().sparse().to_dense(this->on_device(plain, format, index_type), dense.array()).get());
      this->expect_close(dense.read(), plain.dense(), 0);
    });
  }
}

CONFORMANCE_TEST(SparseStructureConformance, from_dense) {
  this->covers("sparse", "from_dense");
  int round = 0;
  auto extents = kSmallExtents;
  extents.emplace_back(10'007, 37);
  for (const auto& [rows, columns] : extents)
    for (const DType index_type : kIndexTypes) {
      const auto plain = this->random_matrix(rows, columns);
      std::vector<T> all;
      for (const Wide<T>& element : plain.dense()) all.push_back(T(element));
      const Layout layout = kLayouts[static_cast<std::size_t>(round++) % kLayouts.size()];
      const Sample<T> dense(this->device(), {rows, columns}, layout, all);
      const SparseMatrix matrix = value(this->device().sparse().from_dense(dense.array(), index_type).get());
      EXPECT_EQ(matrix.index_type(), index_type);
      this->expect_elements(matrix, plain);
    }
}

CONFORMANCE_TEST(SparseStructureConformance, spgemm) {
  this->covers("sparse", "spgemm");
  int round = 0;
  for (const auto& [rows, depth] : kSmallExtents)
    for (const std::int64_t columns : {0, 1, 9, 37}) {
      const auto a = this->random_matrix(rows, depth);
      const auto b = this->random_matrix(depth, columns);
      const auto format = [&](std::int64_t r, std::int64_t c) {
        const SparseFormat wish = kFormats[static_cast<std::size_t>(round++) % kFormats.size()];
        return this->can_be(wish, r, c) ? wish : SparseFormat::csr;
      };
      for (const DType index_type : kIndexTypes) {
        const SparseMatrix left = this->on_device(a, format(rows, depth), index_type);
        const SparseMatrix right = this->on_device(b, format(depth, columns), index_type);
        const SparseMatrix product = value(this->device().sparse().product(left, right).get());
        EXPECT_EQ(product.format(), SparseFormat::csr);
        std::vector<Wide<T>> want(static_cast<std::size_t>(rows * columns));
        const std::vector<Wide<T>> dense_b = b.dense();
        a.for_each(false, false, [&](std::int64_t row, std::int64_t k, Wide<T> element) {
          for (std::int64_t j = 0; j < columns; ++j)
            want[static_cast<std::size_t>(row * columns + j)] +=
                element * dense_b[static_cast<std::size_t>(k * columns + j)];
        });
        Sample<T> dense = this->poisoned({rows, columns});
        value(this->device().sparse().to_dense(product, dense.array()).get());
        this->expect_close(dense.read(), want, 60);
      }
    }
}

CONFORMANCE_TEST(SparseStructureConformance, spgemm_of_many_rows) {
  this->covers("sparse", "spgemm");
  const auto a = this->random_matrix(10'007, 5'003, 4);
  const auto b = this->random_matrix(5'003, 10'007, 4);
  const SparseMatrix product = value(
      this->device()
          .sparse()
          .product(this->on_device(a, SparseFormat::csr, DType::i32), this->on_device(b, SparseFormat::csr, DType::i32))
          .get());
  // (a b) x = a (b x)
  Sample<T> x = this->random({10'007});
  std::vector<Wide<T>> bx(5'003);
  std::vector<Wide<T>> want(10'007);
  b.for_each(false, false, [&](std::int64_t row, std::int64_t column, Wide<T> element) {
    bx[static_cast<std::size_t>(row)] += element * widen(x.values()[static_cast<std::size_t>(column)]);
  });
  a.for_each(false, false, [&](std::int64_t row, std::int64_t column, Wide<T> element) {
    want[static_cast<std::size_t>(row)] += element * bx[static_cast<std::size_t>(column)];
  });
  Sample<T> y = this->poisoned({10'007});
  value(this->device().sparse().multiply(product, x.array(), y.array()).get());
  this->expect_close(y.read(), want, 200);
}

}  // namespace
}  // namespace troupe::conformance
