// What the checks of the dnn family's topics share: the types that layers are made of, and what these are computed
// in.
#pragma once

#include "troupe/op/check.hpp"

namespace troupe::inline v0::op {

/// What networks are computed with: f16 and bf16 in f32.
inline constexpr std::initializer_list<DType> kDnnTypes = {DType::f32, DType::f64, DType::f16, DType::bf16};
/// What sums, and what stands for many numbers, are kept in.
constexpr DType dnn_wide_type(DType dtype) noexcept { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// The product of all extents, or the greatest number there is: also of shapes that nobody has checked.
constexpr std::uint64_t product_of(std::initializer_list<std::uint64_t> factors) noexcept {
  std::uint64_t product = 1;
  bool is_huge = false;
  for (const std::uint64_t factor : factors) is_huge |= __builtin_mul_overflow(product, factor, &product);
  return is_huge ? ~std::uint64_t{0} : product;
}
constexpr std::uint64_t product_of(const Shape& shape, int first = 0) noexcept {
  std::uint64_t product = 1;
  for (int i = first; i < shape.rank(); ++i) product = product_of({product, static_cast<std::uint64_t>(shape[i])});
  return product;
}

}  // namespace troupe::inline v0::op
