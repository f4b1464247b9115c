// What the GPU does for the ops of op/dnn.hpp. Each function puts its op on the lane's stream and returns; the views
// lie in mapped memory.
#pragma once

#include "troupe/backend/cuda/lanes/op_tools.hpp"
#include "troupe/op/dnn.hpp"

namespace troupe::cuda {

Result<void> run_op(const op::DnnActivate& op, const LaneTools& on);
Result<void> run_op(const op::DnnActivateGradient& op, const LaneTools& on);
Result<void> run_op(const op::DnnConvolve& op, const LaneTools& on);
Result<void> run_op(const op::DnnConvolveInput& op, const LaneTools& on);
Result<void> run_op(const op::DnnConvolveFilter& op, const LaneTools& on);
Result<void> run_op(const op::DnnMaxPool& op, const LaneTools& on);
Result<void> run_op(const op::DnnMaxPoolGradient& op, const LaneTools& on);
Result<void> run_op(const op::DnnAveragePool& op, const LaneTools& on);
Result<void> run_op(const op::DnnAveragePoolGradient& op, const LaneTools& on);
Result<void> run_op(const op::DnnBatchNorm& op, const LaneTools& on);
Result<void> run_op(const op::DnnBatchNormTraining& op, const LaneTools& on);
Result<void> run_op(const op::DnnBatchNormGradient& op, const LaneTools& on);
Result<void> run_op(const op::DnnGroupNorm& op, const LaneTools& on);
Result<void> run_op(const op::DnnGroupNormGradient& op, const LaneTools& on);
Result<void> run_op(const op::DnnLayerNorm& op, const LaneTools& on);
Result<void> run_op(const op::DnnLayerNormGradient& op, const LaneTools& on);
Result<void> run_op(const op::DnnInterpolate& op, const LaneTools& on);
Result<void> run_op(const op::DnnInterpolateGradient& op, const LaneTools& on);

Result<void> run_op(const op::DnnSoftmax& op, const LaneTools& on);
Result<void> run_op(const op::DnnSoftmaxGradient& op, const LaneTools& on);

Result<void> run_op(const op::DnnLoss& op, const LaneTools& on);
Result<void> run_op(const op::DnnLossGradient& op, const LaneTools& on);
Result<void> run_op(const op::DnnCrossEntropy& op, const LaneTools& on);
Result<void> run_op(const op::DnnCrossEntropyGradient& op, const LaneTools& on);

Result<void> run_op(const op::DnnOptimizerStep& op, const LaneTools& on);
Result<void> run_op(const op::DnnMeasureGradients& op, const LaneTools& on);
Result<void> run_op(const op::DnnAdjustLossScale& op, const LaneTools& on);

Result<void> run_op(const op::DnnEmbedding& op, const LaneTools& on);
Result<void> run_op(const op::DnnEmbeddingGradient& op, const LaneTools& on);
Result<void> run_op(const op::DnnDropout& op, const LaneTools& on);

Result<void> run_op(const op::DnnAttention& op, const LaneTools& on);
Result<void> run_op(const op::DnnAttentionGradient& op, const LaneTools& on);
Result<void> run_op(const op::DnnCacheAppend& op, const LaneTools& on);
Result<void> run_op(const op::DnnPagedAttention& op, const LaneTools& on);
Result<void> run_op(const op::DnnRotary& op, const LaneTools& on);

Result<void> run_op(const op::DnnRecurrent& op, const LaneTools& on);
Result<void> run_op(const op::DnnRecurrentGradient& op, const LaneTools& on);

}  // namespace troupe::cuda
