#include "troupe/wire/ring.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "troupe/core/assert.hpp"

namespace troupe::wire {
namespace {

constexpr std::uint32_t kSkip = 0xffffffffU;
constexpr std::uint64_t kUnitsAhead = 8;
constexpr std::uint8_t kAlone = 1;
constexpr std::uint8_t kToBeWiped = 2;  // one of its units looks like a record of the next round

/// Never zero, and another one in the next round: what is left of an old record is never taken for a new one.
std::uint32_t mark_of(Position position) noexcept {
  const auto mark = static_cast<std::uint32_t>(position + 1);
  return mark != 0 ? mark : kSkip;
}

}  // namespace

Ring::Ring(std::byte* memory, std::uint64_t capacity_units) noexcept
    : memory_(memory), capacity_units_(capacity_units) {
  TROUPE_ASSERT(std::has_single_bit(capacity_units), "a ring has a power of two of units");
}

RecordHeader& Ring::header(Position position) const noexcept {
  return *reinterpret_cast<RecordHeader*>(memory_ + index(position) * kUnitBytes);
}

Place Ring::place_at(Position tail, std::size_t size_bytes, std::uint64_t capacity_units) noexcept {
  const std::uint64_t units = units_for(size_bytes);
  const std::uint64_t to_end = capacity_units - (tail & (capacity_units - 1));
  return {.begin = tail, .skip = units <= to_end ? 0 : to_end, .units = units};
}

void Ring::commit(const Place& place, std::uint32_t lane, std::span<const std::byte> bytes,
                  RecordTraits traits) noexcept {
  RecordHeader& record = header(place.record());
  record.size_bytes = static_cast<std::uint32_t>(bytes.size());
  record.units = static_cast<std::uint16_t>(place.units);
  record.lane = static_cast<std::uint8_t>(lane);
  record.flags = traits.alone ? kAlone : 0;
  record.cancelled.store(traits.cancelled ? 1 : 0, std::memory_order_relaxed);
  if (!bytes.empty())
    std::memcpy(reinterpret_cast<std::byte*>(&record) + sizeof(RecordHeader), bytes.data(), bytes.size());
  for (std::uint64_t i = 1; i < place.units; ++i)
    if (looks_like_next(place.record() + i)) record.flags |= kToBeWiped;
  record.mark.store(mark_of(place.record()), std::memory_order_seq_cst);
  if (place.skip == 0) return;
  RecordHeader& skip = header(place.begin);
  skip.size_bytes = kSkip;
  skip.flags = kToBeWiped;  // what else is in its units is older
  skip.mark.store(mark_of(place.begin), std::memory_order_seq_cst);
}

std::optional<Record> Ring::at(Position position) const noexcept {
  const RecordHeader& record = header(position);
  if (record.mark.load(std::memory_order_seq_cst) != mark_of(position)) return std::nullopt;
  const std::uint64_t to_end = capacity_units_ - index(position);
  if (record.size_bytes == kSkip) return Record{.units = to_end, .skip = true};
  const std::uint64_t units = units_for(record.size_bytes);
  if (units > to_end || units != record.units)
    return Record{.units = 1, .lane = record.lane, .cancelled = &record.cancelled};
  return Record{.bytes = {reinterpret_cast<const std::byte*>(&record) + sizeof(RecordHeader), record.size_bytes},
                .units = units,
                .lane = record.lane,
                .alone = (record.flags & kAlone) != 0,
                .cancelled = &record.cancelled};
}

// A unit is two cache lines.
void Ring::prefetch_rest(Position position, std::uint64_t units) const noexcept {
  const auto* const record = reinterpret_cast<const std::byte*>(&header(position));
  const std::uint64_t lines = 2 * std::min(units, kUnitsAhead);
  for (std::uint64_t line = 1; line < lines; ++line) __builtin_prefetch(record + line * kUnitBytes / 2);
  __builtin_prefetch(&header(position + units));  // no more of it: the app is about to write there
}
void Ring::prefetch_after(Position position) const noexcept { __builtin_prefetch(&header(position + kUnitsAhead)); }
void Ring::prefetch_to_write_after(Position position) const noexcept {
  const auto* const unit = reinterpret_cast<const std::byte*>(&header(position + kUnitsAhead));
  __builtin_prefetch(unit, 1);
  __builtin_prefetch(unit + kUnitBytes / 2, 1);
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

std::optional<Place> RingTail::reserve(const Ring& ring, std::size_t size_bytes, Position head) noexcept {
  Position tail = next_.load(std::memory_order_relaxed);
  for (;;) {
    const Place place = Ring::place_at(tail, size_bytes, ring.capacity_units());
    if (!Ring::is_free(place, head, ring.capacity_units())) return std::nullopt;
    if (next_.compare_exchange_weak(tail, place.end(), std::memory_order_relaxed)) return place;
  }
}

}  // namespace troupe::wire
