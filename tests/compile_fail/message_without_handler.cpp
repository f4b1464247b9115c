// An actor can be sent exactly what it has a handler for.
// expect: this actor has no handler for this message
#include "troupe/troupe.hpp"

struct Known {};
struct Unknown {};
struct Actor {
  void on(Known) {}
};

void use(const troupe::Ref<Actor>& actor) {
#ifdef TROUPE_FIXED
  (void)actor.tell<Known>();
#else
  (void)actor.tell<Unknown>();
#endif
}
