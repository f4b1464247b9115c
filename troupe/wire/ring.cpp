#include "troupe/wire/ring.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "troupe/core/assert.hpp"

namespace troupe::inline v0::wire {
namespace {

constexpr std::uint32_t kSkip = 0xffffffffU;
constexpr std::uint64_t kUnitsAhead = 8;
constexpr std::size_t kLineBytes = kUnitBytes / 2;  // of the caches
constexpr std::uint8_t kAlone = 1;
constexpr std::uint8_t kToBeWiped = 2;  // one of its units looks like a record of the next round
constexpr std::uint8_t kGuarded = 4;

}  // namespace

Ring::Ring(std::byte* memory, std::uint64_t capacity_units) noexcept
    : memory_(memory), capacity_units_(capacity_units) {
  TROUPE_ASSERT(std::has_single_bit(capacity_units), "a ring has a power of two of units");
}

RingSlot Ring::slot_at(Position tail, std::size_t size_bytes, std::uint64_t capacity_units) noexcept {
  const std::uint64_t units = units_for(size_bytes);
  const std::uint64_t to_end = capacity_units - (tail & (capacity_units - 1));
  return {.begin = tail, .skip = units <= to_end ? 0 : to_end, .units = units};
}

void Ring::commit(const RingSlot& slot, std::uint32_t lane, std::span<const std::byte> bytes,
                  RecordTraits traits) noexcept {
  RecordHeader& record = header(slot.record());
  std::byte* const to = reinterpret_cast<std::byte*>(&record) + sizeof(RecordHeader);
  // The first cache line is written last: the worker keeps looking at it, and would take it away in between.
  const std::size_t in_first_line = std::min(bytes.size(), kLineBytes - sizeof(RecordHeader));
  if (bytes.size() > in_first_line)
    std::memcpy(to + in_first_line, bytes.data() + in_first_line, bytes.size() - in_first_line);
  auto flags = static_cast<std::uint8_t>((traits.alone ? kAlone : 0) | (traits.guarded ? kGuarded : 0));
  for (std::uint64_t i = 1; i < slot.units; ++i)
    if (looks_like_next(slot.record() + i)) flags |= kToBeWiped;
  std::atomic_signal_fence(std::memory_order_release);
  if (in_first_line > 0) std::memcpy(to, bytes.data(), in_first_line);
  record.size_bytes = static_cast<std::uint32_t>(bytes.size());
  record.units = static_cast<std::uint16_t>(slot.units);
  record.lane = static_cast<std::uint8_t>(lane);
  record.flags = flags;
  record.cancelled.store(traits.cancelled ? 1 : 0, std::memory_order_relaxed);
  record.mark.store(mark_of(slot.record()), std::memory_order_seq_cst);
  if (slot.skip == 0) return;
  RecordHeader& skip = header(slot.begin);
  skip.size_bytes = kSkip;
  skip.flags = kToBeWiped;  // its other units hold what is older
  skip.mark.store(mark_of(slot.begin), std::memory_order_seq_cst);
}

Record Ring::read(Position position) const noexcept {
  const RecordHeader& record = header(position);
  const std::uint64_t to_end = capacity_units_ - index(position);
  if (record.size_bytes == kSkip) return Record{.units = to_end, .skip = true};
  const std::uint64_t units = units_for(record.size_bytes);
  if (units > to_end || units != record.units)
    return Record{.units = 1, .lane = record.lane, .cancelled = &record.cancelled};
  return Record{.bytes = {reinterpret_cast<const std::byte*>(&record) + sizeof(RecordHeader), record.size_bytes},
                .units = units,
                .lane = record.lane,
                .alone = (record.flags & kAlone) != 0,
                .guarded = (record.flags & kGuarded) != 0,
                .cancelled = &record.cancelled};
}

void Ring::prefetch_rest(Position position, std::uint64_t units) const noexcept {
  const auto* const record = reinterpret_cast<const std::byte*>(&header(position));
  const std::uint64_t lines = 2 * std::min(units, kUnitsAhead);
  for (std::uint64_t line = 1; line < lines; ++line) __builtin_prefetch(record + line * kLineBytes);
  __builtin_prefetch(&header(position + units));  // only its header: the app is about to write there
}
void Ring::prefetch_after(Position position) const noexcept { __builtin_prefetch(&header(position + kUnitsAhead)); }
void Ring::prefetch_to_write_after(Position position) const noexcept {
  const auto* const unit = reinterpret_cast<const std::byte*>(&header(position + kUnitsAhead));
  __builtin_prefetch(unit, 1);
  __builtin_prefetch(unit + kLineBytes, 1);
}

void Ring::cancel(Position position) noexcept { header(position).cancelled.store(1, std::memory_order_seq_cst); }

void Ring::free(Position position, std::uint64_t units) noexcept {
  if ((header(position).flags & kToBeWiped) == 0) return;
  for (Position unit = position; unit < position + units; ++unit)
    if (looks_like_next(unit)) header(unit).mark.store(0, std::memory_order_release);
}

bool Ring::looks_like_next(Position unit) const noexcept {
  return header(unit).mark.load(std::memory_order_relaxed) == mark_of(unit + capacity_units_);
}

std::optional<RingSlot> RingTail::reserve(const Ring& ring, std::size_t size_bytes, Position head) noexcept {
  Position tail = next_.load(std::memory_order_relaxed);
  for (;;) {
    const RingSlot slot = Ring::slot_at(tail, size_bytes, ring.capacity_units());
    if (!Ring::is_free(slot, head, ring.capacity_units())) return std::nullopt;
    if (next_.compare_exchange_weak(tail, slot.end(), std::memory_order_relaxed)) return slot;
  }
}

}  // namespace troupe::inline v0::wire
