// One call of cuDNN by an op: the lane's handle, a plan, and the memory that it takes. Whatever is missing before
// anything is put on the stream only means that our own kernels do the op.
//
//   CudnnCall call(on);
//   if (!call.prepare(problem.key(), [&] { return problem.graph(); }, true)) return false;
//   TROUPE_TRY(call.run({a, b, c}));
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "troupe/backend/cuda/lanes/op_tools.hpp"

namespace troupe::cuda {

class CudnnCall {
 public:
  /// Fewer products of two elements are not worth a plan: our kernels need no longer for them than it takes to launch
  /// one.
  static constexpr std::uint64_t kLeastProducts = std::uint64_t{1} << 20;

  explicit CudnnCall(const LaneTools& on) noexcept : on_(on) {
    if (const Result<Cudnn*> cudnn = on.handle<Cudnn>(); cudnn && !(*cudnn)->missing()) cudnn_ = *cudnn;
  }

  /// Whether there is a cuDNN that is not older.
  bool is_at_least(std::size_t version) const noexcept { return cudnn_ && cudnn_->version() >= version; }
  /// False: do without.
  bool prepare(std::vector<std::int64_t> key, const std::function<CudnnGraph()>& graph, bool may_use_tensor_cores) {
    if (!cudnn_) return false;
    Result<std::unique_ptr<CudnnPlan>> plan = cudnn_->take(std::move(key), graph, may_use_tensor_cores);
    if (!plan) return false;
    plan_ = std::move(*plan);
    if (plan_->has_kernel() && plan_->workspace_bytes() > 0) {
      Result<StreamScratch> workspace = on_.scratch(plan_->workspace_bytes());
      if (workspace) workspace_.emplace(std::move(*workspace));
    }
    const bool has_all = plan_->has_kernel() && (workspace_ || plan_->workspace_bytes() == 0);
    if (!has_all) keep();
    return has_all;
  }
  /// Needs to be prepared; any number of times, with other arrays of the same alignments.
  Result<void> run(const std::vector<CUdeviceptr>& arrays) const {
    return cudnn_->run(*plan_, arrays, workspace_ ? workspace_->address() : 0);
  }
  /// At the end, when all went well: the next one of its kind has the plan.
  void keep() { cudnn_->keep(std::move(plan_)); }

 private:
  const LaneTools& on_;
  Cudnn* cudnn_ = nullptr;
  std::unique_ptr<CudnnPlan> plan_;
  std::optional<StreamScratch> workspace_;
};

}  // namespace troupe::cuda
