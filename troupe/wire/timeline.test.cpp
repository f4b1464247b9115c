#include "troupe/wire/timeline.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <thread>

namespace troupe::wire {
namespace {

constexpr MarkKey kKey(0x1234'5678'9abc'def0);
constexpr std::uint64_t kUnits = 4096;
constexpr std::uint64_t kMostUnits = 1U << 20;
constexpr unsigned kMarkBits = TimelineWords::mark_bits(kUnits);
static_assert(kMarkBits == 18 && TimelineWords::mark_bits(kMostUnits) == 10);

/// A timeline of lane 3 and the word that it stands for.
struct TestTimeline {
  explicit TestTimeline(std::uint64_t units = kUnits) : words(kKey, 3, units) {}
  TimelineWords words;
  std::atomic<std::uint32_t> word{0};
  Timeline timeline{word, words};
};

TEST(Timeline, is_done_from_its_ticket_on) {
  TestTimeline test;
  EXPECT_FALSE(test.timeline.done(1));
  test.timeline.raise_to(2);
  EXPECT_TRUE(test.timeline.done(1));
  EXPECT_TRUE(test.timeline.done(2));
  EXPECT_FALSE(test.timeline.done(3));
}

TEST(Timeline, compares_right_across_the_wrap) {
  EXPECT_TRUE(reached(5, 0xfffffff0U));
  EXPECT_FALSE(reached(0xfffffff0U, 5));
  EXPECT_TRUE(reached(0, 0xffffffffU));
}

TEST(Timeline, believes_no_word_but_those_it_made) {
  TestTimeline test;
  test.timeline.raise_to(7);
  const std::uint32_t good = test.word.load();
  for (Ticket ticket = 8; ticket < 100; ++ticket)
    (void)test.timeline.word_for(ticket, 0);  // a GPU has yet to write them
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    test.word.store(static_cast<std::uint32_t>(random()));
    ASSERT_EQ(test.timeline.now(), 7U) << i;
  }
  for (Ticket more = 1; more < 4 * kUnits; ++more) {
    test.word.store(good + (more << kMarkBits));
    ASSERT_EQ(test.timeline.now(), 7U) << more;
  }
  for (const std::uint32_t word : {0U, ~0U, good - (1U << kMarkBits), good + 1, test.words.make(100, 0)}) {
    test.word.store(word);
    EXPECT_EQ(test.timeline.now(), 7U);
    EXPECT_TRUE(test.timeline.done(7)) << "what was done stays done";
  }
}

TEST(Timeline, does_not_go_back_to_a_word_that_was_good_once) {
  TestTimeline test;
  test.timeline.raise_to(5);
  const std::uint32_t old = test.word.load();
  test.timeline.raise_to(6);
  test.word.store(old);
  EXPECT_EQ(test.timeline.now(), 6U);
}

TEST(Timeline, believes_what_a_gpu_writes) {
  TestTimeline test;
  test.word.store(test.timeline.word_for(1, 0));
  EXPECT_EQ(test.timeline.now(), 1U);
  const std::uint32_t second = test.timeline.word_for(9, 0x55);
  (void)test.timeline.word_for(10, 0x10);
  const std::uint32_t last = test.timeline.word_for(11, 0);
  test.word.store(second);
  EXPECT_EQ(test.timeline.now(), 9U);
  EXPECT_EQ(second, test.words.make(9, 0x55));
  EXPECT_EQ(last, test.words.make(11, 0x65)) << "the failures so far";
  test.timeline.put(last);
  EXPECT_EQ(test.timeline.now(), 11U);
  EXPECT_EQ(test.word.load(), last);
}

// As many as the GPU has been told of, it has yet to write.
void follow_a_gpu(std::uint64_t units, Ticket last, Ticket ahead) {
  TestTimeline test(units);
  std::array<std::uint32_t, Timeline::kMaxAhead> told{};
  for (Ticket ticket = 1; ticket <= last; ++ticket) {
    told[ticket % told.size()] = test.timeline.word_for(ticket, ticket % 1000 == 0 ? 3 : 0);
    if (ticket <= ahead) continue;
    test.word.store(told[(ticket - ahead) % told.size()]);
    ASSERT_EQ(test.timeline.now(), ticket - ahead);
  }
}

TEST(Timeline, follows_a_gpu_when_the_tickets_in_its_words_wrap) {
  follow_a_gpu(256, 5000, 128);
  follow_a_gpu(kUnits, 10 * kUnits, Timeline::kMaxAhead - 1);
  follow_a_gpu(kMostUnits, (1U << 22) + 1000, 128);
}

TEST(Timeline, is_raised_across_every_wrap) {
  TestTimeline test(kMostUnits);
  std::mt19937 random(2);
  Ticket ticket = 0;
  for (int i = 0; i < 20'000; ++i) {  // twice around all tickets there are
    const Ticket before = ticket;
    ticket += static_cast<Ticket>(random() % kMostUnits);
    test.timeline.raise_to(ticket);
    ASSERT_EQ(test.timeline.now(), ticket);
    ASSERT_EQ(test.words.ticket(test.word.load(), before), ticket);
  }
}

TEST(Timeline, forgets_nothing_when_several_look_and_its_tickets_wrap) {
  constexpr Ticket kLast = 200'000;
  TestTimeline test(256);
  const auto look = [&] {
    Ticket seen = 0;
    while (!reached(seen, kLast)) {
      const Ticket now = test.timeline.now();
      ASSERT_TRUE(reached(now, seen));
      seen = now;
    }
  };
  std::thread one(look), another(look);
  for (Ticket ticket = 1; ticket <= kLast; ++ticket) {
    test.word.store(test.timeline.word_for(ticket, 0));
    ASSERT_EQ(test.timeline.now(), ticket);
  }
  one.join();
  another.join();
}

// ---- words ----

/// Of a lane's first words with those of their tickets that somebody else makes.
int count_same_marks(const std::function<std::uint32_t(Ticket)>& other) {
  int same = 0;
  for (Ticket ticket = 1; ticket <= 100'000; ++ticket)
    same += (TimelineWords(kKey, 3, kUnits).make(ticket, 0) ^ other(ticket)) << (32 - kMarkBits) == 0;
  return same;
}

TEST(TimelineWords, are_marked_by_key_lane_ticket_and_failures) {
  // Of 100,000 marks with 18 bits, 0.4 are the same by chance.
  EXPECT_LE(count_same_marks([](Ticket ticket) { return TimelineWords(kKey, 3, kUnits).make(ticket + 1, 0); }), 3);
  EXPECT_LE(count_same_marks([](Ticket ticket) { return TimelineWords(kKey, 3, kUnits).make(ticket + 4 * kUnits, 0); }),
            3);
  EXPECT_LE(count_same_marks([](Ticket ticket) { return TimelineWords(kKey, 4, kUnits).make(ticket, 0); }), 3);
  EXPECT_LE(count_same_marks([](Ticket ticket) { return TimelineWords(kKey, 3, kUnits).make(ticket, 1); }), 3);
  EXPECT_LE(count_same_marks([](Ticket ticket) { return TimelineWords(kKey, 3, kUnits).make(ticket, 0x8000); }), 3);
  EXPECT_LE(count_same_marks([](Ticket ticket) { return TimelineWords(MarkKey(1), 3, kUnits).make(ticket, 0); }), 3);
  std::set<std::uint32_t> marks;
  for (Ticket ticket = 0; ticket < 1000; ++ticket)
    marks.insert(TimelineWords(kKey, 3, kMostUnits).make(ticket, 0) & 0x3ff);
  EXPECT_GT(marks.size(), 600U) << "of 1024, a thousand at random hit 640";
}

TEST(TimelineWords, compare_as_their_tickets_do_two_rings_apart) {
  std::mt19937 random(3);
  for (const std::uint64_t units : {std::uint64_t{256}, kUnits, kMostUnits}) {
    const TimelineWords words(kKey, 3, units);
    const auto far = static_cast<Ticket>(2 * units);
    const auto check = [&](Ticket ticket, Ticket now) {
      const std::uint32_t word = words.make(now, static_cast<std::uint16_t>(random()));
      ASSERT_EQ(static_cast<std::int32_t>(word - words.least(ticket)) >= 0, reached(now, ticket))
          << ticket << " " << now;
    };
    for (int i = 0; i < 100'000; ++i) {
      const auto ticket = static_cast<Ticket>(random());
      check(ticket, ticket + static_cast<Ticket>(random() % far));
      check(ticket, ticket - static_cast<Ticket>(random() % (far + 1)));
      for (const Ticket step : {Ticket{0}, Ticket{1}, far - 1}) check(ticket, ticket + step);
      for (const Ticket step : {Ticket{1}, far}) check(ticket, ticket - step);
    }
  }
}

TEST(TimelineWords, give_their_ticket_to_who_knows_one_before_it) {
  std::mt19937 random(4);
  for (const std::uint64_t units : {std::uint64_t{1}, std::uint64_t{256}, kUnits, kMostUnits}) {
    const TimelineWords words(kKey, 3, units);
    EXPECT_EQ(words.ticket(0, 0), 0U);
    for (int i = 0; i < 100'000; ++i) {
      const auto from = static_cast<Ticket>(random());
      const Ticket ticket = from + static_cast<Ticket>(random() % (4 * units));
      ASSERT_EQ(words.ticket(words.make(ticket, 7), from), ticket);
      ASSERT_GT(words.ticket(words.make(from - 1, 7), from) - from, 2 * units) << "what is behind looks far ahead";
    }
  }
}

TEST(TimelineDeathTest, dies_when_it_would_shrink) {
  TestTimeline test;
  test.timeline.raise_to(7);
  EXPECT_DEATH(test.timeline.raise_to(6), "a timeline only grows");
}

}  // namespace
}  // namespace troupe::wire
