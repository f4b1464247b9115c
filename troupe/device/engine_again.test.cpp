// Ops that a worker had begun when it died: who is run again, alone or not, and who is not.
#include "troupe/device/engine_fixture.test.hpp"
#include "troupe/op/plugin.hpp"

namespace troupe {
namespace {

TEST_F(EngineTest, answers_in_time_for_an_op_whose_only_run_was_a_trial_that_was_cut_off) {
  auto call = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
  op::encode(op::Nop{}, call->bytes);
  call->deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  engine.submit(call);
  begin_its_trial();
  (void)engine.trial_failed(Error(ErrorKind::worker_crashed, "killed from outside"), false);
  ASSERT_TRUE(engine.has_suspects());
  std::thread poller([&] { engine.poll_until_stopped(); });
  while (!call->settled()) std::this_thread::yield();
  engine.stop_polling();
  poller.join();
  EXPECT_EQ(call->take().error().kind(), ErrorKind::deadline_exceeded) << "that death is no evidence against it";
}

TEST_F(EngineTest, does_not_try_again_what_works_in_place_and_had_begun_in_a_trial) {
  const auto in_place = block();
  const auto call = submit(0, in_place, in_place);
  begin_its_trial();
  (void)engine.trial_failed(Error(ErrorKind::worker_crashed, "killed from outside"), false);
  EXPECT_FALSE(engine.has_suspects());
  ASSERT_TRUE(call->settled());
  EXPECT_EQ(call->take().error().kind(), ErrorKind::worker_crashed);
  EXPECT_TRUE(in_place->is_tainted(in_place->range()));
  EXPECT_EQ(engine.stats().culprits, 0U) << "it did nothing wrong";
}

TEST_F(EngineTest, taints_what_a_cut_off_op_wrote_when_no_later_worker_begins_it) {
  const auto written = block();
  const auto call = submit(0, nullptr, written);
  channels[0].begin(0, 1);
  engine.retire_active();
  engine.reaped(0, Error(ErrorKind::worker_crashed), Blame::nobody_here);
  engine.take_over(1, 2);
  engine.give_up(*call);
  const std::uint16_t failure =
      channels[1].write_reply(call->position, call->units, Error(ErrorKind::cancelled), false);  // as a worker does
  channels[1].timeline(0).raise_to(1, failure);
  std::thread poller([&] { engine.poll_until_stopped(); });
  while (!call->settled()) std::this_thread::yield();
  engine.stop_polling();
  poller.join();
  EXPECT_EQ(call->take().error().kind(), ErrorKind::cancelled);
  EXPECT_TRUE(written->is_tainted(written->range())) << "the first worker may have written half of it";
}

TEST_F(EngineTest, answers_a_cut_off_op_with_what_cut_it_off_when_its_deadline_passes_before_it_runs_again) {
  const auto written = block();
  auto call = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
  op::encode(op::Nop{}, call->bytes);
  call->uses.add(written, {.range = written->range(), .writes = true, .whole = true});
  call->deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  engine.submit(call);
  channels[0].begin(0, 1);
  engine.retire_active();
  engine.reaped(0, Error(ErrorKind::worker_crashed, "killed from outside"), Blame::nobody_here);
  ASSERT_FALSE(engine.has_suspects());
  std::thread poller([&] { engine.poll_until_stopped(); });
  while (!call->settled()) std::this_thread::yield();
  engine.stop_polling();
  poller.join();
  EXPECT_EQ(call->take().error().message(), "killed from outside");
  EXPECT_TRUE(engine.has_suspects()) << "run again alone, the array that it has half written becomes whole";
  engine.shut(Error(ErrorKind::stopped));
  EXPECT_TRUE(written->is_tainted(written->range()));
}

TEST_F(EngineTest, lets_go_of_what_waits_for_one_that_is_given_up) {
  const auto shared = block();
  auto alone = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
  op::encode(op::Nop{}, alone->bytes);
  alone->uses.add(shared, {.range = shared->range(), .writes = true, .whole = true});
  alone->runs_alone = true;  // and there is no standby yet
  engine.submit(alone);
  const auto behind = submit(0, shared, nullptr);
  ASSERT_EQ(behind->stage, OpStage::ready) << "it waits for the other one";
  engine.give_up(*alone);
  EXPECT_EQ(behind->stage, OpStage::in_ring) << "nothing else would ever release it";
}

TEST_F(EngineTest, tries_nobody_alone_when_the_worker_was_killed_from_outside) {
  const auto call = submit(0, nullptr, block());
  const auto other = submit(1, nullptr, block());
  for (int death = 1; death <= kMaxInnocentRuns + 1; ++death) {
    const std::uint32_t dead = static_cast<std::uint32_t>((death - 1) % 2), next = 1 - dead;
    EXPECT_FALSE(engine.has_suspects()) << "after " << death - 1;
    for (const std::uint32_t lane : {0U, 1U}) channels[dead].begin(lane, 1);
    engine.retire_active();
    engine.take_over(next, death + 1);
    engine.reaped(dead, Error(ErrorKind::worker_crashed), Blame::nobody_here);
    channels[dead] = value(wire::Channel::create(kUnits));
    engine.open(dead, channels[dead], doorbells[dead]);
  }
  EXPECT_TRUE(engine.has_suspects()) << "the third time may be no chance";
  EXPECT_EQ(engine.stats().reruns, 2U * (kMaxInnocentRuns + 1));
}

TEST_F(EngineTest, needs_no_trial_when_one_op_was_under_way_and_the_report_leaves_no_doubt) {
  const detail::IntrusivePtr<detail::VaultBlock> written = block();
  const auto culprit = submit(0, nullptr, written);
  const auto behind = submit(1, written, block());
  for (const std::uint32_t lane : {0U, 1U}) channels[0].begin(lane, 1);
  engine.retire_active();
  engine.take_over(1, 2);
  engine.reaped(0, Error(ErrorKind::context_poisoned, "an illegal address"), Blame::the_only_op);
  EXPECT_FALSE(engine.has_suspects());
  EXPECT_EQ(culprit->take().error().kind(), ErrorKind::context_poisoned);
  EXPECT_TRUE(written->is_tainted(written->range()));
  EXPECT_FALSE(behind->settled()) << "it had to wait for the other, and goes on";
  EXPECT_EQ(engine.stats().culprits, 1U);
}

TEST_F(EngineTest, leaves_tainted_what_a_culprit_wrote_when_an_op_before_it_is_run_again) {
  const auto array = block();
  const auto before = submit(0, nullptr, array);
  auto culprit = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
  op::encode(op::Nop{}, culprit->bytes);
  culprit->kind = op::PluginCall::kKind;  // so that it is the one that is suspected
  culprit->uses.add(array, {.range = array->range(), .writes = true, .whole = true});
  engine.submit(culprit);
  const auto reader = submit(1, array, block());
  channels[0].begin(0, 2);  // both, with one flag for the two of them
  engine.retire_active();
  engine.take_over(1, 2);
  engine.reaped(0, Error(ErrorKind::context_poisoned, "an illegal address"), Blame::the_only_op);
  EXPECT_EQ(engine.stats().culprits, 1U);
  ASSERT_TRUE(culprit->settled()) << "its caller need not wait for the others";
  EXPECT_EQ(culprit->take().error().kind(), ErrorKind::context_poisoned);
  EXPECT_FALSE(engine.has_suspects()) << "nobody needs a trial";

  std::thread poller([&] { engine.poll_until_stopped(); });
  channels[1].timeline(0).raise_to(1);
  while (!before->settled()) std::this_thread::yield();
  EXPECT_TRUE(before->take());
  const std::uint16_t passed_over =
      channels[1].write_reply(culprit->position, culprit->units, Error(ErrorKind::cancelled), false);
  channels[1].timeline(0).raise_to(2, passed_over);
  channels[1].timeline(1).raise_to(1);
  while (!reader->settled()) std::this_thread::yield();
  engine.stop_polling();
  poller.join();
  EXPECT_TRUE(array->is_tainted(array->range()));
  EXPECT_EQ(reader->take().error().kind(), ErrorKind::buffer_tainted);
}

TEST_F(EngineTest, does_not_take_an_op_that_was_held_back_for_one_that_had_begun) {
  const auto unknown = block(), parameters = block();
  unknown->taint(unknown->range(), Error(ErrorKind::worker_crashed));
  auto held_back = detail::IntrusivePtr<detail::OpCall>::adopt(new detail::OpCall);
  op::encode(op::Nop{}, held_back->bytes);
  held_back->uses.add(unknown, {.range = unknown->range(), .reads = true});
  held_back->uses.add(parameters, {.range = parameters->range(), .reads = true, .writes = true});  // in place
  engine.submit(held_back);
  const auto other = submit(1, nullptr, block());
  for (const std::uint32_t lane : {0U, 1U}) channels[0].begin(lane, 1);
  engine.retire_active();
  engine.take_over(1, 2);
  engine.reaped(0, Error(ErrorKind::context_poisoned, "an illegal address"), Blame::the_only_op);
  ASSERT_TRUE(other->settled()) << "it was the only one under way";
  EXPECT_EQ(other->take().error().kind(), ErrorKind::context_poisoned);
  EXPECT_FALSE(held_back->settled());
  EXPECT_FALSE(parameters->is_unknown(parameters->range())) << "nobody touched them";
}

TEST_F(EngineTest, tries_all_that_were_under_way_when_there_were_several) {
  submit(0, nullptr, block());
  submit(1, nullptr, block());
  for (const std::uint32_t lane : {0U, 1U}) channels[0].begin(lane, 1);
  engine.retire_active();
  engine.take_over(1, 2);
  engine.reaped(0, Error(ErrorKind::context_poisoned, "an illegal address"), Blame::the_only_op);
  EXPECT_TRUE(engine.has_suspects());
  EXPECT_EQ(engine.stats().reruns, 2U);
}

}  // namespace
}  // namespace troupe
