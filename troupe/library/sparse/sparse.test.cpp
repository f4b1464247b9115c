#include "troupe/library/sparse/sparse.hpp"

#include "troupe/library/conformance.test.hpp"

namespace troupe {
namespace {

class SparseInput : public ::testing::Test {
 protected:
  const Device& device() { return *conformance::Devices::instance().find("host"); }
  template <class T>
  Array<T> array(const std::vector<T>& elements) {
    Array<T> made = value(device().array<T>({static_cast<std::int64_t>(elements.size())}));
    if (!elements.empty()) value(device().write(made, elements).get());
    return made;
  }
  Array<float> floats(const Shape& shape) { return value(device().array<float>(shape)); }
  /// 3 x 4, with elements (0, 1), (2, 0), (2, 3).
  SparseMatrix small() {
    return value(
        device()
            .sparse()
            .csr(3, 4, array<std::int32_t>({0, 1, 1, 3}), array<std::int32_t>({1, 0, 3}), array<float>({1, 2, 3}))
            .get());
  }
  template <class R>
  static void expect_error(const Result<R>& result, ErrorKind kind, std::string_view words) {
    ASSERT_FALSE(result) << "expected: " << words;
    EXPECT_EQ(result.error().kind(), kind);
    EXPECT_NE(result.error().message().find(words), std::string::npos) << result.error().message();
  }
  void expect_refused(const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& indices,
                      std::string_view words) {
    const std::vector<float> values(indices.size(), 1.0F);
    expect_error(device().sparse().csr(4, 10, array(offsets), array(indices), array(values)).get(),
                 ErrorKind::invalid_argument, words);
  }
};

TEST_F(SparseInput, a_bad_structure_is_found_on_the_device_and_says_where) {
  expect_refused({0, 1, 2, 2, 3}, {0, 9, 17}, "row 3 has column 17; the matrix has 10 columns");
  expect_refused({0, 1, 2, 2, 3}, {0, -1, 1}, "row 1 has column -1; the matrix has 10 columns");
  expect_refused({1, 1, 2, 2, 3}, {0, 1, 1}, "the first offset is 1; it must be 0");
  expect_refused({0, 2, 1, 3, 3}, {0, 1, 1}, "row 1 ends before it begins");
  expect_refused({0, 1, 2, 2, 2}, {0, 1, 1}, "the last offset is 2; it must be 3, the number of indices");
  expect_refused({0, 1, 2, 2147483647, 3}, {0, 1, 1}, "row 2 has the offset 2147483647; there are only 3 indices");
  expect_refused({0, -7, 2, 2, 3}, {0, 1, 1}, "row 0 ends before it begins");
  expect_refused({0, 3, 3, 3, 3}, {0, 2, 1},
                 "row 0 has column 1 after an equal or larger one; the columns of a row must ascend");
  expect_refused({0, 3, 3, 3, 3}, {0, 2, 2}, "row 0 has column 2 after an equal or larger one");
}

TEST_F(SparseInput, every_format_names_what_it_counts) {
  const Sparse sparse = device().sparse();
  const auto values = array<double>({1, 2});
  expect_error(sparse.csc(3, 2, array<std::int64_t>({0, 1, 2}), array<std::int64_t>({0, 3}), values).get(),
               ErrorKind::invalid_argument, "column 1 has row 3; the matrix has 3 rows");
  expect_error(sparse.coo(3, 2, array<std::int64_t>({0, 3}), array<std::int64_t>({0, 1}), values).get(),
               ErrorKind::invalid_argument, "element 1 has row 3; the matrix has 3 rows");
  expect_error(sparse.coo(3, 2, array<std::int64_t>({0, 2}), array<std::int64_t>({-1, 1}), values).get(),
               ErrorKind::invalid_argument, "element 0 has column -1; the matrix has 2 columns");
  expect_error(sparse.coo(3, 2, array<std::int64_t>({2, 0}), array<std::int64_t>({0, 1}), values).get(),
               ErrorKind::invalid_argument, "element 1 is not after the element before it");
  const auto blocks = value(device().array<float>({2, 2, 2}));
  value(device().fill(blocks, 1.0F).get());
  expect_error(sparse.bsr(4, 4, 2, array<std::int32_t>({0, 1, 2}), array<std::int32_t>({0, 2}), blocks).get(),
               ErrorKind::invalid_argument, "block row 1 has block column 2; the matrix has 2 block columns");
}

TEST_F(SparseInput, structures_at_random_are_taken_or_refused_and_never_leave_their_arrays) {
  std::mt19937_64 random(7);
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return static_cast<std::int32_t>(std::uniform_int_distribution<std::int64_t>(least, most)(random));
  };
  int taken = 0;
  for (int round = 0; round < 2000; ++round) {
    const int rows = number(0, 3), columns = number(0, 3), stored = number(0, 4);
    std::vector<std::int32_t> offsets(static_cast<std::size_t>(rows) + 1), indices(static_cast<std::size_t>(stored));
    for (std::int32_t& offset : offsets) offset = round % 10 == 0 ? number(-5'000'000, 5'000'000) : number(0, 4);
    for (std::int32_t& index : indices) index = number(-1, 3);
    if (round % 3 != 0) {
      offsets.front() = 0;
      std::ranges::sort(offsets);
    }
    if (round % 3 == 2) offsets.back() = stored;
    const auto x = floats({columns}), y = floats({rows});
    value(device().fill(x, 1.0F).get());
    const auto matrix = device()
                            .sparse()
                            .csr(rows, columns, array(offsets), array(indices),
                                 array(std::vector<float>(static_cast<std::size_t>(stored), 1.0F)))
                            .get();
    if (!matrix) {
      EXPECT_EQ(matrix.error().kind(), ErrorKind::invalid_argument);
      continue;
    }
    ++taken;
    value(device().sparse().multiply(*matrix, x, y).get());
    float sum = 0;
    for (const float element : value(device().read(y).get())) sum += element;
    EXPECT_EQ(sum, static_cast<float>(stored));
  }
  EXPECT_GT(taken, 50);
}

TEST_F(SparseInput, the_structure_is_a_copy_and_the_values_are_shared) {
  const auto offsets = array<std::int32_t>({0, 1, 2});
  const auto indices = array<std::int32_t>({0, 1});
  const auto values = array<float>({5, 7});
  const SparseMatrix matrix = value(device().sparse().csr(2, 2, offsets, indices, values).get());
  value(device().fill(offsets, 1'000'000).get());
  value(device().fill(indices, -1).get());
  value(device().fill(values, 3.0F).get());
  const auto x = array<float>({1, 2}), y = floats({2});
  value(device().sparse().multiply(matrix, x, y).get());
  const HostArray<float> got = value(device().read(y).get());
  EXPECT_EQ(got[0], 3.0F);
  EXPECT_EQ(got[1], 6.0F);
  EXPECT_EQ(value(matrix.values_as<float>()).element_count(), 2);
  EXPECT_EQ(matrix.values_as<double>().error().kind(), ErrorKind::invalid_argument);
}

TEST_F(SparseInput, extents_and_types_that_do_not_fit_are_refused) {
  const Sparse sparse = device().sparse();
  const auto offsets = array<std::int32_t>({0, 1, 2});
  const auto indices = array<std::int32_t>({0, 1});
  const auto values = array<float>({5, 7});
  const auto refused = [&](Call<SparseMatrix> call, ErrorKind kind, std::string_view words) {
    expect_error(std::move(call).get(), kind, words);
  };
  using enum ErrorKind;
  refused(sparse.csr(3, 2, offsets, indices, values), invalid_argument, "it must be [4], one more than there are rows");
  refused(sparse.csr(-1, 2, offsets, indices, values), invalid_argument, "-1 x 2");
  refused(sparse.csr(2, 1LL << 40, offsets, indices, values), invalid_argument,
          "with i32 indices it must have 0 to 2147483647 rows and columns");
  refused(sparse.csr(2, 0, offsets, indices, values), invalid_argument, "there must be none");
  refused(sparse.csr(2, 2, offsets, array<std::int64_t>({0, 1}), values), invalid_argument,
          "they must have the same type");
  refused(sparse.csr(2, 2, values, values, values), unsupported, "it must be i32 or i64");
  refused(sparse.csr(2, 2, offsets, indices, indices), unsupported, "it must be f32, f64, c64 or c128");
  refused(sparse.csr(2, 2, offsets, indices, array<float>({1, 2, 3})), invalid_argument,
          "it must be [2], one for each index");
  refused(sparse.csr(2, 2, offsets, indices, value(values.slice(0, 1, -1, -1))), invalid_argument,
          "it must be contiguous");
  refused(sparse.csr(2, 2, offsets, indices, Array<float>()), invalid_argument, "values is an empty handle");
  refused(sparse.bsr(2, 2, 3, offsets, indices, values), invalid_argument,
          "the block size is 3 and the matrix is 2 x 2");
  refused(sparse.bsr(2, 2, 0, offsets, indices, values), invalid_argument, "1 to 1024");
  refused(sparse.bsr(2, 2, 1, offsets, indices, values), invalid_argument, "[2, 1, 1]");
}

TEST_F(SparseInput, products_of_other_extents_or_types_are_refused) {
  const Sparse sparse = device().sparse();
  const SparseMatrix a = small();
  const auto expect = [&](Call<void> call, ErrorKind kind, std::string_view words) {
    expect_error(std::move(call).get(), kind, words);
  };
  using enum ErrorKind;
  expect(sparse.multiply(SparseMatrix(), floats({4}), floats({3})), invalid_argument,
         "multiply: the matrix is an empty handle");
  expect(sparse.multiply(a, floats({3}), floats({3})), invalid_argument, "x is [3]; it must have 4 rows");
  expect(sparse.multiply(a, floats({4}), floats({4})), invalid_argument, "y is [4]; it must have 3 rows");
  expect(sparse.multiply(a, floats({4}), floats({3}), {.transpose = true}), invalid_argument,
         "x is [4]; it must have 3 rows");
  expect(sparse.multiply(a, floats({4, 2}), floats({3})), invalid_argument, "the same number of columns");
  expect(sparse.multiply(a, floats({4, 2}), floats({3, 3})), invalid_argument, "the same number of columns");
  expect(sparse.multiply(a, floats({4, 2, 1}), floats({3})), invalid_argument, "a vector or a matrix");
  expect(sparse.multiply(a, value(device().array<double>({4})), floats({3})), invalid_argument,
         "the type of the matrix, f32");
  expect(sparse.multiply(a, Array<float>(), floats({3})), invalid_argument, "");
  expect(sparse.multiply(a, floats({4}), floats({3}), {.alpha = {0.0, 1.0}}), invalid_argument, "alpha is 0+1i");
  expect(sparse.multiply(a, floats({4}), value(a.values_as<float>())), invalid_argument, "overlap");
  const auto both = floats({7});
  expect(sparse.multiply(a, value(both.slice(0, 0, 4)), value(both.slice(0, 2, 5))), invalid_argument, "overlap");
  expect(sparse.solve(a, floats({3}), floats({3})), invalid_argument, "square");
  expect(sparse.sddmm(floats({3, 2}), floats({3, 4}), a), invalid_argument,
         "a must have as many columns as b has rows");
  expect(sparse.sddmm(floats({3}), floats({3, 4}), a), invalid_argument, "a is [3]; it must be a matrix");
  expect(sparse.to_dense(a, floats({4, 3})), invalid_argument, "it must be [3, 4]");
  expect_error(sparse.product(a, a).get(), invalid_argument,
               "a is 3 x 4 and b is 3 x 4; a must have as many columns as b has rows");
  expect_error(sparse.product(a, SparseMatrix()).get(), invalid_argument, "empty");
  expect_error(sparse.convert(a, SparseFormat::bsr, 2).get(), invalid_argument, "the block size must divide both");
  expect_error(sparse.from_dense(floats({3})).get(), invalid_argument, "dense is [3]; it must be a matrix");
  expect_error(sparse.from_dense(value(device().array<std::int32_t>({3, 3}))).get(), unsupported,
               "f32, f64, c64 or c128");
}

TEST_F(SparseInput, triplets_of_one_place_are_added_and_those_outside_refused) {
  const Sparse sparse = device().sparse();
  const std::vector<Triplet<double>> elements{{1, 2, 1.5}, {0, 0, 4}, {1, 2, 2.5}};
  const SparseMatrix matrix = value(sparse.from_triplets<double>(2, 3, std::span<const Triplet<double>>(elements)));
  const Triplets<double> back = value(sparse.triplets<double>(matrix).get());
  EXPECT_EQ(back.elements, (std::vector<Triplet<double>>{{0, 0, 4}, {1, 2, 4}}));
  expect_error(sparse.from_triplets<double>(2, 2, std::span<const Triplet<double>>(elements)),
               ErrorKind::invalid_argument, "element 0 is at (1, 2), outside the matrix of 2 x 2");
  expect_error(sparse.triplets<float>(matrix).get(), ErrorKind::invalid_argument, "f64");
}

TEST_F(SparseInput, triplets_come_in_any_range_that_lies_side_by_side) {
  const Sparse sparse = device().sparse();
  std::vector<Triplet<double>> elements{{0, 0, 4}, {1, 2, 2.5}};
  const auto comes_back = [&](const Result<SparseMatrix>& matrix) {
    return value(sparse.triplets<double>(value(matrix)).get()).elements;
  };
  EXPECT_EQ(comes_back(sparse.from_triplets(2, 3, elements)), elements);
  EXPECT_EQ(comes_back(sparse.from_triplets(2, 3, std::span(elements))), elements);
  EXPECT_EQ(comes_back(sparse.from_triplets(2, 3, std::span(std::as_const(elements)))), elements);
  EXPECT_EQ(comes_back(sparse.from_triplets(2, 3, std::array{elements[0], elements[1]}, DType::i64)), elements);
  EXPECT_EQ(comes_back(sparse.from_triplets<double>(2, 3, elements)), elements);
  EXPECT_EQ(value(sparse.from_triplets(2, 3, std::vector<Triplet<float>>{{0, 0, 4}})).dtype(), DType::f32);
}

/// The columns of a dense operand are computed many at once, a few at once or one by one, depending on their layout and
/// number; each alone, as a vector, gives the same.
template <class T>
class SparseColumns : public ::testing::Test {
 protected:
  static constexpr std::int64_t kRows = 24;
  static constexpr std::int64_t kBlock = 3;
  const Device& device() { return *conformance::Devices::instance().find("host"); }
  /// A few elements in every row, on both sides of a large diagonal.
  SparseMatrix matrix(SparseFormat format) {
    std::vector<Triplet<T>> elements;
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t column = 0; column < kRows; ++column)
        if (row == column || (row * 5 + column * 3) % 7 == 0)
          elements.push_back({row, column, row == column ? T(8) : conformance::random_element<T>(random_)});
    const Sparse sparse = device().sparse();
    return value(sparse
                     .convert(value(sparse.from_triplets<T>(kRows, kRows, std::span<const Triplet<T>>(elements))),
                              format, format == SparseFormat::bsr ? kBlock : 1)
                     .get());
  }
  /// Compares `op(in, out)` of matrices with that of their columns.
  template <class Op>
  void expect_columns_alike(std::int64_t columns, conformance::Layout layout, const Op& op) {
    std::vector<T> numbers(static_cast<std::size_t>(kRows * columns));
    for (T& number : numbers) number = conformance::random_element<T>(random_);
    const conformance::Sample<T> in(device(), {kRows, columns}, layout, numbers);
    conformance::Sample<T> out(device(), {kRows, columns}, layout, {});
    value(op(in.array(), out.array()).get());
    const std::vector<T> got = out.read();
    conformance::Sample<T> alone(device(), {kRows, 1}, conformance::Layout::dense, {});
    for (std::int64_t j = 0; j < columns; ++j) {
      value(op(value(in.array().slice(1, j, j + 1)), alone.array()).get());
      const std::vector<T> want = alone.read();
      for (std::int64_t row = 0; row < kRows; ++row)
        ASSERT_LT(std::abs(got[static_cast<std::size_t>(row * columns + j)] - want[static_cast<std::size_t>(row)]),
                  1e-4)
            << "row " << row << " of column " << j << " of " << columns;
    }
  }
  void expect_columns_alike(const auto& op) {
    for (const conformance::Layout layout :
         {conformance::Layout::dense, conformance::Layout::transposed, conformance::Layout::sliced})
      for (const std::int64_t columns : {2, 7, 8, 9, 16, 17, 31, 32, 33, 70}) expect_columns_alike(columns, layout, op);
  }
  std::mt19937_64 random_{1};
};
using SparseTypes = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SparseColumns, SparseTypes);

TYPED_TEST(SparseColumns, multiply_gives_the_same_for_any_number_of_them) {
  const Sparse sparse = this->device().sparse();
  for (const SparseFormat format : {SparseFormat::csr, SparseFormat::csc, SparseFormat::coo, SparseFormat::bsr}) {
    const SparseMatrix matrix = this->matrix(format);
    for (const bool transformed : {false, true})
      this->expect_columns_alike([&](const AnyArray& x, const AnyArray& y) {
        return sparse.multiply(matrix, x, y, {.alpha = 0.5, .transpose = transformed, .conjugate = transformed});
      });
  }
}

TYPED_TEST(SparseColumns, solve_gives_the_same_for_any_number_of_them) {
  const Sparse sparse = this->device().sparse();
  for (const SparseFormat format : {SparseFormat::csr, SparseFormat::csc, SparseFormat::coo, SparseFormat::bsr}) {
    const SparseMatrix matrix = this->matrix(format);
    for (const bool upper : {false, true})
      for (const bool transformed : {false, true})
        this->expect_columns_alike([&](const AnyArray& b, const AnyArray& x) {
          return sparse.solve(matrix, b, x, {.upper = upper, .transpose = transformed, .conjugate = transformed});
        });
  }
}

TEST_F(SparseInput, a_matrix_outlives_its_worker) {
  System system({.log = log_nothing()});
  const Device device = value(system.device("host"));
  const std::vector<Triplet<float>> elements{{0, 1, 2}, {1, 0, 3}};
  const SparseMatrix matrix =
      value(device.sparse().from_triplets<float>(2, 2, std::span<const Triplet<float>>(elements)));
  const Array<float> x = value(device.array<float>({2}));
  const Array<float> y = value(device.array<float>({2}));
  value(device.fill(x, 1.0F).get());
  const std::int64_t generation = device.generation();
  ASSERT_TRUE(device.kill_worker());
  for (int round = 0; round < 100 || device.generation() == generation; ++round) {
    value(device.fill(y, 0.0F).get());
    value(device.sparse().multiply(matrix, x, y).get());
    const HostArray<float> got = value(device.read(y).get());
    EXPECT_EQ(got[0], 2.0F);
    EXPECT_EQ(got[1], 3.0F);
    EXPECT_EQ(value(device.sparse().product(matrix, matrix).get()).nonzeros(), 2);
  }
}

Task<Result<float>> made_in_a_task(Device device, Array<std::int32_t> offsets, Array<std::int32_t> indices,
                                   Array<float> values, Array<float> x, Array<float> y) {
  const SparseMatrix a = CO_TRY(co_await device.sparse().csr(2, 2, offsets, indices, values));
  const SparseMatrix square = CO_TRY(co_await device.sparse().product(a, a));
  CO_TRY(co_await device.sparse().multiply(square, x, y, {.alpha = 2.0}));
  const HostArray<float> got = CO_TRY(co_await device.read(y));
  co_return got[0];
}

TEST_F(SparseInput, everything_can_be_awaited) {
  System system;
  const Device device = value(system.device("host"));
  const auto send = [&]<class T>(const std::vector<T>& elements) {
    Array<T> made = value(device.array<T>({static_cast<std::int64_t>(elements.size())}));
    value(device.write(made, elements).get());
    return made;
  };
  EXPECT_EQ(value(system.run(made_in_a_task(device, send(std::vector<std::int32_t>{0, 2, 3}),
                                            send(std::vector<std::int32_t>{0, 1, 1}), send(std::vector<float>{1, 2, 3}),
                                            send(std::vector<float>{1, 1}), send(std::vector<float>{0, 0})))),
            18.0F);
}

}  // namespace
}  // namespace troupe
