#include "troupe/device/session.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace troupe {
namespace {

constexpr std::uint64_t kUnits = 256;

class Session : public ::testing::Test {
 protected:
  Session() { session.open(channel, doorbell); }

  /// An op whose record takes so many units, entered where the last one ended.
  detail::OpCall& enter(std::uint64_t units, std::uint32_t lane = 0) {
    detail::OpCall& call = calls.emplace_back();
    const std::vector<std::byte> bytes(units * wire::kUnitBytes - sizeof(wire::RecordHeader));
    call.bytes.put_bytes(bytes);
    call.lane = lane;
    const wire::RingSlot slot = wire::Ring::slot_at(tail, bytes.size(), kUnits);
    tail = slot.end();
    session.enter(call, slot);
    return call;
  }
  /// The worker has done the next op of the lane.
  void do_next(std::uint32_t lane = 0) { channel.status().lanes[lane].timeline.raise_to(++raised[lane]); }
  /// What the poller does, until nothing is new.
  std::vector<detail::OpCall*> poll() {
    session.scan();
    const std::vector<detail::OpCall*> done = session.take_done();
    for (detail::OpCall* call : done) session.leave(*call);
    session.free_places();
    return done;
  }

  std::deque<detail::OpCall> calls;
  wire::Channel channel = value(wire::Channel::create(kUnits));
  wire::Bell doorbell;
  WorkerSession session;
  wire::Position tail = 0;
  std::array<wire::Ticket, wire::kMaxLanes> raised{};
};

TEST_F(Session, gives_ops_back_in_ring_order_once_their_timelines_cover_them) {
  detail::OpCall& first = enter(1, 0);
  detail::OpCall& second = enter(2, 1);
  detail::OpCall& third = enter(1, 0);
  EXPECT_TRUE(poll().empty());
  do_next(1);
  EXPECT_EQ(poll(), std::vector{&second});
  EXPECT_EQ(session.head(), 0U) << "slots are freed in order";
  do_next(0);
  do_next(0);
  EXPECT_EQ(poll(), (std::vector{&first, &third}));
  EXPECT_EQ(session.head(), 4U);
  EXPECT_TRUE(session.empty());
}

// The app comes by a skip at its own time; the worker, who has to find the way to the record behind it, perhaps later.
TEST_F(Session, keeps_a_skip_until_the_record_behind_it_is_done) {
  for (int i = 0; i < 2; ++i) {
    enter(120);
    do_next();
  }
  EXPECT_EQ(poll().size(), 2U);
  enter(12);  // ends 4 units before the ring does
  detail::OpCall& behind = enter(12);
  EXPECT_EQ(behind.position, kUnits);
  do_next();
  EXPECT_EQ(poll().size(), 1U);
  const auto skip = channel.ring().at(252);
  ASSERT_TRUE(skip && skip->skip) << "the worker is not past it";
  EXPECT_EQ(session.head(), 252U);
  EXPECT_TRUE(poll().empty());
  ASSERT_TRUE(channel.ring().at(252));
  do_next();
  EXPECT_EQ(poll(), std::vector{&behind});
  EXPECT_EQ(session.head(), kUnits + 12);
}

TEST_F(Session, forgets_what_is_left_of_a_dead_worker) {
  detail::OpCall& first = enter(1, 1);
  detail::OpCall& second = enter(1, 0);
  do_next(0);
  session.scan();
  EXPECT_TRUE(session.covers(second));
  EXPECT_FALSE(session.covers(first));
  EXPECT_EQ(session.take_done(), std::vector{&second});
  EXPECT_EQ(session.take_rest(), std::vector{&first});
  EXPECT_TRUE(session.empty());
}

}  // namespace
}  // namespace troupe
