#include "troupe/wire/timeline.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace troupe::wire {
namespace {

constexpr MarkKey kKey(0x1234'5678'9abc'def0);

/// A timeline of lane 3 and the word that it stands for.
struct TestTimeline {
  std::atomic<std::uint64_t> word{0};
  Timeline timeline{word, kKey, 3};
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

TEST(Timeline, believes_no_word_without_its_mark) {
  TestTimeline test;
  test.timeline.raise_to(7);
  const std::uint64_t good = test.word.load();
  std::mt19937_64 random(1);
  int believed = 0;
  for (int i = 0; i < 10'000; ++i) {
    test.word.store(good + ((1 + random() % 100) << 32));
    believed += test.timeline.now() != 7;
  }
  EXPECT_LE(believed, 3) << "a mark has sixteen bits here";
  for (const std::uint64_t word : {std::uint64_t{0}, ~std::uint64_t{0}, good - (std::uint64_t{1} << 32)}) {
    TestTimeline another;
    another.timeline.raise_to(7);
    another.word.store(word);
    EXPECT_EQ(another.timeline.now(), 7U);
    EXPECT_TRUE(another.timeline.done(7)) << "what was done stays done";
  }
}

TEST(Timeline, does_not_go_back_to_a_word_that_was_good_once) {
  TestTimeline test;
  test.timeline.raise_to(5);
  const std::uint64_t old = test.word.load();
  test.timeline.raise_to(6);
  test.word.store(old);
  EXPECT_EQ(test.timeline.now(), 6U);
}

TEST(Timeline, believes_what_a_gpu_writes) {
  TestTimeline test;
  test.word.store(test.timeline.word_for(1, 0));
  EXPECT_EQ(test.timeline.now(), 1U);
  test.word.store(test.timeline.word_for(9, 0x55));
  EXPECT_EQ(test.timeline.now(), 9U);
  EXPECT_EQ(TimelineWord::ticket(test.word.load()), 9U);
  EXPECT_EQ(TimelineWord::failures(test.word.load()), 0x55U);
  (void)test.timeline.word_for(10, 0x10);
  EXPECT_EQ(TimelineWord::failures(test.timeline.word_for(11, 0)), 0x65U) << "the failures so far";
}

TEST(TimelineWord, is_marked_by_key_lane_and_ticket) {
  std::set<std::uint64_t> words;
  for (std::uint32_t lane = 0; lane < 16; ++lane)
    for (Ticket ticket = 1; ticket < 1000; ++ticket) {
      const std::uint64_t word = TimelineWord::make(kKey, lane, ticket, 0);
      EXPECT_TRUE(TimelineWord::is_marked(kKey, lane, word));
      words.insert(word);
    }
  EXPECT_GT(words.size(), 15'980U) << "of 15984, hardly any two are the same";
  const std::uint64_t word = TimelineWord::make(kKey, 1, 77, 0);
  EXPECT_FALSE(TimelineWord::is_marked(kKey, 2, word));
  EXPECT_FALSE(TimelineWord::is_marked(MarkKey(1), 1, word));
}

TEST(TimelineDeathTest, dies_when_it_would_shrink) {
  TestTimeline test;
  test.timeline.raise_to(7);
  EXPECT_DEATH(test.timeline.raise_to(6), "a timeline only grows");
}

}  // namespace
}  // namespace troupe::wire
