// What the libraries refuse by themselves, before there is an op, side by side: so that the sentences can be read, and
// so that none changes unseen. Those of the ops are in op/refusals.test.cpp.
#include "troupe/device/refusals.test.hpp"

#include <limits>
#include <sstream>

#include "troupe/library/sparse/sparse.hpp"

namespace troupe {
namespace {

using enum ErrorKind;

class LibraryRefusals : public RefusalTest {
 protected:
  using RefusalTest::refused;
  template <class R>
  void refused(Call<R> call, std::string_view text, ErrorKind kind = invalid_argument) {
    const std::uint64_t before = device.stats().submitted;
    refused(std::move(call).get(), text, kind);
    EXPECT_EQ(device.stats().submitted, before) << "it reached a worker: " << text;
  }
  template <class T = float>
  Array<T> array(const Shape& shape) {
    return value(device.array<T>(shape));
  }

  Device device = open({.standby = Standby::none});
  const AnyArray none;
  const double nan = std::numeric_limits<double>::quiet_NaN();
};

TEST_F(LibraryRefusals, of_blas) {
  const Blas blas = device.blas();
  refused(blas.gemm(none, array({3, 4}), array({2, 4})),
          "gemm: a is an empty handle: default-constructed or moved from");
  refused(blas.gemv(array({2, 3}), none, array({2})), "gemv: x is an empty handle: default-constructed or moved from");
  refused(blas.gemv(array({2, 3}), array({3, 1}), array({2})), "gemv: x is [3, 1]; it must be a vector");
  refused(blas.gemv(array({6}), array({3}), array({2})), "gemv: a is [6]; it must be a matrix");
  refused(blas.gemv(array({2, 3}), array({2}), array({2})),
          "gemv: a is [2, 3], x is [2] and y is [2]; x must be [3] and y must be [2]");
  refused(blas.ger(array({2}), array({3}), array({3, 2})), "ger: a is [3, 2]; it must be [2, 3]");
  refused(blas.ger(array<f16>({2}), array<f16>({3}), array<f16>({2, 3})),
          "ger: a is f16; it must be f32, f64, c64 or c128", unsupported);
  refused(blas.symv(array({2, 3}), array({3}), array({2})), "symv: a is [2, 3]; it must be square");
  refused(blas.symv(array({2, 2}), array({2}), array({2}), {.side = Side::right}),
          "symv: options.side is Side::right; a vector needs Side::left, with the matrix on its left");
  refused(blas.trmv(array({2, 2}), array({2, 1}), array({2})), "trmv: x is [2, 1]; it must be a vector");
  refused(blas.trsv(array({2, 2}), array({2}), array({2, 1})), "trsv: y is [2, 1]; it must be a vector");
  refused(blas.trmm(array({2, 2}), array({2}), array({2, 1})), "trmm: b is [2]; it must be a matrix");
  refused(blas.trsm(array({2, 2}), array({2, 1}), array({2})), "trsm: x is [2]; it must be a matrix");
  const std::vector<AnyArray> one(1, array({1, 1})), two(2, array({1, 1})), many(65, array({1, 1}));
  refused(blas.gemm_group(one, two, one),
          "gemm_group: a, b and c have 1, 2 and 1 matrices; they must have the same number");
  refused(blas.gemm_group(many, many, many), "gemm_group: there are 65 products; it takes at most 64");
  refused(blas.gemm_group(one, one, one, {.conjugate_a = true}),
          "gemm_group: conjugate_a or conjugate_b is set, and it cannot conjugate; use gemm", unsupported);
}

TEST_F(LibraryRefusals, of_matmul) {
  const Matmul matmul = device.matmul();
  const auto a = array({2, 3}), b = array({3, 4}), d = array({2, 4});
  refused(matmul.multiply(a, b, d, {.scale_a = nan}), "matmul: scale_a is NaN; it must be finite");
  refused(matmul.multiply(a, b, d, {.beta = 0.5}), "matmul: beta is 0.5 and there is no c; beta needs options.c");
  refused(matmul.gradient(a, b, d, {.activation = Activation::relu}),
          "matmul gradient: relu needs options.preactivation, the array that multiply wrote with "
          "options.preactivation");
}

TEST_F(LibraryRefusals, of_solvers) {
  refused(device.solver().determinant(array({2, 3, 3})),
          "determinant: a is [2, 3, 3]; it must be a matrix; for a batch use determinants");
  refused(device.solver().solve(array({3, 3}), array({4}), array({3})), "solve: b is [4, 1]; it must be [3, 1]");
}

TEST_F(LibraryRefusals, of_sparse_matrices) {
  const Sparse sparse = device.sparse();
  const auto offsets = array<std::int32_t>({3}), indices = array<std::int32_t>({2});
  const auto values = array({2});
  refused(sparse.csr(2, 2, offsets, indices, none),
          "csr: values is an empty handle: default-constructed or moved from");
  refused(sparse.coo(2, 2, none, indices, values),
          "coo: row_indices is an empty handle: default-constructed or moved from");
  refused(sparse.csr(2, 2, offsets, values, values), "csr: indices is f32; it must be i32 or i64", unsupported);
  refused(sparse.csr(2, 2, array<std::int64_t>({3}), indices, values),
          "csr: offsets is i64 and indices is i32; they must have the same type");
  refused(sparse.csr(2, 2, offsets, indices, indices), "csr: values is i32; it must be f32, f64, c64 or c128",
          unsupported);
  refused(sparse.csr(3, 2, offsets, indices, values),
          "csr: offsets is [3]; it must be [4], one more than there are rows");
  refused(sparse.multiply(SparseMatrix(), values, values),
          "multiply: the matrix is an empty handle: default-constructed or moved from");

  const std::vector<Triplet<float>> outside{{0, 0, 1}, {1, 2, 1}};
  refused(sparse.from_triplets<float>(2, 2, std::span<const Triplet<float>>(outside)),
          "from_triplets: element 1 is at (1, 2), outside the matrix of 2 x 2");
  refused(sparse.from_triplets<float>(-1, 2, std::span<const Triplet<float>>()),
          "from_triplets: the matrix is -1 x 2; with i32 indices it must have 0 to 2147483647 rows and columns");
  refused(sparse.from_triplets<float>(2, 2, std::span<const Triplet<float>>(), DType::u8),
          "from_triplets: index_type is u8; it must be i32 or i64", unsupported);

  refused(sparse.from_dense(none).get(), "from_dense: dense is an empty handle: default-constructed or moved from");
  refused(sparse.from_dense(array({2, 2}), DType::u8).get(), "from_dense: index_type is u8; it must be i32 or i64",
          unsupported);
  refused(sparse.from_dense(array({4})).get(), "from_dense: dense is [4]; it must be a matrix");

  const SparseMatrix matrix = value(sparse.from_triplets<float>(3, 4, std::span<const Triplet<float>>()));
  const SparseMatrix doubles = value(sparse.from_triplets<double>(4, 4, std::span<const Triplet<double>>()));
  refused(sparse.convert(SparseMatrix(), SparseFormat::csc).get(),
          "convert: the matrix is an empty handle: default-constructed or moved from");
  refused(sparse.convert(matrix, SparseFormat::bsr, 0).get(), "convert: the block size is 0; it must be 1 to 1024");
  refused(sparse.convert(matrix, SparseFormat::bsr, 2).get(),
          "convert: the block size is 2 and the matrix is 3 x 4; the block size must divide both");
  refused(sparse.product(matrix, doubles).get(),
          "product: a is f32 with i32 indices and b is f64 with i32 indices; they must have the same types");
  refused(sparse.product(matrix, matrix).get(),
          "product: a is 3 x 4 and b is 3 x 4; a must have as many columns as b has rows");
}

TEST_F(LibraryRefusals, of_sparse_structures) {
  const auto adopt = [&](const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& indices) {
    const auto there = [&](const std::vector<std::int32_t>& numbers) {
      const auto made = array<std::int32_t>({static_cast<std::int64_t>(numbers.size())});
      value(device.write(made, numbers).get());
      return made;
    };
    return device.sparse().csr(2, 5, there(offsets), there(indices), array({2})).get();
  };
  refused(adopt({1, 1, 2}, {0, 0}), "the first offset is 1; it must be 0");
  refused(adopt({0, -1, 2}, {0, 0}), "the offsets must not fall: row 0 ends before it begins");
  refused(adopt({0, 7, 2}, {0, 0}), "row 0 has the offset 7; there are only 2 indices");
  refused(adopt({0, 1, 1}, {0, 0}), "the last offset is 1; it must be 2, the number of indices");
  refused(adopt({0, 1, 2}, {0, 5}), "row 1 has column 5; the matrix has 5 columns");
  refused(adopt({0, 2, 2}, {3, 1}),
          "row 0 has column 1 after an equal or larger one; the columns of a row must ascend");
}

TEST_F(LibraryRefusals, of_matrix_market_files) {
  const auto read = [](const std::string& text) {
    std::istringstream in(text);
    return read_matrix_market<double>(in, {.elements = 10});
  };
  const std::string kind = "%%MatrixMarket matrix coordinate ";
  const auto line_1 = [&](const std::string& words) { return read(kind + words + "\n1 1 0\n"); };
  refused(
      read("1 1 0\n"),
      "Matrix Market, line 1: the file must begin with \"%%MatrixMarket matrix coordinate\", a field and a symmetry");
  refused(read("%%MatrixMarket matrix array real general\n"),
          "Matrix Market, line 1: the file is an array, a dense matrix; it must be coordinate", unsupported);
  refused(read("%%MatrixMarket matrix list real general\n"), "Matrix Market, line 1: \"list\" must be coordinate");
  refused(line_1("real hermitian"),
          "Matrix Market, line 1: the matrix is hermitian and not complex; a hermitian matrix must be complex");
  refused(line_1("pattern skew-symmetric"),
          "Matrix Market, line 1: the matrix is a skew-symmetric pattern; a pattern has no values to negate");
  refused(line_1("complex general"),
          "Matrix Market, line 1: the matrix is complex; it must be read as c64 or c128, not as f64");

  const auto rest = [&](const std::string& lines) { return read(kind + "real general\n" + lines); };
  refused(rest("2 2\n"), "Matrix Market, line 2: the line must have three numbers: rows, columns and elements");
  refused(rest("2 two 0\n"), "Matrix Market, line 2: \"two\" must be a number");
  refused(rest("2 -2 0\n"),
          "Matrix Market, line 2: a number is negative; rows, columns and elements must be 0 or more");
  refused(rest("2 2 2\n1 1 1\n"), "Matrix Market, line 4: the file ends; it must have 2 elements");
  refused(rest("2 2 1\n1 1\n"), "Matrix Market, line 3: the element has 2 numbers; it must have 3");
  refused(rest("2 2 1\n1 3 1\n"), "Matrix Market, line 3: (1, 3) is outside the matrix of 2 x 2");
  refused(rest("2 2 1\n1 1 1\n2 2 1\n"),
          "Matrix Market, line 4: there is another element; the file says that it has 1");
  refused(rest("2 2 1\n1 1 " + std::string(2000, '1') + "\n"),
          "Matrix Market, line 3: the line has more than 1024 bytes");
  refused(read(kind + "real symmetric\n2 3 0\n"),
          "Matrix Market, line 2: the matrix is 2 x 3; a symmetric matrix must be square");
  refused(read(kind + "real symmetric\n2 2 1\n1 2 1\n"),
          "Matrix Market, line 3: (1, 2) is not in the lower triangle; the file of a symmetric matrix must have only "
          "that");
}

TEST_F(LibraryRefusals, of_einsum) {
  const auto a = array({2, 3}), b = array({3, 4}), c = array({2, 4});
  const auto einsum = [&](std::string_view text) { return device.tensor().einsum(text, a, b, c); };
  refused(einsum("ik,k7->ij"), "einsum: '7' must be a letter, \",\" or \"->\"\n  ik,k7->ij\n      ^");
  refused(einsum("ik,kj"), "einsum: \"->\" and the output are missing\n  ik,kj\n       ^");
  refused(einsum("ik,kj->ij->ij"), "einsum: \"->\" is there twice\n  ik,kj->ij->ij\n           ^");
  refused(einsum("ik,kj->i,j"), "einsum: there must be one output\n  ik,kj->i,j\n          ^");
  refused(einsum("..k,kj->j"), "einsum: an ellipsis must have three dots\n  ..k,kj->j\n  ^");
  refused(einsum("...k...,kj->j"), "einsum: an operand has \"...\" twice\n  ...k...,kj->j\n      ^");
  refused(einsum("ik,kj->iq"), "einsum: 'q' is in no operand\n  ik,kj->iq\n          ^");
  refused(einsum("ik,kj->ii"), "einsum: 'i' is twice in the output\n  ik,kj->ii\n          ^");
  refused(einsum("ik->i"), "einsum: the text has 1 operands, and the call has 2\n  ik->i");
  refused(einsum("ikl,kj->ij"),
          "einsum: operand 1 is [2, 3] and has 3 letters; each axis needs one\n  ikl,kj->ij\n  ^");
  refused(einsum("ii,ij->ij"), "einsum: 'i' is 2 and 3 in one operand; it must have one extent\n  ii,ij->ij\n   ^");
  refused(einsum("ik,ij->kj"),
          "einsum: 'i' is 2 in operand 1 and 3 in operand 2; it must have one extent\n  ik,ij->kj\n     ^");
  refused(einsum("ik,kj->ji"), "einsum: the output is [2, 4]; it must be [4, 2]\n  ik,kj->ji\n         ^");
  refused(einsum(std::string(1000, 'i')),
          "einsum: the text has 1000 characters; it may have 256\n  " + std::string(40, 'i'));
  refused(device.tensor().einsum("ij->ji", a, array({3, 2}), {.engine = TensorEngine::gemm}),
          "einsum: options.engine is gemm; with one operand it must be automatic", unsupported);
  refused(device.tensor().einsum("ik,kj->ij", a, b, c, {.engine = TensorEngine::cutensor}),
          "einsum: the engine cutensor needs a GPU; use automatic, gemm or loops", unsupported);
}

TEST_F(LibraryRefusals, of_tensors) {
  const Tensor tensor = device.tensor();
  const auto a = array({2, 3});
  refused(tensor.reduce(Reduction::sum, a, {2}, array({2})), "reduce: in is [2, 3]; it has no axis 2");
  refused(tensor.reduce(Reduction::sum, a, {1, 1}, array({2})), "reduce: axis 1 is given twice");
  refused(tensor.reduce(Reduction::sum, a, {1}, array({3})),
          "reduce: in is [2, 3] and out is [3]; out must be [2, 1] or [2]");
  refused(tensor.binary(Binary::add, a, array({3, 4}), a),
          "add: the operands are [2, 3] and [3, 4]; their shapes must broadcast");
  refused(tensor.binary(Binary::add, a, array({3}), array({2, 2, 3})),
          "add: out is [2, 2, 3]; operands of [2, 3] and [3] make [2, 3]");
  refused(tensor.permute(a, {1, 0}, array({2, 3})), "permute: out is [2, 3]; it must be [3, 2]");
}

TEST_F(LibraryRefusals, of_programs) {
  refused(device.jit().launch(Program(), "f", {}), "launch: the program is empty; compile it first");
}

}  // namespace
}  // namespace troupe
