// Asio: a service that has Boost.Asio threads already can run its actors on them. The executor must go on running until
// the system is destroyed, so it is made first.
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdio>
#include <future>
#include <memory>
#include <thread>

#include "troupe/actor/asio.hpp"
#include "troupe/troupe.hpp"

using namespace troupe;

struct Where {
  using Reply = std::thread::id;
};

class Handler {
 public:
  std::thread::id on(Where) { return std::this_thread::get_id(); }
};

int main() {
  boost::asio::thread_pool threads(1);
  std::promise<std::thread::id> promise;
  boost::asio::post(threads, [&] { promise.set_value(std::this_thread::get_id()); });
  const std::thread::id asio_thread = promise.get_future().get();

  System system;
  Dispatcher* on_asio = system.adopt(std::make_unique<AsioDispatcher>(threads.get_executor()));
  Ref<Handler> on_theirs = value(system.spawn<Handler>({.name = "theirs", .dispatcher = on_asio}));
  Ref<Handler> on_ours = value(system.spawn<Handler>({.name = "ours"}));

  const bool theirs = value(on_theirs.ask<Where>().get()) == asio_thread;
  const bool ours = value(on_ours.ask<Where>().get()) != asio_thread;
  std::printf("/user/theirs runs on Asio's thread: %s\n/user/ours runs on the system's pool: %s\n",
              theirs ? "yes" : "no", ours ? "yes" : "no");
  return theirs && ours ? 0 : 1;
}
