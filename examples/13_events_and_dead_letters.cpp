// Events and dead letters: an actor subscribes to a type of event and gets each one as an ordinary message. A tell that
// reaches nobody is published as a DeadLetter. (An ask never becomes one: its asker gets the error.)
#include <cstdio>
#include <string>

#include "troupe/troupe.hpp"

using namespace troupe;

struct Overheated {
  int celsius = 0;
};
struct Heard {
  using Reply = std::string;
};

class Listener {
 public:
  void on(Overheated event) { heard_ += std::to_string(event.celsius) + " degrees; "; }
  void on(DeadLetter letter) {
    heard_ += "dead letter: " + letter.message_type + " for " + letter.path + " (" +
              std::string(name(letter.reason.kind())) + "); ";
  }
  std::string on(Heard) { return heard_; }

 private:
  std::string heard_;
};

int main() {
  System system;
  Ref<Listener> listener = value(system.spawn<Listener>({.name = "listener"}));
  system.events().subscribe<Overheated>(listener);
  system.events().subscribe<DeadLetter>(listener);

  system.events().publish(Overheated{91});

  Ref<Listener> gone = value(system.spawn<Listener>({.name = "gone"}));
  value(gone.ask<Heard>().get());
  gone.stop();
  while (gone.ask<Heard>().get()) {  // until it has stopped
  }
  const Result<void> told = gone.tell(Overheated{20});

  system.events().unsubscribe<Overheated>(listener);
  system.events().publish(Overheated{95});  // nobody listens any more

  const std::string heard = value(listener.ask<Heard>().get());
  std::printf("heard: %s\nthe teller got: %s\n", heard.c_str(), told ? "nothing" : told.error().to_string().c_str());
  return heard == "91 degrees; dead letter: Overheated for /user/gone (stopped); " && !told &&
                 system.stats().dead_letters == 1
             ? 0
             : 1;
}
