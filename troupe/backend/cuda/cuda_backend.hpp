// A GPU as an accelerator: lanes are streams, and the GPU itself raises their timelines, in memory that the app sees.
// Nobody calls back, nobody is asked: the one who waits looks. A thread of the worker's rings for an app that sleeps,
// and looks for errors that no call of ours was there to hear.
#pragma once

#if TROUPE_CUDA_BACKEND

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/cuda/cuda_context.hpp"
#include "troupe/backend/cuda/cuda_memory.hpp"
#include "troupe/backend/cuda/cuda_ops.hpp"
#include "troupe/core/park.hpp"

namespace troupe::cuda {

struct CudaEvent {
  wire::Ticket ticket = 0;
};

/// A stream, and the word that it raises.
class CudaLane {
 public:
  CudaLane(const CudaContext& context, const wire::LaneStatus& status, CUdeviceptr timeline, CUstream stream) noexcept
      : context_(context), status_(status), timeline_(timeline), stream_(stream) {}
  ~CudaLane();
  CudaLane(const CudaLane&) = delete;
  CudaLane& operator=(const CudaLane&) = delete;

  CUstream stream() const noexcept { return stream_; }
  bool completed(const CudaEvent& event) const noexcept { return status_.timeline.done(event.ticket); }
  /// What is put on it from now on comes after that ticket of another lane.
  Result<void> wait_for(const CudaLane& other, wire::Ticket ticket);
  /// When all that was put on it is done, its timeline says so.
  Result<void> raise_to(wire::Ticket ticket);
  /// The error of something that was put on it, if the driver knows of one.
  Result<void> query() const;

  /// The last ticket handed in; written by who submits, read by who watches.
  std::atomic<wire::Ticket> handed_in{0};
  bool idle() const noexcept { return status_.timeline.done(handed_in.load(std::memory_order_acquire)); }
  wire::Ticket now() const noexcept { return status_.timeline.now(); }

 private:
  const CudaContext& context_;
  const wire::LaneStatus& status_;
  const CUdeviceptr timeline_;
  const CUstream stream_;
};

class CudaBackend {
 public:
  using Memory = CudaMemory;
  using Lane = CudaLane;
  using Event = CudaEvent;
  using NativeError = CUresult;

  static constexpr std::string_view kName = "cuda";

  static Result<std::unique_ptr<CudaBackend>> open(const backend::Setup& setup);
  ~CudaBackend();

  CudaMemory& memory() noexcept { return memory_; }
  void submit(backend::Work& work);
  void warm() noexcept;

  static Error to_error(CUresult code) { return error_of(static_cast<int>(code), "a call"); }
  static bool is_fatal(CUresult code) noexcept { return is_sticky(static_cast<int>(code)); }

 private:
  CudaBackend(const backend::Setup& setup, std::unique_ptr<CudaContext> context, RegisteredMemory status);

  Result<void> try_submit(const backend::Work& work);
  Result<CudaLane*> lane(std::uint32_t number);
  void watch() noexcept;
  bool any_under_way() const noexcept;
  void look_for_errors() noexcept;
  void poisoned(const Error& why) noexcept;

  const backend::Setup setup_;
  const std::unique_ptr<CudaContext> context_;
  const RegisteredMemory status_;  // timelines, where the GPU writes them
  CudaMemory memory_;
  CudaOps ops_;
  std::mutex making_lanes_;
  std::array<std::unique_ptr<CudaLane>, wire::kMaxLanes> made_lanes_;
  std::array<std::atomic<CudaLane*>, wire::kMaxLanes> lanes_{};  // for a look without the lock
  std::atomic<bool> is_poisoned_{false};

  Parker watcher_sleeps_;
  std::atomic<bool> watcher_is_asleep_{false};
  std::atomic<bool> stopping_{false};
  std::thread watcher_;
};

}  // namespace troupe::cuda

#endif
