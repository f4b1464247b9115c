// The restartable actor under a device: one instance is one generation. It starts workers, gives the engine one that
// serves, keeps a standby, and learns of deaths. When the serving worker fails, the actor fails with that error, and
// its supervision decides, as for any actor: a new instance takes over with the standby, or the device is lost.
//
// What must survive a restart (the workers, the engine) is in `Crew` and `DeviceState`; the instance itself holds
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "troupe/actor/context.hpp"
#include "troupe/device/device_state.hpp"
#include "troupe/device/seal_under_way.hpp"

namespace troupe::inline v0 {

/// One worker as the context sees it.
struct CrewMember {
  enum class Role : std::uint8_t {
    starting,  // was greeted but has not answered
    standby,
    active,
    dying,  // was killed but is not reaped
  };
  std::unique_ptr<WorkerLink> link;
  Role role = Role::starting;
  bool had_served = false;            // its ops are ghosts until the reap
  bool broke_the_rules = false;       // what it wrote or said cannot be true: code in it is wrong
  bool has_hung_up = false;           // and was not reaped soon after
  std::uint32_t heartbeat = 0;        // as it was at the last look
  int silent_looks = 0;               // looks in a row that found the same
  std::optional<Error> killed_for{};  // why we killed it
  std::int64_t generation = 0;        // the one in which it served
};

/// The workers of a device, by their numbers. Only the context's turns touch it.
struct Crew {
  std::map<std::uint32_t, CrewMember> members;
  std::optional<std::uint32_t> active;
  int failed_starts = 0;      // in a row, since a worker served
  TimePoint failing_since{};  // the first of them
  bool start_is_delayed = false;
  bool reap_is_late = false;
  std::optional<Error> failure;  // the last one of a serving worker
  /// Deaths of serving workers in the restart window that no op is known to have caused: generation and time.
  std::map<std::int64_t, TimePoint> unexplained;
  TimePoint noticed{};  // when
  SealUnderWay seal;
  std::optional<wire::Zygote> zygote;
  bool zygote_is_ready = false;
  int zygotes_lost = 0;
  bool forks_no_more = false;  // workers are spawned
  bool given_up = false;       // no worker can be started
  bool closing = false;
  bool is_watched = false;  // the loop listens for nudges
  bool will_look = false;   // for signs of life, soon
  bool lost_track = false;  // a worker may have spoken or ended when there was no memory to handle it
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
  /// There is something to do: a worker to stop, a suspect to try, an array to seal, the device to close.
  struct Nudged {};
  struct StartTimedOut {
    std::uint32_t worker;
    int pid;
  };
  struct StartAgain {};
  /// The zygote has something to say, or has ended.
  struct ZygoteSpoke {
    int pid;
  };
  struct ZygoteIsLate {
    int pid;
  };
  struct ReapIsLate {};
  /// A worker has said that it ends, or has hung up, a while ago.
  struct HungUp {
    std::uint32_t worker;
    int pid;
  };
  /// The serving worker has hung up a moment ago.
  struct Gone {
    std::uint32_t worker;
    int pid;
    bool takes_no_more;  // from its ring
  };
  /// Look for signs of life.
  struct Look {};
  struct SealIsLate {
    std::uint64_t which;
  };

  void on(Spoke message) {
    guarded([&] { spoke(message); });
  }
  void on(Ended message) {
    guarded([&] { ended(message); });
  }
  void on(Nudged) {
    guarded([&] { nudged(); });
  }
  void on(HungUp message) {
    guarded([&] { hung_up(message); });
  }
  void on(Gone message) {
    guarded([&] { gone(message); });
  }
  void on(Look) {
    guarded([&] { look(); });
  }
  void on(SealIsLate message) {
    guarded([&] { seal_is_late(message); });
  }
  void on(ZygoteSpoke message) {
    guarded([&] { zygote_spoke(message); });
  }
  void on(ZygoteIsLate message) {
    guarded([&] { zygote_is_late(message); });
  }
  void on(StartTimedOut message);
  void on(StartAgain);
  void on(ReapIsLate);

 private:
  /// Handles a worker's message; an error when the message is wrong.
  std::optional<Error> hear(std::uint32_t worker, CrewMember& member, wire::Message& message);
  using Role = CrewMember::Role;

  /// Runs `step`; when that finds no memory, everything is looked at again soon.
  void guarded(const std::function<void()>& step);
  void spoke(Spoke message);
  void ended(Ended message);
  void nudged();
  void hung_up(HungUp message);
  void gone(Gone message);
  /// The worker of that generation has let go of its life line.
  void died(std::int64_t generation);
  void look();
  void seal_is_late(SealIsLate message);
  void kill(const detail::KillOrder& order);
  void listen_for_nudges();
  /// The one place that decides what to do next: who takes over, who is tried, who is started.
  void attend();
  void attend_seals();
  /// Whether a worker can be started now: not while the zygote that is to fork it has yet to begin. Starts one.
  bool may_start_now();
  void start_zygote();
  void zygote_spoke(ZygoteSpoke message);
  void zygote_is_late(ZygoteIsLate message);
  /// It has failed or ended.
  void lose_zygote(const Error& why);
  /// Its workers end with it.
  void end_zygote();
  void start_worker();
  Result<void> start_worker(std::uint32_t number);
  void start_failed(const Error& why);
  void take_over(std::uint32_t worker);
  void listen_to(std::uint32_t worker);
  Result<void> watch(CrewMember& member);
  void look_again();
  void became_ready(std::uint32_t worker);
  void reaped(std::uint32_t worker, const wire::ChildEnd& end);
  std::optional<std::uint32_t> find(Role role) const;
  /// Whether more workers were lost without a known cause than `max_restarts` allows.
  bool is_past_its_limit();
  Error was_given_up() const noexcept;
  /// The error that an accelerator reported, as its worker says.
  Error report_of(ErrorKind kind, std::string_view message, std::int64_t native_code) const noexcept;
  Error death_of(CrewMember& member, const wire::ChildEnd& end) const;
  static Blame blame_for(const CrewMember& member, const wire::ChildEnd& end, const Error& why);
  void forget(std::uint32_t worker);
  /// Kills a faulty worker. If it was the active one, fails with `why`, so that another takes over now.
  void kill_member(CrewMember& member, const Error& why);
  /// The active worker will be reaped: fails with `why`, so that another takes over now.
  void serving_worker_dies(CrewMember& member, const Error& why, TimePoint noticed, bool takes_no_more = false);

  Context<DeviceContext> self_;
  const std::shared_ptr<detail::DeviceState> device_;
  const std::shared_ptr<Crew> crew_;
};

}  // namespace troupe::inline v0
