// The walk over a batch of matrices that all solvers of the host share: the op is checked once more, the type is found,
// and what is written of each matrix is its verdict.
#pragma once

#include "troupe/backend/host/host_places.hpp"
#include "troupe/backend/host/lapack_calls.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::host {

/// Calls `f(std::type_identity<T>)` for one of the four types of LAPACK; `op::check` has refused all others.
template <class F>
Result<void> visit_lapack_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(std::type_identity<float>{});
    case DType::f64: return f(std::type_identity<double>{});
    case DType::c64: return f(std::type_identity<std::complex<float>>{});
    case DType::c128: return f(std::type_identity<std::complex<double>>{});
    default: return fail(ErrorKind::unsupported, "LAPACK has no " + std::string(name(dtype)));
  }
}

/// Calls `f(lapack, which)` for each matrix; it gives the verdict, or what stops the op altogether.
template <class Op, class F>
Result<void> for_each_matrix(const Op& op, const op::View& batch, const HostPlaces& here, F&& f) {
  TROUPE_TRY(op::check(op));
  return visit_lapack_type(batch.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const LapackCalls<T> lapack = TROUPE_TRY(LapackCalls<T>::make());
    for (std::int64_t i = 0; i < batch.shape[0]; ++i) {
      const std::int32_t verdict = TROUPE_TRY(Result<std::int32_t>(f(lapack, i)));
      if constexpr (requires { op.verdict; })
        here.template data<std::int32_t>(op.verdict)[i] = verdict;
      else
        (void)verdict;
    }
    return {};
  });
}

/// The element type of a `LapackCalls`.
template <class T>
T element_of(const LapackCalls<T>&);

}  // namespace troupe::host
