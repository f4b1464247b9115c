// The CPU as an accelerator, the first model of `Backend`: lanes are threads, memory is shared memory, and a fatal
// error is a signal. What the GPU's backend does with streams, this one does with queues; everything above is the same.
#pragma once

#include <array>
#include <memory>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/host/host_ops.hpp"
#include "troupe/backend/host/lanes/host_lane.hpp"
#include "troupe/backend/host/memory/host_memory.hpp"
#include "troupe/core/park.hpp"

namespace troupe::host {

/// The CPU's native codes are signals, which the kernel sends to a thread that faults. 0 is none.
enum class Signal : int {};

class HostBackend {
 public:
  using Memory = HostMemory;
  using Lane = HostLane;
  using Event = HostEvent;
  using NativeError = Signal;

  static constexpr std::string_view kName = "host";
  static constexpr Duration kSpin = kSpinTime;

  static Result<std::unique_ptr<HostBackend>> open(const backend::Setup& setup);

  HostMemory& memory() noexcept { return memory_; }
  /// Runs short work at once, in this thread, when its lane is idle and it waits for nothing. Queues all other work.
  void flush_due() noexcept {}  // lanes raise their timelines after each op
  void flush() noexcept {}
  void submit(backend::Work& work, op::AnyOp& op);
  /// Opens the BLAS.
  void warm() noexcept;
  /// What a function of a plugin is told of a lane, for a call beside the ring: nothing, lanes are threads here.
  Result<void*> lane_for_plugins(std::uint32_t) noexcept { return nullptr; }

  static Error to_error(Signal signal);
  /// Every signal that a fault raises is the end of its process.
  static bool is_fatal(Signal signal) noexcept { return static_cast<int>(signal) != 0; }

 private:
  HostBackend(const backend::Setup& setup, int team_size);

  bool ready(const backend::Work& work) const noexcept;
  void execute(const backend::Work& work, const op::AnyOp& op) noexcept;
  /// In guard mode: runs the op, and looks whether it has stayed inside its arrays.
  Result<void> run_guarded(const backend::Work& work, const op::AnyOp& op, bool& has_begun) noexcept;
  HostLane& lane(std::uint32_t number);

  wire::Channel& channel_;
  wire::Bell& bell_;
  HostMemory memory_;
  Team team_;
  HostOps ops_;
  Progress progress_;
  HostLane::Hooks hooks_;
  std::array<std::unique_ptr<HostLane>, wire::kMaxLanes> lanes_;  // last: their threads use all of the above
};

}  // namespace troupe::host
