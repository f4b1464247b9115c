// The loop over a batch of matrices that all solvers of the host share: it checks the op once more, finds the type, and
// writes the verdict of each matrix. The team takes the matrices, each thread its own; when there are fewer large ones
// than threads, they are taken one by one, with all threads of LAPACK.
#pragma once

#include <algorithm>
#include <optional>

#include "troupe/backend/four_types.hpp"
#include "troupe/backend/host/blas/blas_library.hpp"
#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/backend/host/solver/lapack_calls.hpp"
#include "troupe/backend/host/team/try_each.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::host {

/// How LAPACK is called for a batch of matrices of one shape.
struct BatchPlan {
  static BatchPlan of(const op::View& batch, const Team& team) noexcept {
    constexpr double kNsPerMatrix = 1000;
    constexpr double kNsPerTerm = 0.1;
    constexpr double kTermsForThreads = 1 << 24;  // from there on LAPACK's own threads are of use
    constexpr double kMostAlone = 1024;           // elements of matrices for which no library takes more threads
    const auto rows = static_cast<double>(batch.shape[1]);
    const auto columns = static_cast<double>(batch.shape[2]);
    const double terms = rows * columns * std::min(rows, columns);
    return {.grain = Grain::of_ns(kNsPerMatrix + kNsPerTerm * terms),
            .one_by_one = terms > kTermsForThreads && batch.shape[0] < team.size(),
            .is_alone = rows * columns <= kMostAlone};
  }
  Grain grain;
  bool one_by_one;
  bool is_alone;
};

/// Calls `f(lapack, which)` for each matrix, from several threads. `f` gives the verdict, or an error that ends the
/// whole op.
template <class Op, class F>
Result<void> for_each_matrix(const Op& op, const op::View& batch, const HostViews& here, F&& f) {
  return backend::visit_four(Op::kName, batch.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const LapackCalls<T> lapack = TROUPE_TRY(LapackCalls<T>::make());
    LibraryThreads& threads = open_blas()->lapack->threads;
    const auto solve = [&](std::int64_t i) -> Result<void> {
      try {
        const std::int32_t verdict = TROUPE_TRY(Result<std::int32_t>(f(lapack, i)));
        if constexpr (requires { op.verdict; })
          here.template data<std::int32_t>(op.verdict)[i] = verdict;
        else
          (void)verdict;
        return {};
      } catch (...) {
        return fail(detail::current_exception_as_error());
      }
    };
    const BatchPlan plan = BatchPlan::of(batch, here.team());
    if (plan.one_by_one) {
      const LibraryThreads::Many many(threads, here.team().size());
      for (std::int64_t i = 0; i < batch.shape[0]; ++i) TROUPE_TRY(solve(i));
      return {};
    }
    return try_each(here.team(), batch.shape[0], plan.grain, [&](std::int64_t i) {
      std::optional<LibraryThreads::One> one;
      if (!plan.is_alone) one.emplace(threads);
      return solve(i);
    });
  });
}

/// The element type of a `LapackCalls`.
template <class T>
T element_of(const LapackCalls<T>&);

}  // namespace troupe::host
