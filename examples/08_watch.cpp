// Watch: an actor is told when another one has stopped, and why. The notice comes once per watch, after the actor has
// left the tree: its name is free again.
#include <cstdio>
#include <future>
#include <map>
#include <stdexcept>

#include "troupe/troupe.hpp"

using namespace troupe;

struct Crash {};

class Worker {
 public:
  void on(Crash) { throw std::runtime_error("out of ideas"); }
};

struct Keep {  // the promise is kept when `who` has stopped
  Ref<Worker> who;
  std::promise<Terminated> end;
};

class Keeper {
 public:
  explicit Keeper(Context<Keeper> self) : self_(self) {}
  void on(Keep message) {
    ends_[message.who.id()] = std::move(message.end);
    self_.watch(message.who);  // of one that has stopped already, too
  }
  void on(Terminated notice) { ends_.at(notice.id).set_value(notice); }

 private:
  Context<Keeper> self_;
  std::map<std::uint64_t, std::promise<Terminated>> ends_;
};

Terminated end_of(Ref<Keeper> keeper, Ref<Worker> worker) {
  std::promise<Terminated> end;
  std::future<Terminated> ended = end.get_future();
  value(keeper.tell<Keep>(worker, std::move(end)));
  Terminated notice = ended.get();
  std::printf("%s: %s%s%s\n", notice.path.c_str(), std::string(name(notice.reason)).c_str(), notice.error ? ", " : "",
              notice.error ? notice.error->to_string().c_str() : "");
  return notice;
}

int main() {
  System system({.log = log_nothing()});
  Ref<Keeper> keeper = value(system.spawn<Keeper>({.name = "keeper"}));
  Ref<Worker> calm = value(system.spawn<Worker>({.name = "calm"}));
  Ref<Worker> wild = value(system.spawn<Worker>({.name = "wild", .supervision = always(Directive::stop)}));
  calm.stop();
  value(wild.tell(Crash{}));

  const bool requested = end_of(keeper, calm).reason == StopReason::requested;
  const Terminated crashed = end_of(keeper, wild);
  const bool free_again = system.spawn<Worker>({.name = "wild"}).has_value();
  return requested && crashed.reason == StopReason::failed && crashed.error && free_again ? 0 : 1;
}
