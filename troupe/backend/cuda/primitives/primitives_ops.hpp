// What the GPU does for the ops of op/primitives.hpp, by kernels of our own.
// Each function puts its op on the lane's stream and returns; the views lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/primitives.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::PrimitivesScan& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesReduce& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesArgReduce& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesSort& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesArgSort& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesTopK& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesSegmentedSort& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesSegmentedReduce& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesSegmentedScan& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesHistogram& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesHistogramBounds& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesSelect& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesUnique& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesSearch& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesGather& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesScatter& op, const LaneTools& on);
Result<void> run_op(const op::PrimitivesSets& op, const LaneTools& on);

}  // namespace troupe::cuda
