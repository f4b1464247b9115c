// Who sends a message to a handler that wants to know its sender must have a handler for what comes back.
// expect: this actor cannot be a RefTo that message
#include "troupe/troupe.hpp"

struct Question {};
struct Answer {};
struct Oracle {
  void on(Question, troupe::RefTo<Answer> sender) { (void)sender.tell<Answer>(); }
};

struct Start {
  troupe::Ref<Oracle> oracle;
};
class Asker {
 public:
  explicit Asker(troupe::Context<Asker> self) : self_(self) {}
  void on(Start message) { (void)self_.tell<Question>(message.oracle); }
#ifdef TROUPE_FIXED
  void on(Answer) {}
#endif

 private:
  troupe::Context<Asker> self_;
};

void use(const troupe::Ref<Asker>& asker, troupe::Ref<Oracle> oracle) { (void)asker.tell<Start>(std::move(oracle)); }
