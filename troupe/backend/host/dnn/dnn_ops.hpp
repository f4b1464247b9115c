// What the host does for the ops of op/dnn.hpp. Each function runs its op to its end; the views lie in mapped memory.
// Sums are kept in f32, and of f64 in f64. What is computed of one sample of a batch depends on that sample alone, in
// every bit: not on the batch, its place in it, or the team.
#pragma once

#include "troupe/backend/host/kernels/host_views.hpp"
#include "troupe/op/dnn.hpp"
#include "troupe/op/dnn_attention.hpp"

namespace troupe::host {

Result<void> run_op(const op::DnnActivate& op, const HostViews& here);
Result<void> run_op(const op::DnnActivateGradient& op, const HostViews& here);
Result<void> run_op(const op::DnnConvolve& op, const HostViews& here);
Result<void> run_op(const op::DnnConvolveInput& op, const HostViews& here);
Result<void> run_op(const op::DnnConvolveFilter& op, const HostViews& here);
Result<void> run_op(const op::DnnMaxPool& op, const HostViews& here);
Result<void> run_op(const op::DnnMaxPoolGradient& op, const HostViews& here);
Result<void> run_op(const op::DnnAveragePool& op, const HostViews& here);
Result<void> run_op(const op::DnnAveragePoolGradient& op, const HostViews& here);
Result<void> run_op(const op::DnnBatchNorm& op, const HostViews& here);
Result<void> run_op(const op::DnnBatchNormTraining& op, const HostViews& here);
Result<void> run_op(const op::DnnBatchNormGradient& op, const HostViews& here);
Result<void> run_op(const op::DnnGroupNorm& op, const HostViews& here);
Result<void> run_op(const op::DnnGroupNormGradient& op, const HostViews& here);
Result<void> run_op(const op::DnnLayerNorm& op, const HostViews& here);
Result<void> run_op(const op::DnnLayerNormGradient& op, const HostViews& here);
Result<void> run_op(const op::DnnInterpolate& op, const HostViews& here);
Result<void> run_op(const op::DnnInterpolateGradient& op, const HostViews& here);

Result<void> run_op(const op::DnnSoftmax& op, const HostViews& here);
Result<void> run_op(const op::DnnSoftmaxGradient& op, const HostViews& here);

Result<void> run_op(const op::DnnLoss& op, const HostViews& here);
Result<void> run_op(const op::DnnLossGradient& op, const HostViews& here);
Result<void> run_op(const op::DnnCrossEntropy& op, const HostViews& here);
Result<void> run_op(const op::DnnCrossEntropyGradient& op, const HostViews& here);

Result<void> run_op(const op::DnnOptimizerStep& op, const HostViews& here);
Result<void> run_op(const op::DnnMeasureGradients& op, const HostViews& here);
Result<void> run_op(const op::DnnAdjustLossScale& op, const HostViews& here);

Result<void> run_op(const op::DnnEmbedding& op, const HostViews& here);
Result<void> run_op(const op::DnnEmbeddingGradient& op, const HostViews& here);
Result<void> run_op(const op::DnnDropout& op, const HostViews& here);

Result<void> run_op(const op::DnnAttention& op, const HostViews& here);
Result<void> run_op(const op::DnnAttentionGradient& op, const HostViews& here);
Result<void> run_op(const op::DnnCacheAppend& op, const HostViews& here);
Result<void> run_op(const op::DnnPagedAttention& op, const HostViews& here);
Result<void> run_op(const op::DnnRotary& op, const HostViews& here);

Result<void> run_op(const op::DnnRecurrent& op, const HostViews& here);
Result<void> run_op(const op::DnnRecurrentGradient& op, const HostViews& here);

}  // namespace troupe::host
