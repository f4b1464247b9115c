#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/memory/move_elements.hpp"
#include "troupe/backend/cuda/tensor/tensor_arguments.hpp"
#include "troupe/backend/cuda/tensor/tensor_kernels.hpp"
#include "troupe/backend/cuda/tensor/tensor_launch.hpp"
#include "troupe/backend/cuda/tensor/tensor_ops.hpp"

namespace troupe::cuda {
namespace {

/// All but the addresses and the axes.
template <class Op, int n = static_cast<int>(Op::kInputs)>
ElementwiseArguments<n> factors_of(const Op& op) {
  ElementwiseArguments<n> m{};
  m.function = static_cast<int>(op.function);
  for (std::size_t i = 0; i < Op::kInputs; ++i) {
    m.types[i] = static_cast<int>(op.in[i].dtype);
    visit(op.computed_in(), [&]<class T>(std::type_identity<T>) {
      const auto factor = op.factors[i].template as_factor<T>();
      m.factors[i] = bytes_of(factor);
      if (factor != decltype(factor){1} && !op.is_condition(i)) m.scaled |= 1U << i;
    });
  }
  return m;
}

/// Whether some input must be converted.
template <class Op>
bool is_mixed(const Op& op) {
  for (std::size_t i = 0; i < Op::kInputs; ++i)
    if (!op.is_number(i) && !op.is_condition(i) && op.in[i].dtype != op.computed_in()) return true;
  return false;
}

template <class Op>
Result<CUfunction> kernel_for(const Op& op, const LaneTools& on) {
  const DType type = op.computed_in();
  if (is_mixed(op)) {
    using enum MixedKernel;
    constexpr std::array kKernels{mixed_unary, mixed_binary, mixed_ternary};
    return on.kernel(op.makes_bool() ? mixed_compare : kKernels[Op::kInputs - 1], type);
  }
  if (op.makes_bool()) return on.kernel(WholeKernel::compare, type);
  if (Op::kInputs < 3 && (is_integer(type) || type == DType::boolean))
    return on.kernel(Op::kInputs == 1 ? WholeKernel::whole_unary : WholeKernel::whole_binary, type);
  return on.kernel(kernel_of(op.function), type);
}

/// Of the inputs, and then of the output.
template <class Op, int n = static_cast<int>(Op::kInputs)>
KernelAxes<n + 1> axes_of(const Op& op) {
  AxesBuilder<n + 1> axes;
  for (int axis = 0; axis < op.out.shape.rank(); ++axis) {
    typename AxesBuilder<n + 1>::Strides strides{};
    for (std::size_t i = 0; i < Op::kInputs; ++i) strides[i] = op.is_number(i) ? 0 : op.in[i].strides[axis];
    strides[n] = op.out.strides[axis];
    axes.add(op.out.shape[axis], strides);
  }
  return axes.arranged(n);
}

/// How many groups are whole, where all arrays lie side by side and are aligned; else none.
template <int n>
unsigned plain_groups(const GroupAxes<n>& axes, int items) {
  if (axes.rows.rank != 0 || axes.groups > kMostDivided) return 0;
  for (const Way way : axes.ways)
    if (way != Way::whole && way != Way::number) return 0;
  return static_cast<unsigned>(axes.row_items / items);
}

template <class Op>
Result<void> run(const Op& op, const LaneTools& on) {
  constexpr auto n = static_cast<int>(Op::kInputs);
  const KernelAxes<n + 1> axes = axes_of(op);
  if (axes.count == 0) return {};
  const std::int64_t size = size_bytes(op.computed_in());
  const int items = group_items(static_cast<int>(size));
  const int block_groups = kGroupThreads * groups_of_thread(static_cast<int>(size));
  const CUfunction kernel = TROUPE_TRY(kernel_for(op, on));
  ElementwiseArguments<n> m = factors_of(op);
  return in_parts(axes, items, [&](const KernelAxes<n + 1>& part, const ArrayOffsets<n + 1>& begin) {
    m.axes = grouped(part, items);
    const auto place = [&](int v, const op::View& view) {
      const std::int64_t element = size_bytes(view.dtype);
      const CUdeviceptr address = on.at(view) + static_cast<CUdeviceptr>(begin.at[v] * element);
      m.axes.ways[v] = way_of(m.axes, v, items, address, element);
      return pointer(address);
    };
    m.out = place(n, op.out);
    for (int i = 0; i < n; ++i) {
      const auto input = static_cast<std::size_t>(i);
      if (op.is_number(input))
        m.axes.ways[i] = Way::number;
      else
        m.in[i] = place(i, op.in[input]);
    }
    m.plain = is_mixed(op) ? 0 : plain_groups(m.axes, items);
    make_tiles(m.axes, block_groups);
    return on.launch_blocks(kernel, blocks_of(m.axes, block_groups), kGroupThreads, &m);
  });
}

}  // namespace

Result<void> run_op(const op::UnaryOp& op, const LaneTools& on) {
  const bool only_moves =
      op.function == Unary::identity && !op.is_number(0) && op.factors[0].as<std::complex<double>>() == 1.0;
  if (!only_moves) return run(op, on);
  return move_elements(on, op.out.dtype, on.at(op.in[0]), on.at(op.out), axes_of(op.in[0], op.out));
}

Result<void> run_op(const op::BinaryOp& op, const LaneTools& on) { return run(op, on); }

Result<void> run_op(const op::TernaryOp& op, const LaneTools& on) { return run(op, on); }

void add_tensor(RunTable& table) { table.add(op::TensorOps{}); }

}  // namespace troupe::cuda

#endif
