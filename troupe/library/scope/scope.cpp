#include "troupe/library/scope/scope.hpp"

#include "troupe/device/make_call.hpp"
#include "troupe/library/blas/blas.hpp"
#include "troupe/library/fft/fft.hpp"
#include "troupe/library/matmul/matmul.hpp"
#include "troupe/library/scope/inferred.hpp"
#include "troupe/library/tensor/expression_body.hpp"
#include "troupe/library/tensor/reduced_axes.hpp"

namespace troupe::inline v0 {

bool Scope::allocate(AnyArray& array, const Shape& shape, const Where& where) {
  const Result<void> made = DeviceParts::allocate(device(), array, shape);
  if (!made) fail_with(made.error().at(where));
  return made.has_value();
}

// Expressions end in floating-point numbers; whole numbers are made of those.
void Scope::assign(const AnyArray& out, const Expression& expression, Where where) {
  if (!is_integer(out.dtype())) return run(device().tensor().evaluate(expression, out), where);
  AnyArray computed(DType::f64);
  if (!allocate(computed, out.shape(), where)) return;
  run(device().tensor().evaluate(expression, computed), where);
  run(device().cast(computed, out), where);
}

void Scope::evaluate_into_new(const Expression& expression, AnyArray& out, const Where& where) {
  const Result<Shape> shape = detail::shape_of_expression(expression);
  if (!shape) return fail_with(shape.error().at(where));
  if (allocate(out, *shape, where)) assign(out, expression, where);
}

void Scope::multiply_into_new(const AnyArray& a, const AnyArray& b, AnyArray& out, const Where& where) {
  for (const auto& [name, array] : {std::pair{"a", &a}, {"b", &b}})
    if (const Result<void> good = DeviceParts::check(device(), "matmul", name, *array); !good)
      return fail_with(good.error().at(where));
  const Result<Shape> shape = detail::shape_of_product(a.shape(), b.shape());
  if (!shape) return fail_with(shape.error().at(where));
  if (!allocate(out, *shape, where)) return;
  if (b.shape().rank() == 1) return run(device().blas().gemv(a, b, out), where);
  if (a.shape().rank() == 1) return run(device().blas().gemv(b.transpose(), a, out), where);
  if (is_complex(out.dtype())) return run(device().blas().gemm(a, b, out), where);
  run(device().matmul().multiply(a, b, out), where);
}

void Scope::reduce_into_new(Reduction function, const AnyArray& x, const detail::AxesOrAll& axes,
                            const ReductionOptions& options, AnyArray& out, const Where& where) {
  const Result<detail::Axes> all = detail::counted_axes(name(function), "it", x.shape(), axes.given());
  if (!all) return fail_with(all.error().at(where));
  if (allocate(out, detail::shape_of_reduction(x.shape(), *all, options.keep_axes), where))
    run(device().tensor().reduce(function, x, *all, out), where);
}

void Scope::reduce_into_new(Reduction function, const Expression& x, const detail::AxesOrAll& axes,
                            const ReductionOptions& options, AnyArray& out, const Where& where) {
  const Result<Shape> shape = detail::shape_of_expression(x);
  if (!shape) return fail_with(shape.error().at(where));
  const Result<detail::Axes> all = detail::counted_axes(name(function), "it", *shape, axes.given());
  if (!all) return fail_with(all.error().at(where));
  if (!allocate(out, detail::shape_of_reduction(*shape, *all, options.keep_axes), where)) return;
  if (!is_integer(out.dtype())) return run(device().tensor().reduce(function, x, *all, out), where);
  AnyArray computed(out.dtype());
  if (!allocate(computed, *shape, where)) return;
  assign(computed, x, where);
  run(device().tensor().reduce(function, computed, *all, out), where);
}

void Scope::transform_into_new(const AnyArray& x, const FftOptions& options, bool is_forward, AnyArray& out,
                               const Where& where) {
  const bool is_real = is_forward && !is_complex(x.dtype());
  const std::string_view call = is_real ? "rfft" : is_forward ? "fft" : "ifft";
  if (const Result<void> good = DeviceParts::check(device(), call, "x", x); !good)
    return fail_with(good.error().at(where));
  const Result<Shape> shape = is_real ? detail::shape_of_half_spectrum(x.shape(), options.axes) : x.shape();
  if (!shape) return fail_with(shape.error().at(where));
  if (!allocate(out, *shape, where)) return;
  run(is_forward ? device().fft().forward(x, out, options) : device().fft().inverse(x, out, options), where);
}

void Scope::real_inverse_into_new(const AnyArray& x, const IrfftOptions& options, AnyArray& out, const Where& where) {
  if (const Result<void> good = DeviceParts::check(device(), "irfft", "x", x); !good)
    return fail_with(good.error().at(where));
  const Result<Shape> shape = detail::shape_of_real(x.shape(), options.axes, options.length);
  if (!shape) return fail_with(shape.error().at(where));
  if (allocate(out, *shape, where))
    run(device().fft().inverse(x, out, {.axes = options.axes, .norm = options.norm}), where);
}

void Scope::concatenate_into_new(std::span<const AnyArray> parts, int axis, AnyArray& out, const Where& where) {
  const int rank = parts.empty() ? 0 : parts.front().shape().rank();
  const int along = axis < 0 ? axis + rank : axis;
  const Result<Shape> shape = detail::shape_of_concatenation(parts, along);
  if (!shape) return fail_with(shape.error().at(where));
  if (!allocate(out, *shape, where)) return;
  std::int64_t begin = 0;
  for (const AnyArray& part : parts) {
    const std::int64_t end = begin + part.shape()[along];
    const Result<AnyArray> place = out.slice(along, begin, end);
    if (!place) return fail_with(place.error().at(where));
    if (begin != end) run(device().copy(part, *place), where);
    begin = end;
  }
}

}  // namespace troupe::inline v0
