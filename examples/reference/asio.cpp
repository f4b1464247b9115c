// Actors on threads of Boost.Asio. The reference shows what stands between `// example:` and `// end`.
#include "troupe/actor/asio.hpp"

#include <boost/asio/thread_pool.hpp>
#include <memory>

#include "examples/reference/expect.hpp"
#include "troupe/troupe.hpp"

using namespace troupe;

struct Get {
  using Reply = int;
};
struct Answerer {
  int on(Get) { return 42; }
};

int main() {
  // example: AsioDispatcher
  boost::asio::thread_pool threads(2);  // before the system: it must outlive it
  System system;
  Dispatcher* on_asio = system.adopt(std::make_unique<AsioDispatcher>(threads.get_executor()));
  Ref<Answerer> answerer = value(system.spawn<Answerer>({.dispatcher = on_asio}));
  expect(answerer.ask<Get>().get() == 42);
  // end
}
