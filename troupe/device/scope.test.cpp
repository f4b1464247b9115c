// A scope: one deadline, one error, one cancellation, and every op accounted for.
#include <array>
#include <source_location>
#include <stop_token>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

class ScopeTest : public DeviceTest {
 protected:
  static std::uint_least32_t here(std::source_location where = std::source_location::current()) { return where.line(); }
  template <class R>
  static std::uint_least32_t line_of(const Result<R>& end) {
    return end ? 0 : end.error().origin().where.line();
  }
  template <class R>
  static std::string text_of(const Result<R>& end) {
    return end ? "no error" : std::string(end.error().message());
  }
  /// An op that waits until the gate opens, and then fills `out` with what `in` has.
  static Call<void> waits(const Device& device, const Gate& gate, const Array<float>& in, const Array<float>& out) {
    return bad(device, "wait_for_flag", {reads(gate.flag), reads(in), writes(out)});
  }

  Device device = open();
};

TEST_F(ScopeTest, needs_no_check_in_any_line) {
  Scope on(device, {.deadline = 20s});
  const auto a = on.full<float>({64, 64}, 1.0f);
  const auto b = on.full<float>({64, 64}, 2.0f);
  const auto c = on.matmul(a, b) + 1.0f;
  const HostArray<float> out = value(on.read(c).get());
  EXPECT_EQ(out[0], 129.0f);
  EXPECT_EQ(out[4095], 129.0f);
  EXPECT_TRUE(on.end().get());
}

TEST_F(ScopeTest, ends_in_its_first_error_with_the_line_that_caused_it) {
  Scope on(device);
  const auto a = on.full<float>({4}, 1.0f);
  const auto b = on.full<float>({4}, 2.0f);
  on.run(bad(device, "error", {updates(a)}));
  const auto line = here() - 1;
  const auto c = on.eval(a + b);
  const Result<HostArray<float>> out = on.read(c).get();
  EXPECT_EQ(kind_of(out), ErrorKind::library_error) << text_of(out);
  EXPECT_EQ(line_of(out), line);
  const Result<void> end = on.end().get();
  EXPECT_EQ(kind_of(end), ErrorKind::library_error);
  EXPECT_EQ(line_of(end), line);
}

TEST_F(ScopeTest, runs_nothing_more_and_says_why_its_arrays_are_not_good) {
  const Array<float> other = filled(device, {4}, 7.0f);
  Scope on(device);
  const auto a = on.full<float>({4}, 1.0f);
  on.run(bad(device, "error", {updates(a)}));
  const auto line = std::to_string(here() - 1);
  eventually([&] { return on.error().has_value(); });
  on.assign(other, other + 1.0f);  // it does not depend on what failed, and is not run
  const auto late = on.full<float>({4}, 1.0f);
  EXPECT_FALSE(on.end().get());
  for (const Array<float>& array : {other, late}) {
    const Result<void> ready = device.wait_for(array).get();
    EXPECT_EQ(kind_of(ready), ErrorKind::buffer_tainted);
    EXPECT_NE(text_of(ready).find("was not written: plugin.call error at scope.test.cpp:" + line), std::string::npos)
        << text_of(ready);
  }
  ASSERT_TRUE(other.accept_skipped());
  EXPECT_TRUE(all_equal(device, other, 7.0f));
}

TEST_F(ScopeTest, refused_ops_come_after_what_was_submitted_before_them) {
  Gate gate = make_gate(device);
  const Array<float> in = filled(device, {4}, 1.0f), out = filled(device, {4}, 0.0f), copy = filled(device, {4}, 0.0f);
  Scope on(device);
  on.run(waits(device, gate, in, out));
  gate.wait_until_begun();
  value(device.copy(out, copy).submit());
  on.run(device.copy(in, filled(device, {5}, 0.0f)));  // refused: the shapes are not equal
  on.run(device.fill(out, 3.0f));
  gate.open();
  EXPECT_EQ(kind_of(on.end().get()), ErrorKind::invalid_argument);
  EXPECT_TRUE(all_equal(device, copy, 1.0f)) << "what came before the refused op is as good as ever";
  EXPECT_EQ(out.content(), Content::skipped);
}

TEST_F(ScopeTest, an_array_that_cannot_be_made_fails_it) {
  Scope on(device);
  const auto a = on.full<float>({1 << 30, 1 << 30}, 1.0f);
  const auto line = here() - 1;
  EXPECT_FALSE(a);
  const auto b = on.full<float>({4}, 1.0f);
  const Result<HostArray<float>> out = on.read(a * b).get();
  EXPECT_EQ(kind_of(out), ErrorKind::out_of_memory) << text_of(out);
  EXPECT_EQ(line_of(out), line);
}

TEST_F(ScopeTest, its_deadline_is_that_of_all_ops_together) {
  Gate gate = make_gate(device);
  const Array<float> in = filled(device, {4}, 1.0f), out = filled(device, {4}, 0.0f);
  value(waits(device, gate, in, out).submit());
  gate.wait_until_begun();
  Scope on(device, {.deadline = 50ms});
  on.assign(out, out + 1.0f);  // cannot begin, because somebody else's op still runs
  const Result<void> end = on.end().get();
  EXPECT_EQ(kind_of(end), ErrorKind::deadline_exceeded) << text_of(end);
  on.assign(out, out + 1.0f);
  EXPECT_EQ(device.generation(), 1) << "no worker was stopped for it";
  gate.open();
  EXPECT_EQ(kind_of(device.wait_for(out).get()), ErrorKind::buffer_tainted);
  ASSERT_TRUE(out.accept_skipped());
  EXPECT_TRUE(all_equal(device, out, 1.0f));
}

TEST_F(ScopeTest, past_its_deadline_takes_no_op) {
  Scope on(device, {.deadline = 1ns});
  const auto a = on.full<float>({4}, 1.0f);
  const auto line = here() - 1;
  const Result<HostArray<float>> out = on.read(a).get();
  EXPECT_EQ(kind_of(out), ErrorKind::deadline_exceeded);
  EXPECT_EQ(line_of(out), line);
}

TEST_F(ScopeTest, an_op_that_runs_past_its_deadline_is_stopped) {
  // On a busy machine the deadline can pass before the op has begun, which costs no worker; then it is run once more.
  eventually([&] {
    Scope on(device, {.deadline = 100ms});
    const auto a = on.array<float>({4});
    on.run(bad(device, "loop", {updates(a)}));
    EXPECT_EQ(kind_of(on.end().get()), ErrorKind::deadline_exceeded);
    value(device.nop().get());
    return device.generation() > 1;
  });
  EXPECT_EQ(device.generation(), 2);
}

TEST_F(ScopeTest, cancelled_it_gives_up_what_has_not_begun) {
  Gate gate = make_gate(device);
  const Array<float> in = filled(device, {4}, 1.0f), out = filled(device, {4}, 0.0f), kept = filled(device, {4}, 5.0f);
  Scope on(device);
  on.run(waits(device, gate, in, out));
  on.assign(kept, out + 1.0f);
  gate.wait_until_begun();
  on.cancel();
  gate.open();
  const Result<void> end = on.end().get();
  EXPECT_EQ(kind_of(end), ErrorKind::cancelled) << text_of(end);
  EXPECT_TRUE(all_equal(device, out, 1.0f)) << "it had begun";
  ASSERT_TRUE(kept.accept_skipped());
  EXPECT_TRUE(all_equal(device, kept, 5.0f));
}

TEST_F(ScopeTest, a_stop_cancels_it_from_any_thread) {
  Gate gate = make_gate(device);
  const Array<float> in = filled(device, {4}, 1.0f), out = filled(device, {4}, 0.0f);
  std::stop_source stop;
  Scope on(device, {.stop = stop.get_token()});
  on.run(waits(device, gate, in, out));
  gate.wait_until_begun();
  std::jthread other([&] {
    stop.request_stop();
    gate.open();
  });
  EXPECT_EQ(kind_of(on.read(on.eval(out + 1.0f)).get()), ErrorKind::cancelled);
  EXPECT_EQ(kind_of(on.end().get()), ErrorKind::cancelled);
}

TEST_F(ScopeTest, cancelled_it_wakes_the_thread_that_waits_for_its_read) {
  Gate gate = make_gate(device);
  const Array<float> in = filled(device, {4}, 1.0f), out = filled(device, {4}, 0.0f);
  value(waits(device, gate, in, out).submit());
  gate.wait_until_begun();
  Scope on(device);
  {
    std::jthread other([&] { on.cancel(); });
    EXPECT_EQ(kind_of(on.read(out).get()), ErrorKind::cancelled) << "while the gate is closed";
  }
  gate.open();
}

TEST_F(ScopeTest, cancelled_it_wakes_the_thread_that_waits_for_room) {
  const Device small = open({.max_waiting = 10, .max_restarts = 1000});
  Gate gate = make_gate(small);
  const Array<float> in = filled(small, {4}, 1.0f), out = filled(small, {4}, 0.0f);
  value(waits(small, gate, in, out).submit());
  gate.wait_until_begun();
  Scope on(small);
  {
    std::jthread other([&] {
      eventually([&] { return small.stats().waiting > 10; });
      on.cancel();
    });
    for (int i = 0; i < 5000 && !on.error(); ++i) on.assign(out, out + 1.0f);
    EXPECT_TRUE(on.error()) << "the ring is full, and the gate is closed";
  }
  gate.open();
  EXPECT_EQ(kind_of(on.end().get()), ErrorKind::cancelled);
}

// In guard mode one op is in the ring, and all others wait in the app.
TEST_F(ScopeTest, what_is_given_up_in_the_app_keeps_its_turn) {
  const Device one_by_one = open({.max_restarts = 1000, .guard = true});
  Gate gate = make_gate(one_by_one);
  const Array<float> in = filled(one_by_one, {4}, 1.0f), out = filled(one_by_one, {4}, 0.0f);
  value(waits(one_by_one, gate, in, out).submit());
  gate.wait_until_begun();
  Scope on(one_by_one);
  on.assign(out, in + 5.0f);
  on.run(one_by_one.fill(in, 6.0f));
  on.cancel();
  gate.open();
  EXPECT_EQ(kind_of(on.end().get()), ErrorKind::cancelled);
  EXPECT_EQ(kind_of(one_by_one.wait_for(out).get()), ErrorKind::buffer_tainted)
      << "what was to be written last was not";
  EXPECT_EQ(kind_of(one_by_one.wait_for(in).get()), ErrorKind::buffer_tainted);
  ASSERT_TRUE(in.accept_skipped());
  ASSERT_TRUE(out.accept_skipped()) << "the op before it has read what was good";
  EXPECT_TRUE(all_equal(one_by_one, in, 1.0f));
  EXPECT_TRUE(all_equal(one_by_one, out, 1.0f));
}

TEST_F(ScopeTest, what_is_given_up_keeps_its_turn_when_its_worker_dies) {
  Gate gate = make_gate(device);
  const Array<float> in = filled(device, {4}, 1.0f), out = filled(device, {4}, 0.0f);
  value(waits(device, gate, in, out).submit());
  gate.wait_until_begun();
  Scope on(device);
  on.run(device.fill(out, 5.0f));
  on.cancel();
  kill_worker(device);
  gate.open();  // for the run that has been cut off, and is run again
  EXPECT_EQ(kind_of(on.end().get()), ErrorKind::cancelled);
  EXPECT_EQ(kind_of(device.wait_for(out).get()), ErrorKind::buffer_tainted);
  ASSERT_TRUE(out.accept_skipped());
  EXPECT_TRUE(all_equal(device, out, 1.0f));
}

TEST_F(ScopeTest, what_waits_in_the_app_past_the_deadline_never_begins) {
  const Device one_by_one = open({.max_restarts = 1000, .guard = true});
  Gate gate = make_gate(one_by_one);
  const Array<float> in = filled(one_by_one, {4}, 1.0f), out = filled(one_by_one, {4}, 0.0f);
  const Array<float> kept = filled(one_by_one, {4}, 5.0f);
  value(waits(one_by_one, gate, in, out).submit());
  gate.wait_until_begun();
  Scope on(one_by_one, {.deadline = 20ms});
  on.run(bad(one_by_one, "loop", {updates(kept)}));  // would cost the worker
  EXPECT_EQ(kind_of(on.end().get()), ErrorKind::deadline_exceeded);
  gate.open();
  EXPECT_EQ(kind_of(one_by_one.wait_for(kept).get()), ErrorKind::buffer_tainted);
  ASSERT_TRUE(kept.accept_skipped());
  EXPECT_TRUE(all_equal(one_by_one, kept, 5.0f));
  EXPECT_EQ(one_by_one.generation(), 1);
}

TEST_F(ScopeTest, dropped_before_its_end_it_says_so_to_whoever_awaits_that) {
  Gate gate = make_gate(device);
  const Array<float> in = filled(device, {4}, 1.0f), out = filled(device, {4}, 0.0f), kept = filled(device, {4}, 5.0f);
  auto end = [&] {
    Scope on(device);
    on.run(waits(device, gate, in, out));
    on.assign(kept, out + 1.0f);
    gate.wait_until_begun();
    return on.end();
  }();
  gate.open();
  const Result<void> ended = std::move(end).get();
  EXPECT_EQ(kind_of(ended), ErrorKind::cancelled);
  EXPECT_EQ(text_of(ended), "the scope was dropped before its ops had ended");
  EXPECT_FALSE(log.has("nobody asked"));
}

TEST_F(ScopeTest, may_have_a_deadline_that_never_comes) {
  Scope on(device, {.deadline = Duration::max()});
  EXPECT_TRUE(on.read(on.full<float>({4}, 1.0f)).get());
  EXPECT_TRUE(on.end().get());
}

TEST_F(ScopeTest, dropped_it_gives_up_what_has_not_begun_without_a_word) {
  Gate gate = make_gate(device);
  const Array<float> in = filled(device, {4}, 1.0f), out = filled(device, {4}, 0.0f), kept = filled(device, {4}, 5.0f);
  {
    Scope on(device);
    on.run(waits(device, gate, in, out));
    on.assign(kept, out + 1.0f);
    gate.wait_until_begun();
  }
  gate.open();
  value(device.wait_for(out).get());
  EXPECT_EQ(kind_of(device.wait_for(kept).get()), ErrorKind::buffer_tainted);
  EXPECT_FALSE(log.has("nobody asked"));
}

TEST_F(ScopeTest, an_error_that_nobody_asks_for_is_logged_once) {
  {
    Scope on(device);
    const auto a = on.full<float>({4}, 1.0f);
    on.run(bad(device, "error", {updates(a)}));
    eventually([&] { return a.content() == Content::unknown; });
  }
  eventually([&] { return log.has("nobody asked for its error: library_error"); });
  EXPECT_TRUE(log.has("scope at scope.test.cpp:")) << log.all();
}

TEST_F(ScopeTest, an_error_that_comes_when_it_is_gone_is_logged_too) {
  Gate gate = make_gate(device);
  const Array<float> in = filled(device, {4}, 1.0f), out = filled(device, {4}, 0.0f);
  {
    Scope on(device);
    on.run(bad(device, "wait_for_flag", {reads(gate.flag), reads(in), updates(out)}));  // is not run again
    gate.wait_until_begun();
  }
  EXPECT_FALSE(log.has("nobody asked"));
  kill_worker(device);
  eventually([&] { return log.has("nobody asked for its error: worker_crashed"); });
}

TEST_F(ScopeTest, takes_no_op_after_its_end) {
  const Array<float> a = filled(device, {4}, 1.0f);
  {
    Scope on(device);
    EXPECT_TRUE(on.end().get());
    on.run(device.fill(a, 2.0f));
    EXPECT_EQ(kind_of(on.end().get()), ErrorKind::invalid_argument) << "and it ends once";
  }
  EXPECT_EQ(kind_of(device.wait_for(a).get()), ErrorKind::buffer_tainted);
  ASSERT_TRUE(a.accept_skipped());
  EXPECT_TRUE(all_equal(device, a, 1.0f));
  eventually([&] { return log.has("the scope has ended"); });
}

TEST_F(ScopeTest, takes_no_op_of_another_device) {
  const Device another = value(system.device("host", patient()));
  const Array<float> theirs = filled(another, {4}, 1.0f);
  Scope on(device);
  on.run(another.fill(theirs, 2.0f));
  const auto line = here() - 1;
  const Result<void> end = on.end().get();
  EXPECT_EQ(kind_of(end), ErrorKind::invalid_argument);
  EXPECT_NE(text_of(end).find("of another device than its scope"), std::string::npos) << text_of(end);
  EXPECT_EQ(line_of(end), line);
  EXPECT_TRUE(all_equal(another, theirs, 1.0f));
}

TEST_F(ScopeTest, awaits_no_op_of_another_device) {
  const Device another = value(system.device("host", patient()));
  const Array<float> theirs = filled(another, {4}, 1.0f);
  Scope on(device);
  const Result<void> filled_it = on.give(another.fill(theirs, 2.0f)).get();
  const auto line = here() - 1;
  EXPECT_EQ(kind_of(filled_it), ErrorKind::invalid_argument);
  EXPECT_NE(text_of(filled_it).find("of another device than its scope"), std::string::npos) << text_of(filled_it);
  EXPECT_EQ(line_of(filled_it), line);
  EXPECT_TRUE(all_equal(another, theirs, 1.0f));
}

TEST_F(ScopeTest, survives_the_death_of_its_worker) {
  for (int round = 0; round < 20; ++round) {
    Scope on(device);
    auto x = on.full<float>({1000}, 1.0f);
    for (int step = 0; step < 50; ++step) {
      if (step == 25) device.kill_worker();
      x = on.eval(x + 1.0f);
    }
    const Result<HostArray<float>> out = on.read(x).get();
    ASSERT_TRUE(out) << out.error().to_string();
    EXPECT_EQ((*out)[999], 51.0f);
    EXPECT_TRUE(on.end().get());
  }
}

struct Asker {
  struct Compute {
    using Reply = float;
    Device device;
    float with;
  };
  struct Fail {
    using Reply = void;
    Device device;
    std::string plugin;
  };
  Task<Result<float>> on(Compute message) {
    Scope on(message.device, {.deadline = 20s});
    auto x = on.full<float>({1000}, message.with);
    for (int i = 0; i < 20; ++i) x = on.eval(x * 2.0f);
    const Array<float> sum = on.sum(x);
    const HostArray<float> out = CO_TRY(co_await on.read(sum));
    CO_TRY(co_await on.end());
    co_return out[0];
  }
  Task<Result<void>> on(Fail message) {
    Scope on(message.device);
    const auto x = on.full<float>({4}, 1.0f);
    on.run(message.device.call_plugin(message.plugin, "error", {updates(x)}));
    co_return co_await on.end();
  }
};

TEST_F(ScopeTest, is_awaited_in_tasks) {
  const Ref<Asker> asker = value(system.spawn<Asker>({}));
  for (int i = 1; i <= 20; ++i)
    EXPECT_EQ(value(asker.ask<Asker::Compute>(device, static_cast<float>(i)).get()),
              static_cast<float>(i) * 1000.0f * 1048576.0f);
  EXPECT_EQ(kind_of(asker.ask<Asker::Fail>(device, beside("libbad_plugin.so")).get()), ErrorKind::library_error);
}

struct Hasty {
  struct Go {
    using Reply = float;
    Device device;
    Array<float> x;
    int rounds;
  };
  Task<Result<float>> on(Go message) {
    Scope on(message.device);
    for (int i = 0; i < message.rounds; ++i) on.assign(message.x, message.x + 1.0f);
    const HostArray<float> out = CO_TRY(co_await on.read(message.x));
    co_return out[0];
  }
};

TEST_F(ScopeTest, a_task_may_submit_many_without_waiting_but_not_without_end) {
  const Device small = open({.max_waiting = 10, .max_restarts = 1000});
  const Ref<Hasty> hasty = value(system.spawn<Hasty>({}));
  const Array<float> x = filled(small, {4}, 0.0f);
  EXPECT_EQ(value(hasty.ask<Hasty::Go>(small, x, 10'000).get()), 10'000.0f);
  Gate gate = make_gate(small);
  const Array<float> in = filled(small, {4}, 1.0f);
  value(waits(small, gate, in, x).submit());
  gate.wait_until_begun();
  const Result<float> end = hasty.ask<Hasty::Go>(small, x, 20'000).get();
  gate.open();
  EXPECT_EQ(kind_of(end), ErrorKind::queue_full) << text_of(end);
  EXPECT_NE(text_of(end).find("16384 ops of the scope are under way"), std::string::npos) << text_of(end);
}

TEST_F(ScopeTest, many_at_once_end_each_by_itself) {
  std::atomic<int> good = 0, failed = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          Scope on(device);
          auto x = on.full<float>({100}, static_cast<float>(t));
          if (i % 5 == 4) on.run(bad(device, "error", {updates(x)}));
          for (int step = 0; step < 10; ++step) x = on.eval(x + 1.0f);
          const Result<HostArray<float>> out = on.read(x).get();
          const Result<void> end = on.end().get();
          EXPECT_EQ(out.has_value(), end.has_value());
          if (out) {
            EXPECT_EQ((*out)[0], static_cast<float>(t + 10));
          } else {
            EXPECT_EQ(out.error().kind(), ErrorKind::library_error) << out.error().to_string();
          }
          ++(out ? good : failed);
        }
      });
  }
  EXPECT_EQ(good, 160);
  EXPECT_EQ(failed, 40);
}

}  // namespace
}  // namespace troupe
