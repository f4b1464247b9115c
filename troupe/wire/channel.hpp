// What the app shares with one worker, in three pieces of memory: the ring of records, which the worker may only read;
// the status, which it writes (timelines, replies, last words); and the device's bells, one page for all its workers.
//
// The app creates the pieces and passes their descriptors; the worker opens them. Nothing in the status is trusted.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "troupe/core/result.hpp"
#include "troupe/wire/bell.hpp"
#include "troupe/wire/ring.hpp"
#include "troupe/wire/shared_memory.hpp"
#include "troupe/wire/timeline.hpp"

namespace troupe::inline v0::wire {

inline constexpr std::uint32_t kMaxLanes = 16;
inline constexpr std::uint64_t kMaxRingUnits = std::uint64_t{1} << 20;
/// Workers of one device at a time: the active one, a standby, and those that are dead and not reaped.
inline constexpr std::uint32_t kMaxDoorbells = 16;

/// Raised whenever the layout below or the meaning of a message changes.
inline constexpr std::uint32_t kProtocolVersion = 6;

/// Three words with a writer each, on pairs of cache lines of their own (a core that reads one of a pair fetches both):
/// whoever spins on one of them holds up nobody else.
struct alignas(128) LaneStatus {
  Timeline timeline;
  /// Handed to the lane: ops after this one have certainly not begun, and a lane does one after another.
  alignas(128) std::atomic<Ticket> begun{0};
  /// How far the app has seen the timeline: there is no need to ring for that again.
  alignas(128) std::atomic<Ticket> seen{0};
};
static_assert(sizeof(LaneStatus) == 384);

/// How one op ended when it did not end well, beside its record: as many bytes here as the record has there.
struct Reply {
  std::uint16_t error_kind_plus_one;  // 0: it went well
  std::uint16_t had_begun;            // not 0: it may have written something
  std::uint16_t message_bytes;
  std::uint8_t library_bytes;
  std::uint8_t op_bytes;
  std::int64_t native_code;
  char text[kUnitBytes - 16];  // the library, the op and the message; goes on into the next units of a longer record
};
static_assert(sizeof(Reply) == kUnitBytes);

struct Status {
  std::array<LaneStatus, kMaxLanes> lanes;
  alignas(128) std::array<std::byte, 4096> last_words{};
};

class Channel {
 public:
  /// The app's side. `invalid_argument` unless `ring_units` is a power of two and at most `kMaxRingUnits`,
  /// `out_of_memory` when the machine has no memory or descriptors left.
  static Result<Channel> create(std::uint64_t ring_units);
  /// The worker's side, from the descriptors it was sent. `invalid_argument` for such a size, and for memory that is
  /// smaller than that.
  static Result<Channel> open(Descriptor ring, Descriptor status, std::uint64_t ring_units);

  Ring& ring() noexcept { return ring_; }
  const Ring& ring() const noexcept { return ring_; }
  Status& status() noexcept { return *reinterpret_cast<Status*>(status_memory_.data()); }
  const Status& status() const noexcept { return *reinterpret_cast<const Status*>(status_memory_.data()); }

  const Descriptor& ring_descriptor() const noexcept { return ring_memory_.descriptor(); }
  const Descriptor& status_descriptor() const noexcept { return status_memory_.descriptor(); }

  /// The worker: how the op whose record is at `position` failed. Before its timeline is raised. Kind, message, library
  /// and native code arrive as they are; of a text without room the op goes first, then the message's end.
  /// `had_begun`: the op may have written something by then.
  void write_reply(Position position, std::uint64_t units, const Error& error, bool had_begun = false) noexcept;
  /// The app: how it ended. Trusts nothing.
  Result<void> read_reply(Position position, std::uint64_t units) const {
    const std::uint16_t kind_plus_one = reply(position).error_kind_plus_one;  // once: another process may change it
    if (kind_plus_one == 0) [[likely]]
      return {};
    return fail(read_error(position, units, kind_plus_one));
  }
  /// The app, of an op that failed: whether it had begun by then.
  bool had_begun(Position position) const noexcept { return reply(position).had_begun != 0; }
  /// Calls for what `read_reply` will look at.
  void prefetch_reply(Position position) const noexcept { __builtin_prefetch(&reply(position)); }
  /// The app, after it has read that an op failed: the next one whose record is there has not.
  void clear_reply(Position position, std::uint64_t units) noexcept {
    for (std::uint64_t i = 0; i < units; ++i) reply(position + i).error_kind_plus_one = 0;
  }

 private:
  Channel(SharedMemory ring, SharedMemory status, std::uint64_t ring_units) noexcept;
  Reply& reply(Position position) const noexcept {
    std::byte* const replies = const_cast<std::byte*>(status_memory_.data()) + sizeof(Status);
    return *reinterpret_cast<Reply*>(replies + ring_.index(position) * kUnitBytes);
  }
  Error read_error(Position position, std::uint64_t units, std::uint16_t kind_plus_one) const;

  SharedMemory ring_memory_;
  SharedMemory status_memory_;
  Ring ring_;
};

/// Where a device's app and its workers sleep. One page for the device's whole life, so that a thread which has just
/// handed in an op can ring even when that worker's channel is gone already.
struct BellPage {
  /// The app sleeps here until one of its workers has finished something.
  alignas(128) Bell app;
  struct alignas(128) Door {
    Bell bell;
  };
  /// Each worker sleeps at its own when its ring is empty.
  std::array<Door, kMaxDoorbells> doorbells;
};

class SharedBells {
 public:
  static Result<SharedBells> create();
  static Result<SharedBells> open(Descriptor descriptor);

  Bell& app() noexcept { return page().app; }
  /// `number` is below kMaxDoorbells.
  Bell& doorbell(std::uint32_t number) noexcept { return page().doorbells[number].bell; }
  const Descriptor& descriptor() const noexcept { return memory_.descriptor(); }

 private:
  explicit SharedBells(SharedMemory memory) noexcept : memory_(std::move(memory)) {}
  BellPage& page() noexcept { return *reinterpret_cast<BellPage*>(memory_.data()); }
  SharedMemory memory_;
};

}  // namespace troupe::inline v0::wire
