// What the checks of the dnn family's topics share: the types that layers are made of, and what these are computed
// in.
#pragma once

#include "troupe/op/check.hpp"

namespace troupe::inline v0::op {

/// What networks are computed with: f16 and bf16 in f32.
inline constexpr std::initializer_list<DType> kDnnTypes = {DType::f32, DType::f64, DType::f16, DType::bf16};
/// What sums, and what stands for many numbers, are kept in.
constexpr DType dnn_wide_type(DType dtype) noexcept { return dtype == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace troupe::inline v0::op
