// CAF's side (C++ Actor Framework 0.17): what its programs share, and their names. As its users write: event-based
// actors on its work-stealing pool, with its defaults unless a program says otherwise.
#pragma once

#if TROUPE_HAS_CAF

#include <cstddef>  // first: CAF 0.17 uses what newer standard libraries declare only here
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
// Then CAF.
#include <caf/all.hpp>

#include "bench/actors/finish.hpp"
#include "bench/actors/programs.hpp"

namespace troupe::bench::actors::with_caf {

using Go = caf::atom_constant<caf::atom("go")>;
using Get = caf::atom_constant<caf::atom("get")>;

/// A system, and the actors that it stops at its end.
class System {
 public:
  explicit System(int threads, int messages_per_turn = 0) {
    config_.set("scheduler.max-threads", static_cast<std::size_t>(threads));
    if (messages_per_turn > 0) config_.set("scheduler.max-throughput", static_cast<std::size_t>(messages_per_turn));
    system_.emplace(config_);
  }
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    for (const caf::actor& actor : actors_) caf::anon_send_exit(actor, caf::exit_reason::kill);
    actors_.clear();
  }

  /// An actor of type `A` that is stopped at the end.
  template <class A, class... Args>
  caf::actor spawn(Args&&... args) {
    actors_.push_back(caf::actor_cast<caf::actor>(system_->spawn<A>(std::forward<Args>(args)...)));
    return actors_.back();
  }
  caf::actor_system& itself() { return *system_; }

 private:
  caf::actor_system_config config_;
  std::optional<caf::actor_system> system_;
  std::vector<caf::actor> actors_;
};

Figures ping_pong(const Setting& setting);
Figures ring(const Setting& setting);
Figures counting(const Setting& setting);
Figures many_to_one(const Setting& setting);
Figures big(const Setting& setting);
Figures all_pairs(const Setting& setting);
Figures fork_join_messages(const Setting& setting);
Figures ask_in_actor(const Setting& setting);
Figures ask_from_thread(const Setting& setting);
Figures fork_join_creation(const Setting& setting);
Figures idle_spawn(const Setting& setting);
Figures idle_bytes(const Setting& setting);
Figures watch(const Setting& setting);
Figures restart_storm(const Setting& setting);
Figures ask_into_saturated(const Setting& setting);
Figures timer_in_saturated(const Setting& setting);
Figures ask_in_actor_at_half_load(const Setting& setting);
Figures ask_from_thread_at_half_load(const Setting& setting);
Figures burst(const Setting& setting);
Figures timers(const Setting& setting);

}  // namespace troupe::bench::actors::with_caf

#endif  // TROUPE_HAS_CAF
