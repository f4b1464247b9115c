#include "bench/asio_reference.hpp"

#if TROUPE_HAS_ASIO

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"  // g++ warns of Asio's fences, wherever they are inlined
#endif

#include <utility>  // first: Asio 1.74 uses std::exchange without it

// Asio 1.74 looks for the coroutines of the Technical Specification when it sees clang, and switches co_await off
// because clang 19 has those of the standard only, which it supports as well. The macro adds declarations, it changes
// none: other files of the program may be compiled without it.
#if !defined(BOOST_ASIO_HAS_CO_AWAIT)
#define BOOST_ASIO_HAS_CO_AWAIT 1
#endif
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <cstddef>
#include <latch>
#include <memory>
#include <optional>

#include "bench/bench.hpp"
#include "bench/heap.hpp"
#include "bench/stopwatch.hpp"
#include "troupe/core/assert.hpp"

namespace troupe::bench {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kPoolThreads = 2;

using Strand = asio::strand<asio::thread_pool::executor_type>;
using Erased = asio::any_io_executor;

template <class Executor>
inline constexpr asio::use_awaitable_t<Executor> kUseAwaitable{};

/// A running sum that only its own strand touches.
struct Sum {
  Strand strand;
  int value = 0;

  int add(int amount) {
    TROUPE_ASSERT(strand.running_in_this_thread(), "the object is touched on its strand only");
    return value += amount;
  }
};

auto ask_by_co_spawn(Sum& sum, int amount) {
  return asio::co_spawn(
      sum.strand, [&sum, amount]() -> asio::awaitable<int> { co_return sum.add(amount); }, kUseAwaitable<Erased>);
}

template <AsioAsk how>
auto ask_lean(Sum& sum, int amount) {
  return asio::async_initiate<const asio::use_awaitable_t<Strand>, void(int)>(
      [&sum, amount](auto handler) {
        auto request = [&sum, amount, handler = std::move(handler)]() mutable {
          const int reply = sum.add(amount);
          const Strand asker = asio::get_associated_executor(handler);
          asio::dispatch(asker, [handler = std::move(handler), reply]() mutable { handler(reply); });
        };
        if constexpr (how == AsioAsk::defer_dispatch) {
          asio::defer(sum.strand, std::move(request));
        } else {
          asio::post(sum.strand, std::move(request));
        }
      },
      kUseAwaitable<Strand>);
}

/// Asks `count` times on strand `own` and returns the nanoseconds per ask.
template <class Executor, class Ask>
asio::awaitable<double, Executor> asker(Strand& own, Sum& sum, int count, Ask ask) {
  int last = co_await ask(sum, 0);
  const Stopwatch stopwatch;
  for (int i = 0; i < count; ++i) last = co_await ask(sum, 1);
  const double ns = stopwatch.ns_per(count);
  TROUPE_ASSERT(last == count, "every ask is answered once");
  TROUPE_ASSERT(own.running_in_this_thread(), "the asker goes on on its own strand");
  co_return ns;
}

template <class Executor, class Ask>
double ask_ns(int count, Ask ask) {
  asio::thread_pool pool(kPoolThreads);
  Strand own = asio::make_strand(pool.get_executor());
  Sum sum{.strand = asio::make_strand(pool.get_executor())};
  const double ns = asio::co_spawn(own, asker<Executor>(own, sum, count, ask), asio::use_future).get();
  pool.join();
  return ns;
}

/// Where a coroutine waits for its message: the cheapest form there is, a place for the one waiting handler. Messages
/// that come while nobody waits are not needed here.
template <class Executor>
class Mailbox {
 public:
  /// The message, for `co_await`. Counts `waiting` down once a message would be delivered.
  auto receive(std::latch& waiting) {
    return asio::async_initiate<const asio::use_awaitable_t<Executor>, void(int)>(
        [this, &waiting](auto handler) {
          handler_.emplace(std::move(handler));
          waiting.count_down();
        },
        kUseAwaitable<Executor>);
  }

  void deliver(int message) {
    asio::post(handler_->get_executor(), [this, message] {
      Handler handler = *std::exchange(handler_, std::nullopt);
      handler(message);
    });
  }

 private:
  using Handler = typename asio::async_result<asio::use_awaitable_t<Executor>, void(int)>::handler_type;
  std::optional<Handler> handler_;
};

template <class Executor>
asio::awaitable<void, Executor> idle_coroutine(Mailbox<Executor>& mailbox, std::latch& waiting, std::latch& received) {
  // A variable, because g++ 12 miscompiles `if (co_await ...)` in a coroutine that has none.
  const int message = co_await mailbox.receive(waiting);
  TROUPE_ASSERT(message == 1, "the message arrives as it was sent");
  received.count_down();
}

struct SpawnFigures {
  double ns_each = 0;
  double bytes_each = 0;
};

template <class Executor>
SpawnFigures spawn_idle_coroutines(int count, bool from_a_pool_thread) {
  asio::thread_pool pool(kPoolThreads);
  std::latch waiting(count);
  std::latch received(count);
  const HeapMeter heap;
  const Stopwatch stopwatch;

  const auto mailboxes = std::make_unique<Mailbox<Executor>[]>(static_cast<std::size_t>(count));
  const auto spawn_all = [&] {
    for (int i = 0; i < count; ++i) {
      asio::co_spawn(asio::make_strand(pool.get_executor()), idle_coroutine(mailboxes[i], waiting, received),
                     asio::detached);
    }
  };
  if (from_a_pool_thread) {
    asio::post(pool, spawn_all);
  } else {
    spawn_all();
  }
  waiting.wait();
  const SpawnFigures figures{.ns_each = stopwatch.ns_per(count), .bytes_each = heap.grown_bytes() / count};

  for (int i = 0; i < count; ++i) mailboxes[i].deliver(1);
  received.wait();
  pool.join();
  return figures;
}

SpawnFigures spawn_idle_coroutines(int count, AsioSpawn how) {
  switch (how) {
    case AsioSpawn::from_a_plain_thread: return spawn_idle_coroutines<Erased>(count, false);
    case AsioSpawn::from_a_plain_thread_typed: return spawn_idle_coroutines<Strand>(count, false);
    case AsioSpawn::from_a_pool_thread_typed: return spawn_idle_coroutines<Strand>(count, true);
  }
  return {kNotMeasured, kNotMeasured};
}

}  // namespace

double asio_ask_ns(int count, AsioAsk how) {
  switch (how) {
    case AsioAsk::co_spawn: return ask_ns<Erased>(count, ask_by_co_spawn);
    case AsioAsk::post_dispatch: return ask_ns<Strand>(count, ask_lean<AsioAsk::post_dispatch>);
    case AsioAsk::defer_dispatch: return ask_ns<Strand>(count, ask_lean<AsioAsk::defer_dispatch>);
  }
  return kNotMeasured;
}

double asio_spawn_ns(int count, AsioSpawn how) { return spawn_idle_coroutines(count, how).ns_each; }

double asio_heap_bytes_per_idle_coroutine(int count, AsioSpawn how) {
  return spawn_idle_coroutines(count, how).bytes_each;
}

}  // namespace troupe::bench

#endif  // TROUPE_HAS_ASIO
