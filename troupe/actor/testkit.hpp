// For testing actors. A probe is an actor that keeps what it is told until the test asks for it. A deterministic system
// (`SystemOptions::deterministic_seed`) repeats one order of turns with virtual time. `explore` runs a scenario under
// many seeds, and gives it the seed, so that a failure can name it.
//
//   System system({.deterministic_seed = 7});
//   Probe<Done> probe(system);
//   value(worker.tell<Start>(probe.ref()));
//   EXPECT_EQ(probe.expect<Done>().value().job, 1);   // no sleeps: it waits until the message has come
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <variant>

#include "troupe/actor/system.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

/// True when the system's time is virtual.
bool is_virtual(SystemCore& core) noexcept;
/// Runs turns and moves virtual time until `done`, or until `limit` has passed or nothing is left to do.
void drive_until(SystemCore& core, Duration limit, const std::function<bool()>& done);

/// What a probe and its actor share: the messages that have come and that the test has not asked for yet.
template <class... Ms>
class ProbeInbox {
 public:
  using Any = std::variant<Ms...>;

  void put(Any message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
    came_.notify_all();
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return messages_.empty();
  }
  bool wait(SystemCore& core, Duration limit) {
    if (is_virtual(core)) {
      drive_until(core, limit, [&] { return !empty(); });
      return !empty();
    }
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, limit, [&] { return !messages_.empty(); });
  }
  std::optional<Any> take() {
    const std::lock_guard lock(mutex_);
    if (messages_.empty()) return std::nullopt;
    Any first = std::move(messages_.front());
    messages_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Any> messages_;
};

template <class M, class... Ms>
class ProbeHandler {
 public:
  explicit ProbeHandler(std::shared_ptr<ProbeInbox<Ms...>> inbox) : inbox_(std::move(inbox)) {}
  void on(M message) { inbox_->put(std::move(message)); }

 private:
  std::shared_ptr<ProbeInbox<Ms...>> inbox_;
};

/// The probe's actor: it has one handler per message type, and a message that makes it watch.
template <class... Ms>
class ProbeActor : public ProbeHandler<Ms, Ms...>... {
 public:
  struct WatchCell {
    IntrusivePtr<Cell> cell;
    using Reply = void;
  };
  ProbeActor(Context<ProbeActor> self, std::shared_ptr<ProbeInbox<Ms...>> inbox)
      : ProbeHandler<Ms, Ms...>(inbox)..., self_(self) {}
  using ProbeHandler<Ms, Ms...>::on...;
  void on(WatchCell message) { self_.watch(Ref<ProbeActor>(std::move(message.cell))); }

 private:
  Context<ProbeActor> self_;
};

}  // namespace detail

/// How long a probe waits for a message, unless the call says otherwise.
inline constexpr Duration kProbePatience = std::chrono::seconds(10);

/// An actor for tests that keeps what it is told: `Probe<Ping, Pong>` accepts `Ping`, `Pong` and `Terminated`. The
/// actor lives as long as its system.
template <class... Ms>
class Probe {
 public:
  using Actor = detail::ProbeActor<Ms..., Terminated>;

  explicit Probe(System& system, SpawnOptions options = {})
      : core_(system.core()), ref_(value(system.spawn<Actor>(std::move(options), inbox_))) {}

  const Ref<Actor>& ref() const noexcept { return ref_; }

  /// Waits for the next message, which must be an `M`. `timeout` when none comes within `limit`, `internal` when a
  /// message of another type comes.
  template <class M>
  Result<M> expect(Duration limit = kProbePatience) {
    if (!inbox_->wait(core_, limit)) return fail(ErrorKind::timeout, "no message came");
    auto message = inbox_->take();
    if (M* wanted = std::get_if<M>(&*message)) return std::move(*wanted);
    return fail(ErrorKind::internal,
                "another message came first, number " + std::to_string(message->index()) + " in the probe's list");
  }
  /// True when no message comes within `limit`, which is virtual time on a deterministic system.
  bool expect_nothing(Duration limit) { return !inbox_->wait(core_, limit); }

  /// Watches `other`: when it stops, the probe gets a `Terminated`. Returns when the watch is in place.
  template <class B>
  Result<void> watch(const Ref<B>& other) {
    return ref_.template ask<typename Actor::WatchCell>(other.cell()).get();
  }
  /// Watches `other`, and waits for its `Terminated`, which must be the next message.
  template <class B>
  Result<Terminated> expect_terminated(const Ref<B>& other, Duration limit = kProbePatience) {
    if (Result<void> watched = watch(other); !watched) return fail(watched.error());
    return expect<Terminated>(limit);
  }

 private:
  detail::SystemCore& core_;
  std::shared_ptr<detail::ProbeInbox<Ms..., Terminated>> inbox_ =
      std::make_shared<detail::ProbeInbox<Ms..., Terminated>>();
  Ref<Actor> ref_;
};

/// What `explore` did.
struct Exploration {
  std::uint64_t runs = 0;      // how many there were
  std::uint64_t distinct = 0;  // how many different orders of turns there were
};

/// Runs `scenario(System&, seed)` for `runs` seeds from `first` on, each on a fresh deterministic system.
template <class Scenario>
Exploration explore(std::uint64_t first, std::uint64_t runs, Scenario scenario) {
  std::set<std::uint64_t> orders;
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    System system({.threads = {}, .log = log_nothing(), .deterministic_seed = seed});
    scenario(system, seed);
    orders.insert(system.fingerprint());
  }
  return {runs, orders.size()};
}

}  // namespace troupe::inline v0
#pragma GCC visibility pop
