#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/dnn_ops.hpp"
#include "troupe/backend/cuda/dnn/dnn_scratch.hpp"

namespace troupe::cuda {
namespace {

/// What both directions of a loss by element have in common. The target was looked at where it must be.
template <class Op>
Result<LossArguments> loss_arguments(const Op& op, DnnScratch& scratch) {
  LossArguments a{};
  const GpuRows target = TROUPE_TRY(scratch.flat(op.target));
  if (op.terms.takes_probabilities()) {
    DnnFirstFinding* const finding = TROUPE_TRY(scratch.no_dnn_finding(op.verdict));
    TROUPE_TRY(scratch.check_probabilities(target, finding, op.verdict));
    a.finding = finding;
  }
  a.x = TROUPE_TRY(scratch.flat(op.x)).data();
  a.target = target.data();
  if (op.terms.has_weight) a.weight = TROUPE_TRY(scratch.flat(op.weight)).data();
  a.count = target.length;
  a.delta = op.terms.delta;
  a.share = 1;
  a.function = op.terms.function;
  a.log_target = op.terms.log_target;
  a.has_each = op.terms.reduction == LossReduction::none;
  return a;
}

double divisor_of(LossReduction reduction, const op::View& x) noexcept {
  if (reduction == LossReduction::mean) return static_cast<double>(op::element_count(x));
  return reduction == LossReduction::batch_mean ? static_cast<double>(x.shape[0]) : 1;
}

}  // namespace

Result<void> run_op(const op::DnnLoss& op, const LaneTools& on) {
  DnnScratch scratch(on);
  LossArguments a = TROUPE_TRY(loss_arguments(op, scratch));
  const std::int64_t blocks = divided_up(a.count, kLossChunk);
  if (a.has_each) {
    const GpuTarget losses = TROUPE_TRY(scratch.target_flat(op.loss, true));
    a.out = losses.data();
    TROUPE_TRY(scratch.blocks(DnnTrainingKernel::dnn_loss, op.x.dtype, blocks, a, kDnnThreads));
    return scratch.finish(losses);
  }
  a.partials = TROUPE_TRY(scratch.array<double>(std::max<std::int64_t>(blocks, 1)));
  TROUPE_TRY(scratch.blocks(DnnTrainingKernel::dnn_loss, op.x.dtype, blocks, a, kDnnThreads));
  const SumArguments sum{.numbers = a.partials,
                         .shares = nullptr,
                         .out = on.data(op.loss),
                         .finding = a.finding,
                         .count = blocks,
                         .divisor = divisor_of(op.terms.reduction, op.x)};
  return scratch.blocks(DnnTrainingKernel::dnn_sum, op.loss.dtype, 1, sum, kDnnThreads);
}

Result<void> run_op(const op::DnnLossGradient& op, const LaneTools& on) {
  DnnScratch scratch(on);
  LossArguments a = TROUPE_TRY(loss_arguments(op, scratch));
  a.dloss = TROUPE_TRY(scratch.flat(op.dloss)).data();
  a.share = 1 / divisor_of(op.terms.reduction, op.x);
  const GpuTarget slopes = TROUPE_TRY(scratch.target_flat(op.dx, true));
  a.out = slopes.data();
  TROUPE_TRY(scratch.threads(DnnTrainingKernel::dnn_loss_gradient, op.x.dtype, a.count, a));
  return scratch.finish(slopes);
}

}  // namespace troupe::cuda

#endif
