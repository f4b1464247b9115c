#include "troupe/library/matmul.hpp"

#include <cmath>

#include "troupe/library/checks.hpp"

namespace troupe {
namespace {

using checks::refuse;

bool is_8_bit_float(DType dtype) noexcept { return dtype == DType::f8e4m3 || dtype == DType::f8e5m2; }
bool is_usual(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

Result<void> check_types(std::string_view op, DType a, DType b, DType d) {
  const bool good = is_8_bit_float(a) && is_8_bit_float(b)
                        ? d == DType::f32 || d == DType::f16 || d == DType::bf16 || d == DType::f8e4m3
                    : a == DType::i8 ? b == a && d == DType::i32
                                     : is_usual(a) && a == b && (d == a || (d == DType::f32 && a != DType::f64));
  if (good) return {};
  return fail(ErrorKind::unsupported,
              std::string(op) + " of " + std::string(name(a)) + " and " + std::string(name(b)) + " into " +
                  std::string(name(d)) +
                  ": there is f32 f64 f16 bf16 into themselves, f16 bf16 into f32, 8-bit floats into f32 f16 bf16 "
                  "f8e4m3, and i8 into i32");
}

Result<void> check_shapes(std::string_view op, const AnyArray& a, const AnyArray& b, const AnyArray& d) {
  TROUPE_TRY(checks::ranks(op, 2, {&a, &b, &d}));
  if (a.shape()[1] == b.shape()[0] && d.shape()[0] == a.shape()[0] && d.shape()[1] == b.shape()[1]) return {};
  return refuse(
      op, a.shape().to_string() + " times " + b.shape().to_string() + " does not fit into " + d.shape().to_string());
}

/// An array of the epilogue: of that shape, and of a type that is added or kept.
Result<void> check_extra(std::string_view op, const AnyArray* array, const Shape& shape) {
  if (!array) return {};
  TROUPE_TRY(checks::type_is_one_of(op, array->dtype(), {DType::f32, DType::f64, DType::f16, DType::bf16}));
  if (array->shape() == shape) return {};
  return refuse(op, "an array of the epilogue is " + array->shape().to_string() + " instead of " + shape.to_string());
}

Result<void> check_numbers(std::string_view op, std::initializer_list<double> numbers) {
  for (const double number : numbers)
    if (!std::isfinite(number)) return refuse(op, "a factor or scale is NaN or infinite");
  return {};
}

Result<void> check_compute(std::string_view op, Compute compute, DType dtype) {
  if (compute != Compute::tf32 || dtype == DType::f32) return {};
  return fail(ErrorKind::unsupported, std::string(op) + ": tf32 is for matrices of f32");
}

Result<void> check_multiply(const AnyArray& a, const AnyArray& b, const AnyArray& d, const MatmulOptions& options) {
  constexpr std::string_view kName = "matmul";
  TROUPE_TRY(check_types(kName, a.dtype(), b.dtype(), d.dtype()));
  TROUPE_TRY(check_shapes(kName, a, b, d));
  TROUPE_TRY(check_compute(kName, options.compute, a.dtype()));
  TROUPE_TRY(check_numbers(kName, {options.alpha, options.beta, options.scale_a, options.scale_b, options.scale_d}));
  TROUPE_TRY(check_extra(kName, options.c, d.shape()));
  TROUPE_TRY(check_extra(kName, options.pre, d.shape()));
  TROUPE_TRY(check_extra(kName, options.bias, Shape{d.shape()[1]}));
  if (options.beta != 0 && !options.c) return refuse(kName, "a beta, and no c that it would multiply");
  const bool has_epilogue = options.c || options.bias || options.pre || options.activation != Activation::none ||
                            options.scale_a != 1 || options.scale_b != 1 || options.scale_d != 1;
  if (a.dtype() == DType::i8 && (has_epilogue || options.alpha != 1))
    return fail(ErrorKind::unsupported, "matmul of i8 has no factors and no epilogue; blas().gemm has factors");
  return {};
}

Result<void> check_gradient(const AnyArray& a, const AnyArray& b, const AnyArray& d,
                            const MatmulGradientOptions& options) {
  constexpr std::string_view kName = "matmul gradient";
  TROUPE_TRY(checks::same_types(kName, {&a, &b, &d}));
  TROUPE_TRY(checks::type_is_one_of(kName, a.dtype(), {DType::f32, DType::f64, DType::f16, DType::bf16}));
  TROUPE_TRY(check_shapes(kName, a, b, d));
  TROUPE_TRY(check_compute(kName, options.compute, a.dtype()));
  TROUPE_TRY(check_numbers(kName, {options.alpha}));
  TROUPE_TRY(check_extra(kName, options.pre, d.shape()));
  TROUPE_TRY(check_extra(kName, options.bias_gradient, Shape{d.shape()[1]}));
  if (options.activation != Activation::none && !options.pre)
    return refuse(kName, "the slope of an activation is asked for, and not where: `pre` is missing");
  return {};
}

}  // namespace

Matmul Device::matmul() const { return Matmul(*this); }

Call<void> Matmul::multiply(const AnyArray& a, const AnyArray& b, const AnyArray& d, MatmulOptions options) const {
  if (Result<void> good = check_multiply(a, b, d, options); !good) return fail(std::move(good).error());
  op::Matmul op{.alpha = options.alpha * options.scale_a * options.scale_b,
                .beta = options.beta,
                .scale_d = options.scale_d,
                .activation = options.activation,
                .compute = options.compute,
                .has_c = options.c && options.beta != 0,
                .has_bias = options.bias != nullptr,
                .keeps_pre = options.pre != nullptr,
                .tunes = options.autotune,
                .a = a.view(),
                .b = b.view(),
                .c = {},
                .bias = {},
                .pre = {},
                .d = d.view()};
  std::vector<const AnyArray*> arrays{&a, &b};
  const auto add = [&](bool wanted, const AnyArray* array, op::View& view) {
    if (!wanted) return;
    view = array->view();
    arrays.push_back(array);
  };
  add(op.has_c, options.c, op.c);
  add(op.has_bias, options.bias, op.bias);
  add(op.keeps_pre, options.pre, op.pre);
  arrays.push_back(&d);
  return device_.make_call(op, arrays);
}

Call<void> Matmul::gradient(const AnyArray& a, const AnyArray& b, const AnyArray& d,
                            MatmulGradientOptions options) const {
  if (Result<void> good = check_gradient(a, b, d, options); !good) return fail(std::move(good).error());
  op::MatmulGradient op{.alpha = options.alpha,
                        .activation = options.activation,
                        .compute = options.compute,
                        .has_pre = options.activation != Activation::none,
                        .sums_columns = options.bias_gradient != nullptr,
                        .a = a.view(),
                        .b = b.view(),
                        .pre = {},
                        .d = d.view(),
                        .sums = {}};
  std::vector<const AnyArray*> arrays{&a, &b};
  if (op.has_pre) {
    op.pre = options.pre->view();
    arrays.push_back(options.pre);
  }
  arrays.push_back(&d);
  if (op.sums_columns) {
    op.sums = options.bias_gradient->view();
    arrays.push_back(options.bias_gradient);
  }
  return device_.make_call(op, arrays);
}

}  // namespace troupe
