// A lane's handle of cuTENSOR, and its plans. A plan takes long to make, so it is kept for the next contraction of the
// same shapes, strides and alignments; those that were not used for long go first, and all are gone with the worker.
// Nothing waits for the GPU here.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "troupe/backend/cuda/lanes/tuning_file.hpp"
#include "troupe/backend/cuda/tensor/cutensor_library.hpp"
#include "troupe/backend/kept_plans.hpp"
#include "troupe/core/result.hpp"
#include "troupe/op/contraction_plan.hpp"

namespace troupe::cuda {

/// What cuTENSOR knows of a contraction before it runs. Each operand's axes are nested (`op::is_nested`).
struct CutensorProblem {
  static constexpr std::uint32_t kMaxAlignment = 128;

  DType dtype{};
  op::AxisList axes;
  std::array<std::uint32_t, 3> alignments{};  // of the first elements of a, b and c, in bytes

  /// All of it as numbers.
  std::vector<std::int64_t> key() const;
};

/// Something of cuTENSOR's, which `destroy`, a function of the table, frees.
template <class T, auto destroy>
class CutensorOwned {
 public:
  CutensorOwned() = default;
  ~CutensorOwned() {
    if (it_) (void)(table<CutensorTable>().*destroy)(it_);
  }
  CutensorOwned(CutensorOwned&& other) noexcept : it_(std::exchange(other.it_, nullptr)) {}
  CutensorOwned& operator=(CutensorOwned&& other) noexcept {
    std::swap(it_, other.it_);
    return *this;
  }
  T get() const noexcept { return it_; }
  T* put() noexcept { return &it_; }

 private:
  T it_ = nullptr;
};

/// Where everything is, for one call.
struct CutensorCall {
  const void* alpha = nullptr;
  const void* beta = nullptr;
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;
  CUdeviceptr c = 0;
  CUdeviceptr workspace = 0;
};

/// A contraction that was described to cuTENSOR, and the kernel that was chosen for it.
class CutensorPlan {
 public:
  /// A kernel with what it needs.
  struct Choice {
    cutensorAlgo_t way = CUTENSOR_ALGO_DEFAULT;
    CutensorOwned<cutensorPlan_t, &CutensorTable::cutensorDestroyPlan> plan;
    std::uint64_t workspace_bytes = 0;
  };

  explicit CutensorPlan(std::vector<std::int64_t> its_key) noexcept : key(std::move(its_key)) {}
  Result<void> describe(cutensorHandle_t handle, const CutensorProblem& problem);
  /// `unsupported` when cuTENSOR has no kernel for it.
  Result<Choice> make(cutensorHandle_t handle, cutensorAlgo_t way) const;

  const std::vector<std::int64_t> key;
  const std::uint64_t size_bytes = 0;  // of the GPU's memory: workspaces are no part of it
  Choice chosen;
  bool is_tuned = false;         // measured, beside what there is without cuTENSOR
  bool other_is_faster = false;  // than cuTENSOR

 private:
  using Tensor = CutensorOwned<cutensorTensorDescriptor_t, &CutensorTable::cutensorDestroyTensorDescriptor>;
  using Operation = CutensorOwned<cutensorOperationDescriptor_t, &CutensorTable::cutensorDestroyOperationDescriptor>;

  std::array<Tensor, 3> tensors_;
  Operation operation_;
};

class Cutensor {
 public:
  static constexpr std::size_t kMaxPlans = 128;
  static constexpr std::uint64_t kWorkspaceBytes = std::uint64_t{2} << 30;  // at most, for one contraction

  /// Also when there is no cuTENSOR: then `missing` says why, and nobody looks for it again.
  static Result<std::unique_ptr<Cutensor>> create(CUstream stream);
  ~Cutensor();
  Cutensor(const Cutensor&) = delete;
  Cutensor& operator=(const Cutensor&) = delete;

  /// Null when cuTENSOR is there, which all that follows needs.
  const Error* missing() const noexcept { return missing_ ? &*missing_ : nullptr; }

  /// The plan that was kept, or a new one, with what was measured before or with cuTENSOR's own guess. `keep` gives it
  /// back.
  Result<std::unique_ptr<CutensorPlan>> take(const CutensorProblem& problem);
  void keep(std::unique_ptr<CutensorPlan> plan) { plans_.keep(std::move(plan)); }
  /// The best kernel of a way of contracting, by cuTENSOR's guess.
  Result<CutensorPlan::Choice> make(const CutensorPlan& plan, cutensorAlgo_t way) const {
    return plan.make(handle_, way);
  }
  Result<void> run(const CutensorPlan::Choice& choice, const CutensorCall& call) const;
  /// Remembers what the plan now says, also for workers to come.
  Result<void> remember(const CutensorPlan& plan);

 private:
  explicit Cutensor(CUstream stream) : stream_(stream) {}

  CUstream stream_;
  std::optional<Error> missing_;
  cutensorHandle_t handle_ = nullptr;
  std::optional<TuningFile> tuning_;
  backend::KeptPlans<CutensorPlan> plans_{{.plans = kMaxPlans}};
};

}  // namespace troupe::cuda
