#include "bench/actors/caf.hpp"

#include <string>

#include "bench/actors/programs.hpp"

namespace troupe::bench::actors {

#if TROUPE_HAS_CAF

namespace {

std::string version() {
  return "CAF " + std::to_string(CAF_MAJOR_VERSION) + "." + std::to_string(CAF_MINOR_VERSION) + "." +
         std::to_string(CAF_PATCH_VERSION);
}

}  // namespace

Programs caf_programs() {
  return {.version = version(),
          .ping_pong = with_caf::ping_pong,
          .ring = with_caf::ring,
          .counting = with_caf::counting,
          .many_to_one = with_caf::many_to_one,
          .big = with_caf::big,
          .all_pairs = with_caf::all_pairs,
          .fork_join_messages = with_caf::fork_join_messages,
          .ask_in_actor = with_caf::ask_in_actor,
          .ask_from_thread = with_caf::ask_from_thread,
          .fork_join_creation = with_caf::fork_join_creation,
          .idle_spawn = with_caf::idle_spawn,
          .idle_bytes = with_caf::idle_bytes,
          .watch = with_caf::watch,
          .restart_storm = with_caf::restart_storm,
          .ask_into_saturated = with_caf::ask_into_saturated,
          .timer_in_saturated = with_caf::timer_in_saturated,
          .ask_in_actor_at_half_load = with_caf::ask_in_actor_at_half_load,
          .ask_from_thread_at_half_load = with_caf::ask_from_thread_at_half_load,
          .burst = with_caf::burst,
          .timers = with_caf::timers};
}

#else

Programs caf_programs() { return {}; }

#endif

}  // namespace troupe::bench::actors
