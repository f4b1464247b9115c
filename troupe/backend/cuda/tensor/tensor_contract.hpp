// What the ways of contracting share: the operands where the GPU has them, and the way by cuTENSOR, which may be taken
// or left. Everything is put on the lane's stream.
#pragma once

#include <functional>

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/contraction_plan.hpp"

namespace troupe::cuda {

/// The three operands where the GPU has them: in the vault, or in scratch memory. The op's views say how they lie.
struct Operands {
  op::Contract op;
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;
  CUdeviceptr c = 0;
};

/// c = alpha a b + beta c by cuTENSOR. `other_way` does the same without it: it runs where both are measured, and where
/// it was the faster one the answer is false, and c as it was. So it is, too, when cuTENSOR is not there, cannot do it,
/// or has not enough memory; unless the op asks for this engine, which then is an error. Needs an alpha that is not 0.
Result<bool> contract_by_cutensor(const Operands& with, const std::function<Result<void>()>& other_way,
                                  const LaneTools& on);

}  // namespace troupe::cuda
