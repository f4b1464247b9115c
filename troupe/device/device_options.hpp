// What a device can be told when it is opened, and what it says of itself. Trivially destructible, like every options
// struct (see Supervision), and with defaults that make `system.device(0)` a complete sentence.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "troupe/actor/supervision.hpp"
#include "troupe/core/clock.hpp"
#include "troupe/core/kinds.hpp"
#include "troupe/op/families.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// Where the accelerator's context lives.
enum class Isolation : std::uint8_t {
  process,  // in a worker process: whatever happens there, this process goes on
  thread,   // in a thread of this process: for debuggers and profilers. After a fatal error the device is lost
};

/// Whether other workers are kept ready to take over.
enum class Standby : std::uint8_t { none, warm };

/// How ops are spread over lanes, the in-order queues inside a worker.
struct Lanes {
  enum class Policy : std::uint8_t { per_family, single, pool };
  Policy policy = Policy::per_family;
  int count = 0;  // of a pool
  /// By the lane's number: the higher, the sooner its work is taken when a GPU has a
  /// choice. As far as the GPU tells them apart; the CPU does not.
  std::array<std::int8_t, 16> priorities = {};

  /// One lane for each family of ops: a copy overlaps a multiplication.
  static constexpr Lanes per_family() noexcept { return {}; }
  static constexpr Lanes single() noexcept { return {Policy::single, 1, {}}; }
  /// `count` lanes, taken in turn.
  static constexpr Lanes pool(int count) noexcept { return {Policy::pool, count, {}}; }
  /// The same with a priority for the lane of one family: `Lanes::per_family().prefer(op::Family::memory, 1)`.
  constexpr Lanes prefer(op::Family family, std::int8_t priority) const noexcept {
    Lanes lanes = *this;
    lanes.priorities[op::lane_of(family)] = priority;
    return lanes;
  }
};

/// The room for ops in a device's ring, unless `DeviceOptions` says otherwise.
inline constexpr std::uint64_t kDefaultRingUnits = 4096;
/// How many ops wait in the app before a submission waits for room, unless `DeviceOptions` says otherwise.
inline constexpr std::uint32_t kDefaultMaxWaiting = 65536;

/// How many workers one caller may cost, or ops that do the same, before they are refused; see `Device::as`.
struct CrashBudget {
  /// Per window. 0: half of `DeviceOptions::max_restarts`.
  int deaths = 0;
  Duration window = std::chrono::minutes(1);
  /// For how long they are refused first; twice as long each time that it happens again.
  Duration first_refusal = std::chrono::seconds(1);
  Duration longest_refusal = std::chrono::minutes(10);
};

/// What a device can be told when it is opened.
struct DeviceOptions {
  Isolation isolation = Isolation::process;
  Standby standby = Standby::warm;
  /// How many standbys are kept ready, 1 to 8. With two, what was under way when a worker died is tried at once, while
  /// the other one serves. Unset: two on a GPU, where a new one takes half a second and its context half a gigabyte;
  /// one on the CPU.
  std::optional<int> standbys = {};
  Lanes lanes = {};
  CompletionPolicy completion = CompletionPolicy::timeline;
  /// Bytes of device memory, and of memory shared with the app (`HostArray`); 0 is an `invalid_argument`. Unset: half
  /// of the machine's memory, or nearly all of a GPU's.
  std::uint64_t vault_limit_bytes = kUnset;
  std::uint64_t host_limit_bytes = kUnset;
  /// What a worker process may allocate for itself, the vault apart. Unset: half of the machine's memory.
  std::uint64_t worker_memory_limit_bytes = kUnset;
  /// Room for ops in the ring, in units of 128 bytes, a power of two; most ops take one to three.
  std::uint64_t ring_units = kDefaultRingUnits;
  /// Ops that wait in the app, for room in the ring or for a worker. One more submission waits for room, see
  /// `Call::submit`; ops that somebody waits for are let in above it.
  std::uint32_t max_waiting = kDefaultMaxWaiting;
  /// How many workers may be lost per window that no op has cost (killed from outside, say); one more, and the device
  /// is lost.
  int max_restarts = 60;
  Duration restart_window = std::chrono::minutes(1);
  /// Of each caller, for those that its ops have cost.
  CrashBudget crash_budget = {};
  Backoff backoff = {};
  /// How long a worker's process may give no sign of life before it is replaced: a stopped one (SIGSTOP, a frozen
  /// cgroup, a debugger) runs no op. 0: for ever.
  Duration silence_limit = std::chrono::seconds(3);
  /// How long a worker may take to start.
  Duration start_timeout = std::chrono::seconds(30);
  /// The worker's executable; empty: see `find_worker_executable`. Copied.
  std::string_view worker_executable = {};
  /// What a worker process may do besides computing; see docs/security.md. A machine that cannot give `strict` is
  /// `unsupported`; `standard` does without what it lacks. Unset: `standard` on the CPU, and `none` on a GPU, where the
  /// levels have not been tried yet.
  std::optional<Sandbox> sandbox = {};
  /// Variables of the environment that workers get besides the usual ones: NAME takes the app's, NAME=value sets it.
  /// Copied.
  std::span<const std::string_view> worker_environment = {};
  /// With `Sandbox::strict`: files and folders that workers may read, plugins among them, and those that they may also
  /// write. Copied.
  std::span<const std::string_view> readable_paths = {};
  std::span<const std::string_view> writable_paths = {};

  static constexpr std::uint64_t kUnset = ~std::uint64_t{0};
};
static_assert(std::is_trivially_destructible_v<DeviceOptions>, "safe inside a co_await with g++ 12");

/// An accelerator of this machine, as `System::devices` lists it.
struct DeviceInfo {
  int index = 0;
  std::string backend;  // "host", "cuda"
  std::string id;       // the backend's own name for it: a GPU's UUID
  std::string name;     // for people: the CPU's or the GPU's
  std::uint64_t memory_bytes = 0;
  int capability = 0;  // a GPU's compute capability: 90 is 9.0
  /// Memory made there outlives its worker. Where it does not, all arrays are `buffer_stale` after a take-over.
  bool keeps_memory = true;
  /// Only one process at a time may use it, so there is no standby, and nothing is tried again after a crash.
  bool is_exclusive = false;
};

/// What a device counts of its memory: of its arrays, or of what it shares with the app.
struct VaultStats {
  std::uint64_t limit_bytes = 0;
  std::uint64_t used_bytes = 0;      // by blocks, each rounded up to 512 bytes
  std::uint64_t peak_bytes = 0;      // the most that were used at one time
  std::uint64_t reserved_bytes = 0;  // in chunks
  std::uint64_t chunks = 0;
  std::uint64_t blocks = 0;  // that have an owner
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
};

/// What a device counts: ops, workers, memory.
struct DeviceStats {
  std::int64_t generation = 0;
  std::uint64_t submitted = 0;
  std::uint64_t waiting = 0;
  std::uint64_t reruns = 0;
  std::uint64_t culprits = 0;
  VaultStats memory;
  VaultStats host_memory;
};

/// The event that a worker has taken over: on the system's event stream, and for `watch_generation`.
struct GenerationChanged {
  int device = 0;
  std::int64_t generation = 0;
  Error why;  // what became of the worker before
  /// When that was known: by the driver's report in the worker itself, if it was poisoned.
  TimePoint noticed{};
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
