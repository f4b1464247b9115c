// Routers: one address in front of many actors of a kind. A router is a value that picks a ref; it is no actor, so a
// routed message makes no extra hop.
#include <cstdio>
#include <set>
#include <string>

#include "troupe/troupe.hpp"

using namespace troupe;

struct WhoAreYou {
  using Reply = std::string;
};
struct Hold {  // a handler that stays under way until the gate opens
  std::stop_token gate;
};

class Worker {
 public:
  explicit Worker(Context<Worker> self) : self_(self) {}
  std::string on(WhoAreYou) { return self_.path(); }
  Task<> on(Hold message) { co_await stop_requested(message.gate); }

 private:
  Context<Worker> self_;
};

int main() {
  System system;
  const auto workers = value(spawn_many<Worker>(system, 3, {.name = "worker"}));  // worker-1, worker-2, worker-3

  const RoundRobin<Worker> in_turn(workers);
  std::set<std::string> seen;
  for (int i = 0; i < 3; ++i) seen.insert(value(in_turn.ask<WhoAreYou>().get()));
  std::printf("round robin met %zu workers\n", seen.size());

  std::stop_source gate;
  for (const Ref<Worker>& busy : {workers[0], workers[1]}) {
    for (int i = 0; i < 2; ++i) value(busy.tell<Hold>(gate.get_token()));
    value(busy.ask<WhoAreYou>().get());  // answered after both have begun
  }
  const LeastLoaded<Worker> least(workers);
  const std::string idle = value(least.ask<WhoAreYou>().get());
  std::printf("least loaded: %s\n", idle.c_str());
  gate.request_stop();

  const ConsistentHash<Worker> by_key(workers);
  const std::string home = value(by_key.ask<WhoAreYou>(std::string("user-42")).get());
  const bool sticky = home == value(by_key.ask<WhoAreYou>(std::string("user-42")).get());
  std::printf("user-42 belongs to %s\n", home.c_str());

  const Broadcast<Worker> everybody(workers);
  const auto names = value(system.run(everybody.ask<WhoAreYou>()));
  std::printf("%zu workers answered the broadcast\n", names.size());

  workers[0].stop();
  while (workers[0].ask<WhoAreYou>().get()) {  // until it has stopped
  }
  const bool passed_over = in_turn.pick() != workers[0] && in_turn.pick() != workers[0];
  return seen.size() == 3 && idle == "/user/worker-3" && sticky && names.size() == 3 && passed_over ? 0 : 1;
}
