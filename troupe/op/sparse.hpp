// Sparse matrices as data: their parts are arrays like any other, and a format says how to read them.
// Structure is checked where it lies, by an op of its own, before anything computes with it.
//
// A result whose size is not known beforehand takes two ops: one that counts, and one that fills what the app has made
// of that size in between.
#pragma once

#include "troupe/op/sparse_iterative.hpp"
#include "troupe/op/sparse_matrix.hpp"

namespace troupe::inline v0::op {

/// What is done to a matrix before it is used.
enum class Transform : std::uint8_t { none, transpose, conjugate, conjugate_transpose, kLast = conjugate_transpose };
constexpr bool transposes(Transform transform) noexcept {
  return transform == Transform::transpose || transform == Transform::conjugate_transpose;
}
constexpr bool conjugates(Transform transform) noexcept { return transform >= Transform::conjugate; }

/// The part of a matrix that a triangular solve uses; `unit` ones have ones on the diagonal, whatever is stored.
enum class StoredTriangle : std::uint8_t { lower, upper, unit_lower, unit_upper, kLast = unit_upper };
constexpr bool is_lower(StoredTriangle t) noexcept {
  return t == StoredTriangle::lower || t == StoredTriangle::unit_lower;
}
constexpr bool is_unit(StoredTriangle t) noexcept { return t >= StoredTriangle::unit_lower; }

/// Blocks have at most so many rows and columns.
inline constexpr std::int64_t kMaxSparseBlock = 1024;

/// Copies a structure and checks the copy. `matrix` has no values.
struct SparseAdopt {
  static constexpr Kind kKind = kind(kSparseFamily, 0);
  static constexpr std::string_view kName = "sparse.adopt";
  View offsets;
  View indices;
  SparseView matrix;
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("offsets", self.offsets);
    v.reads("indices", self.indices);
    v.begin("matrix");
    SparseView::describe_layout(self.matrix, v);
    v.writes("offsets", self.matrix.offsets);
    v.writes("indices", self.matrix.indices);
    v.end();
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const SparseAdopt&, const SparseAdopt&) = default;
};

/// y = alpha transform(matrix) x + beta y, for vectors or dense matrices of any strides.
struct SparseMultiply {
  static constexpr Kind kKind = kind(kSparseFamily, 1);
  static constexpr std::string_view kName = "sparse.multiply";
  Scalar alpha;
  Scalar beta;
  Transform transform = Transform::none;
  SparseView matrix;
  View x;
  View y;
  bool reads_y() const noexcept { return beta.as<std::complex<double>>() != 0.0; }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.field("transform", self.transform);
    v.begin("matrix");
    SparseView::describe_read(self.matrix, v);
    v.end();
    v.reads("x", self.x);
    if (self.reads_y())
      v.updates("y", self.y);
    else
      v.writes("y", self.y);
  }
  friend bool operator==(const SparseMultiply&, const SparseMultiply&) = default;
};

/// transform(triangle of matrix) x = alpha b, for vectors or dense matrices of any strides. The verdict says which row
/// has no diagonal element, or a zero.
struct SparseSolve {
  static constexpr Kind kKind = kind(kSparseFamily, 2);
  static constexpr std::string_view kName = "sparse.solve";
  Scalar alpha;
  Transform transform = Transform::none;
  StoredTriangle triangle = StoredTriangle::lower;
  SparseView matrix;
  View b;
  View x;
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("transform", self.transform);
    v.field("triangle", self.triangle);
    v.begin("matrix");
    SparseView::describe_read(self.matrix, v);
    v.end();
    v.reads("b", self.b);
    v.writes("x", self.x);
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const SparseSolve&, const SparseSolve&) = default;
};

/// values = alpha (a b) + beta values, where the matrix has elements: a sampled product of dense matrices.
struct SparseSddmm {
  static constexpr Kind kKind = kind(kSparseFamily, 3);
  static constexpr std::string_view kName = "sparse.sddmm";
  Scalar alpha;
  Scalar beta;
  View a;
  View b;
  SparseView matrix;
  bool reads_values() const noexcept { return beta.as<std::complex<double>>() != 0.0; }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.reads("a", self.a);
    v.reads("b", self.b);
    v.begin("matrix");
    SparseView::describe_structure(self.matrix, v);
    if (self.reads_values())
      v.updates("values", self.matrix.values);
    else
      v.writes("values", self.matrix.values);
    v.end();
  }
  friend bool operator==(const SparseSddmm&, const SparseSddmm&) = default;
};

/// The same matrix in another format: CSR to COO, COO to CSR, CSR to CSC, CSC to CSR, and BSR to CSR, which gets every
/// element of every block.
struct SparseConvert {
  static constexpr Kind kKind = kind(kSparseFamily, 4);
  static constexpr std::string_view kName = "sparse.convert";
  SparseView from;
  SparseView to;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.begin("from");
    SparseView::describe_read(self.from, v);
    v.end();
    v.begin("to");
    SparseView::describe_written(self.to, v);
    v.end();
  }
  friend bool operator==(const SparseConvert&, const SparseConvert&) = default;
};

struct SparseToDense {
  static constexpr Kind kKind = kind(kSparseFamily, 5);
  static constexpr std::string_view kName = "sparse.to_dense";
  SparseView matrix;
  View out;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.begin("matrix");
    SparseView::describe_read(self.matrix, v);
    v.end();
    v.writes("out", self.out);
  }
  friend bool operator==(const SparseToDense&, const SparseToDense&) = default;
};

/// The offsets of a dense matrix's nonzeros by rows, and in `total`, one i64, how many there are.
struct SparseCountDense {
  static constexpr Kind kKind = kind(kSparseFamily, 6);
  static constexpr std::string_view kName = "sparse.count_dense";
  View dense;
  View offsets;
  View total;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("dense", self.dense);
    v.writes("offsets", self.offsets);
    v.writes("total", self.total);
  }
  friend bool operator==(const SparseCountDense&, const SparseCountDense&) = default;
};

/// Indices and values of a dense matrix's nonzeros, to the offsets that were counted. The verdict says when it has
/// others by now.
struct SparseFillDense {
  static constexpr Kind kKind = kind(kSparseFamily, 7);
  static constexpr std::string_view kName = "sparse.fill_dense";
  View dense;
  SparseView matrix;  // CSR
  View verdict;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.reads("dense", self.dense);
    v.begin("matrix");
    SparseView::describe_layout(self.matrix, v);
    v.reads("offsets", self.matrix.offsets);
    v.writes("indices", self.matrix.indices);
    v.writes("values", self.matrix.values);
    v.end();
    v.writes("verdict", self.verdict);
  }
  friend bool operator==(const SparseFillDense&, const SparseFillDense&) = default;
};

/// How many blocks a CSR matrix has in each row of blocks, as offsets, and together.
struct SparseCountBlocks {
  static constexpr Kind kKind = kind(kSparseFamily, 8);
  static constexpr std::string_view kName = "sparse.count_blocks";
  std::int64_t block = 1;
  SparseView matrix;
  View offsets;
  View total;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("block", self.block);
    v.begin("matrix");
    SparseView::describe_structure(self.matrix, v);
    v.end();
    v.writes("offsets", self.offsets);
    v.writes("total", self.total);
  }
  friend bool operator==(const SparseCountBlocks&, const SparseCountBlocks&) = default;
};

struct SparseFillBlocks {
  static constexpr Kind kKind = kind(kSparseFamily, 9);
  static constexpr std::string_view kName = "sparse.fill_blocks";
  SparseView from;  // CSR
  SparseView to;    // BSR, with its offsets
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.begin("from");
    SparseView::describe_read(self.from, v);
    v.end();
    v.begin("to");
    SparseView::describe_layout(self.to, v);
    v.reads("offsets", self.to.offsets);
    v.writes("indices", self.to.indices);
    v.writes("values", self.to.values);
    v.end();
  }
  friend bool operator==(const SparseFillBlocks&, const SparseFillBlocks&) = default;
};

/// How many elements the product of two CSR matrices has.
struct SparseCountProduct {
  static constexpr Kind kKind = kind(kSparseFamily, 10);
  static constexpr std::string_view kName = "sparse.count_product";
  SparseView a;
  SparseView b;
  View total;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.begin("a");
    SparseView::describe_read(self.a, v);
    v.end();
    v.begin("b");
    SparseView::describe_read(self.b, v);
    v.end();
    v.writes("total", self.total);
  }
  friend bool operator==(const SparseCountProduct&, const SparseCountProduct&) = default;
};

/// The product, into arrays of as many elements as were counted.
struct SparseFillProduct {
  static constexpr Kind kKind = kind(kSparseFamily, 11);
  static constexpr std::string_view kName = "sparse.fill_product";
  SparseView a;
  SparseView b;
  SparseView c;
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.begin("a");
    SparseView::describe_read(self.a, v);
    v.end();
    v.begin("b");
    SparseView::describe_read(self.b, v);
    v.end();
    v.begin("c");
    SparseView::describe_written(self.c, v);
    v.end();
  }
  friend bool operator==(const SparseFillProduct&, const SparseFillProduct&) = default;
};

using SparseOps =
    OpList<SparseAdopt, SparseMultiply, SparseSolve, SparseSddmm, SparseConvert, SparseToDense, SparseCountDense,
           SparseFillDense, SparseCountBlocks, SparseFillBlocks, SparseCountProduct, SparseFillProduct, SparseCg,
           SparseBicgstab, SparseGmres, SparsePower, SparseLanczos, SparseJacobi, SparseIlu0, SparseIc0>;

// What must hold of the extents and types for an op to be run at all, or `invalid_argument`. Asked before an op is
// made, and again where it is run. What is in the arrays is another matter: `SparseAdopt` looks at that.

Result<void> check(const SparseAdopt& op);
Result<void> check(const SparseMultiply& op);
Result<void> check(const SparseSolve& op);
Result<void> check(const SparseSddmm& op);
Result<void> check(const SparseConvert& op);
Result<void> check(const SparseToDense& op);
Result<void> check(const SparseCountDense& op);
Result<void> check(const SparseFillDense& op);
Result<void> check(const SparseCountBlocks& op);
Result<void> check(const SparseFillBlocks& op);
Result<void> check(const SparseCountProduct& op);
Result<void> check(const SparseFillProduct& op);

}  // namespace troupe::inline v0::op
