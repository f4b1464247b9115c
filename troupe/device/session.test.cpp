#include "troupe/device/session.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

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
  void do_next(std::uint32_t lane = 0, std::uint16_t failure = 0) {
    channel.timeline(lane).raise_to(++raised[lane], failure);
  }
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
  EXPECT_EQ(session.take_done(), std::vector{&second});
  EXPECT_TRUE(session.covers(second));
  EXPECT_FALSE(session.covers(first));
  EXPECT_EQ(session.retire(), std::vector{&first});
  session.forget_ops();
  EXPECT_TRUE(session.empty());
}

// ---- words that cannot be true ----

TEST_F(Session, takes_nothing_for_done_by_a_word_that_its_worker_did_not_write) {
  const wire::MarkKey key(7);
  const wire::TimelineWords words(key, 0, kUnits);
  const std::vector<std::uint32_t> lies{
      0,
      ~std::uint32_t{0},
      words.make(1, 0) + words.least(1),               // one op more
      words.make(1, 0) + 1,                            // another mark
      words.make(0, 0),                                // one that was good once
      words.make(3, 0),                                // more than there are
      words.make(2 + 4 * kUnits, 0),                   // looks as one of those that there are
      wire::TimelineWords(key, 1, kUnits).make(2, 0),  // another lane's
      words.make(2, 1),                                // a failure that nobody has
      wire::TimelineWords(wire::MarkKey(1), 0, kUnits).make(2, 0),
  };
  for (const std::uint32_t lie : lies) {
    WorkerSession believer;
    wire::Channel own = value(wire::Channel::create(kUnits, key));
    believer.open(own, doorbell);
    for (wire::Position position = 0; position < 2; ++position) {
      detail::OpCall& call = calls.emplace_back();
      call.bytes.put(std::uint64_t{0});
      believer.enter(call, {.begin = position, .skip = 0, .units = 1});
    }
    believer.scan();
    own.timeline(0).raise_to(1);
    EXPECT_EQ(believer.take_done().size(), 1U);
    own.status().lanes[0].timeline.store(lie);
    EXPECT_TRUE(believer.take_done().empty());
    ASSERT_TRUE(believer.contradiction()) << std::hex << lie;
    EXPECT_EQ(believer.contradiction()->kind(), ErrorKind::worker_crashed);
    EXPECT_NE(believer.contradiction_to_tell(), nullptr);
    EXPECT_EQ(believer.contradiction_to_tell(), nullptr) << "once";
    own.timeline(0).raise_to(2);
    EXPECT_TRUE(believer.take_done().empty()) << "who has lied is not believed again";
    EXPECT_TRUE(believer.may_have_begun(calls.back())) << "and may have begun anything";
  }
}

TEST_F(Session, believes_none_of_100000_stray_words) {
  constexpr wire::Ticket kDone = 3, kOps = 50;
  const wire::MarkKey key(7);
  wire::Channel own = value(wire::Channel::create(kUnits, key));
  WorkerSession believer;
  std::deque<detail::OpCall> ops(kOps);
  for (detail::OpCall& call : ops) call.bytes.put(std::uint64_t{0});
  const std::uint32_t good = own.timeline_words(0).make(kDone, 0);
  int believed = 0;
  const auto tell = [&](std::uint32_t lie) {
    if (lie == good) return;
    believer.open(own, doorbell);
    for (wire::Ticket i = 0; i < kOps; ++i) believer.enter(ops[i], {.begin = i, .skip = 0, .units = 1});
    believer.scan();
    own.status().lanes[0].timeline.store(good);
    ASSERT_EQ(believer.take_done().size(), kDone);
    own.status().lanes[0].timeline.store(lie);
    believed += !believer.take_done().empty() || !believer.contradiction();
  };
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) tell(static_cast<std::uint32_t>(random()));
  EXPECT_EQ(believed, 0);
  for (unsigned bit = 0; bit < 32; ++bit) tell(good ^ 1U << bit);
  for (wire::Ticket more = 1; more < kOps; ++more) tell(good + own.timeline_words(0).least(more));
  for (unsigned byte = 0; byte < 4; ++byte)
    for (std::uint32_t other = 0; other < 256; ++other) tell((good & ~(0xffU << 8 * byte)) | other << 8 * byte);
  EXPECT_EQ(believed, 0) << "a bit, a ticket or a byte that is another one";
}

TEST_F(Session, believes_its_worker_when_the_tickets_in_its_words_wrap) {
  std::mt19937 random(2);
  std::array<std::deque<detail::OpCall*>, 3> under_way;
  std::size_t done = 0, failed = 0;
  while (done < 20 * kUnits) {
    const auto lane = static_cast<std::uint32_t>(random() % under_way.size());
    if (tail - session.head() < kUnits - 1 && random() % 2 == 0) {
      under_way[lane].push_back(&enter(1, lane));
      continue;
    }
    for (auto left = random() % (under_way[lane].size() + 1); left > 0; --left) {
      const detail::OpCall& call = *under_way[lane].front();
      under_way[lane].pop_front();
      const bool fails = random() % 10 == 0;
      failed += fails;
      do_next(lane, fails ? channel.write_reply(call.position, call.units, Error(ErrorKind::library_error)) : 0);
    }
    for (const detail::OpCall* call : poll()) {
      ++done;
      failed -= call->failure != nullptr;
    }
    ASSERT_FALSE(session.contradiction()) << session.contradiction()->to_string();
  }
  EXPECT_EQ(failed, 0U) << "each is known to whom it befell";
  for (std::uint32_t lane = 0; lane < under_way.size(); ++lane) EXPECT_GT(raised[lane], 4 * kUnits);
}

TEST_F(Session, believes_no_lane_of_a_look_in_which_one_lies) {
  detail::OpCall& first = enter(1, 1);
  enter(1, 2);
  do_next(1);
  channel.status().lanes[2].timeline.store(12345);
  EXPECT_TRUE(poll().empty());
  EXPECT_TRUE(session.contradiction());
  EXPECT_FALSE(first.is_done) << "it may have waited for one that is not done";
  EXPECT_EQ(session.retire().size(), 2U);
}

TEST_F(Session, notices_a_reply_that_was_wiped_out_or_forged) {
  for (const bool is_forged : {false, true}) {
    WorkerSession believer;
    wire::Channel own = value(wire::Channel::create(kUnits));
    believer.open(own, doorbell);
    detail::OpCall& call = calls.emplace_back();
    call.bytes.put(std::uint64_t{0});
    believer.enter(call, {.begin = 0, .skip = 0, .units = 1});
    believer.scan();
    const std::uint16_t failure = own.write_reply(0, 1, Error(ErrorKind::library_error, "it failed"), true);
    own.timeline(0).raise_to(1, failure);
    if (is_forged)
      (void)own.write_reply(0, 1, Error(ErrorKind::cancelled), false);
    else
      (void)own.take_failure(0, 1);
    EXPECT_TRUE(believer.take_done().empty());
    EXPECT_TRUE(believer.contradiction());
  }
}

TEST_F(Session, takes_an_op_for_handed_in_when_that_word_was_overwritten) {
  detail::OpCall& call = enter(1);
  session.scan();
  EXPECT_FALSE(session.may_have_begun(call));
  channel.status().lanes[0].begun.store(77);
  EXPECT_TRUE(session.may_have_begun(call));
  EXPECT_FALSE(session.cancel(call)) << "it may run";
}

}  // namespace
}  // namespace troupe
