// Watching: an actor is told when another one has stopped, and why. It calls `self.watch(ref)`, and has a handler
// `void on(Terminated)`. A restart is not an end: the watched actor keeps its address, so its watchers are not told.
#pragma once

#include <optional>
#include <string>

#include "troupe/actor/mailbox.hpp"
#include "troupe/core/error.hpp"
#include "troupe/core/intrusive.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// Why an actor has stopped.
enum class StopReason : std::uint8_t {
  requested,       // somebody stopped or drained it
  failed,          // it was stopped because of a failure; `error` says why
  parent_stopped,  // its parent stopped or restarted
  shutdown,        // the system shuts down
};

/// The name of a reason, spelled as its enumerator.
std::string_view name(StopReason reason) noexcept;

/// The message that a watcher receives, once per watch. By then the name of the stopped actor is free again.
struct Terminated {
  std::string path;
  std::uint64_t id = 0;                       // `Ref::id()` of the actor
  StopReason reason = StopReason::requested;  // why it has stopped
  std::optional<Error> error;                 // only with `failed`
};

namespace detail {

class EnvelopeBase;

/// One actor watches another. It is also the notice itself, made ahead of time, so that the watched actor needs no
/// memory for it at its end. While the watched actor is in the tree, the watch is in its list, which the tree's mutex
/// guards.
class Watch final : public Node {
 public:
  using MakeEnvelope = EnvelopeBase* (*)(Terminated&&);

  Watch(IntrusivePtr<Cell> watcher, IntrusivePtr<Cell> watched, MakeEnvelope make_envelope) noexcept;

  void run(Cell& cell) noexcept override;  // on the watcher's turn
  void drop(Cell& cell, const Error& why) noexcept override;

  const IntrusivePtr<Cell> watcher;
  const IntrusivePtr<Cell> watched;
  Terminated notice;

 private:
  friend class WatchList;
  const MakeEnvelope make_envelope_;
  Watch* previous_ = nullptr;
  Watch* next_ = nullptr;
};

class WatchList {
 public:
  void add(Watch& watch) noexcept;
  void remove(Watch& watch) noexcept;
  Watch* first() const noexcept { return first_; }

 private:
  Watch* first_ = nullptr;
};

}  // namespace detail

}  // namespace troupe::inline v0
#pragma GCC visibility pop
