// The ring of records from the app to one worker. Records have any length, several threads of the app write, one worker
// reads, and a record stays where it is until the app frees it: lanes read it in place, and after a crash it still says
// what was under way. The worker maps the ring read-only, so no wild write can change what was asked for.
//
// `Ring` is only the memory. `RingTail`, or whoever else owns the positions, decides who writes where.
//
//   RingTail tail;
//   if (auto slot = tail.reserve(ring, bytes.size(), head)) ring.commit(*slot, lane, bytes);   // a producer
//   if (auto record = ring.at(position)) ...                                                    // the worker
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

namespace troupe::inline v0::wire {

/// Counts units from the ring's first record on and never wraps; the ring maps it to memory.
using Position = std::uint64_t;

inline constexpr std::size_t kUnitBytes = 128;

/// What the ring keeps before a record's bytes.
struct RecordHeader {
  std::atomic<std::uint32_t> mark;       // `mark_of` its position once the record is whole
  std::uint32_t size_bytes;              // kSkip: nothing here, the next record is at the ring's start
  std::atomic<std::uint32_t> cancelled;  // the app does not want it any more
  std::uint16_t units;
  std::uint8_t lane;
  std::uint8_t flags;
};
static_assert(sizeof(RecordHeader) == 16);

struct RecordTraits {
  bool cancelled = false;  // from the start: it only keeps its place in the order
  bool alone = false;      // its lane's timeline is raised right before it and right after it, for it alone
  bool guarded = false;    // behind the op's bytes it says where the fences of its arrays are (op/fences.hpp)
};

struct Record {
  std::span<const std::byte> bytes = {};
  std::uint64_t units = 0;
  std::uint32_t lane = 0;
  bool skip = false;
  bool alone = false;
  bool guarded = false;
  const std::atomic<std::uint32_t>* cancelled = nullptr;
};

/// A slot that a producer has been given: `skip` units to the ring's end, then the record.
struct RingSlot {
  Position begin = 0;
  std::uint64_t skip = 0;
  std::uint64_t units = 0;

  Position record() const noexcept { return begin + skip; }
  Position end() const noexcept { return begin + skip + units; }
};

class Ring {
 public:
  Ring() = default;
  /// Over zeroed memory of `capacity_units * kUnitBytes` bytes; a power of two of units.
  Ring(std::byte* memory, std::uint64_t capacity_units) noexcept;

  std::uint64_t capacity_units() const noexcept { return capacity_units_; }
  /// The memory index of a position, for tables that run along the ring.
  std::uint64_t index(Position position) const noexcept { return position & (capacity_units_ - 1); }

  /// How many units a record of that size takes.
  static constexpr std::uint64_t units_for(std::size_t size_bytes) noexcept {
    return (sizeof(RecordHeader) + size_bytes + kUnitBytes - 1) / kUnitBytes;
  }
  /// Where a record of that size goes when `tail` is the next free position. A record never wraps around the ring's
  /// end.
  static RingSlot slot_at(Position tail, std::size_t size_bytes, std::uint64_t capacity_units) noexcept;
  /// Whether a slot is free when everything before `head` is free. One unit always stays free: the reader looks there
  /// for the next record, and so never looks at the rest of an old one.
  static bool is_free(const RingSlot& slot, Position head, std::uint64_t capacity_units) noexcept {
    return slot.end() - head < capacity_units;
  }

  /// Writes a record for a lane into the producer's slot, and makes it visible. Sequentially consistent, because the
  /// producer looks next whether the worker sleeps (see Bell).
  void commit(const RingSlot& slot, std::uint32_t lane, std::span<const std::byte> bytes,
              RecordTraits traits = {}) noexcept;
  /// The record at `position`, if it is whole. What its producer wrote before is visible (acquire). An impossible
  /// record (with a length beyond the ring) comes back empty, as one unit; the reader must reject it.
  std::optional<Record> at(Position position) const noexcept {
    if (!has(position)) return std::nullopt;
    return read(position);
  }
  /// Whether there is a whole record at `position`.
  bool has(Position position) const noexcept {
    return header(position).mark.load(std::memory_order_seq_cst) == mark_of(position);
  }
  /// The units are in the other side's caches. These prefetch what is needed next: the rest of the record at `position`
  /// and the next header; or the unit a few positions later, to read it or to write it.
  void prefetch_rest(Position position, std::uint64_t units) const noexcept;
  void prefetch_after(Position position) const noexcept;
  void prefetch_to_write_after(Position position) const noexcept;
  /// Tells the worker not to begin the record at `position`.
  void cancel(Position position) noexcept;
  /// Frees the units of a record, or of a skip, for the next round, after the worker is done with it. Rarely writes to
  /// them, because they are in the worker's caches.
  void free(Position position, std::uint64_t units) noexcept;

 private:
  RecordHeader& header(Position position) const noexcept {
    return *reinterpret_cast<RecordHeader*>(memory_ + index(position) * kUnitBytes);
  }
  /// The mark in the header of a whole record at this position. Never zero, and different in the next round, so that
  /// the rest of an old record is never taken for a new one.
  static std::uint32_t mark_of(Position position) noexcept {
    const auto mark = static_cast<std::uint32_t>(position + 1);
    return mark != 0 ? mark : ~std::uint32_t{0};
  }
  /// The record at `position`, which is whole.
  Record read(Position position) const noexcept;
  /// Whether the next round would take what is in this unit for a record.
  bool looks_like_next(Position unit) const noexcept;

  std::byte* memory_ = nullptr;
  std::uint64_t capacity_units_ = 0;
};

/// Hands out slots to any number of threads.
class RingTail {
 public:
  /// A slot after all others; none when the ring is full. `head` is the oldest position that is not freed.
  std::optional<RingSlot> reserve(const Ring& ring, std::size_t size_bytes, Position head) noexcept;

 private:
  std::atomic<Position> next_{0};
};

}  // namespace troupe::inline v0::wire
