// How an actor is made: check the options, make the cell of its type, put it into the tree. This is a file of its own,
// because `System` spawns top-level actors and `Context` spawns children, and both do it the same way.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <typeinfo>

#include "troupe/actor/cell.hpp"
#include "troupe/actor/ref.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

template <class A>
class Context;

namespace detail {

/// False; for a sentence about an argument that stands where options belong.
template <class T>
inline constexpr bool no_options = false;

template <class A, class... Args>
concept ConstructibleWithContext = std::is_constructible_v<A, Context<A>, const Args&...>;

template <class A, class... Args>
concept ConstructibleAsActor = ConstructibleWithContext<A, Args...> || std::is_constructible_v<A, const Args&...>;

/// The cell of an actor of type `A`. It keeps the constructor's arguments, so that a restart can construct a new
/// instance. The instance is inside the cell, so that an actor is one allocation.
template <class A, class... Args>
class ActorCell final : public Cell {
 public:
  template <class... Given>
  ActorCell(SystemCore& core, IntrusivePtr<Cell> parent, const SpawnOptions& options, std::uint64_t id,
            Given&&... given)
      : Cell(core, std::move(parent), options, id), arguments_(std::forward<Given>(given)...) {}

  const std::type_info& actor_type() const noexcept override { return typeid(A); }

 private:
  A& actor() noexcept { return *static_cast<A*>(instance_); }

  void construct() override {
    std::apply(
        [this](const Args&... args) {
          if constexpr (ConstructibleWithContext<A, Args...>)
            instance_ = std::construct_at(reinterpret_cast<A*>(storage_), Context<A>(*this), args...);
          else
            instance_ = std::construct_at(reinterpret_cast<A*>(storage_), args...);
        },
        arguments_);
  }
  void destroy() noexcept override {
    if (!instance_) return;
    std::destroy_at(&actor());
    instance_ = nullptr;
  }

  void started() override {
    if constexpr (requires(A& a) { a.started(); }) actor().started();
  }
  void restarted([[maybe_unused]] const Error& error) override {
    if constexpr (requires(A& a) { a.restarted(error); })
      actor().restarted(error);
    else
      started();
  }
  void restarting([[maybe_unused]] const Error& error) override {
    if constexpr (requires(A& a) { a.restarting(error); }) actor().restarting(error);
  }
  void stopping() override {
    if constexpr (requires(A& a) { a.stopping(); }) actor().stopping();
  }

  [[no_unique_address]] std::tuple<Args...> arguments_;
  alignas(A) std::byte storage_[sizeof(A)];
};

template <class A, class... Args>
Result<Ref<A>> spawn_under(SystemCore& core, IntrusivePtr<Cell> parent, SpawnOptions options, Args&&... args) {
  static_assert(ConstructibleAsActor<A, std::decay_t<Args>...>,
                "an actor is constructed from const references to the arguments given to spawn, anew at each restart: "
                "its constructor must take them so, optionally with Context<A> first");
  if constexpr (ConstructibleAsActor<A, std::decay_t<Args>...>) {
    TROUPE_TRY(check(options));
    using Made = ActorCell<A, std::decay_t<Args>...>;
    // This share is the caller's. `add_to_tree` adds the system's share, which lasts until the actor has stopped.
    auto cell = IntrusivePtr<Cell>::adopt(
        new Made(core, std::move(parent), options, next_id(core), std::forward<Args>(args)...));
    TROUPE_TRY(add_to_tree(core, *cell));
    return Ref<A>(std::move(cell));
  }
}

}  // namespace detail
}  // namespace troupe::inline v0
#pragma GCC visibility pop
