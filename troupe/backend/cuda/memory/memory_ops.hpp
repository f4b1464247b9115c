// What the GPU does for the ops of op/memory.hpp and op/control.hpp.
// Each function puts its op on the lane's stream and returns; the views lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/memory.hpp"

namespace troupe::cuda {

/// The layout of one array (`b` is null) or of two with one shape, for our kernels.
Layout layout_of(const op::View& a, const op::View* b);

/// Elements from one place to another, which need not be in the vault: the views say only how they lie there. Needs one
/// shape and type.
Result<void> copy_elements(const op::View& in, CUdeviceptr in_at, const op::View& out, CUdeviceptr out_at,
                           const LaneTools& on);

inline Result<void> run_op(const op::Nop&, const LaneTools&) { return {}; }
inline Result<void> run_op(const op::Ready&, const LaneTools&) { return {}; }
Result<void> run_op(const op::Fill& op, const LaneTools& on);
Result<void> run_op(const op::Copy& op, const LaneTools& on);
Result<void> run_op(const op::Cast& op, const LaneTools& on);

}  // namespace troupe::cuda
