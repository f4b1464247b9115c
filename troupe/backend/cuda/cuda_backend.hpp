// A GPU as an accelerator: lanes are streams, and the GPU itself raises their timelines, in memory that the app sees.
// There are no callbacks: whoever waits looks at the timeline. When much work waits, a timeline is raised once for a
// few ops. A thread of the worker rings for an app that sleeps, and looks for errors that no call has returned.
#pragma once

#if TROUPE_CUDA_BACKEND

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/cuda/cuda_ops.hpp"
#include "troupe/backend/cuda/driver/cuda_context.hpp"
#include "troupe/backend/cuda/lanes/lane_completion.hpp"
#include "troupe/backend/cuda/memory/cuda_memory.hpp"
#include "troupe/core/park.hpp"

namespace troupe::cuda {

struct CudaEvent {
  wire::Ticket ticket = 0;
};

/// How many unfinished ops a lane may have. The driver's own queues have 1024 places, and an op may take several; a
/// thread that finds them full waits inside the driver and keeps all others out.
inline constexpr wire::Ticket kMaxOpsOnLane = 128;

/// A stream, and the timeline that is raised for it.
class CudaLane {
 public:
  CudaLane(const LaneCompletion::Parts& parts, CompletionPolicy completion)
      : context_(parts.context),
        timeline_(parts.timeline),
        timeline_on_gpu_(parts.timeline_on_gpu),
        stream_(parts.stream),
        completion_(LaneCompletion::make(completion, parts)) {}
  ~CudaLane();
  CudaLane(const CudaLane&) = delete;
  CudaLane& operator=(const CudaLane&) = delete;

  CUstream stream() const noexcept { return stream_; }
  bool completed(const CudaEvent& event) const noexcept { return timeline_.done(event.ticket); }
  wire::Ticket now() const noexcept { return timeline_.now(); }

  // ---- the thread that submits ----

  /// What is put on this lane from now on waits for that ticket of another lane.
  Result<void> wait_for(CudaLane& other, wire::Ticket ticket);
  /// The op was put on the lane, or has failed. The timeline is raised for it now, or later together with other ops.
  Result<void> added(const backend::Work& work, bool raise_now);
  /// Whether hardly any work is left before the last point at which the timeline is raised.
  bool is_near_its_flag() const noexcept { return raised_ - now() <= wire::kMaxOpsPerFlag; }
  /// Raises the timeline for all that was added.
  Result<void> flush();
  /// The same; and what is put on it from now on begins only when the timeline says that all before it is done.
  Result<void> flush_before_next();
  /// Whether more work would make the driver wait.
  bool is_full() const noexcept { return added_.load(std::memory_order_relaxed) - now() >= kMaxOpsOnLane; }

  // ---- the thread that watches ----

  bool idle() const noexcept { return timeline_.done(added_.load(std::memory_order_seq_cst)); }
  Result<void> poll() { return completion_->poll(); }
  /// The error of something that was put on it, if the driver knows of one.
  Result<void> query() const;

 private:
  const CudaContext& context_;
  wire::Timeline& timeline_;
  const CUdeviceptr timeline_on_gpu_;
  const CUstream stream_;
  const std::unique_ptr<LaneCompletion> completion_;
  std::atomic<wire::Ticket> added_{0};
  wire::Ticket raised_ = 0;
  std::uint64_t word_ = 0;  // the timeline's word for the last op
};

class CudaBackend {
 public:
  using Memory = CudaMemory;
  using Lane = CudaLane;
  using Event = CudaEvent;
  using NativeError = CUresult;

  static constexpr std::string_view kName = "cuda";
  static constexpr Duration kSpin = std::chrono::milliseconds(2);  // as long as a large product takes

  static Result<std::unique_ptr<CudaBackend>> open(const backend::Setup& setup);
  ~CudaBackend();

  CudaMemory& memory() noexcept { return memory_; }
  void submit(backend::Work& work, const op::AnyOp& op) {
    if (is_poisoned_.load(std::memory_order_acquire)) return;  // nothing will ever end here again
    if (const Result<void> submitted = try_submit(work, op); !submitted) poisoned(submitted.error());
  }
  void flush_due() noexcept {
    if (unraised_ != 0) flush_lanes([](const CudaLane& lane) { return lane.is_near_its_flag(); });
  }
  void flush() noexcept {
    flush_lanes([](const CudaLane&) { return true; });
  }
  void warm() noexcept;
  /// What a function of a plugin is told of a lane, for a call beside the ring: its stream. The calling thread can use
  /// the context then.
  Result<void*> lane_for_plugins(std::uint32_t number);

  static Error to_error(CUresult code) { return error_of(static_cast<int>(code), "a call"); }
  static bool is_fatal(CUresult code) noexcept { return is_sticky(static_cast<int>(code)); }

 private:
  CudaBackend(const backend::Setup& setup, std::unique_ptr<CudaContext> context, RegisteredMemory status);

  /// A failure here that is not the op's own ends this worker.
  Result<void> try_submit(backend::Work& work, const op::AnyOp& op) {
    static thread_local const Result<void> kCurrent = context_->make_current();
    TROUPE_TRY(Result<void>(kCurrent));
    CudaLane& home = *TROUPE_TRY(lane(work.lane));
    const bool goes = TROUPE_TRY(begin(home, work));
    bool has_begun = false;
    const Result<void> result = !goes                     ? Result<void>()
                                : work.fenced.size() == 0 ? ops_.submit(work, op, home.stream(), has_begun)
                                                          : submit_guarded(home, work, op, has_begun);
    return finish(home, work, result, has_begun);
  }
  Result<bool> begin(CudaLane& home, backend::Work& work);
  /// In guard mode: puts the op on its lane, waits for its end, and looks whether it has stayed inside its arrays.
  Result<void> submit_guarded(CudaLane& home, const backend::Work& work, const op::AnyOp& op, bool& has_begun) noexcept;
  Result<void> finish(CudaLane& home, backend::Work& work, const Result<void>& result, bool has_begun);
  template <class Wanted>
  void flush_lanes(const Wanted& wanted) noexcept;
  Result<void> wait_for_others(CudaLane& home, const backend::Work& work);
  Result<CudaLane*> lane(std::uint32_t number);
  void watch() noexcept;
  bool any_under_way() const noexcept;
  bool look_for_news() noexcept;
  void look_for_errors() noexcept;
  void poisoned(const Error& why) noexcept;

  const backend::Setup setup_;
  const std::unique_ptr<CudaContext> context_;
  const RegisteredMemory status_;  // timelines, where the GPU writes them
  CudaMemory memory_;
  std::mutex making_lanes_;
  std::array<std::unique_ptr<CudaLane>, wire::kMaxLanes> made_lanes_;
  std::array<std::atomic<CudaLane*>, wire::kMaxLanes> lanes_{};  // for a look without the lock
  CudaOps ops_;                 // behind the lanes: its handles use their streams to the end
  std::uint32_t unraised_ = 0;  // a bit for every lane with ops for which its timeline is not raised yet
  std::atomic<bool> is_poisoned_{false};

  Parker watcher_sleeps_;
  std::atomic<bool> watcher_is_asleep_{false};
  std::atomic<bool> stopping_{false};
  std::thread watcher_;
};

template <class Wanted>
void CudaBackend::flush_lanes(const Wanted& wanted) noexcept {
  for (std::uint32_t left = unraised_; left != 0; left &= left - 1) {
    const auto number = static_cast<std::uint32_t>(__builtin_ctz(left));
    CudaLane& lane = *lanes_[number].load(std::memory_order_relaxed);
    if (!wanted(lane)) continue;
    if (is_poisoned_.load(std::memory_order_acquire)) return;
    if (const Result<void> raised = lane.flush(); !raised) return poisoned(raised.error());
    unraised_ &= ~(1U << number);
  }
}

}  // namespace troupe::cuda

#endif
