// The reference for the actors: the same done with Boost.Asio strands and co_await on a pool of two threads, once as
// its documentation suggests and once as lean as we can make it. The benchmark measures all ways and compares with the
// fastest, so a better way to use Asio belongs here.
#pragma once

#if TROUPE_HAS_ASIO

namespace troupe::bench {

/// How one coroutine asks an object on another strand. In all of them the object is touched on its own strand only, and
/// the coroutine goes on on its own strand.
enum class AsioAsk {
  co_spawn,        // co_await co_spawn(other_strand, coroutine, use_awaitable)
  post_dispatch,   // an initiation that posts to the other strand and dispatches the reply; executors not type-erased
  defer_dispatch,  // the same, with the request deferred: the pool need not wake its other thread
};

/// Nanoseconds per ask and reply, over `count` of them.
double asio_ask_ns(int count, AsioAsk how);

/// What stands for an actor: a strand and a coroutine on it that waits for a message.
enum class AsioSpawn {
  from_a_plain_thread,        // awaitable<void>, as in the documentation
  from_a_plain_thread_typed,  // awaitable<void, Strand>: executors not type-erased
  from_a_pool_thread_typed,   // the same, and spawned by one of the pool's threads
};

/// Nanoseconds per strand and coroutine, from the first spawn until all `count` of them wait for a message.
double asio_spawn_ns(int count, AsioSpawn how);

/// Heap bytes per strand with a coroutine that waits for a message.
double asio_heap_bytes_per_idle_coroutine(int count, AsioSpawn how);

}  // namespace troupe::bench

#endif  // TROUPE_HAS_ASIO
