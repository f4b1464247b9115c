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

/// That type and shape, and without gaps: what a library of sparse algebra can be given.
Result<void> check_part(const View& view, std::string_view what, DType dtype, const Shape& shape) {
  if (view.dtype != dtype)
    return misfit("the " + std::string(what) + " are " + std::string(troupe::name(view.dtype)) + " instead of " +
                  std::string(troupe::name(dtype)));
  if (view.shape != shape)
    return misfit("the " + std::string(what) + " have the shape " + view.shape.to_string() + " instead of " +
                  shape.to_string());
  if (view.strides.rank() != view.shape.rank() || !is_contiguous(view.shape, view.strides))
    return misfit("the " + std::string(what) + " of a sparse matrix lie side by side; these have the strides " +
                  view.strides.to_string());
  return {};
}

Result<void> check_verdict(const View& verdict) {
  return check_part(verdict, "words of a verdict", DType::i32, {kSparseVerdictWords});
}
Result<void> check_total(const View& total) { return check_part(total, "words of a total", DType::i64, {1}); }

/// A vector or matrix whose first extent is `rows`.
Result<void> check_dense(const View& view, std::string_view what, DType dtype, std::int64_t rows) {
  if (view.dtype != dtype)
    return misfit("the types differ: " + std::string(troupe::name(dtype)) + " and " +
                  std::string(troupe::name(view.dtype)));
  if (view.strides.rank() != view.shape.rank() || (view.shape.rank() != 1 && view.shape.rank() != 2))
    return misfit(std::string(what) + " is a vector or a matrix; this is " + view.shape.to_string());
  if (view.shape[0] != rows)
    return misfit(std::string(what) + " is " + view.shape.to_string() + ", and " + std::to_string(rows) +
                  " rows are needed");
  return {};
}

/// Two operands of `rows_x` and `rows_y` rows, both vectors, or matrices of as many columns.
Result<void> check_dense_pair(const View& x, std::int64_t rows_x, const View& y, std::int64_t rows_y, DType dtype) {
  TROUPE_TRY(check_dense(x, "the right-hand side", dtype, rows_x));
  TROUPE_TRY(check_dense(y, "the result", dtype, rows_y));
  if (x.shape.rank() != y.shape.rank() || (x.shape.rank() == 2 && x.shape[1] != y.shape[1]))
    return misfit("the shapes do not fit: " + x.shape.to_string() + " and " + y.shape.to_string());
  return {};
}

Result<void> check_format(const SparseView& matrix, SparseFormat format) {
  if (matrix.format == format) return {};
  return misfit("a matrix is " + std::string(name(matrix.format)) + " instead of " + std::string(name(format)));
}

Result<void> check_matrix_view(const View& view, std::int64_t rows, std::int64_t columns) {
  if (view.strides.rank() == view.shape.rank() && view.shape == Shape{rows, columns}) return {};
  return misfit("a dense matrix is " + view.shape.to_string() + " instead of " + Shape{rows, columns}.to_string());
}

Result<void> check_extents(const SparseView& matrix, DType index_type) {
  const std::int64_t most = index_type == DType::i32 ? std::numeric_limits<std::int32_t>::max()
                                                     : std::numeric_limits<std::int64_t>::max() / 2;
  if (matrix.rows < 0 || matrix.columns < 0 || matrix.rows > most || matrix.columns > most)
    return misfit("a matrix of " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns) +
                  " cannot be, with indices of " + std::string(troupe::name(index_type)));
  const bool is_blocked = matrix.format == SparseFormat::bsr;
  if (matrix.block < 1 || matrix.block > (is_blocked ? kMaxSparseBlock : 1))
    return misfit("a block has 1 to " + std::to_string(kMaxSparseBlock) + " rows and columns, not " +
                  std::to_string(matrix.block));
  if (matrix.rows % matrix.block != 0 || matrix.columns % matrix.block != 0)
    return misfit("a matrix of " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns) +
                  " cannot be cut into blocks of " + std::to_string(matrix.block));
  return {};
}

Shape offsets_shape(const SparseView& matrix) {
  return matrix.format == SparseFormat::coo ? Shape{matrix.stored()} : Shape{matrix.lines() + 1};
}

Shape values_shape(const SparseView& matrix) {
  return matrix.format == SparseFormat::bsr ? Shape{matrix.stored(), matrix.block, matrix.block}
                                            : Shape{matrix.stored()};
}

}  // namespace

Result<void> check_structure(const SparseView& matrix) {
  const DType index_type = matrix.indices.dtype;
  if (!is_index_type(index_type)) return misfit("indices are i32 or i64, not " + std::string(troupe::name(index_type)));
  TROUPE_TRY(check_extents(matrix, index_type));
  if (matrix.indices.shape.rank() != 1)
    return misfit("indices are a vector; these are " + matrix.indices.shape.to_string());
  if (index_type == DType::i32 && matrix.stored() > std::numeric_limits<std::int32_t>::max())
    return misfit("there are too many elements for 32-bit indices: " + std::to_string(matrix.stored()));
  if (matrix.stored() > 0 && (matrix.rows == 0 || matrix.columns == 0))
    return misfit("a matrix of " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns) +
                  " has no elements");
  TROUPE_TRY(check_part(matrix.offsets, matrix.format == SparseFormat::coo ? "row indices" : "offsets", index_type,
                        offsets_shape(matrix)));
  return check_part(matrix.indices, "indices", index_type, {matrix.stored()});
}

Result<void> check(const SparseView& matrix) {
  TROUPE_TRY(check_structure(matrix));
  if (!is_value_type(matrix.values.dtype))
    return fail(ErrorKind::unsupported,
                "sparse matrices are of f32 f64 c64 c128, not " + std::string(troupe::name(matrix.values.dtype)));
  return check_part(matrix.values, "values", matrix.values.dtype, values_shape(matrix));
}

namespace {

Result<void> fits(const SparseAdopt& op) {
  TROUPE_TRY(check_structure(op.matrix));
  TROUPE_TRY(check_verdict(op.verdict));
  const auto is_copy_of = [](const View& from, const View& to) {
    return from.dtype == to.dtype && from.shape == to.shape && from.strides.rank() == from.shape.rank();
  };
  if (is_copy_of(op.offsets, op.matrix.offsets) && is_copy_of(op.indices, op.matrix.indices)) return {};
  return misfit("a structure is copied to arrays of its shapes and types");
}

Result<void> fits(const SparseMultiply& op) {
  TROUPE_TRY(check(op.matrix));
  const bool swaps = transposes(op.transform);
  return check_dense_pair(op.x, swaps ? op.matrix.rows : op.matrix.columns, op.y,
                          swaps ? op.matrix.columns : op.matrix.rows, op.matrix.values.dtype);
}

Result<void> fits(const SparseSolve& op) {
  TROUPE_TRY(check(op.matrix));
  TROUPE_TRY(check_verdict(op.verdict));
  if (op.matrix.rows != op.matrix.columns)
    return misfit("a triangular matrix is square; this is " + std::to_string(op.matrix.rows) + " x " +
                  std::to_string(op.matrix.columns));
  return check_dense_pair(op.b, op.matrix.rows, op.x, op.matrix.rows, op.matrix.values.dtype);
}

Result<void> fits(const SparseSddmm& op) {
  TROUPE_TRY(check(op.matrix));
  for (const View* view : {&op.a, &op.b}) {
    if (view->dtype != op.matrix.values.dtype)
      return misfit("the types differ: " + std::string(troupe::name(op.matrix.values.dtype)) + " and " +
                    std::string(troupe::name(view->dtype)));
    if (view->shape.rank() != 2 || view->strides.rank() != 2)
      return misfit("takes dense matrices here; this is " + view->shape.to_string());
  }
  if (op.a.shape[0] == op.matrix.rows && op.a.shape[1] == op.b.shape[0] && op.b.shape[1] == op.matrix.columns)
    return {};
  return misfit(op.a.shape.to_string() + " times " + op.b.shape.to_string() + " is no matrix of " +
                std::to_string(op.matrix.rows) + " x " + std::to_string(op.matrix.columns));
}

Result<void> fits(const SparseConvert& op) {
  TROUPE_TRY(check(op.from));
  TROUPE_TRY(check(op.to));
  using enum SparseFormat;
  const auto is = [&](SparseFormat from, SparseFormat to) { return op.from.format == from && op.to.format == to; };
  if (!is(csr, coo) && !is(coo, csr) && !is(csr, csc) && !is(csc, csr) && !is(bsr, csr))
    return misfit("there is no op from " + std::string(name(op.from.format)) + " to " +
                  std::string(name(op.to.format)));
  const bool same = op.from.rows == op.to.rows && op.from.columns == op.to.columns &&
                    op.from.stored() * op.from.block * op.from.block == op.to.stored() &&
                    op.from.indices.dtype == op.to.indices.dtype && op.from.values.dtype == op.to.values.dtype;
  if (same) return {};
  return misfit("a conversion keeps the extents, the elements and the types");
}

Result<void> fits(const SparseToDense& op) {
  TROUPE_TRY(check(op.matrix));
  if (op.out.dtype != op.matrix.values.dtype)
    return misfit("the types differ: " + std::string(troupe::name(op.matrix.values.dtype)) + " and " +
                  std::string(troupe::name(op.out.dtype)));
  return check_matrix_view(op.out, op.matrix.rows, op.matrix.columns);
}

Result<void> fits(const SparseCountDense& op) {
  if (!is_value_type(op.dense.dtype))
    return fail(ErrorKind::unsupported,
                "sparse matrices are of f32 f64 c64 c128, not " + std::string(troupe::name(op.dense.dtype)));
  if (op.dense.shape.rank() != 2 || op.dense.strides.rank() != 2)
    return misfit("takes a dense matrix; this is " + op.dense.shape.to_string());
  if (!is_index_type(op.offsets.dtype))
    return misfit("indices are i32 or i64, not " + std::string(troupe::name(op.offsets.dtype)));
  TROUPE_TRY(check_part(op.offsets, "offsets", op.offsets.dtype, {op.dense.shape[0] + 1}));
  return check_total(op.total);
}

Result<void> fits(const SparseFillDense& op) {
  TROUPE_TRY(check_format(op.matrix, SparseFormat::csr));
  TROUPE_TRY(check(op.matrix));
  TROUPE_TRY(check_verdict(op.verdict));
  if (op.dense.dtype != op.matrix.values.dtype) return misfit("a conversion keeps the type");
  return check_matrix_view(op.dense, op.matrix.rows, op.matrix.columns);
}

Result<void> fits(const SparseCountBlocks& op) {
  TROUPE_TRY(check_format(op.matrix, SparseFormat::csr));
  TROUPE_TRY(check_structure(op.matrix));
  if (op.block < 1 || op.block > kMaxSparseBlock || op.matrix.rows % op.block != 0 || op.matrix.columns % op.block != 0)
    return misfit("a matrix of " + std::to_string(op.matrix.rows) + " x " + std::to_string(op.matrix.columns) +
                  " cannot be cut into blocks of " + std::to_string(op.block));
  TROUPE_TRY(check_part(op.offsets, "offsets", op.matrix.indices.dtype, {op.matrix.rows / op.block + 1}));
  return check_total(op.total);
}

Result<void> fits(const SparseFillBlocks& op) {
  TROUPE_TRY(check_format(op.from, SparseFormat::csr));
  TROUPE_TRY(check_format(op.to, SparseFormat::bsr));
  TROUPE_TRY(check(op.from));
  TROUPE_TRY(check(op.to));
  if (op.from.rows == op.to.rows && op.from.columns == op.to.columns && op.from.indices.dtype == op.to.indices.dtype &&
      op.from.values.dtype == op.to.values.dtype)
    return {};
  return misfit("a conversion keeps the extents and the types");
}

Result<void> check_factors(const SparseView& a, const SparseView& b) {
  for (const SparseView* matrix : {&a, &b}) {
    TROUPE_TRY(check_format(*matrix, SparseFormat::csr));
    TROUPE_TRY(check(*matrix));
  }
  if (a.values.dtype != b.values.dtype || a.indices.dtype != b.indices.dtype)
    return misfit("the factors of a product are of one type, and so are their indices");
  if (a.columns == b.rows) return {};
  return misfit("a matrix of " + std::to_string(a.rows) + " x " + std::to_string(a.columns) +
                " cannot be multiplied by one of " + std::to_string(b.rows) + " x " + std::to_string(b.columns));
}

Result<void> fits(const SparseCountProduct& op) {
  TROUPE_TRY(check_factors(op.a, op.b));
  return check_total(op.total);
}

Result<void> fits(const SparseFillProduct& op) {
  TROUPE_TRY(check_factors(op.a, op.b));
  TROUPE_TRY(check_format(op.c, SparseFormat::csr));
  TROUPE_TRY(check(op.c));
  if (op.c.rows == op.a.rows && op.c.columns == op.b.columns && op.c.values.dtype == op.a.values.dtype &&
      op.c.indices.dtype == op.a.indices.dtype)
    return {};
  return misfit("the product has other extents or types");
}

/// "multiply: " and what does not fit.
template <class Op>
Result<void> check_named(const Op& op) {
  const Result<void> good = fits(op);
  if (good) return {};
  const std::string_view call = Op::kName.substr(Op::kName.find('.') + 1);
  return fail(good.error().kind(), std::string(call) + ": " + std::string(good.error().message()));
}

}  // namespace

Result<void> check(const SparseAdopt& op) { return check_named(op); }
Result<void> check(const SparseMultiply& op) {
  TROUPE_TRY(check_named(op));
  TROUPE_TRY(check_factor("multiply", {"alpha", op.alpha}, op.matrix.values.dtype));
  return check_factor("multiply", {"beta", op.beta}, op.matrix.values.dtype);
}
Result<void> check(const SparseSolve& op) {
  TROUPE_TRY(check_named(op));
  return check_factor("solve", {"alpha", op.alpha}, op.matrix.values.dtype);
}
Result<void> check(const SparseSddmm& op) {
  TROUPE_TRY(check_named(op));
  TROUPE_TRY(check_factor("sddmm", {"alpha", op.alpha}, op.matrix.values.dtype));
  return check_factor("sddmm", {"beta", op.beta}, op.matrix.values.dtype);
}
Result<void> check(const SparseConvert& op) { return check_named(op); }
Result<void> check(const SparseToDense& op) { return check_named(op); }
Result<void> check(const SparseCountDense& op) { return check_named(op); }
Result<void> check(const SparseFillDense& op) { return check_named(op); }
Result<void> check(const SparseCountBlocks& op) { return check_named(op); }
Result<void> check(const SparseFillBlocks& op) { return check_named(op); }
Result<void> check(const SparseCountProduct& op) { return check_named(op); }
Result<void> check(const SparseFillProduct& op) { return check_named(op); }

extern const FamilyOps sparse_ops = register_ops("sparse", SparseOps{});

}  // namespace troupe::inline v0::op
