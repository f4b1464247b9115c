// Functions that take several ops: one counts, then arrays of that size are allocated, and another fills them.
#include <limits>

#include "troupe/device/device_state.hpp"
#include "troupe/device/make_call.hpp"
#include "troupe/library/sparse/sparse.hpp"
#include "troupe/library/sparse/sparse_verdict.hpp"
#include "troupe/op/check.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::inline v0 {
namespace {

Unexpected refuse_empty(std::string_view name) {
  return op::refuse(name, "the matrix is an empty handle: default-constructed or moved from");
}

std::string types_of(const SparseMatrix& matrix) {
  return std::string(name(matrix.dtype())) + " with " + std::string(name(matrix.index_type())) + " indices";
}

Result<void> check_count(std::string_view name, std::int64_t count, DType index_type) {
  if (index_type == DType::i64 || count <= std::numeric_limits<std::int32_t>::max()) return {};
  return op::refuse(
      name, "the result has " + std::to_string(count) + " elements; i32 indices can count 2147483647: use i64 indices");
}

}  // namespace

Result<void> Sparse::allocate_offsets(const Device& device, SparseMatrix& matrix, DType index_type) {
  matrix.offsets_ = AnyArray(index_type);
  const std::int64_t lines = (matrix.format_ == SparseFormat::csc ? matrix.columns_ : matrix.rows_) / matrix.block_;
  return DeviceParts::allocate(device, matrix.offsets_, {lines + 1});
}

/// Needs a matrix that knows its types.
Result<void> Sparse::allocate_elements(const Device& device, SparseMatrix& matrix, std::int64_t stored) {
  matrix.indices_ = AnyArray(matrix.offsets_.dtype());
  matrix.values_ = AnyArray(matrix.values_.dtype());
  TROUPE_TRY(DeviceParts::allocate(device, matrix.indices_, {stored}));
  const std::int64_t block = matrix.block_;
  return DeviceParts::allocate(device, matrix.values_,
                               matrix.format_ == SparseFormat::bsr ? Shape{stored, block, block} : Shape{stored});
}

/// A matrix with arrays of its own, and the extents, format and types of `like`.
Result<SparseMatrix> Sparse::allocate(const Device& device, const SparseMatrix& like, std::int64_t stored) {
  SparseMatrix matrix = like;
  if (matrix.format_ == SparseFormat::coo) {
    matrix.offsets_ = AnyArray(like.index_type());
    TROUPE_TRY(DeviceParts::allocate(device, matrix.offsets_, {stored}));
  } else {
    TROUPE_TRY(allocate_offsets(device, matrix, like.index_type()));
  }
  TROUPE_TRY(allocate_elements(device, matrix, stored));
  return matrix;
}

// ---- convert ----

detail::TaskCall<SparseMatrix> Sparse::convert(const SparseMatrix& matrix, SparseFormat format,
                                               std::int64_t block_size) const {
  return {DeviceParts::state(device_), convert_on(device_, matrix, format, block_size)};
}

/// Between two formats that one op converts.
Task<Result<SparseMatrix>> Sparse::convert_once(Device device, SparseMatrix matrix, SparseFormat format) {
  SparseMatrix like = matrix;
  like.format_ = format;
  like.block_ = 1;
  CO_TRY(check_count("convert", matrix.nonzeros(), matrix.index_type()));
  const SparseMatrix made = CO_TRY(allocate(device, like, matrix.nonzeros()));
  const op::SparseConvert op{.from = matrix.view(), .to = made.view()};
  const AnyArray* const arrays[] = {&matrix.offsets_, &matrix.indices_, &matrix.values_,
                                    &made.offsets_,   &made.indices_,   &made.values_};
  CO_TRY(co_await make_call(device, op, arrays));
  co_return made;
}

Task<Result<SparseMatrix>> Sparse::to_blocks(Device device, SparseMatrix csr, std::int64_t block_size) {
  SparseMatrix made = csr;
  made.format_ = SparseFormat::bsr;
  made.block_ = block_size;
  if (block_size < 1 || block_size > op::kMaxSparseBlock)
    co_return op::refuse("convert", "the block size is " + std::to_string(block_size) + "; it must be 1 to " +
                                        std::to_string(op::kMaxSparseBlock));
  if (csr.rows() % block_size != 0 || csr.columns() % block_size != 0)
    co_return op::refuse("convert", "the block size is " + std::to_string(block_size) + " and the matrix is " +
                                        std::to_string(csr.rows()) + " x " + std::to_string(csr.columns()) +
                                        "; the block size must divide both");
  CO_TRY(allocate_offsets(device, made, csr.index_type()));
  HostArray<std::int64_t> total = CO_TRY(device.host_array<std::int64_t>({1}));
  const op::SparseCountBlocks count{
      .block = block_size, .matrix = csr.view(), .offsets = made.offsets_.view(), .total = total.view()};
  const AnyArray* const counted[] = {&csr.offsets_, &csr.indices_, &made.offsets_, &total};
  const std::int64_t blocks = CO_TRY(co_await make_call_giving<std::int64_t>(device, total, count, counted));
  CO_TRY(allocate_elements(device, made, blocks));
  const op::SparseFillBlocks fill{.from = csr.view(), .to = made.view()};
  const AnyArray* const filled[] = {&csr.offsets_,  &csr.indices_,  &csr.values_,
                                    &made.offsets_, &made.indices_, &made.values_};
  CO_TRY(co_await make_call(device, fill, filled));
  co_return made;
}

Task<Result<SparseMatrix>> Sparse::convert_on(Device device, SparseMatrix matrix, SparseFormat format,
                                              std::int64_t block_size) {
  if (!matrix) co_return refuse_empty("convert");
  const bool is_blocked = format == SparseFormat::bsr;
  if (matrix.format() == format && (!is_blocked || matrix.block_size() == block_size)) co_return matrix;
  // One op converts every format to or from CSR.
  if (matrix.format() != SparseFormat::csr) matrix = CO_TRY(co_await convert_once(device, matrix, SparseFormat::csr));
  if (format == SparseFormat::csr) co_return matrix;
  if (is_blocked) co_return co_await to_blocks(device, matrix, block_size);
  co_return co_await convert_once(device, matrix, format);
}

// ---- from dense ----

detail::TaskCall<SparseMatrix> Sparse::from_dense(const AnyArray& dense, DType index_type) const {
  return {DeviceParts::state(device_), from_dense_on(device_, dense, index_type)};
}

Task<Result<SparseMatrix>> Sparse::from_dense_on(Device device, AnyArray dense, DType index_type) {
  if (!dense) co_return op::refuse("from_dense", "dense is an empty handle: default-constructed or moved from");
  if (index_type != DType::i32 && index_type != DType::i64)
    co_return op::refuse_unsupported("from_dense",
                                     "index_type is " + std::string(name(index_type)) + "; it must be i32 or i64");
  if (dense.rank() != 2)
    co_return op::refuse("from_dense", "dense is " + dense.shape().to_string() + "; it must be a matrix");
  SparseMatrix made;
  made.rows_ = dense.shape()[0];
  made.columns_ = dense.shape()[1];
  made.values_ = AnyArray(dense.dtype());
  CO_TRY(allocate_offsets(device, made, index_type));
  HostArray<std::int64_t> total = CO_TRY(device.host_array<std::int64_t>({1}));
  const op::SparseCountDense count{.dense = dense.view(), .offsets = made.offsets_.view(), .total = total.view()};
  const AnyArray* const counted[] = {&dense, &made.offsets_, &total};
  const std::int64_t nonzeros = CO_TRY(co_await make_call_giving<std::int64_t>(device, total, count, counted));
  CO_TRY(check_count("from_dense", nonzeros, index_type));
  CO_TRY(allocate_elements(device, made, nonzeros));
  HostArray<std::int32_t> verdict = CO_TRY(device.host_array<std::int32_t>({op::kSparseVerdictWords}));
  const op::SparseFillDense fill{.dense = dense.view(), .matrix = made.view(), .verdict = verdict.view()};
  const AnyArray* const filled[] = {&dense, &made.offsets_, &made.indices_, &made.values_, &verdict};
  CO_TRY(co_await make_judged_call<void>(device, {}, fill, filled, verdict, judge_sparse));
  co_return made;
}

// ---- product ----

detail::TaskCall<SparseMatrix> Sparse::product(const SparseMatrix& a, const SparseMatrix& b) const {
  return {DeviceParts::state(device_), product_on(device_, a, b)};
}

Task<Result<SparseMatrix>> Sparse::product_on(Device device, SparseMatrix a, SparseMatrix b) {
  if (!a || !b) co_return refuse_empty("product");
  if (a.dtype() != b.dtype() || a.index_type() != b.index_type())
    co_return op::refuse("product",
                         "a is " + types_of(a) + " and b is " + types_of(b) + "; they must have the same types");
  if (a.columns() != b.rows())
    co_return op::refuse("product", "a is " + std::to_string(a.rows()) + " x " + std::to_string(a.columns()) +
                                        " and b is " + std::to_string(b.rows()) + " x " + std::to_string(b.columns()) +
                                        "; a must have as many columns as b has rows");
  a = CO_TRY(co_await convert_on(device, a, SparseFormat::csr, 1));
  b = CO_TRY(co_await convert_on(device, b, SparseFormat::csr, 1));
  HostArray<std::int64_t> total = CO_TRY(device.host_array<std::int64_t>({1}));
  const op::SparseCountProduct count{.a = a.view(), .b = b.view(), .total = total.view()};
  const AnyArray* const counted[] = {&a.offsets_, &a.indices_, &a.values_, &b.offsets_,
                                     &b.indices_, &b.values_,  &total};
  const std::int64_t nonzeros = CO_TRY(co_await make_call_giving<std::int64_t>(device, total, count, counted));
  CO_TRY(check_count("product", nonzeros, a.index_type()));
  SparseMatrix like = a;
  like.columns_ = b.columns();
  const SparseMatrix made = CO_TRY(allocate(device, like, nonzeros));
  const op::SparseFillProduct fill{.a = a.view(), .b = b.view(), .c = made.view()};
  const AnyArray* const filled[] = {&a.offsets_, &a.indices_,    &a.values_,     &b.offsets_,  &b.indices_,
                                    &b.values_,  &made.offsets_, &made.indices_, &made.values_};
  CO_TRY(co_await make_call(device, fill, filled));
  co_return made;
}

}  // namespace troupe::inline v0
