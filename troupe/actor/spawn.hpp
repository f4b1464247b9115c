// Making an actor: the cell of its type, checked options, a place in the tree. It is here, on its own, because `System`
// spawns top-level actors and `Context` spawns children, and both do it the same way.
#pragma once

#include <type_traits>

#include "troupe/actor/actor_cell.hpp"
#include "troupe/actor/ref.hpp"
#include "troupe/actor/system_core.hpp"

namespace troupe::inline v0 {

template <class A, class... Args>
Result<Ref<A>> spawn_under(SystemCore& core, IntrusivePtr<Cell> parent, SpawnOptions options, Args&&... args) {
  static_assert(ConstructibleAsActor<A, std::decay_t<Args>...>,
                "an actor is constructed from const references to the arguments given to spawn, anew at each restart: "
                "its constructor must take them so, optionally with Context<A> first");
  if constexpr (ConstructibleAsActor<A, std::decay_t<Args>...>) {
    TROUPE_TRY(check(options));
    using Made = ActorCell<A, std::decay_t<Args>...>;
    // One share is the system's, until the actor has stopped; one is the caller's.
    auto cell = IntrusivePtr<Cell>::adopt(
        new Made(core, std::move(parent), options, core.next_id(), std::forward<Args>(args)...));
    TROUPE_TRY(core.add(*cell));
    return Ref<A>(std::move(cell));
  }
}

}  // namespace troupe::inline v0
