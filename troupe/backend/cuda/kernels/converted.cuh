// An element as one of another type, by the rules of `convert` and the very same code as on the host, or by the GPU's
// instructions where they give the same. Only for code on the GPU.
#pragma once

#include "troupe/backend/cuda/kernels/group_access.cuh"

namespace troupe::cuda {

/// Once in the code, not once for each element of a group.
template <class To, class From>
__device__ __noinline__ To converted_apart(From from) {
  return convert<To>(from);
}

template <class To, class From>
__device__ To converted(From from) {
  constexpr bool kToHalf = std::is_same_v<To, f16> || std::is_same_v<To, bf16>;
  if constexpr (std::is_same_v<From, To>) {
    return from;
  } else if constexpr (std::is_same_v<From, f16> || std::is_same_v<From, bf16>) {
    return converted<To>(to_number(from));
  } else if constexpr (detail::kIsSmallFloat<From>) {
    return converted<To>(converted_apart<float>(from));
  } else if constexpr (detail::kIsComplex<From> && !detail::kIsComplex<To> && !std::is_same_v<To, bool>) {
    return converted<To>(from.real());
  } else if constexpr (!kToHalf && detail::kIsSmallFloat<To>) {
    return converted_apart<To>(from);
  } else if constexpr (kToHalf && std::is_same_v<From, float>) {
    return from_number<To>(from);
  } else if constexpr (kToHalf && std::is_integral_v<From> && sizeof(From) <= 2) {
    return from_number<To>(static_cast<float>(from));  // which has them all
  } else if constexpr (kToHalf && std::is_same_v<From, double>) {
    return from_double<To>(from);
  } else if constexpr (kToHalf && std::is_integral_v<From> && sizeof(From) == 4) {
    return converted<To>(static_cast<double>(from));
  } else {
    return convert<To>(from);
  }
}

}  // namespace troupe::cuda
