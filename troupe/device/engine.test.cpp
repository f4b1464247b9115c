#include <set>

#include "troupe/device/engine_fixture.test.hpp"

namespace troupe {
namespace {

TEST_F(EngineTest, suspects_all_ops_that_one_flag_may_stand_for) {
  for (int i = 0; i < 20; ++i) submit(0, nullptr, block());
  die_with_all_handed_in();
  EXPECT_EQ(engine.stats().reruns, wire::kMaxOpsPerFlag);
}

TEST_F(EngineTest, suspects_only_the_first_of_ops_that_cannot_be_run_again) {
  const detail::IntrusivePtr<detail::VaultBlock> block_in_place = block();
  const auto first = submit(0, block_in_place, block_in_place);
  const auto second = submit(0, block_in_place, block_in_place);
  die_with_all_handed_in();
  EXPECT_TRUE(first->settled()) << "it may have begun, and cannot be run again";
  EXPECT_FALSE(second->settled()) << "its flag comes before it";
  EXPECT_EQ(engine.stats().reruns, 0U);
}

TEST_F(EngineTest, does_not_take_an_op_for_begun_that_waits_for_another_lane) {
  const detail::IntrusivePtr<detail::VaultBlock> a = block();
  submit(2, nullptr, a);
  const auto in_place = submit(1, a, a);
  die_with_all_handed_in();
  EXPECT_FALSE(in_place->settled()) << "it had to wait for lane 2, so it is whole and can be run";
  EXPECT_EQ(engine.stats().reruns, 1U);
}

TEST_F(EngineTest, answers_whoever_waits_for_an_op_past_its_deadline_and_keeps_its_memory_until_the_reap) {
  const detail::IntrusivePtr<detail::VaultBlock> written = block();
  auto call = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
  op::encode(op::Nop{}, call->bytes);
  call->uses.add(written, {.range = written->range(), .writes = true, .whole = true});
  call->deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  engine.submit(call);
  const auto behind = submit(0, nullptr, block());
  channels[0].begin(0, 2);  // both are handed in, and the first one runs
  std::thread poller([&] { engine.poll_until_stopped(); });
  while (kills.load() == 0) std::this_thread::yield();
  engine.stop_polling();
  poller.join();

  EXPECT_FALSE(call->settled()) << "nobody has killed its worker yet";
  engine.answer_overdue(0, Error(ErrorKind::deadline_exceeded, "too long"));
  EXPECT_TRUE(call->settled());
  EXPECT_FALSE(behind->settled());
  engine.retire_active();
  EXPECT_FALSE(call->ended_in_engine) << "its kernel may still write";
  EXPECT_EQ(call->uses.all().size(), 1U);
  engine.reaped(0, Error(ErrorKind::deadline_exceeded));
  EXPECT_TRUE(call->ended_in_engine);
  EXPECT_TRUE(call->uses.all().empty());
  EXPECT_TRUE(written->is_tainted(written->range()));
  EXPECT_EQ(call->take().error().kind(), ErrorKind::deadline_exceeded);
  EXPECT_FALSE(behind->settled()) << "it goes to the next worker";
}

TEST_F(EngineTest, taints_by_whether_an_op_had_begun_and_not_by_the_kind_of_its_error) {
  std::thread poller([&] { engine.poll_until_stopped(); });
  for (const ErrorKind kind : {ErrorKind::invalid_argument, ErrorKind::cancelled, ErrorKind::unsupported,
                               ErrorKind::library_error, ErrorKind::out_of_memory})
    for (const bool had_begun : {false, true}) {
      const detail::IntrusivePtr<detail::VaultBlock> written = block();
      const auto call = submit(0, nullptr, written);
      const std::uint16_t failure =
          channels[0].write_reply(call->position, call->units, Error(kind, "it failed"), had_begun);
      wire::Timeline& timeline = channels[0].timeline(0);
      channels[0].begin(0, timeline.now() + 1);
      timeline.raise_to(timeline.now() + 1, failure);
      bell.ring();
      while (!call->settled()) std::this_thread::yield();
      EXPECT_EQ(call->take().error().kind(), kind);
      EXPECT_EQ(written->is_tainted(written->range()), had_begun) << name(kind);
    }
  engine.stop_polling();
  poller.join();
}

TEST_F(EngineTest, hands_on_what_a_dead_worker_had_not_begun_before_it_is_reaped) {
  const detail::IntrusivePtr<detail::VaultBlock> a = block();
  const auto cut_off = submit(0, nullptr, a);
  const auto reads_it = submit(1, a, block());
  const auto independent = submit(1, nullptr, block());
  channels[0].begin(0, 1);
  engine.retire_active(true);
  engine.take_over(1, 2);
  EXPECT_EQ(cut_off->stage, OpStage::ghost);
  EXPECT_EQ(reads_it->stage, OpStage::ready) << "it waits for the reap, as whatever is behind that op does";
  EXPECT_EQ(independent->stage, OpStage::in_ring);
  engine.reaped(0, Error(ErrorKind::worker_crashed), Blame::nobody_here);
  EXPECT_EQ(cut_off->stage, OpStage::in_ring);
  EXPECT_EQ(reads_it->stage, OpStage::in_ring);
}

TEST_F(EngineTest, tries_the_first_of_a_lane_after_those_that_need_not_wait_for_it) {
  const detail::IntrusivePtr<detail::VaultBlock> a = block();
  const auto first = submit(0, nullptr, a);
  const auto reads_it = submit(0, a, block());
  const auto independent = submit(0, nullptr, block());
  die_with_all_handed_in();
  for (const auto& next : {independent, first}) {
    engine.open(2, channels[2], doorbells[2]);
    ASSERT_TRUE(engine.try_suspect(2));
    EXPECT_EQ(next->stage, OpStage::on_trial);
    (void)engine.trial_failed(Error(ErrorKind::worker_crashed), true);
  }
  engine.open(2, channels[2], doorbells[2]);
  EXPECT_FALSE(engine.try_suspect(2));
  EXPECT_EQ(reads_it->take().error().kind(), ErrorKind::buffer_tainted);
}

TEST_F(EngineTest, tries_nothing_that_depends_on_what_had_not_begun) {
  const detail::IntrusivePtr<detail::VaultBlock> a = block(), b = block(), c = block(), d = block();
  submit(2, nullptr, a);
  submit(1, a, b);  // waits for lane 2
  submit(1, b, c);  // is behind it in its lane
  submit(3, c, d);  // waits for that
  die_with_all_handed_in();
  EXPECT_EQ(engine.stats().reruns, 1U) << "the others go to the next worker, in their order";
  engine.open(2, channels[2], doorbells[2]);
  ASSERT_TRUE(engine.try_suspect(2));
  EXPECT_FALSE(engine.has_suspects());
}

TEST_F(EngineTest, suspects_all_that_has_begun_in_a_worker_whose_words_cannot_be_true) {
  std::vector<detail::IntrusivePtr<detail::OpCall>> calls;
  for (int i = 0; i < 5; ++i) calls.push_back(submit(0, nullptr, block()));
  const detail::IntrusivePtr<detail::VaultBlock> in_place = block(), other_in_place = block();
  const auto updates = submit(1, in_place, in_place);
  const auto waits = submit(1, other_in_place, other_in_place);
  channels[0].begin(0, 4);
  channels[0].begin(1, 1);
  die_with_words_that_cannot_be_true();
  for (const auto& call : calls) EXPECT_FALSE(call->settled()) << "nothing is given for done";
  EXPECT_EQ(engine.stats().reruns, 4U);
  EXPECT_EQ(updates->take().error().kind(), ErrorKind::worker_crashed) << "it may have begun, and cannot be run again";
  EXPECT_TRUE(in_place->is_tainted(in_place->range()));
  EXPECT_FALSE(waits->settled()) << "it has not begun, by a word of its own";
}

TEST_F(EngineTest, suspects_everything_in_a_worker_whose_words_were_wiped_out) {
  for (int i = 0; i < 5; ++i) submit(0, nullptr, block());
  const detail::IntrusivePtr<detail::VaultBlock> in_place = block();
  const auto updates = submit(1, in_place, in_place);
  for (wire::LaneStatus& lane : channels[0].status().lanes) lane.begun.store(0);
  die_with_words_that_cannot_be_true();
  EXPECT_EQ(engine.stats().reruns, 5U);
  EXPECT_EQ(updates->take().error().kind(), ErrorKind::worker_crashed);
  EXPECT_TRUE(in_place->is_tainted(in_place->range()));
}

// Nobody knows whether the first op was done, and so whether the second one has run.
TEST_F(EngineTest, runs_no_op_again_whose_input_another_one_may_have_written_since) {
  const detail::IntrusivePtr<detail::VaultBlock> a = block(), b = block();
  const auto copies = submit(0, a, b);
  const auto fills = submit(1, nullptr, a);
  for (const std::uint32_t lane : {0U, 1U}) channels[0].begin(lane, 1);
  die_with_words_that_cannot_be_true();
  EXPECT_EQ(copies->take().error().kind(), ErrorKind::worker_crashed);
  EXPECT_TRUE(b->is_tainted(b->range()));
  EXPECT_FALSE(fills->settled());
  EXPECT_EQ(engine.stats().reruns, 1U);
}

TEST_F(EngineTest, runs_no_op_again_that_would_hide_that_another_one_behind_it_was_cut_off) {
  const detail::IntrusivePtr<detail::VaultBlock> a = block();
  const auto fills = submit(0, nullptr, a);
  const auto updates = submit(1, a, a);
  for (const std::uint32_t lane : {0U, 1U}) channels[0].begin(lane, 1);
  die_with_words_that_cannot_be_true();
  EXPECT_EQ(fills->take().error().kind(), ErrorKind::worker_crashed);
  EXPECT_EQ(updates->take().error().kind(), ErrorKind::worker_crashed);
  EXPECT_TRUE(a->is_tainted(a->range()));
  EXPECT_FALSE(engine.has_suspects());
}

TEST_F(EngineTest, suspects_everything_when_a_worker_dies_and_its_words_of_what_had_begun_were_wiped_out) {
  const auto call = submit(0, nullptr, block());
  channels[0].begin(0, 1);
  channels[0].status().lanes[0].begun.store(42);
  engine.retire_active();
  engine.take_over(1, 2);
  engine.reaped(0, Error(ErrorKind::worker_crashed));
  EXPECT_EQ(engine.stats().reruns, 1U);
}

// What the app knows counts, not what the dead worker has said.
TEST_F(EngineTest, tries_an_op_alone_that_was_in_too_many_workers_that_died) {
  const auto call = submit(0, nullptr, block());
  for (int death = 1; death <= kMaxTimesResent + 1; ++death) {
    const std::uint32_t dead = static_cast<std::uint32_t>((death - 1) % 2), next = 1 - dead;
    EXPECT_FALSE(engine.has_suspects()) << "after " << death - 1;
    engine.retire_active();
    engine.take_over(next, death + 1);
    engine.reaped(dead, Error(ErrorKind::worker_crashed));
    channels[dead] = value(wire::Channel::create(kUnits));
    engine.open(dead, channels[dead], doorbells[dead]);
  }
  EXPECT_TRUE(engine.has_suspects());
  EXPECT_FALSE(call->settled());
}

TEST_F(EngineTest, answers_an_op_in_time_behind_one_that_does_not_end_and_stops_the_worker_when_nothing_moves) {
  const auto hung = submit(0, nullptr, block());
  auto behind = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
  op::encode(op::Nop{}, behind->bytes);
  const detail::IntrusivePtr<detail::VaultBlock> written = block();
  behind->uses.add(written, {.range = written->range(), .writes = true, .whole = true});
  behind->deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  engine.submit(behind);
  channels[0].begin(0, 2);  // both are handed in, as a GPU's are
  std::thread poller([&] { engine.poll_until_stopped(); });
  while (!behind->settled()) std::this_thread::yield();
  EXPECT_EQ(behind->take().error().message(), "the deadline passed before the op began; ahead of it was control.nop");
  EXPECT_EQ(kills.load(), 0) << "the other may still end";
  while (kills.load() == 0) std::this_thread::yield();
  engine.stop_polling();
  poller.join();
  EXPECT_TRUE(engine.runs_overdue(0));
  EXPECT_FALSE(hung->settled());
  engine.retire_active();
  engine.take_over(1, 2);
  engine.reaped(0, Error(ErrorKind::deadline_exceeded, "the worker was stopped"));
  EXPECT_FALSE(written->is_tainted(written->range())) << "it had not begun";
  EXPECT_FALSE(hung->settled());
  engine.open(2, channels[2], doorbells[2]);
  ASSERT_TRUE(engine.try_suspect(2)) << "it is tried alone";
  EXPECT_NE(hung->deadline, TimePoint::max()) << "and not for ever";
}

// See WorkerSession::withdraw_unbegun: a worker that lives after all finds an op that it has just begun asked back.
TEST_F(EngineTest, runs_an_op_again_that_a_worker_let_be_because_it_was_asked_back) {
  const auto written = block();
  const auto call = submit(0, nullptr, written);
  channels[0].begin(0, 1);
  engine.retire_active();
  const std::uint16_t failure =
      channels[0].write_reply(call->position, call->units, Error(ErrorKind::cancelled), false);
  channels[0].timeline(0).raise_to(1, failure);
  engine.take_over(1, 2);
  engine.reaped(0, Error(ErrorKind::worker_crashed), Blame::nobody_here);
  EXPECT_FALSE(call->settled()) << "nobody has cancelled it";
  EXPECT_FALSE(written->is_tainted(written->range()));
  channels[1].begin(0, 1);
  channels[1].timeline(0).raise_to(1);
  std::thread poller([&] { engine.poll_until_stopped(); });
  while (!call->settled()) std::this_thread::yield();
  engine.stop_polling();
  poller.join();
  EXPECT_TRUE(call->take());
}

// It was held back because it reads something unknown: that its worker let it be is how it ended, and whoever ran on
// what it would have written has read what was there before.
TEST_F(EngineTest, takes_no_op_for_well_that_read_what_an_op_held_back_has_not_written) {
  const auto unknown = block(), unwritten = block(), written = block();
  unknown->taint(unknown->range(), Error(ErrorKind::worker_crashed));
  const auto held_back = submit(0, unknown, unwritten);
  const auto reader = submit(1, unwritten, written);
  engine.retire_active();
  for (const std::uint32_t lane : {0U, 1U}) channels[0].begin(lane, 1);
  const std::uint16_t failure =
      channels[0].write_reply(held_back->position, held_back->units, Error(ErrorKind::cancelled), false);
  channels[0].timeline(0).raise_to(1, failure);
  channels[0].timeline(1).raise_to(1);
  engine.take_over(1, 2);
  engine.reaped(0, Error(ErrorKind::worker_crashed), Blame::nobody_here);
  ASSERT_TRUE(held_back->settled());
  ASSERT_TRUE(reader->settled());
  EXPECT_EQ(held_back->take().error().kind(), ErrorKind::buffer_tainted);
  EXPECT_EQ(reader->take().error().kind(), ErrorKind::buffer_tainted);
}

TEST_F(EngineTest, takes_no_op_for_well_that_read_what_an_op_wrote_whose_end_nobody_knows) {
  const auto first = block(), second = block(), third = block(), in_place = block();
  const auto failed = submit(0, nullptr, first);  // and its reply cannot be believed
  const auto reader = submit(1, first, second);
  const auto reader_of_that = submit(2, second, third);
  auto update = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
  update->lane = 3;
  op::encode(op::Nop{}, update->bytes);
  update->uses.add(third, {.range = third->range(), .reads = true});
  update->uses.add(in_place, {.range = in_place->range(), .reads = true, .writes = true});
  engine.submit(update);
  const auto apart = submit(4, nullptr, block());
  for (const std::uint32_t lane : {0U, 1U, 2U, 3U, 4U}) channels[0].begin(lane, 1);
  for (const std::uint32_t lane : {1U, 2U, 3U, 4U}) channels[0].timeline(lane).raise_to(1);
  die_with_words_that_cannot_be_true();
  for (const auto& call : {failed, reader, reader_of_that}) EXPECT_FALSE(call->settled()) << "it can be run again";
  ASSERT_TRUE(update->settled());
  EXPECT_EQ(update->take().error().kind(), ErrorKind::worker_crashed);
  EXPECT_TRUE(in_place->is_tainted(in_place->range()));
  ASSERT_TRUE(apart->settled());
  EXPECT_TRUE(apart->take());
}

TEST_F(EngineTest, keeps_a_chain_on_its_lane_and_takes_another_one_for_what_depends_on_nothing_under_way) {
  const auto add = [&](const detail::IntrusivePtr<detail::VaultBlock>& reads,
                       const detail::IntrusivePtr<detail::VaultBlock>& writes) {
    return submit(0, reads, writes, true)->lane;
  };
  const auto ready = block(), first = block(), second = block(), third = block();
  const std::uint32_t lane = add(ready, first);
  const std::uint32_t other = add(ready, third);
  EXPECT_NE(lane, other) << "nothing that they read is under way";
  EXPECT_EQ(add(first, second), lane);
  EXPECT_EQ(add(second, second), lane);
  EXPECT_EQ(add(third, nullptr), other);
  EXPECT_EQ(add(nullptr, first), lane) << "it waits for those that read it, and they are there";
  std::set<std::uint32_t> lanes;
  for (int i = 0; i < 8; ++i) lanes.insert(add(ready, block()));
  EXPECT_EQ(lanes.size(), 3U);
  EXPECT_FALSE(lanes.contains(lane)) << "it is for those that find nothing under way";
}

TEST_F(EngineTest, does_not_follow_a_copy_from_the_app) {
  const auto uploaded = block(), result = block();
  constexpr std::uint32_t kOfCopies = op::lane_of(op::Family::memory);
  submit(kOfCopies, nullptr, uploaded);
  EXPECT_NE(submit(0, uploaded, result, true)->lane, kOfCopies) << "the next copy need not wait for it";
}

}  // namespace
}  // namespace troupe
