#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/tensor/cutensor.hpp"

#include <algorithm>
#include <string>

#include "troupe/backend/cuda/driver/cuda_types.hpp"
#include "troupe/backend/cuda/lanes/measuring.hpp"
#include "troupe/backend/cuda/matmul/cublas_lt_library.hpp"

namespace troupe::cuda {
namespace {

using op::Packed;

constexpr std::array kOperands{Packed::a, Packed::b, Packed::c};

/// For those who have a handle.
const CutensorTable& cutensor() noexcept { return table<CutensorTable>(); }

/// Sums of small floats are kept in f32, and those of f32 are f32: neither is rounded to fewer digits on the way.
cutensorComputeDescriptor_t computed_in(DType dtype) noexcept {
  return dtype == DType::f64 || dtype == DType::c128 ? cutensor().in_f64 : cutensor().in_f32;
}

/// The key as a line of the tuning's file.
std::string text_of(const std::vector<std::int64_t>& key) {
  std::string text;
  for (const std::int64_t number : key) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

AlgorithmBytes algorithm_bytes_of(cutensorAlgo_t way, bool other_is_faster) noexcept {
  return {other_is_faster ? 1U : 0U, static_cast<std::uint64_t>(static_cast<std::int64_t>(way))};
}
cutensorAlgo_t way_of(const AlgorithmBytes& bytes) noexcept {
  return static_cast<cutensorAlgo_t>(static_cast<std::int64_t>(bytes[1]));
}

}  // namespace

std::vector<std::int64_t> CutensorProblem::key() const {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(dtype)};
  key.reserve(4 + 5 * axes.size());
  for (const std::uint32_t alignment : alignments) key.push_back(alignment);
  for (const op::ContractionAxis& axis : axes)
    key.insert(key.end(), {static_cast<std::int64_t>(axis.role), axis.extent, axis.a, axis.b, axis.c});
  return key;
}

// ---- a plan ----

Result<void> CutensorPlan::describe(cutensorHandle_t handle, const CutensorProblem& problem) {
  std::array<std::vector<std::int32_t>, 3> names;  // of the axes: their places in the list
  for (std::size_t i = 0; i < kOperands.size(); ++i) {
    std::vector<std::int64_t> extents;
    std::vector<std::int64_t> strides;
    for (std::size_t axis = 0; axis < problem.axes.size(); ++axis) {
      if (!op::has_axis(problem.axes[axis], kOperands[i])) continue;
      names[i].push_back(static_cast<std::int32_t>(axis));
      extents.push_back(problem.axes[axis].extent);
      strides.push_back(op::stride_in(problem.axes[axis], kOperands[i]));
    }
    TROUPE_TRY(cutensor().cutensorCreateTensorDescriptor(
        handle, tensors_[i].put(), static_cast<std::uint32_t>(extents.size()), extents.data(), strides.data(),
        data_type(problem.dtype), problem.alignments[i]));
  }
  const auto& [a, b, c] = tensors_;
  return cutensor().cutensorCreateContraction(handle, operation_.put(), a.get(), names[0].data(), CUTENSOR_OP_IDENTITY,
                                              b.get(), names[1].data(), CUTENSOR_OP_IDENTITY, c.get(), names[2].data(),
                                              CUTENSOR_OP_IDENTITY, c.get(), names[2].data(),
                                              computed_in(problem.dtype));
}

Result<CutensorPlan::Choice> CutensorPlan::make(cutensorHandle_t handle, cutensorAlgo_t way) const {
  CutensorOwned<cutensorPlanPreference_t, &CutensorTable::cutensorDestroyPlanPreference> preference;
  TROUPE_TRY(cutensor().cutensorCreatePlanPreference(handle, preference.put(), way, CUTENSOR_JIT_MODE_NONE));
  std::uint64_t wanted_bytes = 0;
  TROUPE_TRY(cutensor().cutensorEstimateWorkspaceSize(handle, operation_.get(), preference.get(),
                                                      CUTENSOR_WORKSPACE_DEFAULT, &wanted_bytes));
  Choice choice;
  choice.way = way;
  TROUPE_TRY(cutensor().cutensorCreatePlan(handle, choice.plan.put(), operation_.get(), preference.get(),
                                           std::min(wanted_bytes, Cutensor::kWorkspaceBytes)));
  TROUPE_TRY(cutensor().cutensorPlanGetAttribute(handle, choice.plan.get(), CUTENSOR_PLAN_REQUIRED_WORKSPACE,
                                                 &choice.workspace_bytes, sizeof choice.workspace_bytes));
  return choice;
}

// ---- the handle ----

Result<std::unique_ptr<Cutensor>> Cutensor::create(CUstream stream) {
  std::unique_ptr<Cutensor> made(new Cutensor(stream));
  (void)find_table<CublasLtTable>();  // which cuTENSOR wants, and would not find where only we look
  const Result<const CutensorTable*> found = find_table<CutensorTable>();
  if (!found) {
    if (found.error().kind() != ErrorKind::unsupported) return fail(found.error());
    made->missing_ = found.error();
    return made;
  }
  TROUPE_TRY((*found)->cutensorCreate(&made->handle_));
  made->tuning_.emplace(tuning_path("TROUPE_TENSOR_TUNING"), "tensor",
                        tuning_origin("cuTENSOR", (*found)->cutensorGetVersion()));
  return made;
}

Cutensor::~Cutensor() {
  plans_.clear();
  if (handle_) (void)cutensor().cutensorDestroy(handle_);
}

Result<std::unique_ptr<CutensorPlan>> Cutensor::take(const CutensorProblem& problem) {
  std::vector<std::int64_t> key = problem.key();
  if (std::unique_ptr<CutensorPlan> kept = plans_.take(key)) return kept;
  const std::optional<AlgorithmBytes> measured = tuning_->find(text_of(key));
  auto plan = std::make_unique<CutensorPlan>(std::move(key));
  TROUPE_TRY(plan->describe(handle_, problem));
  if (measured) {
    if (Result<CutensorPlan::Choice> choice = make(*plan, way_of(*measured))) {
      plan->chosen = std::move(*choice);
      plan->is_tuned = true;
      plan->other_is_faster = (*measured)[0] != 0;
      return plan;
    }
  }
  plan->chosen = TROUPE_TRY(make(*plan, CUTENSOR_ALGO_DEFAULT));
  return plan;
}

Result<void> Cutensor::run(const CutensorPlan::Choice& choice, const CutensorCall& call) const {
  return cutensor().cutensorContract(handle_, choice.plan.get(), call.alpha, pointer(call.a), pointer(call.b),
                                     call.beta, pointer(call.c), pointer(call.c), pointer(call.workspace),
                                     choice.workspace_bytes, stream_);
}

Result<void> Cutensor::remember(const CutensorPlan& plan) {
  return tuning_->add(text_of(plan.key), algorithm_bytes_of(plan.chosen.way, plan.other_is_faster));
}

}  // namespace troupe::cuda

#endif
