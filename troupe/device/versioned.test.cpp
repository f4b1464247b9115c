// Steps that are whole or did not happen.
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class VersionedTest : public DeviceTest {
 protected:
  Versioned<float> made(float with) {
    Versioned<float> x = value(Versioned<float>::make(device, {1000}));
    value(device.fill(x.now(), with).get());
    return x;
  }

  Device device = open();
  Versioned<float> a = made(1.0f);
  Versioned<float> b = made(10.0f);
};

TEST_F(VersionedTest, count_when_they_are_committed_and_not_before) {
  Scope on(device);
  on.assign(on.next(a), a.now() + b.now());
  on.assign(on.next(b), 2.0f * b.now());
  EXPECT_TRUE(all_equal(device, a.now(), 1.0f));
  ASSERT_TRUE(on.commit().get());
  EXPECT_TRUE(all_equal(device, a.now(), 11.0f));
  EXPECT_TRUE(all_equal(device, b.now(), 20.0f));
}

TEST_F(VersionedTest, must_be_written_by_whoever_asks_for_the_next_one) {
  {
    Scope on(device);
    on.assign(on.next(a), a.now() + b.now());
    (void)on.next(b);
    const Result<void> end = on.commit().get();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(end.error().message(),
              "commit: nothing in the scope writes the next version of an array [1000] that it has asked for");
    EXPECT_NE(end.error().origin().where.line(), 0U);
  }
  EXPECT_TRUE(all_equal(device, a.now(), 1.0f)) << "nothing has happened";
  Scope on(device);
  value(on.give(device.fill(on.next(a), 5.0f)).get());
  ASSERT_TRUE(on.commit().get()) << "a call that was awaited writes, too";
  EXPECT_TRUE(all_equal(device, a.now(), 5.0f));
}

TEST_F(VersionedTest, stay_as_they_are_when_anything_fails) {
  {
    Scope on(device);
    on.assign(on.next(a), a.now() + b.now());
    on.run(bad(device, "error", {updates(on.copied(b))}));
    EXPECT_EQ(kind_of(on.commit().get()), ErrorKind::library_error);
  }
  EXPECT_TRUE(all_equal(device, a.now(), 1.0f));
  EXPECT_TRUE(all_equal(device, b.now(), 10.0f));
  Scope again(device);
  again.assign(again.next(a), a.now() + b.now());
  again.assign(again.copied(b), a.now() + 1.0f);
  ASSERT_TRUE(again.commit().get()) << "the next version is written anew";
  EXPECT_TRUE(all_equal(device, a.now(), 11.0f));
  EXPECT_TRUE(all_equal(device, b.now(), 2.0f));
}

TEST_F(VersionedTest, that_a_scope_does_not_write_stay_and_so_do_those_of_a_dropped_one) {
  {
    Scope on(device);
    on.assign(on.next(a), a.now() + 1.0f);
    value(on.read(on.next(a)).get());
  }
  EXPECT_TRUE(all_equal(device, a.now(), 1.0f));
  Scope on(device);
  on.assign(on.next(a), a.now() + 1.0f);
  ASSERT_TRUE(on.commit().get());
  EXPECT_TRUE(all_equal(device, a.now(), 2.0f));
  EXPECT_TRUE(all_equal(device, b.now(), 10.0f)) << "nobody wrote its next version";
}

TEST_F(VersionedTest, stay_when_their_scope_is_dropped_before_the_commit_has_ended) {
  Gate gate = make_gate(device);
  const Array<float> out = filled(device, {1000}, 0.0f);
  auto commit = [&] {
    Scope on(device);
    on.run(bad(device, "wait_for_flag", {reads(gate.flag), reads(b.now()), writes(out)}));
    on.assign(on.next(a), a.now() + out);
    gate.wait_until_begun();
    return on.commit();
  }();
  gate.open();
  EXPECT_EQ(kind_of(std::move(commit).get()), ErrorKind::cancelled);
  EXPECT_TRUE(all_equal(device, a.now(), 1.0f));
}

TEST_F(VersionedTest, are_the_same_array_before_and_after_the_commit) {
  Scope on(device);
  const Array<float>& next = on.next(a);
  on.assign(next, a.now() + 1.0f);
  ASSERT_TRUE(on.commit().get());
  EXPECT_TRUE(all_equal(device, next, 2.0f));
  EXPECT_TRUE(all_equal(device, a.now(), 2.0f));
}

TEST_F(VersionedTest, may_be_written_in_pieces_from_ordinary_memory) {
  constexpr std::int64_t kMany = std::int64_t{3} << 20;  // more than a piece
  Versioned<float> large = value(Versioned<float>::make(device, {kMany}));
  const std::vector<float> content(static_cast<std::size_t>(kMany), 7.0f);
  Scope on(device);
  on.run(device.write(on.next(large), content));
  ASSERT_TRUE(on.commit().get());
  EXPECT_TRUE(all_equal(device, large.now(), 7.0f));
}

TEST_F(VersionedTest, work_in_place_on_a_copy) {
  for (int step = 0; step < 10; ++step) {
    Scope on(device);
    const Array<float>& x = on.copied(a);
    on.assign(x, x * 2.0f);
    on.assign(on.copied(a), x + 1.0f);  // the same copy
    ASSERT_TRUE(on.commit().get());
  }
  EXPECT_TRUE(all_equal(device, a.now(), 2047.0f));
}

TEST_F(VersionedTest, survive_kills_in_the_middle_of_steps) {
  int steps = 0;
  for (int tries = 0; steps < 100; ++tries) {
    ASSERT_LT(tries, 10'000);
    Scope on(device);
    const Array<float>& x = on.copied(a);
    on.assign(x, x + 1.0f);  // in place: a kill may cost the step
    if (tries % 3 == 2) device.kill_worker();
    on.assign(on.next(b), b.now() + x - a.now());  // not in place: it is run again
    if (on.commit().get()) ++steps;
  }
  EXPECT_TRUE(all_equal(device, a.now(), 101.0f));
  EXPECT_TRUE(all_equal(device, b.now(), 110.0f));
}

struct Impatient {
  struct Step {
    using Reply = void;
    Device device;
    Versioned<float>* x;
    HostArray<std::uint32_t> flag;
  };
  static Task<Result<void>> await(Call<void> call, Scope& on) { co_return co_await on.give(std::move(call)); }
  static Task<Result<void>> nothing() { co_return Result<void>(); }
  Task<Result<void>> on(Step message) {
    Scope on(message.device);
    // Behind an op that waits for the flag: it is cut off before it begins.
    (void)co_await when_any(await(message.device.fill(on.next(*message.x), 5.0f), on), nothing());
    std::atomic_ref(message.flag[0]).store(1);
    co_return co_await on.commit();
  }
};

TEST_F(VersionedTest, are_not_written_by_a_call_that_was_cut_off) {
  Gate gate = make_gate(device);
  const Array<float> next = Scope(device).next(a);
  value(bad(device, "wait_for_flag", {reads(gate.flag), reads(b.now()), writes(next)}).submit());
  gate.wait_until_begun();
  const Ref<Impatient> impatient = value(system.spawn<Impatient>({}));
  const Result<void> end = impatient.ask<Impatient::Step>(device, &a, gate.flag).get();
  EXPECT_EQ(kind_of(end), ErrorKind::invalid_argument);
  EXPECT_TRUE(all_equal(device, a.now(), 1.0f));
}

struct Trainer {
  struct Step {
    using Reply = void;
    Device device;
    Versioned<float>* x;
  };
  Task<Result<void>> on(Step message) {
    Scope on(message.device);
    on.assign(on.next(*message.x), message.x->now() + 1.0f);
    co_return co_await on.commit();
  }
};

TEST_F(VersionedTest, are_committed_in_tasks) {
  const Ref<Trainer> trainer = value(system.spawn<Trainer>({}));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(trainer.ask<Trainer::Step>(device, &a).get());
  EXPECT_TRUE(all_equal(device, a.now(), 11.0f));
}

}  // namespace
}  // namespace troupe
