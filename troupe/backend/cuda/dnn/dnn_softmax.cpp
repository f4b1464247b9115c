#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/dnn_ops.hpp"
#include "troupe/backend/cuda/dnn/dnn_scratch.hpp"

namespace troupe::cuda {
namespace {

/// The kernel for short rows stands behind that for long ones.
template <class Arguments>
Result<void> launch_teams(DnnSoftmaxKernel kernel, DType dtype, std::int64_t rows, std::int64_t length,
                          const Arguments& arguments, const DnnScratch& scratch) {
  const bool is_short = is_short_row(length, dtype);
  const auto which = static_cast<DnnSoftmaxKernel>(static_cast<int>(kernel) + (is_short ? 1 : 0));
  return scratch.blocks(which, dtype, blocks_of_rows(rows, is_short), arguments, kDnnThreads);
}

}  // namespace

Result<void> run_op(const op::DnnSoftmax& op, const LaneTools& on) {
  if (op::element_count(op.x) == 0) return {};
  DnnScratch scratch(on);
  const GpuRows x = TROUPE_TRY(scratch.rows(op.x));
  const GpuTarget y = TROUPE_TRY(scratch.target_rows(op.y));
  const SoftmaxArguments arguments{.x = x.data(),
                                   .dy = nullptr,
                                   .out = y.data(),
                                   .x_stride = x.stride,
                                   .dy_stride = 0,
                                   .out_stride = y.stride,
                                   .length = x.length,
                                   .rows = x.rows,
                                   .logarithm = op.logarithm};
  TROUPE_TRY(launch_teams(DnnSoftmaxKernel::dnn_softmax, x.dtype, x.rows, x.length, arguments, scratch));
  return scratch.finish(y);
}

Result<void> run_op(const op::DnnSoftmaxGradient& op, const LaneTools& on) {
  if (op::element_count(op.y) == 0) return {};
  DnnScratch scratch(on);
  const GpuRows y = TROUPE_TRY(scratch.rows(op.y));
  const GpuRows dy = TROUPE_TRY(scratch.rows(op.dy));
  const GpuTarget dx = TROUPE_TRY(scratch.target_rows(op.dx));
  const SoftmaxArguments arguments{.x = y.data(),
                                   .dy = dy.data(),
                                   .out = dx.data(),
                                   .x_stride = y.stride,
                                   .dy_stride = dy.stride,
                                   .out_stride = dx.stride,
                                   .length = y.length,
                                   .rows = y.rows,
                                   .logarithm = op.logarithm};
  TROUPE_TRY(launch_teams(DnnSoftmaxKernel::dnn_softmax_gradient, y.dtype, y.rows, y.length, arguments, scratch));
  return scratch.finish(dx);
}

namespace {

/// What both directions of a cross entropy have in common. The target was looked at, and the verdict told.
template <class Op>
Result<EntropyArguments> entropy_arguments(const Op& op, const GpuRows& logits, DnnScratch& scratch) {
  DnnFirstFinding* const finding = TROUPE_TRY(scratch.no_dnn_finding(op.verdict));
  const bool is_class = !is_floating(op.target.dtype);
  const GpuRows target = TROUPE_TRY(is_class ? scratch.flat(op.target) : scratch.rows(op.target));
  if (is_class) {
    TROUPE_TRY(scratch.check_indices(target, op::DnnFault::class_outside, logits.length, op.terms.ignored, finding,
                                     op.verdict));
  } else {
    const GpuRows numbers = TROUPE_TRY(scratch.flat(op.target));
    TROUPE_TRY(scratch.check_probabilities(numbers, finding, op.verdict));
  }
  EntropyArguments a{};
  a.logits = logits.data();
  a.target = target.data();
  if (op.terms.has_weights) a.weights = TROUPE_TRY(scratch.flat(op.weights)).data();
  a.finding = finding;
  a.logits_stride = logits.stride;
  a.target_stride = is_class ? 1 : target.stride;
  a.classes = logits.length;
  a.rows = logits.rows;
  a.ignored = op.terms.ignored;
  a.keep = 1 - op.terms.label_smoothing;
  a.spread = op.terms.label_smoothing / static_cast<double>(logits.length);
  a.is_class = is_class;
  a.wide = op.target.dtype == DType::i64;
  a.has_each = op.terms.reduction == LossReduction::none;
  return a;
}

Result<void> launch_entropy(DnnSoftmaxKernel kernel, DType dtype, const EntropyArguments& a,
                            const DnnScratch& scratch) {
  return launch_teams(kernel, dtype, a.rows, a.classes, a, scratch);
}

SumArguments sum_of_rows(const EntropyArguments& a, const double* numbers, const double* shares, void* out) noexcept {
  return {.numbers = numbers, .shares = shares, .out = out, .finding = a.finding, .count = a.rows, .divisor = 1};
}

}  // namespace

Result<void> run_op(const op::DnnCrossEntropy& op, const LaneTools& on) {
  DnnScratch scratch(on);
  const GpuRows logits = TROUPE_TRY(scratch.rows(op.logits));
  EntropyArguments a = TROUPE_TRY(entropy_arguments(op, logits, scratch));
  if (a.has_each) {
    const GpuTarget losses = TROUPE_TRY(scratch.target_flat(op.loss));
    a.out = losses.data();
    a.out_stride = 1;
    TROUPE_TRY(launch_entropy(DnnSoftmaxKernel::dnn_cross_entropy, logits.dtype, a, scratch));
    return scratch.finish(losses);
  }
  a.losses = TROUPE_TRY(scratch.array<double>(std::max<std::int64_t>(logits.rows, 1)));
  if (op.terms.reduction == LossReduction::mean)
    a.shares = TROUPE_TRY(scratch.array<double>(std::max<std::int64_t>(logits.rows, 1)));
  TROUPE_TRY(launch_entropy(DnnSoftmaxKernel::dnn_cross_entropy, logits.dtype, a, scratch));
  return scratch.blocks(DnnTrainingKernel::dnn_sum, op.loss.dtype, 1,
                        sum_of_rows(a, a.losses, a.shares, on.data(op.loss)), kDnnThreads);
}

Result<void> run_op(const op::DnnCrossEntropyGradient& op, const LaneTools& on) {
  DnnScratch scratch(on);
  const GpuRows logits = TROUPE_TRY(scratch.rows(op.logits));
  EntropyArguments a = TROUPE_TRY(entropy_arguments(op, logits, scratch));
  a.dloss = TROUPE_TRY(scratch.flat(op.dloss)).data();
  if (op.terms.reduction == LossReduction::mean) {
    a.shares = TROUPE_TRY(scratch.array<double>(std::max<std::int64_t>(logits.rows, 1)));
    auto* const sum = TROUPE_TRY(scratch.array<double>(1));
    TROUPE_TRY(scratch.threads(DnnSoftmaxKernel::dnn_entropy_shares, logits.dtype, logits.rows, a));
    TROUPE_TRY(
        scratch.blocks(DnnTrainingKernel::dnn_sum, DType::f64, 1, sum_of_rows(a, a.shares, nullptr, sum), kDnnThreads));
    a.sum_of_shares = sum;
  }
  const GpuTarget slopes = TROUPE_TRY(scratch.target_rows(op.dlogits, true));
  a.out = slopes.data();
  a.out_stride = slopes.stride;
  TROUPE_TRY(launch_entropy(DnnSoftmaxKernel::dnn_cross_entropy_gradient, logits.dtype, a, scratch));
  return scratch.finish(slopes);
}

}  // namespace troupe::cuda

#endif
