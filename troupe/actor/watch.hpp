// Watching: an actor is told when another one has stopped, and why. `self.watch(ref)`, then `void on(Terminated)`.
// A restart is not an end: the watched actor is still at its address, so nobody is told.
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
  failed,          // its supervision gave it up; `error` says why
  parent_stopped,  // children stop before their parent does, or are replaced with it
  shutdown,        // the system shuts down
};

/// The name of a reason, spelled as its enumerator.
std::string_view name(StopReason reason) noexcept;

/// What a watcher receives, once per watch. By then the actor's name is free again.
struct Terminated {
  std::string path;
  std::uint64_t id = 0;  // `Ref::id()` of the actor
  StopReason reason = StopReason::requested;
  std::optional<Error> error;  // with `failed`
};

namespace detail {

class EnvelopeBase;

/// One actor watching another; also the notice itself, made ahead of time so that ending cannot fail.
/// Linked into the watched actor's list while that actor is in the tree; the lists are guarded by the tree's mutex.
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
