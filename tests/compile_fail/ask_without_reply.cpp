// A message that names no reply can only be told.
// expect: this message has no reply: tell it
#include "troupe/troupe.hpp"

struct Told {};
struct Actor {
  void on(Told) {}
};

void use(const troupe::Ref<Actor>& actor) {
#ifdef TROUPE_FIXED
  (void)actor.tell<Told>();
#else
  (void)actor.ask<Told>();
#endif
}
