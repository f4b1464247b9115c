#include "troupe/op/matmul.hpp"

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

}  // namespace

Result<void> check(const Matmul& op) {
  constexpr std::string_view kCall = "matmul";
  TROUPE_TRY(check_types(kCall, op.a.dtype, op.b.dtype, op.d.dtype));
  TROUPE_TRY(check_ranks(kCall, 2, {{"a", op.a}, {"b", op.b}, {"d", op.d}}));
  TROUPE_TRY(check_product(kCall, {"a", op.a}, {"b", op.b}, {"d", op.d}));
  TROUPE_TRY(check_compute(kCall, op.compute, op.a.dtype));
  TROUPE_TRY(check_finite(kCall, "alpha", op.alpha));
  TROUPE_TRY(check_finite(kCall, "beta", op.beta));
  TROUPE_TRY(check_finite(kCall, "scale_d", op.scale_d));
  if (op.has_c) TROUPE_TRY(check_extra(kCall, {"c", op.c}, op.d, op.d.shape));
  if (op.keeps_pre) TROUPE_TRY(check_extra(kCall, {"pre", op.pre}, op.d, op.d.shape));
  if (op.has_bias) TROUPE_TRY(check_extra(kCall, {"bias", op.bias}, op.d, Shape{op.d.shape[1]}));
  if (op.beta != 0 && !op.has_c)
    return refuse(kCall, "beta is " + number_of(Scalar(op.beta)) + " and there is no c; beta needs options.c");
  const bool has_epilogue =
      op.has_c || op.has_bias || op.keeps_pre || op.activation != Activation::none || op.scale_d != 1;
  if (op.a.dtype == DType::i8 && (has_epilogue || op.alpha != 1))
    return fail(ErrorKind::unsupported,
                "matmul of i8 takes no factors, c, bias, pre or activation; for alpha and beta use blas().gemm");
  return {};
}

Result<void> check(const MatmulGradient& op) {
  constexpr std::string_view kCall = "matmul gradient";
  TROUPE_TRY(check_same_types(kCall, {{"a", op.a}, {"b", op.b}, {"d", op.d}}));
  TROUPE_TRY(check_type_is_one_of(kCall, {"a", op.a}, kUsualTypes));
  TROUPE_TRY(check_ranks(kCall, 2, {{"a", op.a}, {"b", op.b}, {"d", op.d}}));
  TROUPE_TRY(check_product(kCall, {"a", op.a}, {"b", op.b}, {"d", op.d}));
  TROUPE_TRY(check_compute(kCall, op.compute, op.a.dtype));
  TROUPE_TRY(check_finite(kCall, "alpha", op.alpha));
  if (op.has_pre) TROUPE_TRY(check_extra(kCall, {"pre", op.pre}, op.d, op.d.shape));
  if (op.sums_columns) TROUPE_TRY(check_extra(kCall, {"bias_gradient", op.sums}, op.d, Shape{op.d.shape[1]}));
  if (op.activation != Activation::none && !op.has_pre)
    return refuse(kCall, std::string(enum_names<Activation>()[static_cast<std::size_t>(op.activation)]) +
                             " needs options.pre, the array that multiply wrote with options.pre");
  return {};
}

extern const FamilyOps matmul_ops = register_ops("matmul", MatmulOps{});

}  // namespace troupe::inline v0::op
