// Shutdown: the system refuses new actors, lets every actor handle what is queued, and stops them all, children before
// parents. At the deadline it cuts off what is left and says what that was.
#include <cstdio>
#include <future>
#include <string>
#include <thread>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

struct Job {};
struct Ready {
  using Reply = void;
};
struct WaitForEver {
  std::promise<void> begun;
  using Reply = void;
};

class Child {
 public:
  explicit Child(std::string* story) : story_(story) {}
  void stopping() { *story_ += "child stops, "; }

 private:
  std::string* story_;
};

class Parent {
 public:
  Parent(Context<Parent> self, std::string* story) : self_(self), story_(story) {}
  void started() { value(self_.spawn<Child>({.name = "child"}, story_)); }
  void on(Ready) {}  // answered after `started`, so the child is there
  void on(Job) { *story_ += "job, "; }
  void stopping() { *story_ += "parent stops"; }

 private:
  Context<Parent> self_;
  std::string* story_;
};

class Stubborn {
 public:
  Task<> on(WaitForEver message) {
    message.begun.set_value();
    co_await stop_requested(std::stop_token());
  }
};

int main() {
  std::string story;  // outlives the system
  System system;
  Ref<Parent> parent = value(system.spawn<Parent>({.name = "parent"}, &story));
  Ref<Stubborn> stubborn = value(system.spawn<Stubborn>({.name = "stubborn"}));
  value(parent.ask<Ready>().get());
  for (int i = 0; i < 3; ++i) value(parent.tell(Job{}));

  std::promise<void> begun;
  std::future<void> begins = begun.get_future();
  Result<void> waited;
  std::jthread asker([&] { waited = stubborn.ask<WaitForEver>(std::move(begun)).get(); });
  begins.wait();

  const ShutdownReport report = value(system.shutdown(250ms));
  asker.join();
  std::printf("%s\ndrained: %s\n", story.c_str(), report.drained ? "yes" : "no");
  for (const auto& cut : report.cut_off)
    std::printf("cut off: %s with %u messages and %u handlers\n", cut.path.c_str(), cut.messages, cut.handlers);
  std::printf("its asker got: %s\n", waited ? "a reply" : waited.error().to_string().c_str());

  const Result<Ref<Stubborn>> late = system.spawn<Stubborn>();
  std::printf("a spawn now: %s\n", late ? "an actor" : late.error().to_string().c_str());
  const bool cut = !report.drained && report.cut_off.size() == 1 && report.cut_off[0].path == "/user/stubborn";
  const bool in_order = story == "job, job, job, child stops, parent stops";
  return in_order && cut && report.stuck.empty() && !waited && waited.error().kind() == ErrorKind::stopped && !late ? 0
                                                                                                                    : 1;
}
