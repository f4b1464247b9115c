// One address in front of many actors of a kind. A router is a value that picks a ref. It is not an actor, so a routed
// message makes no extra hop. A router passes over actors that have stopped; when all have, asks end in `stopped`.
//
//   auto workers = value(spawn_many<Worker>(system, 4, {.name = "worker"}));   // worker-1 ... worker-4
//   RoundRobin<Worker> router(workers);
//   auto done = co_await router.ask<Work>(42);
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "troupe/actor/ref.hpp"
#include "troupe/actor/when.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// Spawns `count` actors called NAME-1, NAME-2, ... `spawner` is a `System` or a `Context`. If one spawn fails, it
/// stops the actors that it has spawned before, and returns the error.
template <class A, class Spawner, class... Args>
Result<std::vector<Ref<A>>> spawn_many(Spawner& spawner, int count, const SpawnOptions& options, const Args&... args) {
  std::vector<Ref<A>> refs;
  for (int i = 1; i <= count; ++i) {
    SpawnOptions mine = options;
    const std::string numbered = std::string(options.name) + "-" + std::to_string(i);
    if (!options.name.empty()) mine.name = numbered;
    Result<Ref<A>> ref = spawner.template spawn<A>(std::move(mine), args...);
    if (!ref) {
      for (const Ref<A>& made : refs) made.stop();
      return fail(std::move(ref).error());
    }
    refs.push_back(std::move(*ref));
  }
  return refs;
}

namespace detail {

/// Gives `tell` and `ask` to a router that has a `pick`.
template <class Router, class A>
class Routes {
 public:
  template <class M, class... Args>
  [[nodiscard]] Result<void> tell(Args&&... args) const {
    return router().pick().template tell<M>(std::forward<Args>(args)...);
  }
  template <class M, class... Args>
  auto ask(Args&&... args) const {
    return router().pick().template ask<M>(std::forward<Args>(args)...);
  }

 private:
  friend Router;
  Routes() = default;
  const Router& router() const noexcept { return static_cast<const Router&>(*this); }
};

}  // namespace detail

/// A router that takes each actor in turn. Copies of a router share the turn.
template <class A>
class RoundRobin : public detail::Routes<RoundRobin<A>, A> {
 public:
  explicit RoundRobin(std::vector<Ref<A>> refs) : refs_(std::move(refs)) {}

  /// The actor whose turn it is, past those that have stopped; an empty ref when there are no actors.
  Ref<A> pick() const {
    for (std::size_t tried = 0; tried < refs_.size(); ++tried) {
      const Ref<A>& ref = refs_[next_->fetch_add(1, std::memory_order_relaxed) % refs_.size()];
      if (!ref.stopped()) return ref;
    }
    return refs_.empty() ? Ref<A>() : refs_.front();
  }

 private:
  std::vector<Ref<A>> refs_;
  std::shared_ptr<std::atomic<std::size_t>> next_ = std::make_shared<std::atomic<std::size_t>>(0);
};

/// A router that takes the actor with the fewest messages queued and handlers under way. It reads these numbers each
/// time it picks, so it keeps no counts of its own.
template <class A>
class LeastLoaded : public detail::Routes<LeastLoaded<A>, A> {
 public:
  explicit LeastLoaded(std::vector<Ref<A>> refs) : refs_(std::move(refs)) {}

  /// The actor with the least to do, past those that have stopped; an empty ref when there are no actors.
  Ref<A> pick() const {
    const auto load = [](const Ref<A>& ref) { return ref.stopped() ? UINT64_MAX : std::uint64_t{ref.load()}; };
    const auto least = std::ranges::min_element(refs_, {}, load);
    return least == refs_.end() ? Ref<A>() : *least;
  }

 private:
  std::vector<Ref<A>> refs_;
};

/// A router that sends the same key to the same actor; when an actor stops, only its keys move to others.
template <class A>
class ConsistentHash {
 public:
  explicit ConsistentHash(const std::vector<Ref<A>>& refs) {
    for (const Ref<A>& ref : refs)
      for (std::uint64_t point = 0; point < kPointsPerActor; ++point)
        ring_.push_back({mix(std::hash<std::string>{}(ref.path()) + point), ref});
    std::ranges::sort(ring_, {}, &Point::hash);
  }

  /// The actor of that key, past those that have stopped; an empty ref when there are no actors.
  template <class Key>
  Ref<A> pick(const Key& key) const {
    if (ring_.empty()) return {};
    const std::uint64_t hash = mix(std::hash<Key>{}(key));
    const auto from = std::ranges::lower_bound(ring_, hash, {}, &Point::hash) - ring_.begin();
    for (std::size_t tried = 0; tried < ring_.size(); ++tried) {
      const Ref<A>& ref = ring_[(static_cast<std::size_t>(from) + tried) % ring_.size()].ref;
      if (!ref.stopped()) return ref;
    }
    return ring_.front().ref;
  }
  /// Tells the actor of that key a message.
  template <class M, class Key, class... Args>
  [[nodiscard]] Result<void> tell(const Key& key, Args&&... args) const {
    return pick(key).template tell<M>(std::forward<Args>(args)...);
  }
  /// Asks the actor of that key.
  template <class M, class Key, class... Args>
  auto ask(const Key& key, Args&&... args) const {
    return pick(key).template ask<M>(std::forward<Args>(args)...);
  }

 private:
  static constexpr std::uint64_t kPointsPerActor = 128;  // so many that the actors' shares of the keys are similar
  struct Point {
    std::uint64_t hash;
    Ref<A> ref;
  };
  static std::uint64_t mix(std::uint64_t z) noexcept {  // the finisher of splitmix64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::vector<Point> ring_;
};

/// A router that sends a copy of each message to every actor.
template <class A>
class Broadcast {
 public:
  explicit Broadcast(std::vector<Ref<A>> refs) : refs_(std::move(refs)) {}

  /// Returns how many actors it was sent to.
  template <class M>
  std::size_t tell(const M& message) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(refs_, [&](const Ref<A>& ref) { return ref.template tell<M>(message).has_value(); }));
  }
  /// Gives the results of all actors, in the order of the refs.
  template <class M, class... Args>
  Task<std::vector<Result<detail::reply_t<M>>>> ask(Args&&... args) const {
    return ask_each<M>(refs_, M{std::forward<Args>(args)...});
  }

 private:
  template <class M>
  static Task<std::vector<Result<detail::reply_t<M>>>> ask_each(std::vector<Ref<A>> refs, M message) {
    std::vector<Task<Result<detail::reply_t<M>>>> asks;
    for (const Ref<A>& ref : refs) asks.push_back(detail::to_task(ref.template ask<M>(message)));
    co_return co_await when_all(std::move(asks));
  }

  std::vector<Ref<A>> refs_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
