// What the host does for the ops of op/primitives.hpp.
// Each function runs its op to its end; the views lie in mapped memory.
#pragma once

#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/op/primitives.hpp"

namespace troupe::host {

Result<void> run_op(const op::PrimitivesScan& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesReduce& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesArgReduce& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesSort& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesArgSort& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesTopK& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesSegmentedSort& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesSegmentedReduce& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesSegmentedScan& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesHistogram& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesHistogramBounds& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesSelect& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesUnique& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesSearch& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesGather& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesScatter& op, const HostViews& here);
Result<void> run_op(const op::PrimitivesSets& op, const HostViews& here);

}  // namespace troupe::host
