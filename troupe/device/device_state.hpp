// What one open device consists of, apart from its workers: the engine, the vaults, the poller's thread. It outlives
// every worker and every restart of the context actor; calls and arrays share it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "troupe/actor/ref.hpp"
#include "troupe/actor/system_core.hpp"
#include "troupe/device/chunk_table.hpp"
#include "troupe/device/control_loop.hpp"
#include "troupe/device/copy_team.hpp"
#include "troupe/device/death_watch.hpp"
#include "troupe/device/device_options.hpp"
#include "troupe/device/engine.hpp"
#include "troupe/device/vault.hpp"
#include "troupe/device/worker_link.hpp"

namespace troupe::inline v0 {

class DeviceContext;

namespace detail {

/// Which worker is to be stopped, and why.
struct KillOrder {
  std::uint32_t worker = 0;
  Error why;
  bool broke_the_rules = false;  // what it said of its lanes could not be true
};

class DeviceState : public std::enable_shared_from_this<DeviceState> {
 public:
  /// Opens the device: returns when its first worker serves, or with the reason why none does.
  static Result<std::shared_ptr<DeviceState>> open(SystemCore& system, const DeviceInfo& info,
                                                   const DeviceOptions& options);
  ~DeviceState();

  SystemCore& system() noexcept { return *system_; }
  Engine& engine() noexcept { return engine_; }
  Vault& vault() noexcept { return *vault_; }
  Vault& host_vault() noexcept { return *host_vault_; }
  /// Memory that dies with the worker that serves now; null before the first one serves. `local` is the accelerator's
  /// own, where a driver cannot export it (`vault()` is empty then).
  IntrusivePtr<Vault> mortal_vault(wire::ChunkMemory memory);
  /// A worker serves from now on; what died with the one before is stale.
  void begin_generation(wire::Socket& worker, std::int64_t generation);
  ChunkTable& chunks() noexcept { return *chunks_; }
  wire::SharedBells& bells() noexcept { return bells_; }
  ControlLoop& loop() noexcept { return loop_; }
  const DeviceInfo& info() const noexcept { return info_; }
  const DeviceOptions& options() const noexcept { return options_; }
  const WorkerSetup& worker_setup() const noexcept { return worker_setup_; }
  std::int64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  std::int64_t next_generation() noexcept { return generation_.fetch_add(1, std::memory_order_acq_rel) + 1; }
  int worker_pid() const noexcept { return worker_pid_.load(std::memory_order_acquire); }
  void set_worker_pid(int pid) noexcept { worker_pid_.store(pid, std::memory_order_release); }
  std::uint32_t lane_for(op::Kind kind) noexcept;
  /// Made at the first call; shared with copies under way.
  std::shared_ptr<CopyTeam> copy_team();

  /// Asks the context to see what there is to do. Any thread; needs no memory.
  void nudge() noexcept;
  /// Readable when it was nudged.
  int nudged() const noexcept { return nudged_.get(); }
  /// The context looks now; nudges from now on are new ones.
  void take_nudge() noexcept;
  /// Asks the context to kill a worker for this reason. Any thread; needs no memory.
  void ask_to_kill(std::uint32_t worker, const Error& why, bool broke_the_rules) noexcept;
  /// The next such order; each is given once.
  std::optional<KillOrder> take_kill() noexcept;
  /// The generation whose worker has died, by its life line; 0: none since the last call.
  std::int64_t take_death() noexcept { return died_.exchange(0, std::memory_order_acq_rel); }
  DeathWatch& deaths() noexcept { return deaths_; }
  bool is_to_close() const noexcept { return is_to_close_.load(std::memory_order_acquire); }
  /// It is to close, or its system shuts down. Whoever does that waits for the device's threads, and may be who has the
  /// memory: so nothing waits for memory any more.
  bool is_over() const noexcept { return is_to_close() || system_->shutting_down(); }
  /// Says, once, whether the device could be opened.
  void opened(Result<void> how);
  /// Begins to close: soon after, no worker is left and every op has ended.
  void close() noexcept;
  /// The context's last turn: everything ends in `why`.
  void shut(const Error& why) noexcept;
  /// Why it was shut; `stopped` before that.
  Error why_shut();
  /// Waits until it is shut; then its last worker is gone, too.
  void wait_until_shut();
  /// The context has let go of its last worker.
  void crew_is_gone();

 private:
  DeviceState(SystemCore& system, ControlLoop& loop, DeviceInfo info, const DeviceOptions& options,
              wire::SharedBells bells, wire::Descriptor nudged);

  const IntrusivePtr<SystemCore> system_;
  ControlLoop& loop_;
  const DeviceInfo info_;
  const DeviceOptions options_;
  WorkerSetup worker_setup_;
  wire::SharedBells bells_;
  const wire::Descriptor nudged_;  // an eventfd
  const std::shared_ptr<ChunkTable> chunks_;
  IntrusivePtr<Vault> vault_;
  IntrusivePtr<Vault> host_vault_;
  std::atomic<std::int64_t> generation_{0};
  std::atomic<int> worker_pid_{0};
  std::atomic<std::uint32_t> next_lane_{0};
  std::atomic<bool> is_to_close_{false};
  std::atomic<std::int64_t> died_{0};

  std::uint64_t mortal_limit_bytes_ = 0;

  std::mutex mutex_;  // of what follows
  IntrusivePtr<Vault> local_vault_;
  IntrusivePtr<Vault> managed_vault_;
  std::shared_ptr<CopyTeam> copy_team_;
  std::condition_variable changed_;
  std::optional<Result<void>> opened_;
  bool is_shut_ = false;
  std::optional<Error> why_shut_;
  std::array<std::optional<KillOrder>, wire::kMaxDoorbells> to_kill_;  // by the worker's number

  Engine engine_;
  std::thread poller_;
  DeathWatch deaths_{[this](std::int64_t generation) {
    died_.store(generation, std::memory_order_release);
    nudge();
  }};
};

}  // namespace detail

}  // namespace troupe::inline v0
