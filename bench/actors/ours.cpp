#include "bench/actors/ours.hpp"

namespace troupe::bench::actors {

Programs our_programs() {
  return {.version = "Troupe",
          .ping_pong = ours::ping_pong,
          .ring = ours::ring,
          .counting = ours::counting,
          .many_to_one = ours::many_to_one,
          .big = ours::big,
          .all_pairs = ours::all_pairs,
          .fork_join_messages = ours::fork_join_messages,
          .ask_in_actor = ours::ask_in_actor,
          .ask_from_thread = ours::ask_from_thread,
          .fork_join_creation = ours::fork_join_creation,
          .idle_spawn = ours::idle_spawn,
          .idle_bytes = ours::idle_bytes,
          .watch = ours::watch,
          .restart_storm = ours::restart_storm,
          .ask_into_saturated = ours::ask_into_saturated,
          .timer_in_saturated = ours::timer_in_saturated,
          .ask_in_actor_at_half_load = ours::ask_in_actor_at_half_load,
          .ask_from_thread_at_half_load = ours::ask_from_thread_at_half_load,
          .burst = ours::burst,
          .timers = ours::timers};
}

}  // namespace troupe::bench::actors
