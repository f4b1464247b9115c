#include "bench/actors/asio.hpp"

#include <string>

#include "bench/actors/programs.hpp"

namespace troupe::bench::actors {

#if TROUPE_HAS_ASIO

namespace {

std::string version() {
  return "Asio of Boost " + std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
}

}  // namespace

Programs asio_programs() {
  return {.version = version(),
          .ping_pong = with_asio::ping_pong,
          .ring = with_asio::ring,
          .counting = with_asio::counting,
          .many_to_one = with_asio::many_to_one,
          .big = with_asio::big,
          .all_pairs = with_asio::all_pairs,
          .fork_join_messages = with_asio::fork_join_messages,
          .ask_in_actor = with_asio::ask_in_actor,
          .ask_from_thread = with_asio::ask_from_thread,
          .fork_join_creation = with_asio::fork_join_creation,
          .idle_spawn = with_asio::idle_spawn,
          .idle_bytes = with_asio::idle_bytes,
          .ask_into_saturated = with_asio::ask_into_saturated,
          .timer_in_saturated = with_asio::timer_in_saturated,
          .ask_in_actor_at_half_load = with_asio::ask_in_actor_at_half_load,
          .ask_from_thread_at_half_load = with_asio::ask_from_thread_at_half_load,
          .burst = with_asio::burst,
          .timers = with_asio::timers};
}

#else

Programs asio_programs() { return {}; }

#endif

}  // namespace troupe::bench::actors
