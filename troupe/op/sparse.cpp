#include "troupe/op/sparse.hpp"

#include <array>
#include <limits>

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {
namespace {

// What does not fit, without the name of the call; `check` puts it before.
Unexpected misfit(const std::string& why) { return fail(ErrorKind::invalid_argument, why); }

bool is_index_type(DType dtype) noexcept { return dtype == DType::i32 || dtype == DType::i64; }
bool is_value_type(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::c64 || dtype == DType::c128;
}

std::string extents_of(const SparseView& matrix) {
  return std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns);
}

/// A dense array has the type of the matrix that it goes with.
Result<void> check_value_type(std::string_view what, const View& view, const SparseView& matrix) {
  if (view.dtype == matrix.values.dtype) return {};
  return misfit(std::string(what) + " is " + std::string(troupe::name(view.dtype)) +
                "; it must have the type of the matrix, " + std::string(troupe::name(matrix.values.dtype)));
}

/// That type and shape, and without gaps: what a library of sparse algebra can be given. `why` it has that shape.
Result<void> check_part(const View& view, std::string_view what, DType dtype, const Shape& shape,
                        std::string_view why = {}) {
  if (view.dtype != dtype)
    return misfit(std::string(what) + " is " + std::string(troupe::name(view.dtype)) + "; it must be " +
                  std::string(troupe::name(dtype)));
  if (view.shape != shape)
    return misfit(std::string(what) + " is " + view.shape.to_string() + "; it must be " + shape.to_string() +
                  std::string(why));
  if (view.strides.rank() != view.shape.rank() || !is_contiguous(view.shape, view.strides))
    return misfit(std::string(what) + " has strides " + view.strides.to_string() + "; it must be contiguous");
  return {};
}

Result<void> check_verdict(const View& verdict) {
  return check_part(verdict, "verdict", DType::i32, {kSparseVerdictWords});
}
Result<void> check_total(const View& total) { return check_part(total, "total", DType::i64, {1}); }

/// A vector or matrix whose first extent is `rows`.
Result<void> check_dense(const View& view, std::string_view what, const SparseView& matrix, std::int64_t rows) {
  TROUPE_TRY(check_value_type(what, view, matrix));
  if (view.strides.rank() != view.shape.rank() || (view.shape.rank() != 1 && view.shape.rank() != 2))
    return misfit(std::string(what) + " is " + view.shape.to_string() + "; it must be a vector or a matrix");
  if (view.shape[0] != rows)
    return misfit(std::string(what) + " is " + view.shape.to_string() + "; it must have " + std::to_string(rows) +
                  " rows, because the matrix is " + extents_of(matrix));
  return {};
}

/// Two operands of `rows_x` and `rows_y` rows, both vectors, or matrices of as many columns.
Result<void> check_dense_pair(const SparseView& matrix, std::string_view name_x, const View& x, std::int64_t rows_x,
                              std::string_view name_y, const View& y, std::int64_t rows_y) {
  TROUPE_TRY(check_dense(x, name_x, matrix, rows_x));
  TROUPE_TRY(check_dense(y, name_y, matrix, rows_y));
  if (x.shape.rank() != y.shape.rank() || (x.shape.rank() == 2 && x.shape[1] != y.shape[1]))
    return misfit(std::string(name_x) + " is " + x.shape.to_string() + " and " + std::string(name_y) + " is " +
                  y.shape.to_string() + "; they must have the same number of columns");
  return {};
}

Result<void> check_format(std::string_view what, const SparseView& matrix, SparseFormat format) {
  if (matrix.format == format) return {};
  return misfit(std::string(what) + " is " + std::string(name(matrix.format)) + "; it must be " +
                std::string(name(format)));
}

/// A dense matrix of the sparse one's extents.
Result<void> check_matrix_view(std::string_view what, const View& view, const SparseView& matrix) {
  const Shape shape{matrix.rows, matrix.columns};
  if (view.strides.rank() == view.shape.rank() && view.shape == shape) return {};
  return misfit(std::string(what) + " is " + view.shape.to_string() + "; it must be " + shape.to_string());
}

/// Both of one type, and their indices, too.
Result<void> check_types_agree(std::string_view name_a, const SparseView& a, std::string_view name_b,
                               const SparseView& b) {
  if (a.values.dtype == b.values.dtype && a.indices.dtype == b.indices.dtype) return {};
  const auto types_of = [](const SparseView& matrix) {
    return std::string(troupe::name(matrix.values.dtype)) + " with " + std::string(troupe::name(matrix.indices.dtype)) +
           " indices";
  };
  return misfit(std::string(name_a) + " is " + types_of(a) + " and " + std::string(name_b) + " is " + types_of(b) +
                "; they must have the same types");
}

Result<void> check_extents_agree(std::string_view name_a, const SparseView& a, std::string_view name_b,
                                 const SparseView& b) {
  if (a.rows == b.rows && a.columns == b.columns) return {};
  return misfit(std::string(name_a) + " is " + extents_of(a) + " and " + std::string(name_b) + " is " + extents_of(b) +
                "; they must have the same extents");
}

Result<void> check_divides(const SparseView& matrix, std::int64_t block) {
  if (matrix.rows % block == 0 && matrix.columns % block == 0) return {};
  return misfit("the block size is " + std::to_string(block) + " and the matrix is " + extents_of(matrix) +
                "; the block size must divide both");
}

Result<void> check_extents(const SparseView& matrix, DType index_type) {
  const std::int64_t most = index_type == DType::i32 ? std::numeric_limits<std::int32_t>::max()
                                                     : std::numeric_limits<std::int64_t>::max() / 2;
  if (matrix.rows < 0 || matrix.columns < 0 || matrix.rows > most || matrix.columns > most)
    return misfit("the matrix is " + extents_of(matrix) + "; with " + std::string(troupe::name(index_type)) +
                  " indices it must have 0 to " + std::to_string(most) + " rows and columns");
  const bool is_blocked = matrix.format == SparseFormat::bsr;
  if (matrix.block < 1 || matrix.block > (is_blocked ? kMaxSparseBlock : 1))
    return misfit("the block size is " + std::to_string(matrix.block) + "; it must be 1" +
                  (is_blocked ? " to " + std::to_string(kMaxSparseBlock)
                              : ", because the matrix is " + std::string(name(matrix.format))));
  return check_divides(matrix, matrix.block);
}

Shape offsets_shape(const SparseView& matrix) {
  return matrix.format == SparseFormat::coo ? Shape{matrix.stored()} : Shape{matrix.lines() + 1};
}

/// Why the offsets have that shape.
std::string_view offsets_reason(const SparseView& matrix) {
  switch (matrix.format) {
    case SparseFormat::csc: return ", one more than there are columns";
    case SparseFormat::coo: return ", one for each column index";
    case SparseFormat::bsr: return ", one more than there are rows of blocks";
    default: return ", one more than there are rows";
  }
}

Shape values_shape(const SparseView& matrix) {
  return matrix.format == SparseFormat::bsr ? Shape{matrix.stored(), matrix.block, matrix.block}
                                            : Shape{matrix.stored()};
}

}  // namespace

Result<void> check_structure(const SparseView& matrix) {
  const DType index_type = matrix.indices.dtype;
  const bool is_coo = matrix.format == SparseFormat::coo;
  const std::string_view indices = is_coo ? "column_indices" : "indices";
  if (!is_index_type(index_type))
    return misfit(std::string(indices) + " is " + std::string(troupe::name(index_type)) + "; it must be i32 or i64");
  TROUPE_TRY(check_extents(matrix, index_type));
  if (matrix.indices.shape.rank() != 1)
    return misfit(std::string(indices) + " is " + matrix.indices.shape.to_string() + "; it must be a vector");
  if (index_type == DType::i32 && matrix.stored() > std::numeric_limits<std::int32_t>::max())
    return misfit("there are " + std::to_string(matrix.stored()) +
                  " elements; i32 indices can count 2147483647: use i64 indices");
  if (matrix.stored() > 0 && (matrix.rows == 0 || matrix.columns == 0))
    return misfit("the matrix is " + extents_of(matrix) + " and there are " + std::to_string(matrix.stored()) +
                  " indices; there must be none");
  TROUPE_TRY(check_part(matrix.offsets, is_coo ? "row_indices" : "offsets", index_type, offsets_shape(matrix),
                        offsets_reason(matrix)));
  return check_part(matrix.indices, indices, index_type, {matrix.stored()});
}

Result<void> check(const SparseView& matrix) {
  TROUPE_TRY(check_structure(matrix));
  if (!is_value_type(matrix.values.dtype))
    return fail(ErrorKind::unsupported,
                "values is " + std::string(troupe::name(matrix.values.dtype)) + "; it must be " + names_of(kFourTypes));
  return check_part(matrix.values, "values", matrix.values.dtype, values_shape(matrix),
                    matrix.format == SparseFormat::bsr ? ", one block for each index" : ", one for each index");
}

namespace {

Result<void> fits(const SparseAdopt& op) {
  TROUPE_TRY(check_structure(op.matrix));
  TROUPE_TRY(check_verdict(op.verdict));
  const auto check_copy = [](std::string_view what, const View& from, const View& to) -> Result<void> {
    if (from.dtype == to.dtype && from.shape == to.shape && from.strides.rank() == from.shape.rank()) return {};
    const auto text = [](const View& view) { return std::string(troupe::name(view.dtype)) + view.shape.to_string(); };
    return misfit(std::string(what) + " is " + text(from) + " and its copy is " + text(to) +
                  "; they must have the same type and shape");
  };
  TROUPE_TRY(check_copy("offsets", op.offsets, op.matrix.offsets));
  return check_copy("indices", op.indices, op.matrix.indices);
}

Result<void> fits(const SparseMultiply& op) {
  TROUPE_TRY(check(op.matrix));
  const bool swaps = transposes(op.transform);
  return check_dense_pair(op.matrix, "x", op.x, swaps ? op.matrix.rows : op.matrix.columns, "y", op.y,
                          swaps ? op.matrix.columns : op.matrix.rows);
}

Result<void> fits(const SparseSolve& op) {
  TROUPE_TRY(check(op.matrix));
  TROUPE_TRY(check_verdict(op.verdict));
  if (op.matrix.rows != op.matrix.columns)
    return misfit("the matrix is " + extents_of(op.matrix) + "; it must be square");
  return check_dense_pair(op.matrix, "b", op.b, op.matrix.rows, "x", op.x, op.matrix.rows);
}

Result<void> fits(const SparseSddmm& op) {
  TROUPE_TRY(check(op.matrix));
  for (const NamedView& dense : {NamedView{"a", op.a}, NamedView{"b", op.b}}) {
    TROUPE_TRY(check_value_type(dense.name, dense.view, op.matrix));
    if (dense.view.shape.rank() != 2 || dense.view.strides.rank() != 2)
      return misfit(std::string(dense.name) + " is " + dense.view.shape.to_string() + "; it must be a matrix");
  }
  if (op.a.shape[1] != op.b.shape[0])
    return misfit("a is " + op.a.shape.to_string() + " and b is " + op.b.shape.to_string() +
                  "; a must have as many columns as b has rows");
  if (op.a.shape[0] == op.matrix.rows && op.b.shape[1] == op.matrix.columns) return {};
  return misfit("the matrix is " + extents_of(op.matrix) + "; a " + op.a.shape.to_string() + " times b " +
                op.b.shape.to_string() + " makes " + Shape{op.a.shape[0], op.b.shape[1]}.to_string());
}

Result<void> fits(const SparseConvert& op) {
  TROUPE_TRY(check(op.from));
  TROUPE_TRY(check(op.to));
  using enum SparseFormat;
  const auto is = [&](SparseFormat from, SparseFormat to) { return op.from.format == from && op.to.format == to; };
  if (!is(csr, coo) && !is(coo, csr) && !is(csr, csc) && !is(csc, csr) && !is(bsr, csr))
    return misfit("from is " + std::string(name(op.from.format)) + " and to is " + std::string(name(op.to.format)) +
                  "; one op converts CSR to or from COO and CSC, and BSR to CSR");
  TROUPE_TRY(check_extents_agree("from", op.from, "to", op.to));
  TROUPE_TRY(check_types_agree("from", op.from, "to", op.to));
  const std::int64_t stored = op.from.stored() * op.from.block * op.from.block;
  if (stored == op.to.stored()) return {};
  return misfit("from has " + std::to_string(stored) + " elements and to has " + std::to_string(op.to.stored()) +
                "; they must have the same number");
}

Result<void> fits(const SparseToDense& op) {
  TROUPE_TRY(check(op.matrix));
  TROUPE_TRY(check_value_type("out", op.out, op.matrix));
  return check_matrix_view("out", op.out, op.matrix);
}

Result<void> fits(const SparseCountDense& op) {
  if (!is_value_type(op.dense.dtype))
    return fail(ErrorKind::unsupported,
                "dense is " + std::string(troupe::name(op.dense.dtype)) + "; it must be " + names_of(kFourTypes));
  if (op.dense.shape.rank() != 2 || op.dense.strides.rank() != 2)
    return misfit("dense is " + op.dense.shape.to_string() + "; it must be a matrix");
  if (!is_index_type(op.offsets.dtype))
    return misfit("offsets is " + std::string(troupe::name(op.offsets.dtype)) + "; it must be i32 or i64");
  TROUPE_TRY(
      check_part(op.offsets, "offsets", op.offsets.dtype, {op.dense.shape[0] + 1}, ", one more than there are rows"));
  return check_total(op.total);
}

Result<void> fits(const SparseFillDense& op) {
  TROUPE_TRY(check_format("the matrix", op.matrix, SparseFormat::csr));
  TROUPE_TRY(check(op.matrix));
  TROUPE_TRY(check_verdict(op.verdict));
  TROUPE_TRY(check_value_type("dense", op.dense, op.matrix));
  return check_matrix_view("dense", op.dense, op.matrix);
}

Result<void> fits(const SparseCountBlocks& op) {
  TROUPE_TRY(check_format("the matrix", op.matrix, SparseFormat::csr));
  TROUPE_TRY(check_structure(op.matrix));
  if (op.block < 1 || op.block > kMaxSparseBlock)
    return misfit("the block size is " + std::to_string(op.block) + "; it must be 1 to " +
                  std::to_string(kMaxSparseBlock));
  TROUPE_TRY(check_divides(op.matrix, op.block));
  TROUPE_TRY(check_part(op.offsets, "offsets", op.matrix.indices.dtype, {op.matrix.rows / op.block + 1},
                        ", one more than there are rows of blocks"));
  return check_total(op.total);
}

Result<void> fits(const SparseFillBlocks& op) {
  TROUPE_TRY(check_format("from", op.from, SparseFormat::csr));
  TROUPE_TRY(check_format("to", op.to, SparseFormat::bsr));
  TROUPE_TRY(check(op.from));
  TROUPE_TRY(check(op.to));
  TROUPE_TRY(check_extents_agree("from", op.from, "to", op.to));
  return check_types_agree("from", op.from, "to", op.to);
}

Result<void> check_factors(const SparseView& a, const SparseView& b) {
  TROUPE_TRY(check_format("a", a, SparseFormat::csr));
  TROUPE_TRY(check_format("b", b, SparseFormat::csr));
  TROUPE_TRY(check(a));
  TROUPE_TRY(check(b));
  TROUPE_TRY(check_types_agree("a", a, "b", b));
  if (a.columns == b.rows) return {};
  return misfit("a is " + extents_of(a) + " and b is " + extents_of(b) + "; a must have as many columns as b has rows");
}

Result<void> fits(const SparseCountProduct& op) {
  TROUPE_TRY(check_factors(op.a, op.b));
  return check_total(op.total);
}

Result<void> fits(const SparseFillProduct& op) {
  TROUPE_TRY(check_factors(op.a, op.b));
  TROUPE_TRY(check_format("c", op.c, SparseFormat::csr));
  TROUPE_TRY(check(op.c));
  TROUPE_TRY(check_types_agree("a", op.a, "c", op.c));
  if (op.c.rows == op.a.rows && op.c.columns == op.b.columns) return {};
  return misfit("c is " + extents_of(op.c) + "; a " + extents_of(op.a) + " times b " + extents_of(op.b) + " makes " +
                std::to_string(op.a.rows) + " x " + std::to_string(op.b.columns));
}

/// "multiply: " and what does not fit. `call` is what the user called; several ops may belong to it.
template <class Op>
Result<void> check_named(std::string_view call, const Op& op) {
  const Result<void> good = fits(op);
  if (good) return {};
  return fail(good.error().kind(), std::string(call) + ": " + std::string(good.error().message()));
}

}  // namespace

Result<void> check(const SparseAdopt& op) {
  return check_named(enum_names<SparseFormat>()[static_cast<std::size_t>(op.matrix.format)], op);
}
Result<void> check(const SparseMultiply& op) {
  TROUPE_TRY(check_named("multiply", op));
  TROUPE_TRY(check_factor("multiply", {"alpha", op.alpha}, op.matrix.values.dtype));
  return check_factor("multiply", {"beta", op.beta}, op.matrix.values.dtype);
}
Result<void> check(const SparseSolve& op) {
  TROUPE_TRY(check_named("solve", op));
  return check_factor("solve", {"alpha", op.alpha}, op.matrix.values.dtype);
}
Result<void> check(const SparseSddmm& op) {
  TROUPE_TRY(check_named("sddmm", op));
  TROUPE_TRY(check_factor("sddmm", {"alpha", op.alpha}, op.matrix.values.dtype));
  return check_factor("sddmm", {"beta", op.beta}, op.matrix.values.dtype);
}
Result<void> check(const SparseConvert& op) { return check_named("convert", op); }
Result<void> check(const SparseToDense& op) { return check_named("to_dense", op); }
Result<void> check(const SparseCountDense& op) { return check_named("from_dense", op); }
Result<void> check(const SparseFillDense& op) { return check_named("from_dense", op); }
Result<void> check(const SparseCountBlocks& op) { return check_named("convert", op); }
Result<void> check(const SparseFillBlocks& op) { return check_named("convert", op); }
Result<void> check(const SparseCountProduct& op) { return check_named("product", op); }
Result<void> check(const SparseFillProduct& op) { return check_named("product", op); }

extern const FamilyOps sparse_ops = register_ops("sparse", SparseOps{});

}  // namespace troupe::inline v0::op
