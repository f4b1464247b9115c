// What the GPU does for the ops of op/solver.hpp.
// Each function puts its op on the lane's stream and returns; the views lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/op_tools.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::cuda {

template <class Op>
  requires(op::family_number(Op::kKind) == static_cast<std::uint8_t>(op::Family::solver))
Result<void> run_op(const Op&, const LaneTools&) {
  return fail(ErrorKind::unsupported, "not yet");
}

}  // namespace troupe::cuda
