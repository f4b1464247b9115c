// Our side: what its programs share, and their names. It includes nothing but what a user of Troupe includes, so that
// it measures what a user gets.
#pragma once

#include <string>

#include "bench/actors/finish.hpp"
#include "bench/actors/programs.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench::actors::ours {

inline System make_system(int threads) { return System({.threads = threads, .log = log_nothing()}); }

/// For those that are sent more than they can handle at once: nothing is refused.
inline constexpr SpawnOptions kRoomy = {.mailbox_capacity = 1 << 26};

/// A tell that must arrive.
inline void must(const Result<void>& sent) {
  if (!sent) give_up("a tell was refused: " + sent.error().to_string());
}

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

}  // namespace troupe::bench::actors::ours
