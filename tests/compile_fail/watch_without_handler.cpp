// Who watches must be able to hear the news.
// expect: an actor that watches needs a handler for the news
#include "troupe/troupe.hpp"

struct Watcher {
  explicit Watcher(troupe::Context<Watcher> context) : self(context) {}
  void on(int) { self.watch(self.ref()); }
#ifdef TROUPE_FIXED
  void on(troupe::Terminated) {}
#endif
  troupe::Context<Watcher> self;
};

void use(const troupe::Ref<Watcher>& watcher) { (void)watcher.tell<int>(1); }
