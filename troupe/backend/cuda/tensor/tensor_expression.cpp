#if TROUPE_CUDA_BACKEND

#include <cstring>

#include "troupe/backend/cuda/tensor/tensor_arguments.hpp"
#include "troupe/backend/cuda/tensor/tensor_kernels.hpp"
#include "troupe/backend/cuda/tensor/tensor_launch.hpp"
#include "troupe/backend/cuda/tensor/tensor_ops.hpp"

namespace troupe::cuda {
namespace {

constexpr std::size_t kInputs = EvaluateArguments::kMaxInputs;
static_assert(kInputs == op::kMaxExpressionInputs && EvaluateArguments::kMaxNumbers == op::kMaxExpressionNumbers &&
              EvaluateArguments::kMaxSteps == op::kMaxExpressionSteps && sizeof(ExpressionStep) == sizeof(op::Step));

EvaluateArguments arguments_of(const op::Evaluate& op, const LaneTools& on) {
  EvaluateArguments m{};
  m.out = on.data(op.out);
  m.out_type = static_cast<int>(op.out.dtype);
  m.inputs = static_cast<int>(op.inputs.size());
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    m.in[i] = on.data(op.inputs[i].view);
    m.types[i] = static_cast<int>(op.inputs[i].view.dtype);
  }
  m.step_count = static_cast<int>(op.step_count());
  std::memcpy(m.steps, op.steps.data(), op.steps.size());
  for (std::size_t i = 0; i < op.number_count(); ++i)
    visit(op.computed_in(), [&]<class C>(std::type_identity<C>) {
      const auto number = op::Scalar(op.number(i)).as_factor<C>();
      std::memcpy(&m.numbers[i], &number, sizeof number);
    });
  AxesBuilder<kInputs + 1> axes;
  for (int axis = 0; axis < op.out.shape.rank(); ++axis) {
    AxesBuilder<kInputs + 1>::Strides strides{};
    for (std::size_t i = 0; i < op.inputs.size(); ++i) strides[i] = op.inputs[i].view.strides[axis];
    strides[kInputs] = op.out.strides[axis];
    axes.add(op.out.shape[axis], strides);
  }
  m.axes = axes.arranged(kInputs);
  return m;
}

}  // namespace

Result<void> run_op(const op::Evaluate& op, const LaneTools& on) {
  EvaluateArguments m = arguments_of(op, on);
  if (m.axes.count == 0) return {};
  std::array<void*, 1> all{&m};
  return on.launch(TROUPE_TRY(on.kernel(ExpressionKernel::evaluate, op.computed_in())), m.axes.count, all);
}

}  // namespace troupe::cuda

#endif
