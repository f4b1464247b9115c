// Ops that cuDNN may do. Each gives whether it did: false when there is no cuDNN, when it has no kernel that keeps our
// promises, or when the op is too small to be worth a plan; then our own kernels do the op.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::cuda {

Result<bool> convolve_by_cudnn(const op::DnnConvolve& op, const LaneTools& on);
Result<bool> convolve_by_cudnn(const op::DnnConvolveInput& op, const LaneTools& on);
Result<bool> convolve_by_cudnn(const op::DnnConvolveFilter& op, const LaneTools& on);
Result<bool> attend_by_cudnn(const op::DnnAttention& op, const LaneTools& on);
Result<bool> attend_by_cudnn(const op::DnnAttentionGradient& op, const LaneTools& on);

}  // namespace troupe::cuda
