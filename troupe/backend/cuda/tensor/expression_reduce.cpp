#if TROUPE_CUDA_BACKEND

#include <cstring>

#include "troupe/backend/cuda/tensor/expression_arguments.hpp"
#include "troupe/backend/cuda/tensor/expression_source.hpp"
#include "troupe/backend/cuda/tensor/reduce_sharing.hpp"
#include "troupe/backend/cuda/tensor/tensor_kernels.hpp"
#include "troupe/backend/cuda/tensor/tensor_launch.hpp"
#include "troupe/backend/cuda/tensor/tensor_ops.hpp"

namespace troupe::cuda {
namespace {

using InputAxes = KernelAxes<op::kMaxExpressionInputs>;

/// Partial results take no more memory than this at a time.
constexpr std::int64_t kMostPartialBytes = std::int64_t{256} << 20;

/// The input with the most elements, of those with as many the first: axes are arranged as it lies.
int largest_input(const op::EvaluateReduce& op) {
  int largest = 0;
  double most = -1;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const op::View& view = op.inputs[i].view;
    double count = 1;
    for (int axis = 0; axis < view.shape.rank(); ++axis)
      if (view.strides[axis] != 0) count *= static_cast<double>(view.shape[axis]);
    if (count > most) {
      most = count;
      largest = static_cast<int>(i);
    }
  }
  return largest;
}

/// An op, and how it is shared out: by shapes and strides alone.
class Plan {
 public:
  Plan(const op::EvaluateReduce& op, const LaneTools& on)
      : op_(op), on_(on), items_(reduced_items(static_cast<int>(size_bytes(op.computed_in())))) {
    const int by = largest_input(op);
    AxesBuilder<op::kMaxExpressionInputs + 1> kept;
    AxesBuilder<op::kMaxExpressionInputs> reduced;
    for (int axis = 0; axis < op.shape().rank(); ++axis) {
      AxesBuilder<op::kMaxExpressionInputs>::Strides strides{};
      for (std::size_t i = 0; i < op.inputs.size(); ++i) strides[i] = op.inputs[i].view.strides[axis];
      AxesBuilder<op::kMaxExpressionInputs + 1>::Strides with_out{};
      std::copy(strides.begin(), strides.end(), with_out.begin());
      with_out[op::kMaxExpressionInputs] = op.out.strides[axis];
      if (op.shape()[axis] == op.out.shape[axis])
        kept.add(op.shape()[axis], with_out);
      else
        reduced.add(op.shape()[axis], strides);
    }
    kept_ = kept.arranged(by);
    reduced_ = reduced.arranged(by);
    by_columns_ = is_by_columns(by);
    set_arguments();
  }

  bool by_columns() const noexcept { return by_columns_; }

  /// In so many outputs at a time that partial results have room.
  Result<void> run(CUfunction kernel) {
    const std::int64_t unit = by_columns_ ? items_ : 1;
    const std::int64_t all = by_columns_ ? m_.kept.groups : kept_.count;
    const std::int64_t per_unit = unit * chunks_ * static_cast<std::int64_t>(sizeof(Bytes16));
    const std::int64_t at_once = std::max<std::int64_t>(kMostPartialBytes / per_unit, 1);
    for (std::int64_t first = 0; first < all; first += at_once)
      TROUPE_TRY(run_some(kernel, first, std::min(at_once, all - first)));
    return {};
  }

 private:
  bool is_by_columns(int by) const noexcept {
    const auto nearest = [by](const auto& axes) {
      const long long apart = axes.rank == 0 ? 0 : std::llabs(axes.strides[by][axes.rank - 1]);
      return apart == 0 ? INT64_MAX : apart;
    };
    return kept_.rank > 0 && nearest(kept_) < nearest(reduced_);
  }

  /// How many outputs come before a group of them. A row's last group may have fewer than the others.
  std::int64_t outputs_before(std::int64_t group) const noexcept {
    return group / m_.kept.row_groups * m_.kept.row_items + group % m_.kept.row_groups * items_;
  }

  void set_arguments() {
    AxesBuilder<op::kMaxExpressionInputs> kept;
    for (int i = 0; i < kept_.rank; ++i) {
      AxesBuilder<op::kMaxExpressionInputs>::Strides strides{};
      for (std::size_t v = 0; v < op::kMaxExpressionInputs; ++v) strides[v] = kept_.strides[v][i];
      kept.add(kept_.shape[i], strides);
    }
    m_.kept = grouped(kept.merged(), by_columns_ ? items_ : 1);  // outputs have the numbers that they had
    m_.reduced = grouped(reduced_, by_columns_ ? 1 : items_);
    if (reduced_.count == 0) m_.reduced.groups = 0;
    const std::int64_t outputs = by_columns_ ? m_.kept.groups : kept_.count;
    const Sharing sharing = share(by_columns_, outputs, m_.reduced.groups, busy_threads(size_bytes(op_.computed_in())));
    m_.lanes = sharing.lanes;
    m_.chunk_steps = sharing.chunk_steps;
    chunks_ = sharing.chunks;
    const auto keeps_aligned = [this](const auto& axes, std::size_t v) {
      for (int i = 0; i < axes.rank; ++i)
        if (axes.strides[v][i] % items_ != 0) return false;
      return true;
    };
    for (std::size_t v = 0; v < op_.inputs.size(); ++v) {
      const op::View& view = op_.inputs[v].view;
      const CUdeviceptr address = on_.at(view);
      const auto& groups = by_columns_ ? m_.kept : m_.reduced;
      m_.in[v] = pointer(address);
      m_.types[v] = static_cast<int>(view.dtype);
      m_.ways[v] = way_of(groups, static_cast<int>(v), items_, address, size_bytes(view.dtype));
      const bool stays = by_columns_ ? keeps_aligned(reduced_, v) : keeps_aligned(kept_, v);
      if (m_.ways[v] == Way::whole && !stays) m_.ways[v] = Way::strided;
    }
    m_.function = static_cast<int>(reduced_by(op_.function));
    m_.inputs = static_cast<int>(op_.inputs.size());
    m_.step_count = static_cast<int>(op_.step_count());
    std::memcpy(m_.steps, op_.steps.data(), op_.steps.size());
    for (std::size_t i = 0; i < op_.number_count(); ++i)
      visit(op_.computed_in(), [&]<class C>(std::type_identity<C>) {
        m_.numbers[i] = bytes_of(op::Scalar(op_.number(i)).template as_factor<C>());
      });
  }

  /// Outputs, or groups of outputs, from `first` on.
  Result<void> run_some(CUfunction kernel, std::int64_t first, std::int64_t count) {
    const std::int64_t begin = by_columns_ ? outputs_before(first) : first;
    const std::int64_t outputs = by_columns_ ? outputs_before(first + count) - begin : count;
    const StreamScratch partials =
        TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(outputs * chunks_) * sizeof(Bytes16)));
    m_.partials = partials.data();
    m_.first = first;
    m_.groups = count;
    m_.outputs = outputs;
    const std::int64_t width = kReduceThreads / m_.lanes;
    TROUPE_TRY(on_.launch_blocks(kernel, (count + width - 1) / width, kReduceThreads, &m_, chunks_));
    AxesBuilder<1> out;
    for (int i = 0; i < kept_.rank; ++i) out.add(kept_.shape[i], {kept_.strides[op::kMaxExpressionInputs][i]});
    FinishReduceArguments end{.out = on_.data(op_.out),
                              .partials = partials.data(),
                              .first = begin,
                              .outputs = outputs,
                              .chunks = chunks_,
                              .terms = reduced_.count,
                              .function = static_cast<int>(op_.function),
                              .out_type = static_cast<int>(op_.out.dtype),
                              .lanes = lanes_of_chunks(kept_.count, chunks_),
                              .axes = out.merged()};
    const std::int64_t end_width = kReduceThreads / end.lanes;
    return on_.launch_blocks(TROUPE_TRY(on_.kernel(ExpressionReduceKernel::finish_reduce, op_.computed_in())),
                             (outputs + end_width - 1) / end_width, kReduceThreads, &end);
  }

  const op::EvaluateReduce& op_;
  const LaneTools& on_;
  const int items_;
  KernelAxes<op::kMaxExpressionInputs + 1> kept_;
  InputAxes reduced_;
  bool by_columns_ = false;
  std::int64_t chunks_ = 1;
  ExpressionReduceArguments m_{};
};

}  // namespace

Result<void> run_op(const op::EvaluateReduce& op, const LaneTools& on) {
  if (op::element_count(op.out) == 0) return {};
  Plan plan(op, on);
  const bool by_columns = plan.by_columns();
  CUfunction kernel = TROUPE_TRY(
      on.expressions().find(ExpressionKey(op, by_columns).bytes(), [&] { return source_of(op, by_columns); }));
  if (!kernel)
    kernel = TROUPE_TRY(
        on.kernel(by_columns ? ExpressionReduceKernel::interpret_columns : ExpressionReduceKernel::interpret_rows,
                  op.computed_in()));
  return plan.run(kernel);
}

}  // namespace troupe::cuda

#endif
