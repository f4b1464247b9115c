// What a checkpoint keeps in the vault, and whom it refuses.
#include "troupe/library/checkpoint/checkpoint.test.hpp"

namespace troupe {
namespace {

class KeptTest : public CheckpointTest {
 protected:
  Device device = open();
  Array<float> a = filled(device, {1000}, 1.0f);
  Array<std::int32_t> b = filled(device, {10, 20}, 7);
};

TEST_F(KeptTest, comes_back_as_it_was_as_often_as_one_likes) {
  Checkpoint state(device, {{"a", a}, {"b", b}});
  EXPECT_FALSE(state.has_kept());
  value(state.keep().get());
  EXPECT_TRUE(state.has_kept());
  for (int i = 0; i < 3; ++i) {
    value(device.fill(a, 2.0f).get());
    value(device.fill(b, 3).get());
    value(state.restore().get());
    EXPECT_TRUE(all_equal(device, a, 1.0f));
    EXPECT_TRUE(all_equal(device, b, 7));
  }
}

TEST_F(KeptTest, is_replaced_by_what_is_kept_later) {
  Checkpoint state(device, {{"a", a}});
  for (int i = 0; i < 5; ++i) {
    value(device.fill(a, static_cast<float>(i)).get());
    value(state.keep().get());
    value(device.fill(a, -1.0f).get());
    value(state.restore().get());
    EXPECT_TRUE(all_equal(device, a, static_cast<float>(i)));
  }
}

TEST_F(KeptTest, stays_when_a_later_keep_fails) {
  Checkpoint state(device, {{"a", a}, {"b", b}});
  value(state.keep().get());
  value(device.fill(a, 5.0f).get());
  EXPECT_FALSE(bad(device, "error", {updates(b)}).get());
  expect_refused(state.keep().get(), ErrorKind::buffer_tainted, "keep: b: ");
  value(state.restore().get());
  EXPECT_TRUE(all_equal(device, a, 1.0f));
  EXPECT_TRUE(all_equal(device, b, 7)) << "and what was tainted is whole again";
}

TEST_F(KeptTest, has_two_copies_in_memory_and_no_more) {
  Checkpoint state(device, {{"a", a}, {"b", b}});
  value(state.keep().get());
  value(state.keep().get());
  const auto used = device.stats().memory.used_bytes;
  for (int i = 0; i < 10; ++i) value(state.keep().get());
  EXPECT_EQ(device.stats().memory.used_bytes, used);
}

TEST_F(KeptTest, outlives_the_workers_that_bad_code_kills) {
  Checkpoint state(device, {{"a", a}, {"b", b}});
  const Bytes a_was = write_random(device, a), b_was = write_random(device, b);
  value(state.keep().get());
  for (const char* how : {"abort", "null", "exit"}) {
    EXPECT_EQ(kind_of(bad(device, how, {updates(a), updates(b)}).get()), ErrorKind::worker_crashed);
    EXPECT_EQ(kind_of(device.wait_for(a).get()), ErrorKind::buffer_tainted);
    value(state.restore().get());
    EXPECT_EQ(bytes_of(device, a), a_was);
    EXPECT_EQ(bytes_of(device, b), b_was);
  }
}

TEST_F(KeptTest, is_whole_whenever_a_worker_dies) {
  Array<double> large = value(device.array<double>({1 << 19}));
  Checkpoint state(device, {{"a", a}, {"large", large}});
  for (int i = 0; i < 20; ++i) {
    const Bytes a_was = write_random(device, a);
    value(device.fill(large, 0.5 + i).get());
    const auto with_a_kill = [&](detail::TaskCall<void> call) {
      std::thread killer([&] { device.kill_worker(); });
      const Result<void> end = std::move(call).get();
      killer.join();
      return end;
    };
    value(with_a_kill(state.keep()));
    value(device.fill(a, 0.0f).get());
    value(device.fill(large, 0.0).get());
    value(with_a_kill(state.restore()));
    EXPECT_EQ(bytes_of(device, a), a_was);
    EXPECT_TRUE(all_equal(device, large, 0.5 + i));
  }
}

TEST_F(KeptTest, is_what_the_arrays_hold_at_its_place_in_the_order) {
  Checkpoint state(device, {{"a", a}});
  Gate gate = make_gate(device);
  ASSERT_TRUE(bad(device, "wait_for_flag", {updates(gate.flag)}).submit());
  ASSERT_TRUE(device.fill(a, 4.0f).submit());
  std::thread opener([&] { gate.open(); });
  value(state.keep().get());
  opener.join();
  ASSERT_TRUE(device.fill(a, 5.0f).submit());
  value(state.restore().get());
  EXPECT_TRUE(all_equal(device, a, 4.0f));
}

TEST_F(KeptTest, may_be_of_views_of_any_strides_and_of_arrays_without_elements) {
  Array<float> m = filled(device, {6, 8}, 1.0f);
  const Array<float> odd = value(m.slice(1, 1, 8, 2));
  const Array<float> none = value(device.array<float>({0, 3}));
  Checkpoint state(device, {{"odd", odd.transpose()}, {"none", none}});
  value(state.keep().get());
  value(device.fill(m, 2.0f).get());
  value(state.restore().get());
  EXPECT_TRUE(all_equal(device, odd, 1.0f));
  EXPECT_TRUE(all_equal(device, value(m.slice(1, 0, 8, 2)), 2.0f)) << "what lies between is not its own";
}

TEST_F(KeptTest, is_the_current_version_and_becomes_it_again) {
  Versioned<float> w = value(Versioned<float>::make(device, {100}));
  value(device.fill(w.now(), 1.0f).get());
  Checkpoint state(device, {{"w", w}, {"a", a}});
  value(state.keep().get());
  const auto step = [&] {
    Scope on(device);
    on.assign(on.next(w), w.now() + 1.0f);
    return on.commit().get();
  };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(step());
  EXPECT_TRUE(all_equal(device, w.now(), 4.0f));
  value(state.restore().get());
  EXPECT_TRUE(all_equal(device, w.now(), 1.0f));
  ASSERT_TRUE(step());
  EXPECT_TRUE(all_equal(device, w.now(), 2.0f));
  value(state.keep().get());
  ASSERT_TRUE(step());
  value(state.restore().get());
  EXPECT_TRUE(all_equal(device, w.now(), 2.0f)) << "whichever of the two arrays it is in";
}

TEST_F(KeptTest, refuses_what_cannot_be_brought_back) {
  const auto refused = [&](Checkpoint state, std::string_view text) {
    expect_refused(state.keep().get(), ErrorKind::invalid_argument, text);
    expect_refused(state.restore().get(), ErrorKind::invalid_argument, text);
    expect_refused(state.save(path()).get(), ErrorKind::invalid_argument, text);
    expect_refused(state.load(path()).get(), ErrorKind::invalid_argument, text);
  };
  refused(Checkpoint(device, {}), "there are 0 arrays; there must be 1 to 1024");
  refused(Checkpoint(device, {{"a", a}, {"a", b}}), "two arrays have the name a");
  refused(Checkpoint(device, {{"", a}}), "a name has 0 bytes; it must have 1 to 200");
  refused(Checkpoint(device, {{std::string(201, 'x'), a}}), "a name has 201 bytes");
  refused(Checkpoint(device, {{"a", a}, {"w", Array<float>()}}), "checkpoint: w is an empty handle");
  refused(Checkpoint(device, {{"w", value(value(a.slice(0, 0, 1)).broadcast({5}))}}), "w is broadcast to [5]");
  const Device other = open();
  refused(Checkpoint(device, {{"w", filled(other, {2}, 1.0f)}}), "checkpoint: w belongs to another device");
  std::vector<Checkpoint::Part> many;
  for (int i = 0; i < 1025; ++i) many.emplace_back(std::to_string(i), a);
  refused(Checkpoint(device, many), "there are 1025 arrays");
  EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(KeptTest, may_be_of_as_many_arrays_as_the_limit_says) {
  const Array<float> m = filled(device, {1024, 3}, 1.0f);
  std::vector<Checkpoint::Part> many;
  for (int i = 0; i < 1024; ++i) many.emplace_back(std::string(190, 'n') + std::to_string(i), value(m.select(0, i)));
  Checkpoint state(device, many);
  value(state.keep().get());
  value(device.fill(m, 2.0f).get());
  value(state.restore().get());
  EXPECT_TRUE(all_equal(device, m, 1.0f));
  value(state.save(path()).get());
  value(device.fill(m, 2.0f).get());
  value(state.load(path()).get());
  EXPECT_TRUE(all_equal(device, m, 1.0f));
}

TEST_F(KeptTest, is_not_restored_before_anything_was_kept_nor_into_sealed_memory) {
  Checkpoint state(device, {{"a", a}});
  expect_refused(state.restore().get(), ErrorKind::invalid_argument, "restore: nothing was kept");
  const Array<float> weights = value(device.sealable_array<float>({100}));
  value(device.fill(weights, 1.0f).get());
  Checkpoint sealed(device, {{"a", a}, {"weights", weights}});
  value(device.seal(weights).get());
  value(sealed.keep().get());
  value(device.fill(a, 2.0f).get());
  expect_refused(sealed.restore().get(), ErrorKind::invalid_argument, "restore: weights is sealed");
  EXPECT_TRUE(all_equal(device, a, 2.0f)) << "none is touched";
}

struct Keeper {
  struct Step {
    using Reply = void;
    Checkpoint state;
    Device device;
    Array<float> a;
    std::string path;
  };
  Task<Result<void>> on(Step m) {
    CO_TRY(co_await m.state.keep());
    CO_TRY(co_await m.device.fill(m.a, 9.0f));
    CO_TRY(co_await m.state.restore());
    CO_TRY(co_await m.state.save(m.path));
    CO_TRY(co_await m.device.fill(m.a, 9.0f));
    co_return co_await m.state.load(m.path);
  }
  struct Wait {
    using Reply = void;
    Checkpoint state;
  };
  Result<void> on(Wait m) { return m.state.keep().get(); }
  struct Save {
    using Reply = void;
    Checkpoint state;
    std::string path;
  };
  Task<Result<void>> on(Save m) { co_return co_await m.state.save(m.path); }
};

TEST_F(KeptTest, is_kept_and_restored_in_tasks_and_nobody_waits_in_a_handler) {
  const Ref<Keeper> keeper = value(system.spawn<Keeper>({}));
  Checkpoint state(device, {{"a", a}});
  const Result<void> end = keeper.ask<Keeper::Step>(state, device, a, path()).get();
  ASSERT_TRUE(end) << end.error().to_string();
  EXPECT_TRUE(all_equal(device, a, 1.0f));
  expect_refused(keeper.ask<Keeper::Wait>(state).get(), ErrorKind::invalid_argument, "get() inside a handler");
}

TEST_F(KeptTest, has_one_call_at_a_time_and_one_that_is_cut_off_leaves_nothing_behind) {
  const Ref<Keeper> keeper = value(system.spawn<Keeper>({}));
  Checkpoint state(device, {{"a", a}});
  Gate gate = make_gate(device);
  ASSERT_TRUE(bad(device, "wait_for_flag", {updates(gate.flag), updates(a)}).submit());
  const auto submitted = device.stats().submitted;
  Result<void> end;
  std::thread asker([&] { end = keeper.ask<Keeper::Save>(state, path()).get(); });
  eventually([&] { return device.stats().submitted > submitted; });  // its copy, behind the gate
  expect_refused(state.restore().get(), ErrorKind::invalid_argument, "restore: save of this checkpoint is under way");
  keeper.stop();
  asker.join();
  EXPECT_EQ(kind_of(end), ErrorKind::stopped);
  gate.open();
  eventually([&] { return state.keep().get().has_value(); });
  EXPECT_EQ(files_in_folder(), 0U);
}

}  // namespace
}  // namespace troupe
