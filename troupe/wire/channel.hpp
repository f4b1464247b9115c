// What the app shares with one worker, in three pieces of memory: the ring of records, which the worker may only read;
// the status, which the worker writes (timelines, replies, last words); and the device's bells, one page for all its
// workers.
//
// The app creates the pieces and passes their descriptors; the worker opens them. Nothing in the status is trusted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "troupe/core/result.hpp"
#include "troupe/wire/bell.hpp"
#include "troupe/wire/life_line.hpp"
#include "troupe/wire/ring.hpp"
#include "troupe/wire/shared_memory.hpp"
#include "troupe/wire/timeline.hpp"

namespace troupe::inline v0::wire {

inline constexpr std::uint32_t kMaxLanes = 16;
inline constexpr std::uint64_t kMaxRingUnits = std::uint64_t{1} << 20;
/// How many workers a device may have at a time: the active one, a standby, and those that are dead but not reaped.
inline constexpr std::uint32_t kMaxDoorbells = 16;

/// Raised whenever the layout below or the meaning of a message changes.
inline constexpr std::uint32_t kProtocolVersion = 13;

/// Three words, each with its own writer and its own pair of cache lines (a core that reads one line of a pair fetches
/// both), so that whoever spins on one word slows down nobody else.
struct alignas(128) LaneStatus {
  std::atomic<std::uint64_t> timeline{0};  // a `TimelineWord`
  /// The last op that was handed to the lane: ops after it have certainly not begun. The ticket is in the high half, a
  /// mark in the low half.
  alignas(128) std::atomic<std::uint64_t> begun{0};
  /// How far the app has seen the timeline: nobody needs to ring for that again.
  alignas(128) std::atomic<Ticket> seen{0};
};
static_assert(sizeof(LaneStatus) == 384);

/// How an op failed. Replies have the layout of the ring: a record's reply lies at the same index and is as long.
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
  /// Keeps changing while the worker's process runs, whatever its lanes do.
  alignas(128) std::atomic<std::uint32_t> heartbeat{0};
  alignas(128) std::array<std::byte, 4096> last_words{};
};

class Channel {
 public:
  /// The app's side. `invalid_argument` unless `ring_units` is a power of two and at most `kMaxRingUnits`,
  /// `out_of_memory` when the machine has no memory or descriptors left.
  static Result<Channel> create(std::uint64_t ring_units);
  /// The worker's side, from the descriptors and the key it was sent. `invalid_argument` for a size that `create`
  /// refuses, and for memory that is smaller than the size.
  static Result<Channel> open(Descriptor ring, Descriptor status, std::uint64_t ring_units, const MarkKey& key);

  Ring& ring() noexcept { return ring_; }
  const Ring& ring() const noexcept { return ring_; }
  Status& status() noexcept { return *reinterpret_cast<Status*>(status_memory_.data()); }
  const Status& status() const noexcept { return *reinterpret_cast<const Status*>(status_memory_.data()); }

  const MarkKey& key() const noexcept { return key_; }
  /// The worker's own view of a lane's timeline.
  Timeline& timeline(std::uint32_t lane) noexcept { return (*timelines_)[lane]; }
  const Timeline& timeline(std::uint32_t lane) const noexcept { return (*timelines_)[lane]; }

  /// The worker: the op with that ticket is handed to its lane, or begins.
  void begin(std::uint32_t lane, Ticket ticket) noexcept {
    status().lanes[lane].begun.store(begun_word(lane, ticket), std::memory_order_seq_cst);
  }
  /// The app: the ticket of the last `begin`. None when its mark is wrong.
  std::optional<Ticket> begun(std::uint32_t lane) const noexcept {
    const std::uint64_t word = status().lanes[lane].begun.load(std::memory_order_seq_cst);
    const auto ticket = static_cast<Ticket>(word >> 32);
    if (word != begun_word(lane, ticket)) return std::nullopt;
    return ticket;
  }

  const Descriptor& ring_descriptor() const noexcept { return ring_memory_.descriptor(); }
  const Descriptor& status_descriptor() const noexcept { return status_memory_.descriptor(); }

  /// The worker: says how the op whose record is at `position` failed, before it raises the op's timeline. When the
  /// text has no room, the op's name is left out first, and then the end of the message. `had_begun`: the op may have
  /// written something. Gives a proof of the reply, never 0, to add to the op's timeline.
  std::uint16_t write_reply(Position position, std::uint64_t units, const Error& error,
                            bool had_begun = false) noexcept;
  /// How an op failed, as the worker says.
  struct Failure {
    Error error;
    bool had_begun = true;
    std::uint16_t proof = 0;
  };
  /// The app: how the op failed, or null. Takes a copy, which nobody can change any more, and clears the reply for the
  /// next op at this place. Trusts nothing: only the proof shows whether the worker wrote this.
  std::unique_ptr<Failure> take_failure(Position position, std::uint64_t units) {
    if (reply(position).error_kind_plus_one == 0) [[likely]]
      return nullptr;
    return copy_failure(position, units);
  }
  /// Prefetches what `take_failure` will look at.
  void prefetch_reply(Position position) const noexcept { __builtin_prefetch(&reply(position)); }

 private:
  Channel(SharedMemory ring, SharedMemory status, std::uint64_t ring_units, const MarkKey& key);
  std::uint64_t begun_word(std::uint32_t lane, Ticket ticket) const noexcept {
    return std::uint64_t{ticket} << 32 | key_.mark(kBegunPlace + lane, ticket);
  }
  Reply& reply(Position position) const noexcept {
    std::byte* const replies = const_cast<std::byte*>(status_memory_.data()) + sizeof(Status);
    return *reinterpret_cast<Reply*>(replies + ring_.index(position) * kUnitBytes);
  }
  std::unique_ptr<Failure> copy_failure(Position position, std::uint64_t units);
  std::uint16_t proof_of(Position position, std::span<const std::byte> reply) const noexcept;

  // The places of the marks. Those of the timelines come first: a lane's place is its number.
  static constexpr std::uint64_t kBegunPlace = kMaxLanes;
  static constexpr std::uint64_t kReplyPlace = 2 * kMaxLanes;

  SharedMemory ring_memory_;
  SharedMemory status_memory_;
  Ring ring_;
  MarkKey key_;
  std::unique_ptr<std::array<Timeline, kMaxLanes>> timelines_;
};

/// Where a device's app and its workers sleep. One page for the device's whole life, so that a thread which has just
/// submitted an op can ring even when that worker's channel is already gone.
struct BellPage {
  /// The app sleeps here until one of its workers has finished something.
  alignas(128) Bell app;
  struct alignas(128) Door {
    Bell bell;
    LifeLine life;
  };
  /// Each worker sleeps at its own doorbell when its ring is empty. The thread that takes ops from the ring holds the
  /// life line.
  std::array<Door, kMaxDoorbells> doorbells;
};

class SharedBells {
 public:
  static Result<SharedBells> create();
  static Result<SharedBells> open(Descriptor descriptor);

  Bell& app() noexcept { return page().app; }
  /// Needs number < kMaxDoorbells.
  Bell& doorbell(std::uint32_t number) noexcept { return page().doorbells[number].bell; }
  LifeLine& life_line(std::uint32_t number) noexcept { return page().doorbells[number].life; }
  const Descriptor& descriptor() const noexcept { return memory_.descriptor(); }

 private:
  explicit SharedBells(SharedMemory memory) noexcept : memory_(std::move(memory)) {}
  BellPage& page() noexcept { return *reinterpret_cast<BellPage*>(memory_.data()); }
  SharedMemory memory_;
};

}  // namespace troupe::inline v0::wire
