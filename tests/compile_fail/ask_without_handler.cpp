// Asking is checked like telling.
// expect: this actor has no handler for this message
#include "troupe/troupe.hpp"

struct Known {
  using Reply = int;
};
struct Unknown {
  using Reply = int;
};
struct Actor {
  int on(Known) { return 1; }
};

void use(const troupe::Ref<Actor>& actor) {
#ifdef TROUPE_FIXED
  (void)actor.ask<Known>().get();
#else
  (void)actor.ask<Unknown>();
#endif
}
