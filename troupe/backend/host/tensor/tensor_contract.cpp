#include <complex>

#include "troupe/backend/host/blas/blas_kernels.hpp"
#include "troupe/backend/host/kernels/scratch.hpp"
#include "troupe/backend/host/memory/memory_kernels.hpp"
#include "troupe/backend/host/team/try_each.hpp"
#include "troupe/backend/host/tensor/tensor_ops.hpp"
#include "troupe/backend/host/tensor/tensor_reduce.hpp"
#include "troupe/op/contraction_plan.hpp"

namespace troupe::host {
namespace {

using op::Packed;

/// The three operands where they are: in the vault, or in scratch memory. The op's views say how they lie.
struct Operands {
  op::Contract op;
  std::byte* a = nullptr;
  std::byte* b = nullptr;
  std::byte* c = nullptr;
  Team& team;
};

HostView as_view(const op::View& view, std::byte* data) { return {data, view.dtype, view.shape, view.strides}; }

/// A view of that shape and type without gaps; where it is, nobody has said.
op::View dense_view(const Shape& shape, DType dtype) { return {0, dtype, shape, contiguous_strides(shape)}; }

Result<Scratch> scratch_for(const op::View& dense) {
  return make_scratch(op::element_count(dense) * size_bytes(dense.dtype));
}

// ---- by loops ----

void contract_by_loops(const Operands& on) {
  const std::int64_t size = size_bytes(on.op.c.dtype);
  Nest kept;
  Nest reduced;
  for (const op::ContractionAxis& axis : op::axes_of(on.op))
    (axis.role == op::AxisRole::depth ? reduced : kept).add(axis.extent, {axis.a * size, axis.b * size, axis.c * size});
  reduce_nests({.function = Reduction::sum,
                .in = on.op.c.dtype,
                .out = on.op.c.dtype,
                .multiplies = true,
                .alpha = on.op.alpha,
                .beta = on.op.beta},
               {on.a, on.b, on.c}, kept, reduced, on.team);
}

// ---- by products of matrices ----

/// An operand as the plan wants it to be packed, and the memory for it.
struct PackedOperand {
  HostView from;
  HostView to;
  Scratch memory;
};
Result<PackedOperand> make_packed(const op::ContractionPlan& plan, Packed operand, DType dtype, std::byte* data) {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  for (const op::ContractionAxis& axis : packed_axes(plan, operand)) {
    extents.push_back(axis.extent);
    strides.push_back(op::stride_in(axis, operand));
  }
  const Shape shape(extents);
  const op::View dense = dense_view(shape, dtype);
  PackedOperand packed;
  packed.memory = TROUPE_TRY(scratch_for(dense));
  packed.from = {data, dtype, shape, Strides(strides)};
  packed.to = as_view(dense, packed.memory.get());
  return packed;
}

Result<void> multiply_batches(const op::ContractionPlan& plan, const Operands& on) {
  const DType dtype = on.op.c.dtype;
  const std::int64_t size = size_bytes(dtype);
  const auto matrix = [&](const op::ContractionAxis& rows, const op::ContractionAxis& columns, Packed operand,
                          std::byte* data) {
    return HostView{data, dtype, Shape{rows.extent, columns.extent},
                    Strides{op::stride_in(rows, operand), op::stride_in(columns, operand)}};
  };
  Nest batches;
  for (const op::ContractionAxis& axis : plan.batch)
    batches.add(axis.extent, {axis.a * size, axis.b * size, axis.c * size});
  const Grain grain =
      grain_of_products(on.team, batches.places(), plan.rows.extent, plan.columns.extent, plan.depth.extent);
  return try_each(on.team, batches.places(), grain, [&](std::int64_t i) {
    Result<void> result;
    batches.run({on.a, on.b, on.c}, i, i + 1, [&](const Nest::Pointers& at) {
      result = gemm(on.op.alpha, on.op.beta, matrix(plan.rows, plan.depth, Packed::a, at[0]),
                    matrix(plan.depth, plan.columns, Packed::b, at[1]),
                    matrix(plan.rows, plan.columns, Packed::c, at[2]), on.team);
    });
    return result;
  });
}

Result<void> contract_by_gemm(const op::ContractionPlan& plan, Operands on) {
  const DType dtype = on.op.c.dtype;
  PackedOperand a;
  PackedOperand b;
  PackedOperand c;
  if (plan.packs_a) {
    a = TROUPE_TRY(make_packed(plan, Packed::a, dtype, on.a));
    TROUPE_TRY(copy(a.from, a.to, on.team));
    on.a = a.to.data;
  }
  if (plan.packs_b) {
    b = TROUPE_TRY(make_packed(plan, Packed::b, dtype, on.b));
    TROUPE_TRY(copy(b.from, b.to, on.team));
    on.b = b.to.data;
  }
  if (plan.packs_c) {
    c = TROUPE_TRY(make_packed(plan, Packed::c, dtype, on.c));
    if (on.op.reads_c()) TROUPE_TRY(copy(c.from, c.to, on.team));
    on.c = c.to.data;
  }
  TROUPE_TRY(multiply_batches(plan, on));
  return plan.packs_c ? copy(c.to, c.from, on.team) : Result<void>();
}

Result<void> contract(const Operands& on) {
  const op::ContractionPlan plan =
      TROUPE_TRY(op::plan_contraction(op::axes_of(on.op), on.op.c.dtype, on.op.engine, op::kHostRates));
  if (plan.engine == TensorEngine::gemm) return contract_by_gemm(plan, on);
  contract_by_loops(on);
  return {};
}

// ---- what only one operand has is summed first ----

/// The first axes of an operand in memory of their own, in `dtype`, with its last ones summed.
Result<Scratch> sum_last(op::View& view, std::byte*& data, int summed, DType dtype, Team& team) {
  const int kept_axes = view.shape.rank() - summed;
  const Shape shape(std::span(view.shape.begin(), static_cast<std::size_t>(kept_axes)));
  const op::View dense = dense_view(shape, dtype);
  Scratch memory = TROUPE_TRY(scratch_for(dense));
  const std::int64_t size = size_bytes(view.dtype);
  Nest kept;
  Nest reduced;
  for (int i = 0; i < kept_axes; ++i)
    kept.add(view.shape[i], {view.strides[i] * size, 0, dense.strides[i] * size_bytes(dtype)});
  for (int i = kept_axes; i < view.shape.rank(); ++i) reduced.add(view.shape[i], {view.strides[i] * size, 0, 0});
  reduce_nests({.function = Reduction::sum, .in = view.dtype, .out = dtype, .alpha = op::Scalar(1.0), .beta = {}},
               {data, nullptr, memory.get()}, kept, reduced, team);
  view = dense;
  data = memory.get();
  return memory;
}

/// Sums of small floats stay in f32 until the end, and everything with them.
Result<void> contract_sums(Operands on) {
  const DType dtype = on.op.c.dtype;
  const DType wide = dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
  const bool widens = wide != dtype;
  Scratch a;
  Scratch b;
  if (widens || on.op.groups.summed_a > 0)
    a = TROUPE_TRY(sum_last(on.op.a, on.a, on.op.groups.summed_a, wide, on.team));
  if (widens || on.op.groups.summed_b > 0)
    b = TROUPE_TRY(sum_last(on.op.b, on.b, on.op.groups.summed_b, wide, on.team));
  on.op.groups.summed_a = on.op.groups.summed_b = 0;
  if (!widens) return contract(on);
  const HostView result = as_view(on.op.c, on.c);
  on.op.c = dense_view(on.op.c.shape, wide);
  const Scratch c = TROUPE_TRY(scratch_for(on.op.c));
  on.c = c.get();
  const HostView widened = as_view(on.op.c, on.c);
  if (on.op.reads_c()) TROUPE_TRY(cast(result, widened, on.team));
  TROUPE_TRY(contract(on));
  return cast(widened, result, on.team);
}

/// c = beta c.
void scale(const op::Scalar& beta, const HostView& c, Team& team) {
  const std::int64_t size = size_bytes(c.dtype);
  Nest kept;
  Nest nothing;
  nothing.add(0, {});
  for (int i = 0; i < c.shape.rank(); ++i) kept.add(c.shape[i], {0, 0, c.strides[i] * size});
  reduce_nests({.function = Reduction::sum, .in = c.dtype, .out = c.dtype, .alpha = op::Scalar(1.0), .beta = beta},
               {nullptr, nullptr, c.data}, kept, nothing, team);
}

}  // namespace

Result<void> run_op(const op::Contract& op, const HostViews& here) {
  const HostView c = here(op.c);
  if (c.data == nullptr) return {};
  const Operands on{op, here(op.a).data, here(op.b).data, c.data, here.team()};
  if (on.a == nullptr || on.b == nullptr) {
    scale(op.beta, c, here.team());
    return {};
  }
  return op.groups.summed_a + op.groups.summed_b > 0 ? contract_sums(on) : contract(on);
}

}  // namespace troupe::host
