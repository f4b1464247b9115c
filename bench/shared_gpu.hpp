// What the rows of a GPU have in common: the devices that they measure, ours and raw CUDA's. Each part is made when it
// is first asked for.
#pragma once

#if TROUPE_CUDA_BACKEND

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "bench/gpu_ours.hpp"
#include "bench/linear_ours.hpp"
#include "bench/raw_cuda.hpp"
#include "bench/raw_linear.hpp"
#include "bench/raw_step.hpp"
#include "bench/step_ours.hpp"
#include "bench/torch_reference.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {

/// Of the row that launches from several at once.
inline constexpr int kThreads = 4;

/// The first GPU that workers can use, which is the one that `system.device("cuda")` opens.
inline Result<DeviceInfo> first_gpu() {
  const System system({.threads = 1, .log = log_nothing()});
  DeviceInfo best = system.devices().front();
  if (best.backend != "cuda") return fail(ErrorKind::unsupported, "--gpu: there is no GPU that a worker can use here");
  if (best.is_exclusive)
    return fail(ErrorKind::unsupported,
                "--gpu: only one process may use this GPU, and raw CUDA and a worker are two: set the compute mode "
                "to the default one");
  return best;
}

class Gpu {
 public:
  const std::string& id() {
    if (id_.empty()) id_ = value(first_gpu()).id;
    return id_;
  }
  RawCuda& raw() {
    if (!raw_) raw_.emplace(raw_gpu());
    return *raw_;
  }
  RawLinear& raw_linear() {
    if (!raw_linear_) raw_linear_.emplace(raw_gpu());
    return *raw_linear_;
  }
  GpuOurs& ours() {
    if (!ours_) ours_.emplace(1);
    return *ours_;
  }
  GpuOurs& ours_with_threads() {
    if (!ours_with_threads_) ours_with_threads_.emplace(kThreads);
    return *ours_with_threads_;
  }
  GpuOurs& ours_by_host_function() {
    if (!ours_by_host_function_) ours_by_host_function_.emplace(1, CompletionPolicy::host_fn);
    return *ours_by_host_function_;
  }
  LinearOurs& linear() {
    if (!linear_) linear_.emplace("cuda");
    return *linear_;
  }
  RawStep& raw_step() {
    if (!raw_step_) raw_step_.emplace(raw_gpu());
    return *raw_step_;
  }
  /// A device for each way to choose lanes.
  StepOurs& step(const Lanes& lanes) {
    std::optional<StepOurs>& step = steps_[lanes.policy];
    if (!step) step.emplace(lanes);
    return *step;
  }
  Torch& torch() {
    if (!torch_) torch_.emplace();
    return *torch_;
  }
  /// Rows that count workers, or kill them, want to be alone.
  void close_ours() {
    torch_.reset();
    ours_with_threads_.reset();
    ours_by_host_function_.reset();
    ours_.reset();
    linear_.reset();
    steps_.clear();
  }

 private:
  const std::shared_ptr<RawGpu>& raw_gpu() {
    if (!raw_gpu_) raw_gpu_ = open_raw_gpu(id());
    return raw_gpu_;
  }

  std::string id_;
  std::shared_ptr<RawGpu> raw_gpu_;
  std::optional<RawCuda> raw_;
  std::optional<RawLinear> raw_linear_;
  std::optional<RawStep> raw_step_;
  std::optional<LinearOurs> linear_;
  std::map<Lanes::Policy, std::optional<StepOurs>> steps_;
  std::optional<Torch> torch_;
  std::optional<GpuOurs> ours_;
  std::optional<GpuOurs> ours_with_threads_;
  std::optional<GpuOurs> ours_by_host_function_;
};
using SharedGpu = std::shared_ptr<Gpu>;  // by the measurements of all rows; the last one closes it

}  // namespace troupe::bench

#endif
