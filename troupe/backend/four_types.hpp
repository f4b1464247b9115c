// The types that BLAS, LAPACK and sparse matrices have, wherever they run: f32 f64 c64 c128. One switch for all that
// are templates of the type.
#pragma once

#include <complex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "troupe/core/result.hpp"
#include "troupe/core/shape.hpp"

namespace troupe::backend {

/// Calls `f(std::type_identity<T>{})` for one of the four; `unsupported` for any other type, in the name of `op`.
template <class F>
Result<void> visit_four(std::string_view op, DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return std::forward<F>(f)(std::type_identity<float>{});
    case DType::f64: return std::forward<F>(f)(std::type_identity<double>{});
    case DType::c64: return std::forward<F>(f)(std::type_identity<std::complex<float>>{});
    case DType::c128: return std::forward<F>(f)(std::type_identity<std::complex<double>>{});
    default:
      return fail(ErrorKind::unsupported,
                  std::string(op) + " does not take " + std::string(name(dtype)) + "; it takes f32 f64 c64 c128");
  }
}

}  // namespace troupe::backend
