// Our side of the actor rows. Each function makes its own system of two pool threads, runs the operation `count` times
// and takes the system down again outside the measured time; one that cannot measure here returns `kNotMeasured`.
// Called from the main thread, one at a time.
#pragma once

namespace troupe::bench::ours {

/// Nanoseconds per ask and reply when an actor of the pool awaits another actor of the pool, one ask at a time.
double ask_in_pool_ns(int count);

/// Nanoseconds per ask and reply when a plain thread waits with `.get()` for an actor of the pool.
double ask_from_thread_ns(int count);

/// Nanoseconds per ask and reply when a plain thread waits with `.get()` for an actor pinned to a thread of its own.
double ask_pinned_ns(int count);

/// Nanoseconds per actor, from the first spawn until all `count` actors have started and sit idle.
double spawn_ns(int count);

/// Heap bytes per actor that has started and sits idle, with `count` of them alive.
double heap_bytes_per_idle_actor(int count);

/// Microseconds from a handler's failure until the restarted actor's reply to the next ask, the median of `count`
/// failures. Adds to `*asks_lost` the asks that got neither a reply nor an error.
double restart_us(int count, int* asks_lost);

/// What a system with started actors and nothing to do uses during `seconds`, in percent of one core.
double idle_cpu_percent(double seconds);

}  // namespace troupe::bench::ours
