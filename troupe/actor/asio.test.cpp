#include "troupe/actor/asio.hpp"

#include <gtest/gtest.h>

#include <boost/asio/thread_pool.hpp>

#include "troupe/actor/system.hpp"

namespace troupe {
namespace {

struct Add {
  int by;
};
struct Get {
  using Reply = int;
};
struct Relay {
  using Reply = int;
};
struct Crash {};

struct Counter {
  void on(Add add) { sum += add.by; }
  int on(Get) { return sum; }
  void on(Crash) { throw std::runtime_error("crash"); }
  int sum = 0;
};
struct Asker {
  explicit Asker(Ref<Counter> counter) : to(std::move(counter)) {}
  Task<Result<int>> on(Relay) { co_return co_await to.ask<Get>(); }
  Ref<Counter> to;
};

}  // namespace

TEST(Asio, runs_actors_on_an_executor_of_the_user) {
  boost::asio::thread_pool threads(2);
  {
    System system({.log = log_nothing()});
    Dispatcher* on_asio = system.adopt(std::make_unique<AsioDispatcher>(threads.get_executor()));
    const auto counter = value(system.spawn<Counter>({.dispatcher = on_asio}));
    const auto asker = value(system.spawn<Asker>({.dispatcher = on_asio}, counter));
    const auto pool_asker = value(system.spawn<Asker>({}, counter));
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(counter.tell<Add>(1));
    EXPECT_EQ(counter.ask<Get>().get(), 1000);
    EXPECT_EQ(asker.ask<Relay>().get(), 1000);
    EXPECT_EQ(pool_asker.ask<Relay>().get(), 1000);
    value(counter.tell<Crash>());
    EXPECT_EQ(asker.ask<Relay>().get(), 0) << "restarted there, too";
  }
  threads.join();
}

}  // namespace troupe
