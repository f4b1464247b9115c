// Asio's side: an actor is an object with a strand, a message is a handler posted to it. No supervision, no restart, no
// watching, no limit of a mailbox: it shows what the hops alone cost. A handler whose last act is to send uses `defer`,
// which is how Asio is told so.
#pragma once

#if TROUPE_HAS_ASIO

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"  // g++ warns of Asio's fences, wherever they are inlined
#endif

#include <utility>  // first: Asio 1.74 uses std::exchange without it
// Then the rest of it.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/version.hpp>
#include <cstddef>

#include "bench/actors/finish.hpp"
#include "bench/actors/programs.hpp"

namespace troupe::bench::actors::with_asio {

namespace asio = boost::asio;

using Strand = asio::strand<asio::thread_pool::executor_type>;

/// Actors are made after it and are gone before it; call `join` before they go.
class Pool {
 public:
  explicit Pool(int threads) : pool_(static_cast<std::size_t>(threads)) {}

  Strand strand() { return asio::make_strand(pool_.get_executor()); }
  asio::thread_pool::executor_type executor() { return pool_.get_executor(); }
  /// Waits until all that was posted has run.
  void join() { pool_.join(); }

 private:
  asio::thread_pool pool_;
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
Figures ask_into_saturated(const Setting& setting);
Figures timer_in_saturated(const Setting& setting);
Figures ask_in_actor_at_half_load(const Setting& setting);
Figures ask_from_thread_at_half_load(const Setting& setting);
Figures burst(const Setting& setting);
Figures timers(const Setting& setting);

}  // namespace troupe::bench::actors::with_asio

#endif  // TROUPE_HAS_ASIO
