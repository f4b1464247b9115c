// What a handler returns must be the reply that its message names.
// expect: what this actor's handler returns is not the message's Reply
#include <string>

#include "troupe/troupe.hpp"

struct Get {
  using Reply = std::string;
};
struct Actor {
#ifdef TROUPE_FIXED
  std::string on(Get) { return "1"; }
#else
  void* on(Get) { return nullptr; }
#endif
};

void use(const troupe::Ref<Actor>& actor) { (void)actor.ask<Get>().get(); }
