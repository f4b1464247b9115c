#include "troupe/worker/range_tracker.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace troupe::worker {
namespace {

using op::Touch;

Touch read_of(op::Address begin, op::Address end) { return {.range = {begin, end}, .reads = true}; }
Touch write_of(op::Address begin, op::Address end) { return {.range = {begin, end}, .writes = true, .whole = true}; }
Touch update_of(op::Address begin, op::Address end) { return {.range = {begin, end}, .reads = true, .writes = true}; }

/// Lane and ticket of what an op must wait for.
using Waits = std::map<std::uint32_t, wire::Ticket>;

/// A tracker, the timelines it looks at, and the tickets of each lane.
struct TestTracker {
  wire::Channel channel = value(wire::Channel::create(64));
  RangeTracker tracker{channel};
  std::array<wire::Ticket, wire::kMaxLanes> issued{};

  Waits add(std::uint32_t lane, const std::vector<Touch>& touches) {
    backend::Work work;
    work.lane = lane;
    work.ticket = ++issued[lane];
    work.waits = 0xffff;  // whatever it was before
    tracker.add(work, touches);
    Waits waits;
    for (std::uint32_t other = 0; other < 32; ++other)
      if ((work.waits >> other & 1) != 0) waits[other] = work.after.at(other);
    return waits;
  }
  void finish(std::uint32_t lane, wire::Ticket ticket) { channel.timeline(lane).raise_to(ticket); }
};

TEST(RangeTracker, makes_a_read_wait_for_the_write_before_it) {
  TestTracker test;
  EXPECT_EQ(test.add(0, {write_of(100, 200)}), Waits());
  EXPECT_EQ(test.add(1, {read_of(199, 300)}), Waits({{0, 1}}));
  EXPECT_EQ(test.add(2, {read_of(200, 300)}), Waits()) << "beside it";
  EXPECT_EQ(test.add(3, {read_of(0, 100)}), Waits());
}

TEST(RangeTracker, makes_a_write_wait_for_the_read_before_it) {
  TestTracker test;
  test.add(0, {read_of(100, 200)});
  EXPECT_EQ(test.add(1, {write_of(150, 160)}), Waits({{0, 1}}));
}

TEST(RangeTracker, says_when_an_op_writes_what_its_lane_has_just_read) {
  TestTracker test;
  const auto begins_anew = [&](std::uint32_t lane, const std::vector<Touch>& touches) {
    backend::Work work;
    work.lane = lane;
    work.ticket = ++test.issued[lane];
    test.tracker.add(work, touches);
    return work.begins_anew;
  };
  EXPECT_FALSE(begins_anew(0, {read_of(100, 200), write_of(300, 400)}));
  EXPECT_FALSE(begins_anew(0, {read_of(300, 400)})) << "what was written can be read, or written again, in order";
  EXPECT_TRUE(begins_anew(0, {write_of(150, 160)}));
  EXPECT_FALSE(begins_anew(1, {write_of(100, 200)})) << "lanes wait for each other in another way";
  for (wire::Ticket i = 0; i < wire::kMaxOpsPerFlag - 1; ++i) EXPECT_FALSE(begins_anew(0, {write_of(500, 600)}));
  EXPECT_FALSE(begins_anew(0, {write_of(350, 360)})) << "there was a flag in between";
}

TEST(RangeTracker, makes_a_write_wait_for_the_write_before_it) {
  TestTracker test;
  test.add(0, {write_of(100, 200)});
  EXPECT_EQ(test.add(1, {write_of(100, 200)}), Waits({{0, 1}}));
  EXPECT_EQ(test.add(2, {update_of(0, 101)}), Waits({{0, 1}, {1, 1}}));
}

TEST(RangeTracker, lets_reads_overlap) {
  TestTracker test;
  for (std::uint32_t lane = 0; lane < wire::kMaxLanes; ++lane) EXPECT_EQ(test.add(lane, {read_of(100, 200)}), Waits());
}

TEST(RangeTracker, needs_no_wait_within_a_lane) {
  TestTracker test;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(test.add(4, {update_of(100, 200)}), Waits());
}

TEST(RangeTracker, waits_for_the_latest_conflicting_op_of_each_lane_only) {
  TestTracker test;
  test.add(0, {write_of(100, 200)});
  test.add(0, {write_of(100, 200)});
  test.add(0, {write_of(500, 600)});
  test.add(1, {read_of(100, 110)});
  test.add(1, {read_of(300, 310)});
  EXPECT_EQ(test.add(2, {write_of(100, 200)}), Waits({{0, 2}, {1, 1}}));
}

TEST(RangeTracker, looks_at_every_touch_of_an_op) {
  TestTracker test;
  test.add(0, {read_of(0, 10), read_of(20, 30), write_of(40, 50)});
  EXPECT_EQ(test.add(1, {read_of(0, 10), read_of(20, 30)}), Waits());
  EXPECT_EQ(test.add(2, {read_of(60, 70), read_of(45, 46)}), Waits({{0, 1}}));
  EXPECT_EQ(test.add(3, {write_of(60, 61), write_of(25, 26)}), Waits({{0, 1}, {1, 1}, {2, 1}}));
}

TEST(RangeTracker, forgets_what_is_finished) {
  TestTracker test;
  test.add(0, {write_of(100, 200)});
  test.add(0, {write_of(300, 400)});
  test.finish(0, 1);
  EXPECT_EQ(test.add(1, {read_of(100, 200)}), Waits());
  EXPECT_EQ(test.add(2, {read_of(300, 400)}), Waits({{0, 2}}));
  test.finish(0, 2);
  EXPECT_EQ(test.add(3, {read_of(300, 400)}), Waits());
}

TEST(RangeTracker, has_nothing_to_do_with_ops_that_touch_nothing) {
  TestTracker test;
  test.add(0, {write_of(100, 200)});
  EXPECT_EQ(test.add(1, {}), Waits());
  EXPECT_EQ(test.add(2, {read_of(100, 200)}), Waits({{0, 1}})) << "and the ticket of an op in between counts";
}

TEST(RangeTracker, remembers_a_backlog_of_any_length) {
  TestTracker test;
  constexpr wire::Ticket kOps = 1000;
  const auto place = [](wire::Ticket i) { return op::Address{16} * i; };
  for (wire::Ticket i = 1; i <= kOps; ++i) test.add(0, {write_of(place(i), place(i + 1))});
  for (wire::Ticket i = 1; i <= kOps; i += 37)
    EXPECT_EQ(test.add(1, {read_of(place(i), place(i) + 1)}), Waits({{0, i}}));
}

TEST(RangeTracker, compares_tickets_across_their_wrap) {
  TestTracker test;
  test.finish(0, 0x7fffffffU);
  test.finish(0, 0xfffffffdU);
  test.issued[0] = 0xfffffffdU;
  for (int i = 0; i < 6; ++i)
    test.add(0, {write_of(static_cast<op::Address>(i) * 10, static_cast<op::Address>(i) * 10 + 10)});
  test.finish(0, 0xffffffffU);
  EXPECT_EQ(test.add(1, {read_of(0, 20)}), Waits());
  EXPECT_EQ(test.add(1, {read_of(0, 30)}), Waits({{0, 0}}));
  EXPECT_EQ(test.add(1, {read_of(0, 60)}), Waits({{0, 3}}));
}

// ---- against a model that remembers everything ----

class Model {
 public:
  Waits add(std::uint32_t lane, wire::Ticket ticket, const std::vector<Touch>& touches,
            const std::array<wire::Ticket, wire::kMaxLanes>& finished) {
    Waits waits;
    for (const Op& op : ops_) {
      if (op.lane == lane || op.ticket <= finished[op.lane] || !conflict(op.touches, touches)) continue;
      waits[op.lane] = op.ticket;  // a later one comes later
    }
    ops_.push_back({lane, ticket, touches});
    return waits;
  }

 private:
  struct Op {
    std::uint32_t lane;
    wire::Ticket ticket;
    std::vector<Touch> touches;
  };
  static bool conflict(const std::vector<Touch>& a, const std::vector<Touch>& b) {
    for (const Touch& x : a)
      for (const Touch& y : b)
        for (op::Address byte = x.range.begin; byte < x.range.end; ++byte)
          if (y.range.begin <= byte && byte < y.range.end && (x.writes || y.writes)) return true;
    return false;
  }
  std::vector<Op> ops_;
};

TEST(RangeTracker, agrees_with_a_model_that_remembers_every_byte) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::uint32_t lanes = 1 + static_cast<std::uint32_t>(random() % wire::kMaxLanes);
    const std::uint64_t memory = 20 + random() % 200;
    const std::uint64_t haste = 1 + random() % 6;  // how far lanes fall behind
    TestTracker test;
    Model model;
    std::array<wire::Ticket, wire::kMaxLanes> finished{};
    for (int step = 0; step < 400; ++step) {
      const auto lane = static_cast<std::uint32_t>(random() % lanes);
      std::vector<Touch> touches(random() % 4);
      for (Touch& touch : touches) {
        touch.range.begin = random() % memory;
        touch.range.end = touch.range.begin + 1 + random() % 12;
        touch.writes = random() % 3 == 0;
        touch.reads = !touch.writes || random() % 2 == 0;
      }
      const Waits waits = test.add(lane, touches);
      ASSERT_EQ(waits, model.add(lane, test.issued[lane], touches, finished)) << "step " << step;
      for (std::uint32_t other = 0; other < lanes; ++other) {
        if (random() % haste != 0) continue;
        finished[other] += static_cast<wire::Ticket>(random() % (test.issued[other] - finished[other] + 1));
        test.finish(other, finished[other]);
      }
    }
  }
}

}  // namespace
}  // namespace troupe::worker
