#include "troupe/op/matmul.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "troupe/op/check.hpp"
#include "troupe/op/family.hpp"

namespace troupe::inline v0::op {
namespace {

constexpr std::initializer_list<DType> kUsualTypes = {DType::f32, DType::f64, DType::f16, DType::bf16};

bool is_8_bit_float(DType dtype) noexcept { return dtype == DType::f8e4m3 || dtype == DType::f8e5m2; }
bool is_usual(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

Result<void> check_types(std::string_view call, DType a, DType b, DType d) {
  const bool good = is_8_bit_float(a) && is_8_bit_float(b)
                        ? d == DType::f32 || d == DType::f16 || d == DType::bf16 || d == DType::f8e4m3
                    : a == DType::i8 ? b == a && d == DType::i32
                                     : is_usual(a) && a == b && (d == a || (d == DType::f32 && a != DType::f64));
  if (good) return {};
  return refuse_unsupported(
      call, "a is " + std::string(name(a)) + ", b is " + std::string(name(b)) + " and d is " + std::string(name(d)) +
                "; it can multiply f32, f64, f16 or bf16 into the same type, f16 or bf16 into f32, 8-bit floats into "
                "f32, f16, bf16 or f8e4m3, and i8 into i32");
}

Result<void> check_compute(std::string_view call, Compute compute, DType dtype) {
  if (compute != Compute::tf32 || dtype == DType::f32) return {};
  return refuse_unsupported(call, "Compute::tf32 needs matrices of f32; a is " + std::string(name(dtype)));
}

/// An array of the epilogue: of a type that is added or kept, and one that goes with the result.
Result<void> check_extra(std::string_view call, const NamedView& view, const View& d, const Shape& shape) {
  TROUPE_TRY(check_type_is_one_of(call, view, kUsualTypes));
  if (view.view.shape == shape) return {};
  return refuse(call, std::string(view.name) + " is " + view.view.shape.to_string() + "; a result of " +
                          d.shape.to_string() + " needs a " + std::string(view.name) + " of " + shape.to_string());
}

/// Matrices, or batches of them of one rank, that multiply to d.
Result<void> check_batch(std::string_view call, const View& a, const View& b, const View& d) {
  const int rank = std::max(d.shape.rank(), 2);
  TROUPE_TRY(check_ranks(call, rank, {{"a", a}, {"b", b}, {"d", d}}));
  for (int i = 0; i < rank - 2; ++i)
    if (a.shape[i] != d.shape[i] || b.shape[i] != d.shape[i])
      return refuse(call, "a is " + a.shape.to_string() + ", b is " + b.shape.to_string() + " and d is " +
                              d.shape.to_string() + "; they must have the same batch axes");
  return check_product(call, {"a", a}, {"b", b}, {"d", d});
}

/// The extents of a batch of two operands, each aligned at its last two axes; none of `rank`.
Shape batch_extents(const View& view, int axes) {
  std::vector<std::int64_t> extents(static_cast<std::size_t>(axes), 1);
  const int own = view.shape.rank() - 2;
  for (int i = 0; i < own; ++i) extents[static_cast<std::size_t>(axes - own + i)] = view.shape[i];
  return Shape(std::span<const std::int64_t>(extents));
}

View with_axes(const View& view, const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides) {
  View made = view;
  made.shape = Shape(std::span<const std::int64_t>(extents));
  made.strides = Strides(std::span<const std::int64_t>(strides));
  return made;
}

View with_batch(const View& view, const Shape& batch) {
  const int own = view.shape.rank() - 2;
  std::vector<std::int64_t> extents(batch.begin(), batch.end());
  std::vector<std::int64_t> strides(extents.size(), 0);
  for (int i = 0; i < own; ++i)
    if (view.shape[i] != 1) strides[extents.size() - static_cast<std::size_t>(own - i)] = view.strides[i];
  for (int i = own; i < own + 2; ++i) {
    extents.push_back(view.shape[i]);
    strides.push_back(view.strides[i]);
  }
  return with_axes(view, extents, strides);
}

/// Whether axes i and i + 1 of a view are one axis to whoever goes along them. An axis of one element is no obstacle.
bool are_one(const View& view, int i) noexcept {
  return view.shape[i] == 1 || view.shape[i + 1] == 1 || view.strides[i] == view.strides[i + 1] * view.shape[i + 1];
}
void make_one(View& view, int i) {
  std::vector<std::int64_t> extents(view.shape.begin(), view.shape.end());
  std::vector<std::int64_t> strides(view.strides.begin(), view.strides.end());
  const auto at = static_cast<std::size_t>(i);
  if (extents[at + 1] == 1) strides[at + 1] = strides[at];
  extents[at + 1] *= extents[at];
  extents.erase(extents.begin() + i);
  strides.erase(strides.begin() + i);
  view = with_axes(view, extents, strides);
}
void drop_axis(View& view, int i) {
  std::vector<std::int64_t> extents(view.shape.begin(), view.shape.end());
  std::vector<std::int64_t> strides(view.strides.begin(), view.strides.end());
  extents.erase(extents.begin() + i);
  strides.erase(strides.begin() + i);
  view = with_axes(view, extents, strides);
}

/// `by_rows` are the views with the rows of the result: a, c, pre and d.
void merge(View& b, std::span<View* const> by_rows) {
  if (element_count(*by_rows.back()) == 0) return;  // there is nothing to do, however many axes it has
  const auto all_are_one = [&](int i) {
    return std::ranges::all_of(by_rows, [i](View* view) { return are_one(*view, i); });
  };
  const auto make_all_one = [&](int i) { std::ranges::for_each(by_rows, [i](View* view) { make_one(*view, i); }); };
  for (int i = b.shape.rank() - 4; i >= 0; --i)
    if (are_one(b, i) && all_are_one(i)) {
      make_one(b, i);
      make_all_one(i);
    }
  while (b.shape.rank() > 2) {
    const int last = b.shape.rank() - 3;
    if ((b.strides[last] != 0 && b.shape[last] != 1) || !all_are_one(last)) return;
    drop_axis(b, last);
    make_all_one(last);
  }
}

/// The shape of a row of a result.
Shape row_of(const View& d) { return Shape{d.shape[d.shape.rank() - 1]}; }

}  // namespace

Result<void> broadcast_batch(std::string_view call, View& a, View& b, const View& d) {
  for (const NamedView& operand : {NamedView{"a", a}, NamedView{"b", b}, NamedView{"d", d}})
    if (operand.view.shape.rank() < 2) return check_ranks(call, 2, {operand});
  const int axes = std::max(a.shape.rank(), b.shape.rank()) - 2;
  Shape batch = batch_extents(a, axes);
  const Shape other = batch_extents(b, axes);
  for (int i = 0; i < axes; ++i) {
    if (batch[i] != other[i] && batch[i] != 1 && other[i] != 1)
      return refuse(call, "a is " + a.shape.to_string() + " and b is " + b.shape.to_string() +
                              "; their batch axes must be equal, or 1, or left out");
    if (batch[i] == 1) batch[i] = other[i];
  }
  const View left = with_batch(a, batch);
  const View right = with_batch(b, batch);
  if (left.shape.rank() == d.shape.rank() && std::equal(batch.begin(), batch.end(), d.shape.begin())) {
    a = left;
    b = right;
    return {};
  }
  std::vector<std::int64_t> product(batch.begin(), batch.end());
  product.push_back(left.shape[axes]);
  product.push_back(right.shape[axes + 1]);
  return refuse(call, "d is " + d.shape.to_string() + "; a " + a.shape.to_string() + " times b " + b.shape.to_string() +
                          " makes " + Shape(std::span<const std::int64_t>(product)).to_string());
}

void merge_batch(Matmul& op) {
  std::vector<View*> by_rows{&op.a};
  if (op.has_c) by_rows.push_back(&op.c);
  if (op.keeps_pre) by_rows.push_back(&op.pre);
  by_rows.push_back(&op.d);
  merge(op.b, by_rows);
}
void merge_batch(MatmulGradient& op) {
  std::vector<View*> by_rows{&op.a};
  if (op.has_pre) by_rows.push_back(&op.pre);
  by_rows.push_back(&op.d);
  merge(op.b, by_rows);
}

View at_batch(const View& view, std::int64_t index) {
  View one = view;
  one.address += static_cast<Address>(index * view.strides[0] * size_bytes(view.dtype));
  drop_axis(one, 0);
  return one;
}

Matmul at_batch(const Matmul& op, std::int64_t index) {
  Matmul one = op;
  for (View* const view : {&one.a, &one.b, &one.d}) *view = at_batch(*view, index);
  if (op.has_c) one.c = at_batch(op.c, index);
  if (op.keeps_pre) one.pre = at_batch(op.pre, index);
  return one;
}
MatmulGradient at_batch(const MatmulGradient& op, std::int64_t index) {
  MatmulGradient one = op;
  for (View* const view : {&one.a, &one.b, &one.d}) *view = at_batch(*view, index);
  if (op.has_pre) one.pre = at_batch(op.pre, index);
  return one;
}

std::optional<View> as_one_matrix(const View& batch) {
  View one = batch;
  const bool is_empty = element_count(batch) == 0;
  while (one.shape.rank() > 2) {
    if (!is_empty && !are_one(one, 0)) return std::nullopt;
    make_one(one, 0);
  }
  return one;
}

Result<void> check(const Matmul& op) {
  constexpr std::string_view kCall = "matmul";
  TROUPE_TRY(check_types(kCall, op.a.dtype, op.b.dtype, op.d.dtype));
  TROUPE_TRY(check_batch(kCall, op.a, op.b, op.d));
  TROUPE_TRY(check_compute(kCall, op.compute, op.a.dtype));
  TROUPE_TRY(check_finite(kCall, "alpha", op.alpha));
  TROUPE_TRY(check_finite(kCall, "beta", op.beta));
  TROUPE_TRY(check_finite(kCall, "scale_d", op.scale_d));
  if (op.has_c) TROUPE_TRY(check_extra(kCall, {"c", op.c}, op.d, op.d.shape));
  if (op.keeps_pre) TROUPE_TRY(check_extra(kCall, {"preactivation", op.pre}, op.d, op.d.shape));
  if (op.has_bias) TROUPE_TRY(check_extra(kCall, {"bias", op.bias}, op.d, row_of(op.d)));
  if (op.beta != 0 && !op.has_c)
    return refuse(kCall, "beta is " + number_of(Scalar(op.beta)) + " and there is no c; beta needs options.c");
  const bool has_epilogue =
      op.has_c || op.has_bias || op.keeps_pre || op.activation != Activation::none || op.scale_d != 1;
  if (op.a.dtype == DType::i8 && (has_epilogue || op.alpha != 1))
    return fail(ErrorKind::unsupported,
                "matmul of i8 takes no factors, c, bias, preactivation or activation; for alpha and beta use "
                "blas().gemm");
  return {};
}

Result<void> check(const MatmulGradient& op) {
  constexpr std::string_view kCall = "matmul gradient";
  TROUPE_TRY(check_same_types(kCall, {{"a", op.a}, {"b", op.b}, {"d", op.d}}));
  TROUPE_TRY(check_type_is_one_of(kCall, {"a", op.a}, kUsualTypes));
  TROUPE_TRY(check_batch(kCall, op.a, op.b, op.d));
  TROUPE_TRY(check_compute(kCall, op.compute, op.a.dtype));
  TROUPE_TRY(check_finite(kCall, "alpha", op.alpha));
  if (op.has_pre) TROUPE_TRY(check_extra(kCall, {"preactivation", op.pre}, op.d, op.d.shape));
  if (op.sums_columns) TROUPE_TRY(check_extra(kCall, {"bias_gradient", op.sums}, op.d, row_of(op.d)));
  if (op.activation != Activation::none && !op.has_pre)
    return refuse(kCall, std::string(enum_names<Activation>()[static_cast<std::size_t>(op.activation)]) +
                             " needs options.preactivation, the array that multiply wrote with options.preactivation");
  return {};
}

extern const FamilyOps matmul_ops = register_ops("matmul", MatmulOps{});

}  // namespace troupe::inline v0::op
