// An ask is used once; a named one is handed over visibly.
// expect: no matching function for call to .*to_task
#include "troupe/troupe.hpp"

struct Get {
  using Reply = int;
};
struct Actor {
  int on(Get) { return 1; }
};

troupe::Task<int> sum(troupe::Ref<Actor> actor) {
  auto first = actor.ask<Get>();
#ifdef TROUPE_FIXED
  auto [a, b] = co_await troupe::when_all(std::move(first), actor.ask<Get>());
#else
  auto [a, b] = co_await troupe::when_all(first, actor.ask<Get>());
#endif
  co_return a.value_or(0) + b.value_or(0);
}
