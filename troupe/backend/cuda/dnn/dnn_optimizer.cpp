#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/dnn/dnn_ops.hpp"
#include "troupe/backend/cuda/dnn/dnn_scratch.hpp"
#include "troupe/op/training_functions.hpp"

namespace troupe::cuda {
namespace {

/// All arrays of one type go in one launch.
constexpr std::array kFloatTypes{DType::f32, DType::f64, DType::f16, DType::bf16};

/// One parameter's arrays side by side; those that are written elsewhere first are noted in `back`.
Result<SteppedArrays> stepped_arrays(const op::DnnOptimizerStep& op, const op::Argument* mine, DnnScratch& scratch,
                                     std::vector<GpuTarget>& back) {
  const std::size_t kept = 1 + static_cast<std::size_t>(op.states());
  SteppedArrays made{};
  const GpuRows gradient = TROUPE_TRY(scratch.flat(mine[0].view));
  made.gradient = gradient.data();
  made.count = gradient.length;
  const auto target = [&](const op::View& view) -> Result<void*> {
    back.push_back(TROUPE_TRY(scratch.target_flat(view)));
    return back.back().data();
  };
  for (std::size_t i = 0; i < kept; ++i) {
    made.kept[i] = TROUPE_TRY(scratch.flat(mine[1 + i].view)).data();
    made.next[i] = TROUPE_TRY(target(mine[1 + kept + i].view));
  }
  if (op.has_masters) made.rounded = TROUPE_TRY(target(mine[1 + 2 * kept].view));
  return made;
}

StepArguments step_arguments(const op::DnnOptimizerStep& op) noexcept {
  const dnn::StepNumbers<double> of =
      dnn::step_numbers<double>(op.rule, op.nesterov, op.step, op.rate, op.first, op.second, op.epsilon, op.decay);
  StepArguments a{};
  a.rate = of.rate;
  a.first = of.first;
  a.second = of.second;
  a.epsilon = of.epsilon;
  a.decay = of.decay;
  a.first_share = of.first_share;
  a.second_root = of.second_root;
  a.states = op.states();
  a.rule = of.rule;
  a.nesterov = of.nesterov;
  a.is_first = of.is_first;
  a.has_masters = op.has_masters;
  return a;
}

}  // namespace

Result<void> run_op(const op::DnnOptimizerStep& op, const LaneTools& on) {
  static_assert(kListedParameters >= static_cast<int>(op::kMaxParameters));
  DnnScratch scratch(on);
  std::vector<GpuTarget> back;
  const float* const measure = op.has_measure ? TROUPE_TRY(scratch.flat(op.measure)).data<const float>() : nullptr;
  for (const DType dtype : kFloatTypes) {
    StepArguments a = step_arguments(op);
    a.measure = measure;
    std::int64_t blocks = 0;
    for (std::size_t i = 0; i < op.arrays.size(); i += op.arrays_each()) {
      const op::View& gradient = op.arrays[i].view;
      if (gradient.dtype != dtype || op::element_count(gradient) == 0) continue;
      SteppedArrays& mine = a.arrays[a.listed++];
      mine = TROUPE_TRY(stepped_arrays(op, &op.arrays[i], scratch, back));
      mine.first_block = blocks;
      blocks += divided_up(mine.count, kStepChunk);
    }
    const bool is_small = size_bytes(dtype) == 2 && !op.has_masters;
    const DnnTrainingKernel kernel = is_small ? DnnTrainingKernel::dnn_small_step : DnnTrainingKernel::dnn_step;
    TROUPE_TRY(scratch.blocks(kernel, dtype, blocks, a, kDnnThreads));
  }
  for (const GpuTarget& target : back) TROUPE_TRY(scratch.finish(target));
  return {};
}

Result<void> run_op(const op::DnnMeasureGradients& op, const LaneTools& on) {
  static_assert(kListedGradients >= static_cast<int>(op::kMaxGradients));
  DnnScratch scratch(on);
  std::int64_t blocks = 0;
  for (const op::Argument& gradient : op.gradients) blocks += divided_up(op::element_count(gradient.view), kStepChunk);
  auto* const partials = TROUPE_TRY(scratch.array<double>(std::max<std::int64_t>(blocks, 1)));
  std::int64_t before = 0;  // blocks of the types so far
  for (const DType dtype : kFloatTypes) {
    SquaresArguments a{};
    a.partials = partials + before;
    std::int64_t mine = 0;
    for (const op::Argument& gradient : op.gradients) {
      if (gradient.view.dtype != dtype || op::element_count(gradient.view) == 0) continue;
      const GpuRows flat = TROUPE_TRY(scratch.flat(gradient.view));
      a.gradients[a.listed++] = {.data = flat.data(), .count = flat.length, .first_block = mine};
      mine += divided_up(flat.length, kStepChunk);
    }
    TROUPE_TRY(scratch.blocks(DnnTrainingKernel::dnn_squares, dtype, mine, a, kDnnThreads));
    before += mine;
  }
  const GpuTarget measure = TROUPE_TRY(scratch.target_flat(op.measure));
  const MeasureArguments a{.partials = partials,
                           .scale = op.has_scale ? TROUPE_TRY(scratch.flat(op.scale)).data<const float>() : nullptr,
                           .measure = measure.data<float>(),
                           .count = blocks,
                           .most = op.most};
  TROUPE_TRY(scratch.blocks(DnnTrainingKernel::dnn_measure, {}, 1, a, kDnnThreads));
  return scratch.finish(measure);
}

Result<void> run_op(const op::DnnAdjustLossScale& op, const LaneTools& on) {
  DnnScratch scratch(on);
  const GpuRows measure = TROUPE_TRY(scratch.flat(op.measure));
  const GpuRows scale = TROUPE_TRY(scratch.flat(op.scale));
  const GpuTarget next = TROUPE_TRY(scratch.target_flat(op.next));
  const LossScaleArguments a{.measure = measure.data<const float>(),
                             .scale = scale.data<const float>(),
                             .next = next.data<float>(),
                             .growth = op.growth,
                             .backoff = op.backoff,
                             .interval = static_cast<double>(op.interval)};
  TROUPE_TRY(scratch.threads(DnnTrainingKernel::dnn_adjust_loss_scale, {}, 1, a));
  return scratch.finish(next);
}

}  // namespace troupe::cuda

#endif
