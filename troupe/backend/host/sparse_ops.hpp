// What the host does for the ops of op/sparse.hpp.
// Each function runs its op to its end; the views lie in mapped memory.
#pragma once

#include "troupe/backend/host/host_places.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::host {

Result<void> run_op(const op::SparseAdopt& op, const HostPlaces& here);
Result<void> run_op(const op::SparseMultiply& op, const HostPlaces& here);
Result<void> run_op(const op::SparseSolve& op, const HostPlaces& here);
Result<void> run_op(const op::SparseSddmm& op, const HostPlaces& here);
Result<void> run_op(const op::SparseConvert& op, const HostPlaces& here);
Result<void> run_op(const op::SparseToDense& op, const HostPlaces& here);
Result<void> run_op(const op::SparseCountDense& op, const HostPlaces& here);
Result<void> run_op(const op::SparseFillDense& op, const HostPlaces& here);
Result<void> run_op(const op::SparseCountBlocks& op, const HostPlaces& here);
Result<void> run_op(const op::SparseFillBlocks& op, const HostPlaces& here);
Result<void> run_op(const op::SparseCountProduct& op, const HostPlaces& here);
Result<void> run_op(const op::SparseFillProduct& op, const HostPlaces& here);

}  // namespace troupe::host
