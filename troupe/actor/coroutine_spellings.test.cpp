// g++ 12 destroys an aggregate temporary inside a `co_await` expression twice when its destructor is not trivial (g++
// 13 and clang 19 do not). This documents which spellings are safe with every compiler, and watches the unsafe ones: a
// compiler other than g++ 12 must get them right, too. It is why `ask<M>(args...)` builds the message inside.
// g++ 12 also traps when a condition awaits a temporary in a coroutine that has no local variable yet: await first,
// then branch.
#include <gtest/gtest.h>

#include <coroutine>
#include <utility>

namespace {

int live = 0;

struct Tracked {
  Tracked() { ++live; }
  explicit Tracked(int) { ++live; }
  Tracked(const Tracked&) { ++live; }
  Tracked(Tracked&&) noexcept { ++live; }
  ~Tracked() { --live; }
};
struct Aggregate {
  Tracked tracked;
  int number = 0;
};
struct Class {
  explicit Class(int) : tracked(1) {}
  Tracked tracked;
};

struct Awaiter {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> waiter) { waiter.resume(); }
  int await_resume() { return 1; }
};
template <class M>
Awaiter by_value(M) {
  return {};
}
template <class M>
Awaiter by_reference(M&&) {
  return {};
}
template <class M, class... Args>
Awaiter in_place(Args&&... args) {
  const M message{std::forward<Args>(args)...};
  (void)message;
  return {};
}

struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

int live_after(Detached (*coroutine)()) {
  live = 0;
  coroutine();
  return live;
}

// Safe with every compiler.
Detached class_temporary() { co_await by_value(Class{1}); }
Detached named_and_moved() {
  Aggregate message{Tracked{1}};
  co_await by_value(std::move(message));
}
Detached awaitable_named_first() {
  auto awaitable = by_value(Aggregate{Tracked{1}, 2});
  co_await awaitable;
}
Detached built_inside() { co_await in_place<Aggregate>(Tracked{1}, 2); }

// Unsafe with g++ 12.
Detached aggregate_temporary() { co_await by_value(Aggregate{Tracked{1}, 2}); }
Detached designated_initializers() { co_await by_value(Aggregate{.tracked = Tracked{1}}); }
Detached temporary_by_reference() { co_await by_reference(Aggregate{Tracked{1}, 2}); }
Detached empty_braces() { co_await by_value(Aggregate{}); }

// A condition that awaits a temporary, in a coroutine without locals: g++ 12 traps.
int branched = 0;
Detached awaits_in_a_condition() {
  if (co_await by_value(1) == 1) ++branched;
}
Detached awaits_first_then_branches() {
  const int answer = co_await by_value(1);
  if (answer == 1) ++branched;
}
Detached awaits_in_an_initializer() {
  if (const int answer = co_await by_value(1); answer == 1) ++branched;
}

}  // namespace

TEST(CoroutineSpellings, are_safe_with_every_compiler) {
  EXPECT_EQ(live_after(class_temporary), 0);
  EXPECT_EQ(live_after(named_and_moved), 0);
  EXPECT_EQ(live_after(awaitable_named_first), 0);
  EXPECT_EQ(live_after(built_inside), 0) << "what ask<M>(args...) does";
}

TEST(CoroutineSpellings, with_aggregate_temporaries_are_unsafe_in_gcc_12_only) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
  constexpr int kExpected = -1;  // destroyed twice
#else
  constexpr int kExpected = 0;
#endif
  EXPECT_EQ(live_after(aggregate_temporary), kExpected);
  EXPECT_EQ(live_after(designated_initializers), kExpected);
  EXPECT_EQ(live_after(temporary_by_reference), kExpected);
  EXPECT_EQ(live_after(empty_braces), kExpected);
}

TEST(CoroutineSpellings, await_first_then_branch_is_safe_with_every_compiler) {
  branched = 0;
  awaits_first_then_branches();
  awaits_in_an_initializer();
  EXPECT_EQ(branched, 2);
}

TEST(CoroutineSpellingsDeathTest, awaiting_in_a_condition_traps_in_gcc_12_only) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
  EXPECT_DEATH(awaits_in_a_condition(), "");
#else
  branched = 0;
  awaits_in_a_condition();
  EXPECT_EQ(branched, 1);
#endif
}
