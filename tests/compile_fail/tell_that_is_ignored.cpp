// A tell can be refused by a full mailbox, so its result is looked at, or left to the log on purpose.
// expect: a tell can be refused
#pragma GCC diagnostic error "-Wunused-result"
#include "troupe/troupe.hpp"

struct Message {};
struct Actor {
  void on(Message) {}
};

void use(const troupe::Ref<Actor>& actor) {
#ifdef TROUPE_FIXED
  (void)actor.tell<Message>();
#else
  actor.tell<Message>();
#endif
}
