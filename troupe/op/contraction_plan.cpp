#include "troupe/op/contraction_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace troupe::inline v0::op {

bool has_axis(const ContractionAxis& axis, Packed operand) noexcept {
  switch (operand) {
    case Packed::a: return axis.role != AxisRole::column;
    case Packed::b: return axis.role != AxisRole::row;
    default: return axis.role != AxisRole::depth;
  }
}

namespace {

constexpr std::array kOperands{Packed::a, Packed::b, Packed::c};

std::int64_t& stride(ContractionAxis& axis, Packed operand) noexcept {
  return operand == Packed::a ? axis.a : operand == Packed::b ? axis.b : axis.c;
}

/// The largest stride first. By insertion: they are few.
void order_by_stride(AxisList& axes, Packed by) noexcept {
  for (std::size_t i = 1; i < axes.size(); ++i)
    for (std::size_t j = i; j > 0 && std::abs(stride_in(axes[j], by)) > std::abs(stride_in(axes[j - 1], by)); --j)
      std::swap(axes[j], axes[j - 1]);
}

/// What a candidate does: which operands it packs, and whether rows or columns that do not merge become batches.
struct Packing {
  bool packs_a = false;
  bool packs_b = false;
  bool packs_c = false;
  bool peels_rows = false;
  bool peels_columns = false;

  bool packs(Packed operand) const noexcept {
    return operand == Packed::a ? packs_a : operand == Packed::b ? packs_b : packs_c;
  }
};

class Candidate {
 public:
  Candidate(const AxisList& axes, const Packing& choice) : choice_(choice) {
    for (const ContractionAxis& axis : axes) list_of(axis.role).add(axis);
    plan_.engine = TensorEngine::gemm;
    plan_.packs_a = choice.packs_a;
    plan_.packs_b = choice.packs_b;
    plan_.packs_c = choice.packs_c;
  }

  /// False when the axes do not merge.
  bool merge() {
    if (!merge_group(plan_.row_axes, plan_.rows, Packed::c, Packed::a, choice_.peels_rows) ||
        !merge_group(plan_.column_axes, plan_.columns, Packed::c, Packed::b, choice_.peels_columns) ||
        !merge_group(plan_.depth_axes, plan_.depth, Packed::a, Packed::b, false))
      return false;
    order_by_stride(plan_.batch_axes, !choice_.packs_c ? Packed::c : !choice_.packs_a ? Packed::a : Packed::b);
    plan_.batch = plan_.batch_axes;
    pack(Packed::a, plan_.rows, plan_.depth);
    pack(Packed::b, plan_.depth, plan_.columns);
    pack(Packed::c, plan_.rows, plan_.columns);
    merge_batch();
    return true;
  }
  bool has_unit_strides() const noexcept {
    return is_matrix(plan_.rows, plan_.depth, Packed::a) && is_matrix(plan_.depth, plan_.columns, Packed::b) &&
           is_matrix(plan_.rows, plan_.columns, Packed::c);
  }
  /// False when it takes too much scratch memory.
  bool estimate(DType dtype, const ContractionRates& rates);
  const ContractionPlan& plan() const noexcept { return plan_; }

 private:
  AxisList& list_of(AxisRole role) noexcept {
    switch (role) {
      case AxisRole::batch: return plan_.batch_axes;
      case AxisRole::row: return plan_.row_axes;
      case AxisRole::column: return plan_.column_axes;
      default: return plan_.depth_axes;
    }
  }

  bool side_by_side(const ContractionAxis& outer, const ContractionAxis& inner, Packed operand) const noexcept {
    return stride_in(outer, operand) == stride_in(inner, operand) * inner.extent;
  }

  /// Makes one axis of a group that the operands x and y have, if that can be where they are not packed.
  bool merge_group(AxisList& axes, ContractionAxis& merged, Packed x, Packed y, bool peels) {
    order_by_stride(axes, choice_.packs(x) ? y : x);
    if (axes.empty()) return true;
    merged = axes[axes.size() - 1];
    std::size_t first = axes.size() - 1;
    for (; first > 0; --first) {
      const ContractionAxis& outer = axes[first - 1];
      if ((!choice_.packs(x) && !side_by_side(outer, merged, x)) ||
          (!choice_.packs(y) && !side_by_side(outer, merged, y)))
        break;
      merged.extent *= outer.extent;
    }
    if (first == 0) return true;
    if (!peels) return false;
    AxisList kept;
    for (std::size_t i = 0; i < axes.size(); ++i) (i < first ? plan_.batch_axes : kept).add(axes[i]);
    axes = kept;
    return true;
  }

  /// The strides of a packed operand: row-major [batch, outer, inner].
  void pack(Packed operand, ContractionAxis& outer, ContractionAxis& inner) noexcept {
    if (!choice_.packs(operand)) return;
    stride(inner, operand) = 1;
    stride(outer, operand) = inner.extent;
    std::int64_t dense = inner.extent * outer.extent;
    for (std::size_t i = plan_.batch.size(); i-- > 0;) {
      ContractionAxis& axis = plan_.batch[i];
      stride(axis, operand) = has_axis(axis, operand) ? dense : 0;
      if (has_axis(axis, operand)) dense *= axis.extent;
    }
  }

  void merge_batch() noexcept {
    AxisList merged;
    for (const ContractionAxis& axis : plan_.batch) {
      if (!merged.empty()) {
        ContractionAxis& outer = merged[merged.size() - 1];
        const bool merges =
            std::ranges::all_of(kOperands, [&](Packed operand) { return side_by_side(outer, axis, operand); });
        if (merges) {
          const std::int64_t extent = outer.extent * axis.extent;
          outer = axis;
          outer.extent = extent;
          continue;
        }
      }
      merged.add(axis);
    }
    plan_.batch = merged;
  }

  static bool is_matrix(const ContractionAxis& rows, const ContractionAxis& columns, Packed operand) noexcept {
    const auto fits = [&](const ContractionAxis& near, const ContractionAxis& far) {
      return (near.extent == 1 || stride_in(near, operand) == 1) &&
             (far.extent == 1 || stride_in(far, operand) >= near.extent);
    };
    return fits(rows, columns) || fits(columns, rows);
  }

  double elements(Packed operand) const noexcept {
    double count = 1;
    for (const AxisList* list : {&plan_.batch_axes, &plan_.row_axes, &plan_.column_axes, &plan_.depth_axes})
      for (const ContractionAxis& axis : *list)
        if (has_axis(axis, operand)) count *= static_cast<double>(axis.extent);
    return count;
  }

  Packing choice_;
  ContractionPlan plan_;
};

double flops_of(const AxisList& axes, DType dtype) noexcept {
  double flops = is_complex(dtype) ? 8 : 2;
  for (const ContractionAxis& axis : axes) flops *= static_cast<double>(axis.extent);
  return flops;
}

bool Candidate::estimate(DType dtype, const ContractionRates& rates) {
  const auto size = static_cast<double>(size_bytes(dtype));
  double scratch = 0;
  for (const Packed operand : kOperands)
    if (choice_.packs(operand)) scratch += elements(operand) * size;
  if (scratch > static_cast<double>(rates.max_scratch_bytes)) return false;
  plan_.bytes_moved = 2 * scratch;

  std::int64_t largest = 1;
  for (const ContractionAxis& axis : plan_.batch) {
    plan_.calls *= axis.extent;
    largest = std::max(largest, axis.extent);
  }
  double rate = rates.gemm_flops;
  plan_.flops = (is_complex(dtype) ? 8.0 : 2.0) * static_cast<double>(plan_.calls);
  for (const ContractionAxis* axis : {&plan_.rows, &plan_.columns, &plan_.depth}) {
    const auto extent = static_cast<double>(axis->extent);
    plan_.flops *= extent;
    rate *= extent / (extent + rates.gemm_half);
  }
  if (rates.batches_in_one_call) plan_.calls /= largest;
  // What lies badly for the library, it packs itself.
  const double packed_inside = has_unit_strides() ? 0 : 2 * size * (elements(Packed::a) + elements(Packed::b));
  const double read_once = size * (elements(Packed::a) + elements(Packed::b) + elements(Packed::c));
  plan_.seconds = static_cast<double>(plan_.calls) * rates.call_seconds + plan_.flops / rate +
                  (plan_.bytes_moved + packed_inside + read_once) / rates.bytes;
  return true;
}

/// The fastest way by products of matrices; none when each takes too much scratch memory.
std::optional<ContractionPlan> plan_gemm(const AxisList& axes, DType dtype, const ContractionRates& rates) {
  std::optional<ContractionPlan> best;
  const auto attempt = [&](const Packing& choice) {
    Candidate candidate(axes, choice);
    if (!candidate.merge()) return false;
    if (rates.needs_unit_strides && !candidate.has_unit_strides()) return false;
    if (!candidate.estimate(dtype, rates)) return false;
    if (!best || candidate.plan().seconds < best->seconds) best = candidate.plan();
    return candidate.has_unit_strides() && candidate.plan().calls == 1;
  };
  if (attempt({})) return best;  // nothing moves, and it is one call: no other way is better
  for (unsigned way = 1; way < 32; ++way)
    attempt({.packs_a = (way & 1) != 0,
             .packs_b = (way & 2) != 0,
             .packs_c = (way & 4) != 0,
             .peels_rows = (way & 8) != 0,
             .peels_columns = (way & 16) != 0});
  return best;
}

/// Where much of the time goes into permuting, cuTENSOR was measured to be faster, and elsewhere by no rule.
bool is_for_cutensor(const ContractionPlan& gemm, const ContractionRates& rates) noexcept {
  constexpr double kShare = 1.0 / 3;
  return rates.cutensor_seconds > 0 && gemm.seconds >= rates.cutensor_seconds &&
         gemm.bytes_moved / rates.bytes >= kShare * gemm.seconds;
}

/// Nobody knows before what cuTENSOR does: the time is that of a product that moves nothing.
Result<ContractionPlan> plan_cutensor(const AxisList& axes, DType dtype, const ContractionRates& rates) {
  if (rates.cutensor_seconds == 0)
    return fail(ErrorKind::unsupported, "einsum: the engine cutensor needs a GPU; use automatic, gemm or loops");
  ContractionPlan plan;
  plan.engine = TensorEngine::cutensor;
  plan.flops = flops_of(axes, dtype);
  plan.seconds = rates.call_seconds + plan.flops / rates.gemm_flops;
  return plan;
}

}  // namespace

AxisList axes_of(const Contract& op) {
  AxisList axes;
  const ContractionGroups& groups = op.groups;
  const auto stride_of = [](const View& view, int axis) { return axis >= 0 ? view.strides[axis] : 0; };
  const auto add = [&](AxisRole role, std::int64_t extent, int in_a, int in_b, int in_c) {
    if (extent != 1) axes.add({extent, stride_of(op.a, in_a), stride_of(op.b, in_b), stride_of(op.c, in_c), role});
  };
  for (int i = 0; i < groups.batch; ++i) add(AxisRole::batch, op.c.shape[i], i, i, i);
  for (int i = groups.batch; i < groups.batch + groups.rows; ++i) add(AxisRole::row, op.c.shape[i], i, -1, i);
  for (int i = 0; i < groups.columns; ++i) {
    const int in_c = groups.batch + groups.rows + i;
    add(AxisRole::column, op.c.shape[in_c], -1, groups.batch + groups.depth + i, in_c);
  }
  for (int i = 0; i < groups.depth; ++i) {
    const int in_a = groups.batch + groups.rows + i;
    add(AxisRole::depth, op.a.shape[in_a], in_a, groups.batch + i, -1);
  }
  return axes;
}

Result<ContractionPlan> plan_contraction(const AxisList& axes, DType dtype, TensorEngine wanted,
                                         const ContractionRates& rates) {
  if (wanted == TensorEngine::cutensor) return plan_cutensor(axes, dtype, rates);
  ContractionPlan loops;
  loops.engine = TensorEngine::loops;
  loops.flops = flops_of(axes, dtype);
  loops.seconds = rates.call_seconds + loops.flops / rates.loops_flops;
  if (wanted == TensorEngine::loops) return loops;
  std::optional<ContractionPlan> gemm = plan_gemm(axes, dtype, rates);
  if (gemm && (wanted == TensorEngine::gemm || gemm->seconds <= loops.seconds)) {
    gemm->takes_cutensor = wanted == TensorEngine::automatic && is_for_cutensor(*gemm, rates);
    return *gemm;
  }
  if (wanted == TensorEngine::automatic) return loops;
  return fail(ErrorKind::unsupported, "einsum: the engine gemm needs more than " +
                                          std::to_string(rates.max_scratch_bytes) +
                                          " bytes of scratch memory here; use automatic or loops");
}

bool is_nested(const AxisList& axes, Packed operand) noexcept {
  AxisList own;
  for (const ContractionAxis& axis : axes)
    if (has_axis(axis, operand)) own.add(axis);
  order_by_stride(own, operand);
  std::int64_t least = 1;
  for (std::size_t i = own.size(); i-- > 0;) {
    if (stride_in(own[i], operand) < least) return false;
    least = stride_in(own[i], operand) * own[i].extent;
  }
  return true;
}

AxisList made_dense(const AxisList& axes, Packed operand) noexcept {
  const auto is_inside = [&](std::size_t inner, std::size_t outer) {
    const std::int64_t difference =
        std::abs(stride_in(axes[inner], operand)) - std::abs(stride_in(axes[outer], operand));
    return difference != 0 ? difference < 0 : inner > outer;
  };
  AxisList dense = axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!has_axis(axes[i], operand)) continue;
    std::int64_t step = 1;
    for (std::size_t j = 0; j < axes.size(); ++j)
      if (has_axis(axes[j], operand) && is_inside(j, i)) step *= axes[j].extent;
    stride(dense[i], operand) = step;
  }
  return dense;
}

AxisList packed_axes(const ContractionPlan& plan, Packed operand) {
  const AxisList& outer = operand == Packed::b ? plan.depth_axes : plan.row_axes;
  const AxisList& inner = operand == Packed::a ? plan.depth_axes : plan.column_axes;
  AxisList axes;
  for (const AxisList* list : {&plan.batch_axes, &outer, &inner})
    for (const ContractionAxis& axis : *list)
      if (has_axis(axis, operand)) axes.add(axis);
  return axes;
}

}  // namespace troupe::inline v0::op
