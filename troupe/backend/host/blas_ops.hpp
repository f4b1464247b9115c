// What the host does for the ops of op/blas.hpp: OpenBLAS where it is there and takes the layout, loops of our own, or
// a copy that it takes, where not. Each function runs its op to its end; the views lie in mapped memory. The app has
// checked the op; what could corrupt memory is checked once more and answers `invalid_argument`.
#pragma once

#include "troupe/backend/host/blas_kernels.hpp"
#include "troupe/backend/host/host_places.hpp"
#include "troupe/op/blas.hpp"

namespace troupe::host {

inline Result<void> run_op(const op::Axpy& op, const HostPlaces& here) {
  return axpy(op.alpha, here(op.x), here(op.y));
}
Result<void> run_op(const op::Scal& op, const HostPlaces& here);
Result<void> run_op(const op::Rot& op, const HostPlaces& here);
Result<void> run_op(const op::Dot& op, const HostPlaces& here);
Result<void> run_op(const op::Measure& op, const HostPlaces& here);
Result<void> run_op(const op::Geam& op, const HostPlaces& here);
Result<void> run_op(const op::Gemm& op, const HostPlaces& here);
Result<void> run_op(const op::GemmGroup& op, const HostPlaces& here);
Result<void> run_op(const op::Symm& op, const HostPlaces& here);
Result<void> run_op(const op::Syrk& op, const HostPlaces& here);
Result<void> run_op(const op::Triangular& op, const HostPlaces& here);

/// Calls `f(std::type_identity<T>{})` for f32, f64, c64 or c128; `unsupported` for any other type.
template <class F>
Result<void> visit_four(std::string_view op, DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(std::type_identity<float>{});
    case DType::f64: return f(std::type_identity<double>{});
    case DType::c64: return f(std::type_identity<std::complex<float>>{});
    case DType::c128: return f(std::type_identity<std::complex<double>>{});
    default:
      return fail(ErrorKind::unsupported,
                  std::string(op) + " does not take " + std::string(name(dtype)) + "; it takes f32 f64 c64 c128");
  }
}

}  // namespace troupe::host
