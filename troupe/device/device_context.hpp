// The restartable actor under a device: one instance is one generation. It starts workers, gives the engine one that
// serves, keeps a standby, and hears of deaths. When the serving worker fails, it fails with that error, and its
// supervision decides, as for any actor: a new instance takes over with the standby, or the device is lost.
//
// What must survive that (the workers, the engine) is in `Crew` and `DeviceState`; the instance itself holds nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "troupe/actor/context.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/seal_queue.hpp"

namespace troupe::inline v0 {

/// One worker as the context sees it.
struct CrewMember {
  enum class Role : std::uint8_t {
    starting,  // was greeted and has not answered
    standby,
    active,
    dying,  // was killed and is not reaped
  };
  std::unique_ptr<WorkerLink> link;
  Role role = Role::starting;
  bool had_served = false;            // its ops are ghosts until the reap
  std::optional<Error> killed_for{};  // why we killed it
};

/// The workers of a device, by their numbers. All of it is touched on the context's turns only.
struct Crew {
  std::map<std::uint32_t, CrewMember> members;
  std::optional<std::uint32_t> active;
  int failed_starts = 0;  // in a row
  bool start_is_delayed = false;
  bool reap_is_late = false;
  std::optional<Error> failure;  // the last one of a serving worker
  TimePoint noticed{};           // when
  SealQueue seals;
  bool given_up = false;  // no worker can be started
  bool closing = false;
};

class DeviceContext {
 public:
  DeviceContext(Context<DeviceContext> self, const std::shared_ptr<detail::DeviceState>& device,
                const std::shared_ptr<Crew>& crew) noexcept
      : self_(self), device_(device), crew_(crew) {}

  void started();
  void restarted(const Error&);
  void stopping();

  /// A worker's socket has something to say.
  struct Spoke {
    std::uint32_t worker;
  };
  /// A worker has ended.
  struct Ended {
    std::uint32_t worker;
  };
  /// A worker must be stopped: an op in it passed its deadline.
  struct Kill {
    std::uint32_t worker;
    Error why;
  };
  /// Look what there is to do.
  struct Attend {};
  struct StartTimedOut {
    std::uint32_t worker;
    int pid;
  };
  struct StartAgain {};
  struct ReapIsLate {};
  /// An op that seals or unseals has come to its turn.
  struct Protect {
    SealRequest request;
  };
  struct SealIsLate {
    std::uint64_t which;
  };
  struct Close {};

  void on(Spoke message);
  void on(Ended message);
  void on(Kill message);
  void on(Attend) { attend(); }
  void on(StartTimedOut message);
  void on(StartAgain);
  void on(ReapIsLate);
  void on(Protect message);
  void on(SealIsLate message);
  void on(Close);

 private:
  using Role = CrewMember::Role;

  /// The one place that decides what to do next: who takes over, who is tried, who is started.
  void attend();
  void attend_seals();
  void start_worker();
  void start_failed(const Error& why);
  void take_over(std::uint32_t worker);
  void listen_to(std::uint32_t worker);
  void watch(CrewMember& member);
  void became_ready(std::uint32_t worker);
  void reaped(std::uint32_t worker, const wire::ChildEnd& end);
  std::optional<std::uint32_t> find(Role role) const;
  Error death_of(CrewMember& member, const wire::ChildEnd& end) const;
  void forget(std::uint32_t worker);
  /// Kills it for something that it has done or left undone.
  void replace(CrewMember& member, const Error& why);
  /// It was the active one and will be reaped: fails with `why`, so that another takes over now.
  void serving_worker_dies(CrewMember& member, const Error& why, TimePoint noticed);

  Context<DeviceContext> self_;
  const std::shared_ptr<detail::DeviceState> device_;
  const std::shared_ptr<Crew> crew_;
};

}  // namespace troupe::inline v0
