#include "troupe/device/session.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

namespace troupe {
namespace {

constexpr std::uint64_t kUnits = 256;

class Session : public ::testing::Test {
 protected:
  Session() { session.open(channel, doorbell); }

  /// An op whose record takes that many units, entered where the last one ended.
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
  void do_next(std::uint32_t lane = 0) { channel.timeline(lane).raise_to(++raised[lane]); }
  /// What the poller does, until nothing is new.
  std::vector<detail::OpCall*> poll() {
    session.scan();
    const std::vector<detail::OpCall*> done = session.take_done();
    for (detail::OpCall* call : done) session.leave(*call);
    session.free_places();
    return done;
  }

  /// As it was at first.
  void start_again() {
    session.close();
    calls.clear();
    channel = value(wire::Channel::create(kUnits));
    tail = 0;
    raised = {};
    session.open(channel, doorbell);
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

// App and worker pass a skip at different times; the worker, which must find the record after it, perhaps later.
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

TEST_F(Session, gives_up_what_its_worker_has_not_begun_and_keeps_the_rest) {
  detail::OpCall& done = enter(1, 0);
  detail::OpCall& runs = enter(1, 0);
  detail::OpCall& waits = enter(1, 0);
  detail::OpCall& also_waits = enter(1, 2);
  session.scan();
  channel.begin(0, 2);
  do_next(0);
  EXPECT_EQ(poll(), std::vector{&done});
  EXPECT_EQ(session.retire(), (std::vector{&runs, &waits, &also_waits}));
  session.withdraw_unbegun();
  EXPECT_EQ(runs.session, &session);
  for (const detail::OpCall* call : {&waits, &also_waits}) {
    EXPECT_EQ(call->session, nullptr);
    EXPECT_EQ(*channel.ring().at(call->position)->cancelled, 1U) << "a worker that lives after all must not begin it";
  }
  do_next(0);
  session.take_last_done();
  EXPECT_TRUE(runs.is_done);
  EXPECT_FALSE(session.contradiction());
}

/// A worker that lives: takes ops in ring order, says that one begins, looks whether it is wanted, and runs it.
class LivingWorker {
 public:
  LivingWorker(wire::Channel& channel, const std::vector<detail::OpCall*>& ops)
      : ran_(ops.size()), thread_([this, &channel, ops] {
          for (std::size_t i = 0; i < ops.size(); ++i) {
            channel.begin(ops[i]->lane, ops[i]->ticket);
            ran_[i] = channel.ring().at(ops[i]->position)->cancelled->load(std::memory_order_seq_cst) == 0;
            count_.store(i + 1);
          }
        }) {}
  void wait_until_past(std::size_t count) const {
    while (count_.load() < count) std::this_thread::yield();
  }
  /// Which it ran, when it is through.
  const std::deque<bool>& ran() {
    thread_.join();
    return ran_;
  }

 private:
  std::deque<bool> ran_;
  std::atomic<std::size_t> count_{0};
  std::thread thread_;
};

TEST_F(Session, gives_up_nothing_that_a_worker_runs_though_it_was_taken_for_dead) {
  for (std::size_t round = 0; round < 200; ++round) {
    start_again();
    std::vector<detail::OpCall*> ops;
    for (std::uint32_t i = 0; i < 64; ++i) ops.push_back(&enter(1, i % 3));
    session.scan();
    LivingWorker worker(channel, ops);
    worker.wait_until_past(round % 60);
    (void)session.retire();
    session.withdraw_unbegun();
    const std::deque<bool>& ran = worker.ran();
    bool any_left_out = false;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      ASSERT_FALSE(ran[i] && ops[i]->session == nullptr) << "op " << i << " would run twice";
      ASSERT_FALSE(ran[i] && any_left_out) << "op " << i << " may need what was left out";
      any_left_out = any_left_out || !ran[i];
    }
  }
}

// The worker may live, let the first op be, and take that for its end: the second one must not run on it.
TEST_F(Session, asks_back_what_nobody_knows_to_have_begun_but_does_not_give_it_up) {
  const detail::OpCall& known = enter(1, 0);
  const detail::OpCall& unknown = enter(1, 1);
  session.scan();
  channel.status().lanes[1].begun.store(~std::uint64_t{0});
  (void)session.retire();
  session.withdraw_unbegun();
  EXPECT_EQ(known.session, nullptr);
  EXPECT_EQ(unknown.session, &session);
  for (const detail::OpCall* call : {&known, &unknown}) EXPECT_EQ(*channel.ring().at(call->position)->cancelled, 1U);
}

TEST_F(Session, does_not_believe_a_lane_that_goes_on_with_what_was_taken_back) {
  detail::OpCall& runs = enter(1, 0);
  enter(1, 0);  // waits
  detail::OpCall& elsewhere = enter(1, 1);
  session.scan();
  for (const std::uint32_t lane : {0U, 1U}) channel.begin(lane, 1);
  (void)session.retire();
  session.withdraw_unbegun();
  do_next(0);
  do_next(0);
  do_next(1);
  session.take_last_done();
  EXPECT_FALSE(session.knows_what_was_done(0));
  EXPECT_FALSE(runs.is_done);
  EXPECT_TRUE(elsewhere.is_done);
}

// ---- words that cannot be true ----

TEST_F(Session, takes_nothing_for_done_by_a_word_that_its_worker_did_not_write) {
  const std::vector<std::uint64_t> lies{
      std::uint64_t{0},
      ~std::uint64_t{0},
      wire::TimelineWord::make(channel.key(), 0, 1, 0) + (std::uint64_t{1} << 32),  // one op more
      wire::TimelineWord::make(channel.key(), 0, 3, 0),                             // more than there are
      wire::TimelineWord::make(channel.key(), 1, 2, 0),                             // another lane's
      wire::TimelineWord::make(channel.key(), 0, 2, 1),                             // a failure that nobody has
      wire::TimelineWord::make(wire::MarkKey(1), 0, 2, 0),
  };
  for (const std::uint64_t lie : lies) {
    WorkerSession believer;
    wire::Channel own = value(wire::Channel::create(kUnits));
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
    own.begin(0, 2);
    EXPECT_TRUE(believer.may_have_begun(calls.back()));
    own.timeline(0).raise_to(2);
    EXPECT_TRUE(believer.take_done().empty()) << "who has lied is not believed again";
    believer.take_last_done();
    EXPECT_TRUE(calls.back().is_done) << "but for what is proven when it is dead";
  }
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
