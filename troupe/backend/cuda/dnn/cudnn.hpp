// A lane's handle of cuDNN, and its plans. A plan takes long to make, up to seconds where cuDNN compiles a kernel for
// it, so it is kept for the next call of the same shapes, strides and alignments, and so is the knowledge that cuDNN
// has none; those that were not used for long go first. Nothing waits for the GPU here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "troupe/backend/cuda/dnn/cudnn_graph.hpp"
#include "troupe/backend/kept_plans.hpp"

namespace troupe::cuda {

/// What cuDNN has chosen for a graph; or nothing, when it has no kernel that keeps our promises.
class CudnnPlan {
 public:
  explicit CudnnPlan(std::vector<std::int64_t> its_key) noexcept : key(std::move(its_key)) {}
  /// Leaves it without a kernel when there is none.
  Result<void> make(cudnnHandle_t handle, const CudnnGraph& graph, bool may_use_tensor_cores);

  bool has_kernel() const noexcept { return plan_.get() != nullptr; }
  std::uint64_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Needs the addresses of the graph's arrays, in the order in which it was told of them, before all other tensors.
  Result<void> run(cudnnHandle_t handle, std::span<const CUdeviceptr> arrays, CUdeviceptr workspace) const;

  const std::vector<std::int64_t> key;
  const std::uint64_t size_bytes = 0;  // of the GPU's memory: workspaces are no part of it

 private:
  Result<void> describe(cudnnHandle_t handle, const CudnnGraph& graph);
  Result<bool> try_mode(cudnnHandle_t handle, cudnnBackendHeurMode_t mode, bool may_use_tensor_cores);
  Result<void> try_choice(cudnnHandle_t handle, CudnnDescriptor choice);

  std::vector<CudnnDescriptor> graph_;  // what the plan was made of
  CudnnDescriptor choice_;
  CudnnDescriptor plan_;
  std::uint64_t workspace_bytes_ = 0;
  std::vector<std::pair<CudnnGraph::Tensor, std::uint32_t>> numbers_;
};

class Cudnn {
 public:
  static constexpr std::size_t kMaxPlans = 256;
  static constexpr std::uint64_t kMostWorkspaceBytes = std::uint64_t{2} << 30;  // of one call
  static constexpr int kMostChoices = 16;  // which are tried, of those that cuDNN proposes at once

  /// Also when there is no cuDNN: then `missing` says why, and nobody looks for it again.
  static Result<std::unique_ptr<Cudnn>> create(CUstream stream);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  /// Null when cuDNN is there, which all that follows needs.
  const Error* missing() const noexcept { return missing_ ? &*missing_ : nullptr; }

  /// As cuDNN tells it: 91900 is 9.19.0.
  std::size_t version() const noexcept { return version_; }
  /// The plan that was kept, or a new one of the graph. `keep` gives it back.
  Result<std::unique_ptr<CudnnPlan>> take(std::vector<std::int64_t> key, const std::function<CudnnGraph()>& graph,
                                          bool may_use_tensor_cores);
  void keep(std::unique_ptr<CudnnPlan> plan) { plans_.keep(std::move(plan)); }
  Result<void> run(const CudnnPlan& plan, std::span<const CUdeviceptr> arrays, CUdeviceptr workspace) const {
    return plan.run(handle_, arrays, workspace);
  }

 private:
  Cudnn() = default;

  std::optional<Error> missing_;
  cudnnHandle_t handle_ = nullptr;
  std::size_t version_ = 0;
  backend::KeptPlans<CudnnPlan> plans_{{.plans = kMaxPlans}};
};

}  // namespace troupe::cuda
