#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/tensor/tensor_contract.hpp"

#include <optional>

#include "troupe/backend/cuda/memory/move_elements.hpp"
#include "troupe/backend/cuda/tensor/tensor_launch.hpp"
#include "troupe/backend/cuda/tensor/tensor_ops.hpp"

namespace troupe::cuda {
namespace {

using op::Packed;
using OwnScratch = std::optional<StreamScratch>;

op::View dense_view(const Shape& shape, DType dtype) { return {0, dtype, shape, contiguous_strides(shape)}; }

Result<void> allocate(const LaneTools& on, OwnScratch& scratch, std::int64_t elements, DType dtype) {
  scratch.emplace(TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(elements * size_bytes(dtype)))));
  return {};
}

// ---- by loops ----

Result<void> contract_by_loops(const Operands& with, const LaneTools& on) {
  const DType dtype = with.op.c.dtype;
  ReduceLaunch launch{.function = Reduction::sum,
                      .in = dtype,
                      .out = dtype,
                      .a = with.a,
                      .b = with.b,
                      .to = with.c,
                      .alpha = with.op.alpha,
                      .beta = with.op.beta,
                      .kept = {},
                      .reduced = {}};
  for (const op::ContractionAxis& axis : op::axes_of(with.op)) {
    if (axis.role == op::AxisRole::depth)
      launch.reduced.add(axis.extent, {axis.a, axis.b});
    else
      launch.kept.add(axis.extent, {axis.a, axis.b, axis.c});
  }
  return reduce_elements(on, launch);
}

// ---- by products of matrices ----

/// The axes of a packed operand, with the strides that it has and those where it is packed, or the other way round.
AxesBuilder<2> packing(const op::ContractionPlan& plan, Packed operand, bool back, std::int64_t& elements) {
  const op::AxisList axes = packed_axes(plan, operand);
  AxesBuilder<2> builder;
  elements = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::int64_t own = op::stride_in(axes[i], operand);
    builder.add(axes[i].extent, back ? std::array{elements, own} : std::array{own, elements});
    elements *= axes[i].extent;
  }
  return builder;
}

/// Memory for a packed operand, filled from it where `reads`; `data` then is that memory.
Result<void> pack(const op::ContractionPlan& plan, Packed operand, bool reads, DType dtype, CUdeviceptr& data,
                  OwnScratch& memory, const LaneTools& on) {
  std::int64_t elements = 0;
  AxesBuilder<2> axes = packing(plan, operand, false, elements);
  TROUPE_TRY(allocate(on, memory, elements, dtype));
  if (reads) TROUPE_TRY(move_elements(on, dtype, data, memory->address(), axes));
  data = memory->address();
  return {};
}

/// The batches of one call: the longest axis along which nothing runs backwards.
std::size_t longest_batch(const op::AxisList& batch) {
  std::size_t longest = batch.size();
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (batch[i].a >= 0 && batch[i].b >= 0 && batch[i].c > 0 &&
        (longest == batch.size() || batch[i].extent > batch[longest].extent))
      longest = i;
  return longest;
}

Result<void> multiply_batches(const op::ContractionPlan& plan, const Operands& with, Cublas& cublas) {
  const DType dtype = with.op.c.dtype;
  const auto matrix = [&](const op::ContractionAxis& rows, const op::ContractionAxis& columns, Packed operand,
                          CUdeviceptr data) {
    // A stride along an extent of 1 leads nowhere; cuBLAS is told of none that it could dislike.
    return Matrix{data,
                  dtype,
                  rows.extent,
                  columns.extent,
                  rows.extent == 1 ? 0 : op::stride_in(rows, operand),
                  columns.extent == 1 ? 0 : op::stride_in(columns, operand)};
  };
  const auto size = static_cast<std::uint64_t>(size_bytes(dtype));
  const std::size_t longest = longest_batch(plan.batch);
  const op::ContractionAxis together = longest < plan.batch.size() ? plan.batch[longest] : op::ContractionAxis{};
  std::int64_t calls = 1;
  for (const op::ContractionAxis& axis : plan.batch) calls *= axis.extent;
  calls /= together.extent;
  for (std::int64_t call = 0; call < calls; ++call) {
    std::int64_t rest = call;
    std::int64_t a = 0, b = 0, c = 0;
    for (std::size_t i = 0; i < plan.batch.size(); ++i) {
      if (i == longest) continue;
      const op::ContractionAxis& axis = plan.batch[i];
      const std::int64_t index = rest % axis.extent;
      rest /= axis.extent;
      a += index * axis.a;
      b += index * axis.b;
      c += index * axis.c;
    }
    const auto at = [&](CUdeviceptr base, std::int64_t offset) {
      return base + static_cast<std::uint64_t>(offset) * size;
    };
    TROUPE_TRY(cublas.gemm(with.op.alpha, with.op.beta, matrix(plan.rows, plan.depth, Packed::a, at(with.a, a)),
                           matrix(plan.depth, plan.columns, Packed::b, at(with.b, b)),
                           matrix(plan.rows, plan.columns, Packed::c, at(with.c, c)), {},
                           {together.extent, together.a, together.b, together.c}));
  }
  return {};
}

Result<void> contract_by_gemm(const op::ContractionPlan& plan, Operands with, Cublas& cublas, const LaneTools& on) {
  const DType dtype = with.op.c.dtype;
  const CUdeviceptr result = with.c;
  OwnScratch a;
  OwnScratch b;
  OwnScratch c;
  if (plan.packs_a) TROUPE_TRY(pack(plan, Packed::a, true, dtype, with.a, a, on));
  if (plan.packs_b) TROUPE_TRY(pack(plan, Packed::b, true, dtype, with.b, b, on));
  if (plan.packs_c) TROUPE_TRY(pack(plan, Packed::c, with.op.reads_c(), dtype, with.c, c, on));
  TROUPE_TRY(multiply_batches(plan, with, cublas));
  if (!plan.packs_c) return {};
  std::int64_t elements = 0;
  AxesBuilder<2> back = packing(plan, Packed::c, true, elements);
  return move_elements(on, dtype, with.c, result, back);
}

/// By our own kernels and cuBLAS, as the plan says.
Result<void> contract_as_planned(const op::ContractionPlan& plan, const Operands& with, const LaneTools& on) {
  if (plan.engine == TensorEngine::loops) return contract_by_loops(with, on);
  const Result<Cublas*> cublas = on.handle<Cublas>();
  if (cublas) return contract_by_gemm(plan, with, **cublas, on);
  if (with.op.engine != TensorEngine::gemm && cublas.error().kind() == ErrorKind::unsupported)
    return contract_by_loops(with, on);
  return fail(cublas.error());
}

Result<void> contract(const Operands& with, const LaneTools& on) {
  // Libraries do not read what has a factor of 0, and would lose a NaN.
  if (op::is_zero(with.op.alpha)) return contract_by_loops(with, on);
  const bool is_for_cutensor = with.op.engine == TensorEngine::cutensor;
  const op::ContractionPlan plan =
      TROUPE_TRY(op::plan_contraction(op::axes_of(with.op), with.op.c.dtype,
                                      is_for_cutensor ? TensorEngine::automatic : with.op.engine, op::kGpuRates));
  const bool measures = with.op.tunes && with.op.engine == TensorEngine::automatic;
  if (is_for_cutensor || plan.takes_cutensor || measures) {
    const auto other_way = [&] { return contract_as_planned(plan, with, on); };
    if (TROUPE_TRY(contract_by_cutensor(with, other_way, on))) return {};
  }
  return contract_as_planned(plan, with, on);
}

// ---- what only one operand has is summed first ----

/// The first axes of an operand in memory of their own, in `dtype`, with its last ones summed.
Result<void> sum_last(op::View& view, CUdeviceptr& data, int summed, DType dtype, OwnScratch& memory,
                      const LaneTools& on) {
  const int kept = view.shape.rank() - summed;
  const op::View dense = dense_view(Shape(std::span(view.shape.begin(), static_cast<std::size_t>(kept))), dtype);
  TROUPE_TRY(allocate(on, memory, op::element_count(dense), dtype));
  ReduceLaunch launch{.function = Reduction::sum,
                      .in = view.dtype,
                      .out = dtype,
                      .a = data,
                      .b = 0,
                      .to = memory->address(),
                      .alpha = op::Scalar(1.0),
                      .beta = op::Scalar(0.0),
                      .kept = {},
                      .reduced = {}};
  for (int i = 0; i < kept; ++i) launch.kept.add(view.shape[i], {view.strides[i], 0, dense.strides[i]});
  for (int i = kept; i < view.shape.rank(); ++i) launch.reduced.add(view.shape[i], {view.strides[i], 0});
  TROUPE_TRY(reduce_elements(on, launch));
  view = dense;
  data = memory->address();
  return {};
}

Result<void> cast(const op::View& from, CUdeviceptr in, const op::View& to, CUdeviceptr out, const LaneTools& on) {
  return cast_elements(on, from.dtype, in, to.dtype, out, axes_of(from, to));
}

/// Sums of small floats stay in f32 until the end, and everything with them.
Result<void> contract_sums(Operands with, const LaneTools& on) {
  const DType dtype = with.op.c.dtype;
  const DType wide = dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
  const bool widens = wide != dtype;
  op::ContractionGroups& groups = with.op.groups;
  OwnScratch a;
  OwnScratch b;
  if (widens || groups.summed_a > 0) TROUPE_TRY(sum_last(with.op.a, with.a, groups.summed_a, wide, a, on));
  if (widens || groups.summed_b > 0) TROUPE_TRY(sum_last(with.op.b, with.b, groups.summed_b, wide, b, on));
  groups.summed_a = groups.summed_b = 0;
  if (!widens) return contract(with, on);
  const op::View view = with.op.c;
  const CUdeviceptr result = with.c;
  OwnScratch c;
  with.op.c = dense_view(view.shape, wide);
  TROUPE_TRY(allocate(on, c, op::element_count(with.op.c), wide));
  with.c = c->address();
  if (with.op.reads_c()) TROUPE_TRY(cast(view, result, with.op.c, with.c, on));
  TROUPE_TRY(contract(with, on));
  return cast(with.op.c, with.c, view, result, on);
}

/// c = beta c.
Result<void> scale(const op::Scalar& beta, const op::View& c, CUdeviceptr data, const LaneTools& on) {
  ReduceLaunch launch{.function = Reduction::sum,
                      .in = c.dtype,
                      .out = c.dtype,
                      .a = data,
                      .b = 0,
                      .to = data,
                      .alpha = op::Scalar(1.0),
                      .beta = beta,
                      .kept = {},
                      .reduced = {}};
  for (int i = 0; i < c.shape.rank(); ++i) launch.kept.add(c.shape[i], {0, 0, c.strides[i]});
  launch.reduced.add(0, {0, 0});
  return reduce_elements(on, launch);
}

}  // namespace

Result<void> run_op(const op::Contract& op, const LaneTools& on) {
  if (op::element_count(op.c) == 0) return {};
  const Operands with{op, on.at(op.a), on.at(op.b), on.at(op.c)};
  if (with.a == 0 || with.b == 0) return scale(op.beta, op.c, with.c, on);
  return op.groups.summed_a + op.groups.summed_b > 0 ? contract_sums(with, on) : contract(with, on);
}

}  // namespace troupe::cuda

#endif
