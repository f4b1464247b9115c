// What a run of chaos does, all of it from the seed: which caller does what, on arrays of which size, and which fault
// comes when. "When" counts the callers' steps, not seconds, so the plan is the same on every machine; what the
// interleaving makes of it is what the run is there to find out.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace troupe::chaos {

/// What a caller does in one step.
enum class Deed : std::uint8_t {
  fill,
  copy,
  transpose,  // copies the transpose
  stripes,    // copies every second column, and leaves the others
  reverse,    // copies the rows in reverse order
  broadcast,  // copies one row to all rows
  cast_out,   // to integers
  cast_in,    // and back
  axpy,       // in place
  scale,      // a plugin's, in place
  plugin_copy,
  gemm,
  gemm_add,  // in place
  write_host,
  write_vector,
  read,        // into shared memory that is there already
  read_fresh,  // into fresh shared memory
  sum,         // a plugin's, into shared memory
  renew,       // drops the array, whatever is under way with it, and fills another one
  big,         // an array with a chunk of its own, filled and dropped
  nop,
  give_up,  // does not wait for the end
  keep,     // reads the array and puts it aside, to be looked at later
  check_kept,
  layer,   // a product with an activation
  blend,   // the transpose and a shared array, added
  solve,   // a linear system whose solution is the array upside down
  sparse,  // the same by a sparse matrix
  einsum,
  random,    // integers of a range, into the array of integers
  spectrum,  // of one frequency, transformed back
  sort,      // each row
  greatest,  // the greatest so far in each row
  gather,    // the rows in reverse order, by indices
  convolve,  // the same by filters that each let one channel through
};
inline constexpr int kDeeds = 35;
std::string_view name(Deed deed) noexcept;

/// Own arrays of floats, then one of integers, then the arrays that all callers share and nobody writes.
inline constexpr int kSlots = 4;
inline constexpr int kIntegers = kSlots;
inline constexpr int kFirstShared = kSlots + 1;
inline constexpr int kShared = 2;

struct Step {
  Deed deed = Deed::nop;
  int from = 0;
  int to = 0;
  int value = 0;
  bool waits = true;  // or is submitted only
};

/// What a plan is for: a GPU has faults of its own, and is slower to get over them.
enum class Target : std::uint8_t { host, gpu };

enum class FaultKind : std::uint8_t {
  null,
  abort,
  divide,
  exit,
  stack,
  wild,
  memory_null,
  memory,
  error,
  throws,
  loop,           // with a deadline
  spin,           // a good op that takes longer than its deadline
  kill_active,    // kill -9 of the serving worker
  kill_spare,     // of another one: standby, on trial, starting
  kill_starting,  // of one that has just been started
  // In a kernel. They have no place among the others: numbers are part of a plan's fingerprint.
  illegal_address,
  misaligned,
  trap,
  device_assert,
  hang,  // with a deadline
  // A worker is stopped; nobody is told.
  stop_active,  // for good
  stop_spare,
  pause_active,  // and goes on after a moment
  // What a worker can write, and the app looks at, is overwritten.
  scribble_active,
  scribble_spare,
  leave_process,   // a good op, but for the process that it leaves behind
  print,           // very much; a good op, too
  print_for_ever,  // with a deadline
  no_descriptors,  // for a moment the app can open nothing
  write_sealed,    // a plugin or a kernel writes where it may only read
};
inline constexpr int kFaultKinds = 30;
std::string_view name(FaultKind kind) noexcept;
constexpr bool is_kill(FaultKind kind) noexcept {
  return FaultKind::kill_active <= kind && kind <= FaultKind::kill_starting;
}
constexpr bool is_in_kernel(FaultKind kind) noexcept {
  return FaultKind::illegal_address <= kind && kind <= FaultKind::hang;
}
constexpr bool is_stop(FaultKind kind) noexcept {
  return FaultKind::stop_active <= kind && kind <= FaultKind::pause_active;
}
constexpr bool is_scribble(FaultKind kind) noexcept {
  return kind == FaultKind::scribble_active || kind == FaultKind::scribble_spare;
}
/// Those that no op could do.
constexpr bool is_from_outside(FaultKind kind) noexcept {
  return is_kill(kind) || is_stop(kind) || is_scribble(kind) || kind == FaultKind::no_descriptors;
}
constexpr bool has_deadline(FaultKind kind) noexcept {
  return kind == FaultKind::loop || kind == FaultKind::spin || kind == FaultKind::hang ||
         kind == FaultKind::print_for_ever;
}
/// An op that does harm and ends well all the same.
constexpr bool ends_well(FaultKind kind) noexcept {
  return kind == FaultKind::leave_process || kind == FaultKind::print;
}
/// Whether plans for that target have it.
bool can_happen(FaultKind kind, Target target) noexcept;

/// What a bad op says it does with its array.
enum class Touches : std::uint8_t { nothing, reads, writes, updates };
std::string_view name(Touches touches) noexcept;

struct Fault {
  FaultKind kind = FaultKind::null;
  std::uint32_t after_steps = 0;  // of all callers, since the fault before
  std::uint32_t delay_us = 0;     // and then this
  bool waits_for_calm = false;    // and until the device is over the faults before
  std::uint32_t culprit = 0;      // who does it
  Touches touches = Touches::nothing;
  std::uint32_t edge = 0;         // of its array
  std::uint32_t deadline_ms = 0;  // of those that have one
  std::uint32_t pick = 0;         // which of several workers it hits, or how, or how long
};

inline constexpr std::uint32_t kCulprits = 4;
/// The sizes of square arrays: most ops are done before a kill bites, some are not.
inline constexpr std::array<std::uint32_t, 5> kEdges = {16, 48, 96, 200, 384};

class Plan {
 public:
  Plan(std::uint64_t seed, std::uint32_t faults, std::uint32_t callers, Target target = Target::host);

  std::uint64_t seed() const noexcept { return seed_; }
  const std::vector<Fault>& faults() const noexcept { return faults_; }
  std::uint32_t callers() const noexcept { return callers_; }
  /// Of a caller's arrays.
  std::uint32_t edge(std::uint32_t caller) const noexcept;
  /// A caller's steps have no end: it goes on until the last fault is over.
  Step step(std::uint32_t caller, std::uint64_t index) const noexcept;
  /// Of the faults, and of every caller's first steps.
  std::uint64_t fingerprint() const noexcept;

 private:
  const std::uint64_t seed_;
  const std::uint32_t callers_;
  std::vector<Fault> faults_;
};

}  // namespace troupe::chaos
