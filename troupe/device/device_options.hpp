// What a device can be told when it is opened, and what it says about itself. The options are trivially destructible,
// like every options struct (see Supervision), and `system.device(0)` needs none of them.
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
  thread,   // in a thread of this process, for debuggers and profilers: after a fatal error the device is lost
};

/// Whether other workers are kept ready to take over.
enum class Standby : std::uint8_t { none, warm };

/// How ops are spread over lanes, the in-order queues inside a worker.
struct Lanes {
  /// Which lane an op takes: see the functions that make one.
  enum class Policy : std::uint8_t { per_family, single, pool, by_dependency };
  Policy policy = Policy::by_dependency;  // made by the functions below
  int count = 0;                          // of a pool
  /// By the lane's number: when a GPU has a choice, it takes work of a higher priority first. A GPU tells only a few
  /// priorities apart; the CPU none.
  std::array<std::int8_t, 16> priorities = {};
  std::uint32_t families_apart = 0;  // a bit for each; made by `apart`

  /// The default: an op takes the lane of the op under way whose output it reads, so that a chain of ops never waits
  /// for another lane; one that depends on nothing under way may take another lane. Copies between the device's memory
  /// and the app's have the lane of `op::Family::memory`.
  static constexpr Lanes by_dependency() noexcept { return {}; }
  /// One lane for each family of ops: a copy overlaps a multiplication.
  static constexpr Lanes per_family() noexcept { return {Policy::per_family, 0, {}, 0}; }
  /// One lane: each op begins when the one before it has ended.
  static constexpr Lanes single() noexcept { return {Policy::single, 1, {}, 0}; }
  /// `count` lanes, taken in turn.
  static constexpr Lanes pool(int count) noexcept { return {Policy::pool, count, {}, 0}; }
  /// The same with a priority for the lane of one family: `Lanes().prefer(op::Family::memory, 1)`. By dependency
  /// no other family has a lane of its own.
  constexpr Lanes prefer(op::Family family, std::int8_t priority) const noexcept {
    Lanes lanes = *this;
    lanes.priorities[op::lane_of(family)] = priority;
    return lanes;
  }
  /// The same with lanes of its own for one family whose ops take long, so that ops of others never wait behind them:
  /// `Lanes().apart(op::Family::plugin)`. By dependency only; elsewhere a lane is what the policy says.
  constexpr Lanes apart(op::Family family) const noexcept {
    Lanes lanes = *this;
    lanes.families_apart |= 1U << static_cast<unsigned>(family);
    return lanes;
  }
  /// Whether `apart` has named the family, and it counts.
  constexpr bool is_apart(op::Family family) const noexcept {
    return policy == Policy::by_dependency && (families_apart >> static_cast<unsigned>(family) & 1) != 0;
  }
};

/// The size of a device's ring, unless `DeviceOptions` says otherwise.
inline constexpr std::uint64_t kDefaultRingUnits = 4096;
/// How many ops wait in the app before a submission waits for room, unless `DeviceOptions` says otherwise.
inline constexpr std::uint32_t kDefaultMaxWaiting = 65536;

/// How many workers one caller, or one op, may cost before it is refused; see `Device::as`.
struct CrashBudget {
  /// Per window. 0: half of `DeviceOptions::max_restarts`.
  int deaths = 0;
  Duration window = std::chrono::minutes(1);  // in which deaths are counted
  /// How long the first refusal lasts; each further one lasts twice as long.
  Duration first_refusal = std::chrono::seconds(1);
  Duration longest_refusal = std::chrono::minutes(10);  // however often it is refused
};

/// What a device can be told when it is opened.
struct DeviceOptions {
  Isolation isolation = Isolation::process;  // a process of its own, or a thread of the app
  Standby standby = Standby::warm;           // whether workers are kept ready to take over
  /// How many standbys are kept ready, 1 to 8. With two, the ops that were under way when a worker died are tried at
  /// once in one of them, while the other serves. Unset: two on a GPU, where a new one takes half a second and its
  /// context half a gigabyte; one on the CPU.
  std::optional<int> standbys = {};
  Lanes lanes = {};                                          // how ops are spread over the queues of a worker
  CompletionPolicy completion = CompletionPolicy::timeline;  // how the app learns that an op is done
  /// How many threads compute at once on a CPU, in all lanes together: 1 to as many as affinity and CPU quota allow,
  /// which is what it is unless set. A GPU takes no such number.
  std::optional<int> cpu_threads = {};
  /// The most bytes of device memory, and of memory shared with the app (`HostArray`); 0 is an `invalid_argument`.
  /// Unset: half of the machine's memory, or nearly all of a GPU's.
  std::uint64_t vault_limit_bytes = kUnset;
  std::uint64_t host_limit_bytes = kUnset;  // of the memory shared with the app
  /// What a worker process may allocate for itself, without the vault. Unset: half of the machine's memory.
  std::uint64_t worker_memory_limit_bytes = kUnset;
  /// Room for ops in the ring, in units of 128 bytes, a power of two; most ops take one to three.
  std::uint64_t ring_units = kDefaultRingUnits;
  /// How many ops may wait in the app, for room in the ring or for a worker. Above it, `Call::submit` waits for room;
  /// ops whose end somebody awaits are let in.
  std::uint32_t max_waiting = kDefaultMaxWaiting;
  /// How many workers may be lost per window for which no op is to blame (killed from outside, say); one more, and the
  /// device is lost.
  int max_restarts = 60;
  Duration restart_window = std::chrono::minutes(1);  // in which lost workers are counted
  /// For the workers that a caller's ops have cost.
  CrashBudget crash_budget = {};
  Backoff backoff = {};  // before a worker is started again
  /// A debug mode that finds who runs over an array: each array has fences of 4 KiB in front of it and behind it, which
  /// are compared after every op that uses the array. An op that wrote there ends in `library_error`, with the array's
  /// name. Ops run one at a time, and slowly; see docs/plugins.md.
  bool guard = false;
  /// A debug mode that tells at once which op fails: `submit()` and the ops of a scope wait for their end, in whichever
  /// thread that is, and `submit()` gives it. So nothing overlaps, and the line where a program stands is that of the
  /// op.
  bool await_each = false;
  /// How long a worker's process may give no sign of life before it is replaced: a stopped process (SIGSTOP, a frozen
  /// cgroup, a debugger) runs no op. 0: it is never replaced for that.
  Duration silence_limit = std::chrono::seconds(3);
  /// How long a worker may take to start.
  Duration start_timeout = std::chrono::seconds(30);
  /// The path of the worker's executable; empty: it is searched (docs/getting-started.md). Copied.
  std::string_view worker_executable = {};
  /// What the worker's executable is given before the arguments of every worker: for one that is an interpreter, the
  /// program. Copied.
  std::span<const std::string_view> worker_arguments = {};
  /// What a worker process may do besides computing; see docs/security.md. A machine that cannot give `strict` is
  /// `unsupported`; `standard` does without what it lacks. Unset: `standard`.
  std::optional<Sandbox> sandbox = {};
  /// Environment variables that workers get besides the usual ones: NAME passes on the app's, NAME=value sets it.
  /// Copied.
  std::span<const std::string_view> worker_environment = {};
  /// With `Sandbox::strict`: files and folders that workers may read, such as plugins, and those that they may also
  /// write. Copied.
  std::span<const std::string_view> readable_paths = {};
  std::span<const std::string_view> writable_paths = {};  // those that they may also write

  /// Chosen by what the machine has.
  static constexpr std::uint64_t kUnset = ~std::uint64_t{0};
};
static_assert(std::is_trivially_destructible_v<DeviceOptions>, "safe inside a co_await with g++ 12");

/// An accelerator of this machine, as `System::devices` lists it.
struct DeviceInfo {
  int index = 0;                   // its number: `system.device(index)`
  std::string backend;             // "host", "cuda"
  std::string id;                  // the backend's own name for it: a GPU's UUID
  std::string name;                // for people: the CPU's or the GPU's
  std::uint64_t memory_bytes = 0;  // how much memory it has
  int capability = 0;              // a GPU's compute capability: 90 is 9.0
  /// Whether memory made there outlives its worker. Where it does not, all arrays are `buffer_stale` after a take-over.
  bool keeps_memory = true;
  /// Whether only one process at a time may use it. Then there is no standby, and nothing is tried again after a crash.
  bool is_exclusive = false;
};

/// What a device counts about its memory: that of its arrays, or that which it shares with the app.
struct VaultStats {
  std::uint64_t limit_bytes = 0;     // the most that may be reserved
  std::uint64_t used_bytes = 0;      // by blocks, each rounded up to 512 bytes
  std::uint64_t peak_bytes = 0;      // the most that were used at one time
  std::uint64_t reserved_bytes = 0;  // all chunks together
  std::uint64_t chunks = 0;          // pieces that memory is taken in from the machine or the GPU
  std::uint64_t blocks = 0;          // that have an owner
  std::uint64_t allocations = 0;     // so far
  std::uint64_t frees = 0;           // so far
};

/// What a device counts: ops, workers, memory.
struct DeviceStats {
  std::int64_t generation = 0;  // how many workers have served
  std::uint64_t submitted = 0;  // ops so far
  std::uint64_t waiting = 0;    // ops in the app that are not in a ring
  std::uint64_t reruns = 0;     // ops that are run again after a worker's death
  std::uint64_t culprits = 0;   // ops that were found to have cost a worker
  VaultStats memory;            // of the device's arrays
  VaultStats host_memory;       // shared with the app
};

/// The event that a worker has taken over: on the system's event stream, and for `watch_generation`.
struct GenerationChanged {
  int device = 0;               // its number
  std::int64_t generation = 0;  // the one that serves now
  Error why;                    // what happened to the worker before
  /// When that was noticed; for a poisoned worker, when the driver reported it there.
  TimePoint noticed{};
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
