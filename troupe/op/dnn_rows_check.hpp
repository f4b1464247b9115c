// What the checks of the dnn family's ops on rows, indices and lists of arrays share, beside op/check.hpp: so that all
// of them say the same thing in the same words.
#pragma once

#include "troupe/op/check.hpp"
#include "troupe/op/dnn_finding.hpp"

namespace troupe::inline v0::op {

/// f16, bf16, f32 or f64, or `unsupported`.
inline Result<void> check_float(std::string_view call, const NamedView& view) {
  return check_type_is_one_of(call, view, {DType::f16, DType::bf16, DType::f32, DType::f64});
}
/// i32 or i64, or `unsupported`.
inline Result<void> check_index_type(std::string_view call, const NamedView& view) {
  return check_type_is_one_of(call, view, {DType::i32, DType::i64});
}
/// What numbers of a type are computed and kept in.
constexpr DType computed_in(DType dtype) noexcept { return dtype == DType::f64 ? DType::f64 : DType::f32; }

inline Result<void> check_has_rows(std::string_view call, const NamedView& view) {
  if (view.view.shape.rank() > 0) return {};
  return refuse(call, std::string(view.name) + " has no axis; it must have one at least");
}
inline std::int64_t row_length(const View& view) { return view.shape[view.shape.rank() - 1]; }
inline Shape without_last(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<std::size_t>(shape.rank() - 1)));
}

/// In [0, 1), as the probability of dropping an element must be.
inline Result<void> check_drop_probability(std::string_view call, double probability) {
  TROUPE_TRY(check_finite(call, "probability", probability));
  if (probability >= 0 && probability < 1) return {};
  return refuse(call, "probability is " + number_of(Scalar(probability)) + "; it must be from 0 to less than 1");
}
inline Result<void> check_within(std::string_view call, std::string_view name, double number, bool good,
                                 const char* must) {
  TROUPE_TRY(check_finite(call, name, number));
  if (good) return {};
  return refuse(call, std::string(name) + " is " + number_of(Scalar(number)) + "; it must be " + must);
}

inline Result<void> check_dnn_verdict(std::string_view call, const View& verdict) {
  TROUPE_TRY(check_type(call, {"verdict", verdict}, DType::i32));
  TROUPE_TRY(check_shape(call, {"verdict", verdict}, Shape{kDnnVerdictWords}));
  if (is_contiguous(verdict.shape, verdict.strides)) return {};
  return refuse(call, "verdict has gaps; it must be contiguous");
}

}  // namespace troupe::inline v0::op
