#if TROUPE_CUDA_BACKEND

#include <cstring>

#include "troupe/backend/cuda/tensor/expression_arguments.hpp"
#include "troupe/backend/cuda/tensor/expression_source.hpp"
#include "troupe/backend/cuda/tensor/tensor_arguments.hpp"
#include "troupe/backend/cuda/tensor/tensor_kernels.hpp"
#include "troupe/backend/cuda/tensor/tensor_launch.hpp"
#include "troupe/backend/cuda/tensor/tensor_ops.hpp"

namespace troupe::cuda {
namespace {

static_assert(EvaluateArguments::kMaxInputs == op::kMaxExpressionInputs &&
              EvaluateArguments::kMaxNumbers == op::kMaxExpressionNumbers &&
              EvaluateArguments::kMaxSteps == op::kMaxExpressionSteps && sizeof(ExpressionStep) == sizeof(op::Step) &&
              CompiledArguments::kMaxInputs == op::kMaxExpressionInputs &&
              CompiledArguments::kMaxNumbers == op::kMaxExpressionNumbers);

using Axes = KernelAxes<op::kMaxExpressionInputs + 1>;
using Offsets = ArrayOffsets<op::kMaxExpressionInputs + 1>;

/// Of the inputs, and then of the output.
Axes axes_of(const op::Evaluate& op) {
  AxesBuilder<op::kMaxExpressionInputs + 1> axes;
  for (int axis = 0; axis < op.out.shape.rank(); ++axis) {
    AxesBuilder<op::kMaxExpressionInputs + 1>::Strides strides{};
    for (std::size_t i = 0; i < op.inputs.size(); ++i) strides[i] = op.inputs[i].view.strides[axis];
    strides[op::kMaxExpressionInputs] = op.out.strides[axis];
    axes.add(op.out.shape[axis], strides);
  }
  return axes.arranged(op::kMaxExpressionInputs);
}

template <class Arguments>
void add_numbers(const op::Evaluate& op, Arguments& m) {
  for (std::size_t i = 0; i < op.number_count(); ++i)
    visit(op.computed_in(),
          [&]<class C>(std::type_identity<C>) { m.numbers[i] = bytes_of(op::Scalar(op.number(i)).as_factor<C>()); });
}

/// Where an array begins, moved on by so many elements.
CUdeviceptr moved(const op::View& view, const LaneTools& on, long long elements) {
  return on.at(view) + static_cast<CUdeviceptr>(elements * size_bytes(view.dtype));
}

Result<void> interpret(const op::Evaluate& op, const LaneTools& on, const Axes& axes, const Offsets& begin) {
  EvaluateArguments m{};
  m.axes = axes;
  m.out = pointer(moved(op.out, on, begin.at[op::kMaxExpressionInputs]));
  m.out_type = static_cast<int>(op.out.dtype);
  m.inputs = static_cast<int>(op.inputs.size());
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    m.in[i] = pointer(moved(op.inputs[i].view, on, begin.at[i]));
    m.types[i] = static_cast<int>(op.inputs[i].view.dtype);
  }
  m.step_count = static_cast<int>(op.step_count());
  std::memcpy(m.steps, op.steps.data(), op.steps.size());
  add_numbers(op, m);
  std::array<void*, 1> all{&m};
  return on.launch(TROUPE_TRY(on.kernel(ExpressionKernel::evaluate, op.computed_in())), axes.count, all);
}

/// The ways in which the arrays lie, where they begin at these elements.
void place(const op::Evaluate& op, const LaneTools& on, const Offsets& begin, int items, CompiledArguments& m) {
  const auto place_one = [&](std::size_t v, const op::View& view) {
    const CUdeviceptr address = moved(view, on, begin.at[v]);
    m.axes.ways[v] = way_of(m.axes, static_cast<int>(v), items, address, size_bytes(view.dtype));
    return pointer(address);
  };
  m.out = place_one(op::kMaxExpressionInputs, op.out);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) m.in[i] = place_one(i, op.inputs[i].view);
  for (std::size_t i = op.inputs.size(); i < op::kMaxExpressionInputs; ++i) m.axes.ways[i] = Way::number;
}

}  // namespace

Result<void> run_op(const op::Evaluate& op, const LaneTools& on) {
  const Axes axes = axes_of(op);
  if (axes.count == 0) return {};
  const int items = items_of(op);
  CompiledArguments m{};
  add_numbers(op, m);
  return in_parts(axes, items, [&](const Axes& part, const Offsets& begin) -> Result<void> {
    m.axes = grouped(part, items);
    place(op, on, begin, items, m);
    const ExpressionLayout layout = layout_of(op, m.axes);
    CUfunction kernel =
        TROUPE_TRY(on.expressions().find(ExpressionKey(op, layout).bytes(), [&] { return source_of(op, layout); }));
    if (!kernel) return interpret(op, on, part, begin);
    make_tiles(m.axes, kGroupThreads);
    return on.launch_blocks(kernel, blocks_of(m.axes, kGroupThreads), kGroupThreads, &m);
  });
}

}  // namespace troupe::cuda

#endif
