// All for one, back-off, and the restart limit: siblings that share one fate restart together; a restart can wait,
// longer each time; and an actor that fails too often is given up.
#include <cstdio>
#include <stdexcept>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

struct History {  // of one actor, across its instances
  int instances = 0;
  TimePoint failed{};
  Duration waited{0};  // from the failure to the next instance
};
struct Crash {
  using Reply = void;
};
struct Recall {
  using Reply = History;
};

class Part {
 public:
  // What spawn was given is kept, and each instance is constructed from it.
  Part(Context<Part> self, History* history) : self_(self), history_(*history) {
    if (++history_.instances > 1) history_.waited = self_.now() - history_.failed;
  }
  void on(Crash) {
    history_.failed = self_.now();
    throw std::runtime_error("a part broke");
  }
  History on(Recall) { return history_; }

 private:
  Context<Part> self_;
  History& history_;
};

bool siblings_restart_together() {
  History readers, writers;  // they outlive the system
  System system({.log = log_nothing()});
  const Supervision together{.scope = RestartScope::all_for_one};
  Ref<Part> reader = value(system.spawn<Part>({.name = "reader", .supervision = together}, &readers));
  Ref<Part> writer = value(system.spawn<Part>({.name = "writer", .supervision = together}, &writers));
  value(writer.ask<Recall>().get());
  (void)reader.ask<Crash>().get();
  const int new_reader = value(reader.ask<Recall>().get()).instances;
  const int new_writer = value(writer.ask<Recall>().get()).instances;
  std::printf("the reader crashed: the reader is instance %d, the writer is instance %d\n", new_reader, new_writer);
  return new_reader == 2 && new_writer == 2;
}

bool backs_off_and_gives_up() {
  History parts;
  System system({.log = log_nothing()});
  const Supervision patient{.max_restarts = 2, .backoff = {.initial = 4ms, .jitter = 0}};
  Ref<Part> part = value(system.spawn<Part>({.name = "part", .supervision = patient}, &parts));
  bool holds = true;
  for (const Duration at_least : {4ms, 8ms}) {
    (void)part.ask<Crash>().get();
    const History history = value(part.ask<Recall>().get());  // waits in the mailbox for the new instance
    std::printf("instance %d came at least %s after the failure\n", history.instances, to_string(at_least).c_str());
    holds &= history.waited >= at_least;
  }
  (void)part.ask<Crash>().get();
  const Result<History> gone = part.ask<Recall>().get();
  std::printf("after the third failure: %s\n", gone ? "a value" : gone.error().to_string().c_str());
  return holds && !gone && gone.error().kind() == ErrorKind::stopped;
}

int main() {
  const bool together = siblings_restart_together();
  return backs_off_and_gives_up() && together ? 0 : 1;
}
