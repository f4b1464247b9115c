// A restart constructs anew from what was given to spawn, so that must be possible more than once.
// expect: an actor is constructed from const references to the arguments given to spawn
#include <memory>

#include "troupe/troupe.hpp"

struct Actor {
#ifdef TROUPE_FIXED
  explicit Actor(std::shared_ptr<int>) {}
#else
  explicit Actor(std::unique_ptr<int>) {}
#endif
};

void use(troupe::System& system) {
#ifdef TROUPE_FIXED
  (void)system.spawn<Actor>({}, std::make_shared<int>(1));
#else
  (void)system.spawn<Actor>({}, std::make_unique<int>(1));
#endif
}
