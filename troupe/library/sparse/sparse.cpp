#include "troupe/library/sparse/sparse.hpp"

#include "troupe/device/block.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/sparse/sparse_verdict.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::inline v0 {
namespace {

/// The error of a check, with the name of what was called.
Unexpected named(std::string_view name, const Error& error) {
  return fail(error.kind(), std::string(name) + ": " + std::string(error.message()));
}

template <class Op>
Result<void> check_op(std::string_view name, const Op& op) {
  if (Result<void> good = op::check(op); !good) return named(name, good.error());
  return {};
}

Result<void> check_made(std::string_view name, const SparseMatrix& matrix) {
  if (matrix) return {};
  return op::refuse(name, "the matrix is an empty handle: default-constructed or moved from");
}

op::Transform transform_of(bool transpose, bool conjugate, DType dtype) noexcept {
  if (!is_complex(dtype)) conjugate = false;
  if (transpose) return conjugate ? op::Transform::conjugate_transpose : op::Transform::transpose;
  return conjugate ? op::Transform::conjugate : op::Transform::none;
}

op::StoredTriangle triangle_of(const SparseSolveOptions& options) noexcept {
  if (options.upper) return options.unit_diagonal ? op::StoredTriangle::unit_upper : op::StoredTriangle::upper;
  return options.unit_diagonal ? op::StoredTriangle::unit_lower : op::StoredTriangle::lower;
}

/// The view of a dense array of the same shape.
op::View dense_like(const AnyArray& array) {
  return {.address = 0, .dtype = array.dtype(), .shape = array.shape(), .strides = contiguous_strides(array.shape())};
}

Result<void> check_index_types(std::string_view name, const AnyArray& offsets, const AnyArray& indices) {
  const bool is_coo = name == "coo";
  const op::NamedView of_columns{is_coo ? "column_indices" : "indices", indices.view()};
  TROUPE_TRY(op::check_type_is_one_of(name, of_columns, {DType::i32, DType::i64}));
  return op::check_same_types(name, {{is_coo ? "row_indices" : "offsets", offsets.view()}, of_columns});
}

}  // namespace

op::SparseView SparseMatrix::view() const {
  return {.format = format_,
          .rows = rows_,
          .columns = columns_,
          .block = block_,
          .structure = offsets_ ? offsets_.block()->number() : 0,  // written once, so it names the structure
          .offsets = offsets_.view(),
          .indices = indices_.view(),
          .values = values_.view()};
}

Sparse Device::sparse() const { return Sparse(*this); }

Call<SparseMatrix> Sparse::adopt(std::string_view name, const SparseMatrix& like, const AnyArray& offsets,
                                 const AnyArray& indices) const {
  for (const AnyArray* array : {&offsets, &indices, &like.values()})
    if (!*array)
      return op::refuse(name, std::string(array == &like.values() ? "values"
                                          : array == &offsets     ? (name == "coo" ? "row_indices" : "offsets")
                                                                  : (name == "coo" ? "column_indices" : "indices")) +
                                  " is an empty handle: default-constructed or moved from");
  if (Result<void> good = check_index_types(name, offsets, indices); !good) return fail(good.error());
  if (Result<void> good = op::check_type_is_one_of(name, {"values", like.values().view()}, op::kFourTypes); !good)
    return fail(good.error());
  SparseMatrix matrix = like;
  op::SparseView view = matrix.view();
  view.offsets = dense_like(offsets);
  view.indices = dense_like(indices);
  if (Result<void> good = check_op(name, view); !good) return fail(good.error());

  matrix.offsets_ = AnyArray(offsets.dtype());
  matrix.indices_ = AnyArray(indices.dtype());
  if (Result<void> made = DeviceParts::allocate(device_, matrix.offsets_, offsets.shape()); !made)
    return fail(made.error());
  if (Result<void> made = DeviceParts::allocate(device_, matrix.indices_, indices.shape()); !made)
    return fail(made.error());
  Result<HostArray<std::int32_t>> verdict = device_.host_array<std::int32_t>({op::kSparseVerdictWords});
  if (!verdict) return fail(verdict.error());
  op::SparseAdopt op{
      .offsets = offsets.view(), .indices = indices.view(), .matrix = matrix.view(), .verdict = verdict->view()};
  op.matrix.values = {};
  const AnyArray* const arrays[] = {&offsets, &indices, &matrix.offsets_, &matrix.indices_, &*verdict};
  return make_judged_call<SparseMatrix>(device_, matrix, op, arrays, *verdict, judge_sparse);
}

Call<SparseMatrix> Sparse::csr(std::int64_t rows, std::int64_t columns, const AnyArray& offsets,
                               const AnyArray& indices, const AnyArray& values) const {
  SparseMatrix like;
  like.rows_ = rows;
  like.columns_ = columns;
  like.values_ = values;
  return adopt("csr", like, offsets, indices);
}

Call<SparseMatrix> Sparse::csc(std::int64_t rows, std::int64_t columns, const AnyArray& offsets,
                               const AnyArray& indices, const AnyArray& values) const {
  SparseMatrix like;
  like.format_ = SparseFormat::csc;
  like.rows_ = rows;
  like.columns_ = columns;
  like.values_ = values;
  return adopt("csc", like, offsets, indices);
}

Call<SparseMatrix> Sparse::coo(std::int64_t rows, std::int64_t columns, const AnyArray& row_indices,
                               const AnyArray& column_indices, const AnyArray& values) const {
  SparseMatrix like;
  like.format_ = SparseFormat::coo;
  like.rows_ = rows;
  like.columns_ = columns;
  like.values_ = values;
  return adopt("coo", like, row_indices, column_indices);
}

Call<SparseMatrix> Sparse::bsr(std::int64_t rows, std::int64_t columns, std::int64_t block_size,
                               const AnyArray& offsets, const AnyArray& indices, const AnyArray& values) const {
  SparseMatrix like;
  like.format_ = SparseFormat::bsr;
  like.rows_ = rows;
  like.columns_ = columns;
  like.block_ = block_size;
  like.values_ = values;
  return adopt("bsr", like, offsets, indices);
}

Call<void> Sparse::multiply(const SparseMatrix& matrix, const AnyArray& x, const AnyArray& y,
                            SparseMultiplyOptions options) const {
  if (Result<void> good = check_made("multiply", matrix); !good) return fail(good.error());
  const op::SparseMultiply op{.alpha = op::Scalar(options.alpha),
                              .beta = op::Scalar(options.beta),
                              .transform = transform_of(options.transpose, options.conjugate, matrix.dtype()),
                              .matrix = matrix.view(),
                              .x = x.view(),
                              .y = y.view()};
  return make_call(device_, op, {&matrix.offsets_, &matrix.indices_, &matrix.values_, &x, &y});
}

Call<void> Sparse::solve(const SparseMatrix& matrix, const AnyArray& b, const AnyArray& x,
                         SparseSolveOptions options) const {
  if (Result<void> good = check_made("solve", matrix); !good) return fail(good.error());
  Result<HostArray<std::int32_t>> verdict = device_.host_array<std::int32_t>({op::kSparseVerdictWords});
  if (!verdict) return fail(verdict.error());
  const op::SparseSolve op{.alpha = op::Scalar(options.alpha),
                           .transform = transform_of(options.transpose, options.conjugate, matrix.dtype()),
                           .triangle = triangle_of(options),
                           .matrix = matrix.view(),
                           .b = b.view(),
                           .x = x.view(),
                           .verdict = verdict->view()};
  const AnyArray* const arrays[] = {&matrix.offsets_, &matrix.indices_, &matrix.values_, &b, &x, &*verdict};
  return make_judged_call<void>(device_, {}, op, arrays, *verdict, judge_sparse);
}

Call<void> Sparse::sddmm(const AnyArray& a, const AnyArray& b, const SparseMatrix& matrix, SddmmOptions options) const {
  if (Result<void> good = check_made("sddmm", matrix); !good) return fail(good.error());
  const op::SparseSddmm op{.alpha = op::Scalar(options.alpha),
                           .beta = op::Scalar(options.beta),
                           .a = a.view(),
                           .b = b.view(),
                           .matrix = matrix.view()};
  return make_call(device_, op, {&a, &b, &matrix.offsets_, &matrix.indices_, &matrix.values_});
}

Call<void> Sparse::to_dense(const SparseMatrix& matrix, const AnyArray& out) const {
  if (Result<void> good = check_made("to_dense", matrix); !good) return fail(good.error());
  const op::SparseToDense op{.matrix = matrix.view(), .out = out.view()};
  return make_call(device_, op, {&matrix.offsets_, &matrix.indices_, &matrix.values_, &out});
}

}  // namespace troupe::inline v0
