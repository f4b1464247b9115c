// Hello, actor: a plain class with `on` overloads becomes an actor when a system spawns it. Its ref is its address: any
// thread may use it, and the actor handles one message at a time, so it needs no locks.
#include <cstdio>
#include <string>

#include "troupe/troupe.hpp"

using namespace troupe;

struct Greet {
  std::string name;
};
struct HowMany {
  using Reply = int;
};

class Greeter {
 public:
  void on(Greet message) {
    std::printf("Hello, %s!\n", message.name.c_str());
    ++greeted_;
  }
  int on(HowMany) { return greeted_; }

 private:
  int greeted_ = 0;
};

int main() {
  System system;
  Ref<Greeter> greeter = value(system.spawn<Greeter>({.name = "greeter"}));

  value(greeter.tell<Greet>("Ada"));  // sends and forgets
  value(greeter.tell<Greet>("Grace"));
  const int greeted = value(greeter.ask<HowMany>().get());  // sends and waits for the reply

  std::printf("%s has greeted %d people\n", greeter.path().c_str(), greeted);
  return greeted == 2 ? 0 : 1;
}
