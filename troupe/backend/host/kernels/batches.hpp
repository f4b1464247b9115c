// The loop over a batch of matrices that all solvers of the host share: it checks the op once more, finds the type, and
// writes the verdict of each matrix.
#pragma once

#include "troupe/backend/four_types.hpp"
#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/backend/host/solver/lapack_calls.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::host {

/// Calls `f(lapack, which)` for each matrix. `f` gives the verdict, or an error that ends the whole op.
template <class Op, class F>
Result<void> for_each_matrix(const Op& op, const op::View& batch, const HostViews& here, F&& f) {
  return backend::visit_four(Op::kName, batch.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
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
