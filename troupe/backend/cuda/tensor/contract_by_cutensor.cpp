#if TROUPE_CUDA_BACKEND

#include <algorithm>
#include <optional>

#include "troupe/backend/cuda/lanes/measuring.hpp"
#include "troupe/backend/cuda/memory/move_elements.hpp"
#include "troupe/backend/cuda/tensor/tensor_contract.hpp"

namespace troupe::cuda {
namespace {

using op::Packed;
constexpr int kRunsEach = 3;
constexpr int kFinals = 3;
// The best kernel of each way, and never the second best: those of cuTENSOR 2.8 faulted for some layouts, by a
// misaligned address, where the best ones did not.
constexpr std::array kWays{CUTENSOR_ALGO_DEFAULT, CUTENSOR_ALGO_DEFAULT_PATIENT, CUTENSOR_ALGO_GETT,
                           CUTENSOR_ALGO_TGETT, CUTENSOR_ALGO_TTGT};

std::uint32_t alignment_of(CUdeviceptr address) noexcept {
  constexpr CUdeviceptr kMost = CutensorProblem::kMaxAlignment;
  return static_cast<std::uint32_t>(std::min(address & (~address + 1), kMost));
}

/// An operand as cuTENSOR gets it: where it is, or packed, because it takes no axes that run backwards, are repeated or
/// are entangled.
struct PackedOperand {
  CUdeviceptr data = 0;  // where the op has it
  bool is_packed = false;
  AxesBuilder<2> packing;  // from there to the packed one
  AxesBuilder<2> unpacking;
  std::int64_t elements = 1;
  std::optional<StreamScratch> packed;

  CUdeviceptr address() const noexcept { return packed ? packed->address() : data; }
};

class CutensorContraction {
 public:
  CutensorContraction(const Operands& with, Cutensor& cutensor, const LaneTools& on)
      : op_(with.op),
        cutensor_(cutensor),
        on_(on),
        alpha_(with.op.alpha, with.op.c.dtype),
        beta_(with.op.beta, with.op.c.dtype) {
    problem_.dtype = op_.c.dtype;
    problem_.axes = op::axes_of(op_);
    take(Packed::a, with.a);
    take(Packed::b, with.b);
    take(Packed::c, with.c);
  }

  Result<void> find_plan() {
    plan_ = TROUPE_TRY(cutensor_.take(problem_));
    return {};
  }
  void keep_plan() { cutensor_.keep(std::move(plan_)); }
  const CutensorPlan& plan() const noexcept { return *plan_; }

  /// The memory that it takes.
  Result<void> allocate() { return allocate_for(plan_->chosen); }
  Result<void> run() { return run(plan_->chosen); }
  /// Runs it with several kernels and in the other way, waits for each, keeps the fastest, and runs that once more.
  Result<void> tune(const std::function<Result<void>()>& other_way);

 private:
  void take(Packed which, CUdeviceptr data) {
    PackedOperand& operand = of(which);
    operand.data = data;
    operand.is_packed = !op::is_nested(problem_.axes, which);
    problem_.alignments[static_cast<std::size_t>(which)] =
        operand.is_packed ? CutensorProblem::kMaxAlignment : alignment_of(data);
    if (!operand.is_packed) return;
    const op::AxisList dense = op::made_dense(problem_.axes, which);
    for (std::size_t i = 0; i < dense.size(); ++i) {
      if (!op::has_axis(dense[i], which)) continue;
      const std::int64_t before = op::stride_in(problem_.axes[i], which);
      const std::int64_t after = op::stride_in(dense[i], which);
      operand.packing.add(dense[i].extent, {before, after});
      operand.unpacking.add(dense[i].extent, {after, before});
      operand.elements *= dense[i].extent;
    }
    problem_.axes = dense;
  }
  PackedOperand& of(Packed which) noexcept { return operands_[static_cast<std::size_t>(which)]; }

  Result<void> allocate_for(const CutensorPlan::Choice& choice) {
    workspace_.reset();
    if (choice.workspace_bytes > 0) workspace_.emplace(TROUPE_TRY(on_.scratch(choice.workspace_bytes)));
    for (PackedOperand& operand : operands_)
      if (operand.is_packed && !operand.packed)
        operand.packed.emplace(
            TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(operand.elements * size_bytes(op_.c.dtype)))));
    return {};
  }
  Result<void> pack(Packed which) {
    const PackedOperand& operand = of(which);
    if (!operand.is_packed) return {};
    return move_elements(on_, op_.c.dtype, operand.data, operand.address(), operand.packing);
  }
  Result<void> run(const CutensorPlan::Choice& choice) {
    TROUPE_TRY(pack(Packed::a));
    TROUPE_TRY(pack(Packed::b));
    if (op_.reads_c()) TROUPE_TRY(pack(Packed::c));
    TROUPE_TRY(cutensor_.run(choice, {.alpha = alpha_.data(),
                                      .beta = beta_.data(),
                                      .a = of(Packed::a).address(),
                                      .b = of(Packed::b).address(),
                                      .c = of(Packed::c).address(),
                                      .workspace = workspace_ ? workspace_->address() : 0}));
    const PackedOperand& c = of(Packed::c);
    if (!c.is_packed) return {};
    return move_elements(on_, op_.c.dtype, c.address(), c.data, c.unpacking);
  }

  const op::Contract& op_;
  Cutensor& cutensor_;
  const LaneTools& on_;
  const LibraryFactor alpha_;
  const LibraryFactor beta_;
  CutensorProblem problem_;
  std::array<PackedOperand, 3> operands_;
  std::optional<StreamScratch> workspace_;
  std::unique_ptr<CutensorPlan> plan_;
};

Result<void> CutensorContraction::tune(const std::function<Result<void>()>& other_way) {
  const GpuStopwatch watch = TROUPE_TRY(GpuStopwatch::make(on_.driver()));
  // Once before it counts. What does not run is out: none.
  const auto milliseconds_of = [&](const auto& way) -> Result<std::optional<float>> {
    if (!way()) return std::nullopt;
    TROUPE_TRY(watch.start(on_.stream()));
    for (int i = 0; i < kRunsEach; ++i) TROUPE_TRY(way());
    return TROUPE_TRY(watch.stop(on_.stream()));
  };
  std::optional<float> least;
  for (const cutensorAlgo_t way : kWays) {
    Result<CutensorPlan::Choice> choice = cutensor_.make(*plan_, way);
    if (!choice || !allocate_for(*choice)) continue;
    const std::optional<float> milliseconds = TROUPE_TRY(milliseconds_of([&] { return run(*choice); }));
    if (!milliseconds || (least && *milliseconds >= *least)) continue;
    least = milliseconds;
    plan_->chosen = std::move(*choice);
  }
  // In turns, because a GPU that has been busy for long is slower.
  float ours = 0;
  float others = 0;
  const bool can_run = least && allocate();
  bool has_both = can_run;
  for (int i = 0; i < kFinals && has_both; ++i) {
    const std::optional<float> here = TROUPE_TRY(milliseconds_of([&] { return run(); }));
    const std::optional<float> there = TROUPE_TRY(milliseconds_of(other_way));
    has_both = here && there;
    ours += here.value_or(0);
    others += there.value_or(0);
  }
  plan_->other_is_faster = has_both ? others < ours : !can_run;
  plan_->is_tuned = true;
  TROUPE_TRY(cutensor_.remember(*plan_));
  if (plan_->other_is_faster && op_.engine != TensorEngine::cutensor) return other_way();
  TROUPE_TRY(allocate());
  return run();
}

}  // namespace

Result<bool> contract_by_cutensor(const Operands& with, const std::function<Result<void>()>& other_way,
                                  const LaneTools& on) {
  const bool is_asked_for = with.op.engine == TensorEngine::cutensor;
  const auto do_without = [&](const Error& why) -> Result<bool> {
    if (is_asked_for) return fail(why);
    return false;
  };
  const Result<Cutensor*> cutensor = on.handle<Cutensor>();
  if (!cutensor) return do_without(cutensor.error());
  if (const Error* const why = (*cutensor)->missing()) return do_without(*why);
  CutensorContraction contraction(with, **cutensor, on);
  if (const Result<void> found = contraction.find_plan(); !found) return do_without(found.error());
  // What is added to c would be added again and again: such ops use what was measured for others.
  const bool measures = with.op.tunes && !with.op.reads_c() && !contraction.plan().is_tuned;
  if (measures) {
    TROUPE_TRY(contraction.tune(other_way));
  } else if (!is_asked_for && contraction.plan().other_is_faster) {
    contraction.keep_plan();
    return false;
  } else {
    if (const Result<void> ready = contraction.allocate(); !ready) return do_without(ready.error());
    TROUPE_TRY(contraction.run());
  }
  contraction.keep_plan();
  return true;
}

}  // namespace troupe::cuda

#endif
