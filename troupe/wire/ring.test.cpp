#include "troupe/wire/ring.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "troupe/core/park.hpp"
#include "troupe/wire/shared_memory.hpp"
#include "troupe/wire/timeline.hpp"

namespace troupe::wire {
namespace {

using Bytes = std::vector<std::byte>;

/// A ring over memory of its own, its producers' tail, and the app's head.
struct TestRing {
  explicit TestRing(std::uint64_t units) : units_(units), memory_(new(std::align_val_t{64}) std::byte[bytes()]()) {}
  ~TestRing() { ::operator delete[](memory_, std::align_val_t{64}); }
  TestRing(const TestRing&) = delete;
  TestRing& operator=(const TestRing&) = delete;

  std::size_t bytes() const { return units_ * kUnitBytes; }
  std::byte* memory() { return memory_; }

  /// Where the record went, if there was room.
  std::optional<RingSlot> push(const Bytes& record, std::uint32_t lane = 0) {
    const std::optional<RingSlot> slot = tail.reserve(ring, record.size(), head.load(std::memory_order_acquire));
    if (slot) ring.commit(*slot, lane, record);
    return slot;
  }
  void free(Position position, std::uint64_t units) {
    ring.free(position, units);
    head.store(position + units, std::memory_order_release);
  }

 private:
  std::uint64_t units_;
  std::byte* memory_;

 public:
  Ring ring{memory_, units_};
  RingTail tail;
  std::atomic<Position> head{0};
};

/// A record that takes exactly that many units, including the header.
Bytes record_of(std::uint64_t units, std::uint8_t fill = 0x5a) {
  return Bytes(units * kUnitBytes - sizeof(RecordHeader), static_cast<std::byte>(fill));
}

Bytes copy_of(const Record& record) { return {record.bytes.begin(), record.bytes.end()}; }

TEST(Ring, gives_back_a_record_with_its_lane) {
  TestRing test(8);
  const Bytes bytes = record_of(2, 7);
  ASSERT_TRUE(test.push(bytes, 5));
  const auto record = test.ring.at(0);
  ASSERT_TRUE(record);
  EXPECT_EQ(copy_of(*record), bytes);
  EXPECT_EQ(record->units, 2U);
  EXPECT_EQ(record->lane, 5U);
  EXPECT_FALSE(record->skip);
}

TEST(Ring, has_nothing_where_nothing_was_committed) {
  TestRing test(8);
  for (Position position = 0; position < 24; ++position) EXPECT_FALSE(test.ring.at(position));
  const auto reserved = test.tail.reserve(test.ring, 1, 0);
  ASSERT_TRUE(reserved);
  EXPECT_FALSE(test.ring.at(0)) << "a slot is no record yet";
}

TEST(Ring, counts_the_units_of_every_length) {
  EXPECT_EQ(Ring::units_for(0), 1U);
  EXPECT_EQ(Ring::units_for(kUnitBytes - sizeof(RecordHeader)), 1U);
  EXPECT_EQ(Ring::units_for(kUnitBytes - sizeof(RecordHeader) + 1), 2U);
  EXPECT_EQ(Ring::units_for(2 * kUnitBytes - sizeof(RecordHeader)), 2U);
}

TEST(Ring, takes_records_of_every_length) {
  TestRing test(16);
  Position position = 0;
  for (std::size_t size = 0; size < 4 * kUnitBytes; ++size) {
    const Bytes bytes(size, static_cast<std::byte>(size));
    const auto slot = test.push(bytes);
    ASSERT_TRUE(slot);
    if (slot->skip > 0) {
      const auto skip = test.ring.at(position);
      ASSERT_TRUE(skip && skip->skip);
      test.free(position, skip->units);
      position += skip->units;
    }
    const auto record = test.ring.at(position);
    ASSERT_TRUE(record);
    ASSERT_EQ(copy_of(*record), bytes);
    test.free(position, record->units);
    position += record->units;
  }
}

TEST(Ring, keeps_a_record_until_its_place_is_taken_again) {
  TestRing test(8);
  ASSERT_TRUE(test.push(record_of(2, 1)));
  ASSERT_TRUE(test.push(record_of(3, 2)));
  for (int look = 0; look < 2; ++look) {
    EXPECT_EQ(copy_of(*test.ring.at(0)), record_of(2, 1));
    EXPECT_EQ(copy_of(*test.ring.at(2)), record_of(3, 2));
  }
  test.free(0, 2);
  EXPECT_FALSE(test.ring.at(8)) << "the next round";
  ASSERT_TRUE(test.push(record_of(3, 3)));
  ASSERT_TRUE(test.push(record_of(1, 4)));
  EXPECT_FALSE(test.ring.at(0));
  EXPECT_EQ(copy_of(*test.ring.at(8)), record_of(1, 4));
  EXPECT_EQ(copy_of(*test.ring.at(2)), record_of(3, 2));
}

TEST(Ring, keeps_what_is_said_of_a_record_beside_it) {
  TestRing test(16);
  const Bytes record = record_of(1);
  const auto at = [&](RecordTraits traits) {
    const RingSlot slot = *test.tail.reserve(test.ring, record.size(), 0);
    test.ring.commit(slot, 7, record, traits);
    return *test.ring.at(slot.record());
  };
  EXPECT_FALSE(at({}).alone);
  EXPECT_TRUE(at({.alone = true}).alone);
  EXPECT_EQ(at({.alone = true}).cancelled->load(), 0U);
  EXPECT_EQ(at({.cancelled = true}).cancelled->load(), 1U);
  EXPECT_EQ(at({.cancelled = true, .alone = true}).lane, 7U);
}

TEST(Ring, refuses_when_it_is_full_and_takes_again_when_some_is_free) {
  TestRing test(4);
  ASSERT_TRUE(test.push(record_of(1)));
  ASSERT_TRUE(test.push(record_of(2)));
  EXPECT_FALSE(test.push(record_of(1)));
  EXPECT_FALSE(test.push({}));
  EXPECT_EQ(copy_of(*test.ring.at(1)), record_of(2)) << "a refusal changes nothing";
  EXPECT_FALSE(test.ring.at(3)) << "one unit stays free";
  test.free(0, 1);
  EXPECT_FALSE(test.push(record_of(2)));
  EXPECT_EQ(test.push(record_of(1))->record(), 3U);
  EXPECT_FALSE(test.push({}));
}

TEST(Ring, refuses_a_record_that_is_larger_than_the_ring) {
  TestRing test(4);
  EXPECT_FALSE(test.push(record_of(4)));
  EXPECT_TRUE(test.push(record_of(3)));
}

TEST(Ring, skips_to_its_start_rather_than_break_a_record) {
  TestRing test(8);
  ASSERT_TRUE(test.push(record_of(6)));
  test.free(0, 6);
  const auto slot = test.push(record_of(3, 9));
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->skip, 2U);
  EXPECT_EQ(slot->record(), 8U);
  EXPECT_EQ(slot->end(), 11U);
  const auto skip = test.ring.at(6);
  ASSERT_TRUE(skip);
  EXPECT_TRUE(skip->skip);
  EXPECT_EQ(skip->units, 2U);
  EXPECT_TRUE(skip->bytes.empty());
  EXPECT_EQ(copy_of(*test.ring.at(8)), record_of(3, 9));
}

TEST(Ring, fills_up_to_its_end_without_a_skip) {
  TestRing test(8);
  ASSERT_TRUE(test.push(record_of(6)));
  test.free(0, 6);
  const auto slot = test.push(record_of(2));
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->skip, 0U);
  EXPECT_EQ(slot->end(), 8U);
}

TEST(Ring, has_room_at_any_tail_for_a_record_of_almost_half_its_size_when_it_is_empty) {
  for (const std::uint64_t capacity : {4U, 8U, 256U})
    for (Position tail = 0; tail < 2 * capacity; ++tail) {
      const RingSlot slot = Ring::slot_at(tail, record_of(capacity / 2 - 1).size(), capacity);
      EXPECT_TRUE(Ring::is_free(slot, tail, capacity));
    }
}

TEST(Ring, shows_a_cancellation_to_who_has_the_record_and_not_to_the_next_round) {
  TestRing test(4);
  for (Position position = 0; position < 12; position += 2) {
    ASSERT_TRUE(test.push(record_of(2)));
    const auto record = test.ring.at(position);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->cancelled->load(), 0U);
    test.ring.cancel(position);
    EXPECT_EQ(record->cancelled->load(), 1U);
    EXPECT_EQ(test.ring.at(position)->cancelled->load(), 1U);
    test.free(position, 2);
  }
}

// Each unit of a payload looks like a record: it has the mark of its position, of the round before, or of the round
// after.
TEST(Ring, takes_no_stale_bytes_for_a_record) {
  constexpr std::uint64_t kUnits = 8;
  for (std::uint64_t lie = 0; lie < 4 * kUnits; ++lie) {
    TestRing test(kUnits);
    Position position = 0;
    for (int round = 0; round < 6; ++round) {
      Bytes payload = record_of(kUnits / 2);
      for (std::size_t i = 0; i + 4 <= payload.size(); i += 4) {
        const auto mark = static_cast<std::uint32_t>(position + lie);
        std::memcpy(payload.data() + i, &mark, sizeof mark);
      }
      ASSERT_TRUE(test.push(payload));
      for (std::uint64_t i = 1; i < kUnits / 2; ++i) (void)test.ring.at(position + i);  // the payload itself may lie
      test.free(position, kUnits / 2);
      for (Position next = position + kUnits / 2; next < position + 3 * kUnits / 2; ++next)
        ASSERT_FALSE(test.ring.at(next)) << "up to where the next round ends";
      position += kUnits / 2;
    }
  }
}

TEST(Ring, takes_no_mark_of_another_round_for_its_own) {
  TestRing test(4);
  ASSERT_TRUE(test.push(record_of(1)));
  EXPECT_TRUE(test.ring.at(0));
  EXPECT_FALSE(test.ring.at(4)) << "the same memory, a round later";
  EXPECT_FALSE(test.ring.at(Position{1} << 31));
}

TEST(Ring, goes_on_where_the_marks_wrap) {
  for (Position position = 0xfffffff8U; position < 0x100000008U; ++position) {
    TestRing test(8);
    test.ring.commit({.begin = position, .skip = 0, .units = 1}, 3, record_of(1, 4));
    const auto record = test.ring.at(position);
    ASSERT_TRUE(record);
    EXPECT_EQ(copy_of(*record), record_of(1, 4));
    EXPECT_FALSE(test.ring.at(position + 8));
    EXPECT_FALSE(test.ring.at(position - 8));
  }
}

TEST(Ring, gives_an_impossible_record_as_one_empty_unit) {
  for (const std::uint32_t size : {1000U, 0x7fffffffU, 0xfffffffeU}) {
    TestRing test(4);
    ASSERT_TRUE(test.push(record_of(1), 3));
    reinterpret_cast<RecordHeader*>(test.memory())->size_bytes = size;
    const auto record = test.ring.at(0);
    ASSERT_TRUE(record);
    EXPECT_TRUE(record->bytes.empty());
    EXPECT_EQ(record->units, 1U);
    EXPECT_EQ(record->lane, 3U);
    EXPECT_NE(record->cancelled, nullptr);
  }
}

TEST(Ring, never_gives_bytes_outside_of_itself_whatever_its_memory_holds) {
  constexpr std::uint64_t kUnits = 16;
  std::mt19937_64 random(11);
  TestRing test(kUnits);
  for (int round = 0; round < 2000; ++round) {
    for (std::size_t i = 0; i < test.bytes(); i += 8) {
      const std::uint64_t word = random() >> (random() % 64);
      std::memcpy(test.memory() + i, &word, sizeof word);
    }
    for (Position position = 0; position < kUnits; ++position) {
      reinterpret_cast<RecordHeader*>(test.memory() + position * kUnitBytes)->mark =
          static_cast<std::uint32_t>(position + 1);
      const auto record = test.ring.at(position);
      ASSERT_TRUE(record);
      ASSERT_GE(record->units, 1U);
      ASSERT_LE(position + record->units, kUnits);
      if (record->bytes.empty()) continue;
      ASSERT_GE(record->bytes.data(), test.memory());
      ASSERT_LE(record->bytes.data() + record->bytes.size(), test.memory() + test.bytes());
    }
  }
}

TEST(RingDeathTest, dies_over_a_capacity_that_is_no_power_of_two) {
  std::byte memory[1];
  EXPECT_DEATH(Ring(memory, 3), "a ring has a power of two of units");
  EXPECT_DEATH(Ring(memory, 0), "a ring has a power of two of units");
}

/// A record of some length that describes its own content, with a mark-like value all through it.
Bytes numbered(std::uint32_t producer, std::uint32_t number, std::size_t extra_words, std::uint32_t lie) {
  std::vector<std::uint32_t> words(3 + extra_words, lie);
  words[0] = producer;
  words[1] = number;
  words[2] = static_cast<std::uint32_t>(extra_words);
  Bytes bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

struct Numbered {
  std::uint32_t producer = 0, number = 0, extra_words = 0;
  bool whole = false;
};
Numbered read_numbered(std::span<const std::byte> bytes) {
  Numbered read;
  if (bytes.size() < 12 || bytes.size() % 4 != 0) return read;
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  read = {.producer = words[0], .number = words[1], .extra_words = words[2]};
  read.whole = words.size() == 3 + read.extra_words &&
               std::all_of(words.begin() + 3, words.end(), [&](std::uint32_t word) { return word == words.back(); });
  return read;
}

TEST(Ring, keeps_the_order_of_each_producer) {
  constexpr std::uint32_t kProducers = 4;
  constexpr std::uint32_t kRecords = 5000;
  TestRing test(32);
  std::vector<std::thread> producers;
  for (std::uint32_t producer = 0; producer < kProducers; ++producer)
    producers.emplace_back([&test, producer] {
      std::mt19937 random(producer);
      for (std::uint32_t number = 0; number < kRecords; ++number) {
        const Bytes bytes = numbered(producer, number, random() % 200, static_cast<std::uint32_t>(random() % 200'000));
        while (!test.push(bytes, producer)) std::this_thread::yield();
      }
    });

  std::array<std::uint32_t, kProducers> next{};
  Position position = 0;
  for (std::uint32_t seen = 0; seen < kProducers * kRecords;) {
    const auto record = test.ring.at(position);
    if (!record) {
      std::this_thread::yield();
      continue;
    }
    if (!record->skip) {
      const Numbered read = read_numbered(record->bytes);
      EXPECT_TRUE(read.whole);
      EXPECT_EQ(record->lane, read.producer);
      if (read.producer < kProducers) {
        EXPECT_EQ(read.number, next[read.producer]++);
      }
      ++seen;
    }
    test.free(position, record->units);
    position += record->units;
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_FALSE(test.ring.at(position));
}

// Commits out of order, frees late, and compares with a plain queue after every step.
TEST(Ring, is_a_queue_of_records_over_many_rounds) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::uint64_t capacity = std::uint64_t{8} << (random() % 4);
    TestRing test(capacity);
    struct Pending {
      RingSlot slot;
      Bytes bytes;
    };
    std::vector<Pending> reserved;                 // given a slot, not committed
    std::deque<std::pair<Position, Bytes>> queue;  // as the reader must see it, in order of slots
    Position end = 0;                              // of the last slot
    Position reader = 0;
    std::deque<std::pair<Position, std::uint64_t>> read;  // read and not freed
    std::uint32_t number = 0;
    for (int step = 0; step < 3000; ++step) {
      switch (random() % 4) {
        case 0: {
          Bytes bytes = numbered(0, number, random() % (capacity * kUnitBytes / 8),
                                 static_cast<std::uint32_t>(reader + random() % 64));
          const RingSlot would = Ring::slot_at(end, bytes.size(), capacity);
          const auto slot = test.tail.reserve(test.ring, bytes.size(), test.head);
          ASSERT_EQ(slot.has_value(), would.end() - test.head < capacity);
          if (!slot) break;
          ++number;
          end = slot->end();
          queue.emplace_back(slot->record(), bytes);
          reserved.push_back({*slot, std::move(bytes)});
          break;
        }
        case 1: {
          if (reserved.empty()) break;
          const auto chosen = reserved.begin() + static_cast<std::ptrdiff_t>(random() % reserved.size());
          test.ring.commit(chosen->slot, 0, chosen->bytes);
          reserved.erase(chosen);
          break;
        }
        case 2: {
          const auto record = test.ring.at(reader);
          const bool expected = !queue.empty() && std::ranges::none_of(reserved, [&](const Pending& pending) {
            return pending.slot.record() == queue.front().first;
          });
          ASSERT_EQ(record.has_value(), expected);
          if (!record) break;
          if (!record->skip) {
            ASSERT_EQ(reader, queue.front().first);
            ASSERT_EQ(copy_of(*record), queue.front().second);
            queue.pop_front();
          }
          read.emplace_back(reader, record->units);
          reader += record->units;
          break;
        }
        default:
          if (read.empty()) break;
          test.free(read.front().first, read.front().second);
          read.pop_front();
      }
    }
    EXPECT_GT(reader, 10 * capacity) << "many rounds";
  }
}

TEST(Ring, reaches_another_process_that_can_only_read) {
  constexpr std::uint64_t kUnits = 64;
  constexpr std::uint32_t kRecords = 20'000;
  SharedMemory memory = value(SharedMemory::create("ring", kUnits * kUnitBytes));
  SharedMemory progress = value(SharedMemory::create("progress", sizeof(std::uint64_t)));
  value(memory.seal_writing_elsewhere());
  auto& word = *std::construct_at(reinterpret_cast<std::atomic<std::uint64_t>*>(progress.data()));
  Timeline timeline(word, MarkKey(7), 0);
  const pid_t reader = fork();
  if (reader == 0) {
    auto mapped = SharedMemory::map(value(memory.descriptor().duplicate()), kUnits * kUnitBytes, false);
    const Ring ring(mapped->data(), kUnits);
    Position position = 0;
    for (std::uint32_t number = 0; number < kRecords;) {
      const auto record = ring.at(position);
      if (!record) {
        std::this_thread::yield();
        continue;
      }
      position += record->units;
      if (record->skip) continue;
      const Numbered read = read_numbered(record->bytes);
      if (!read.whole || read.number != number || record->lane != number % 16) _exit(1);
      timeline.raise_to(++number);
    }
    _exit(0);
  }

  Ring ring(memory.data(), kUnits);
  RingTail tail;
  std::deque<RingSlot> slots;
  std::uint32_t freed = 0;
  Position head = 0;
  std::mt19937 random(5);
  int status = 0;
  for (std::uint32_t number = 0; number < kRecords; ++number) {
    const Bytes bytes = numbered(1, number, random() % 150, static_cast<std::uint32_t>(head + random() % 128));
    std::optional<RingSlot> slot;
    while (!(slot = tail.reserve(ring, bytes.size(), head))) {
      ASSERT_EQ(waitpid(reader, &status, WNOHANG), 0) << "the reader has ended: " << status;
      for (; freed < number && timeline.done(freed + 1); ++freed) {
        ring.free(slots.front().begin, slots.front().end() - slots.front().begin);
        head = slots.front().end();
        slots.pop_front();
      }
      std::this_thread::yield();
    }
    slots.push_back(*slot);
    ring.commit(*slot, number % 16, bytes);
  }
  EXPECT_EQ(waitpid(reader, &status, 0), reader);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace troupe::wire
