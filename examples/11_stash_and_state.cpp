// Stash and state: an actor that behaves differently over time keeps its state as a value, here a std::variant, and its
// handlers look at it. What it cannot handle yet, it puts into the stash and takes out again later.
#include <cstdio>
#include <string>
#include <variant>

#include "troupe/troupe.hpp"

using namespace troupe;

struct Query {
  std::string text;
  using Reply = std::string;
};
struct Connected {
  int session = 0;
  using Reply = void;
};
struct Disconnected {
  using Reply = void;
};

class Connection {
 public:
  explicit Connection(Context<Connection> self) : self_(self) {}

  Result<std::string> on(Query query) {
    if (const Open* open = std::get_if<Open>(&state_))
      return "session " + std::to_string(open->session) + ", query " + std::to_string(++queries_) + ": " + query.text;
    TROUPE_TRY(self_.stash(std::move(query)));
    return "";  // ignored: the asker waits until the query is handled again
  }
  void on(Connected message) {
    state_ = Open{message.session};
    self_.unstash_all();  // handled next, in their order
  }
  void on(Disconnected) { state_ = Closed{}; }

 private:
  struct Closed {};
  struct Open {
    int session;
  };

  Context<Connection> self_;
  std::variant<Closed, Open> state_;
  int queries_ = 0;
};

Task<Result<void>> query_then_connect(Ref<Connection> connection) {
  const auto [first, second, connected] =
      co_await when_all(connection.ask<Query>("red"), connection.ask<Query>("green"), connection.ask<Connected>(7));
  CO_TRY(connected);
  std::printf("%s\n%s\n", CO_TRY(first).c_str(), CO_TRY(second).c_str());
  const bool in_order = *first == "session 7, query 1: red" && *second == "session 7, query 2: green";
  if (!in_order) co_return fail(ErrorKind::internal, "the stash keeps the order");
  co_return Result<void>();
}

int main() {
  System system;
  Ref<Connection> connection = value(system.spawn<Connection>());
  value(system.run(query_then_connect(connection)));
  value(connection.ask<Disconnected>().get());
  const Result<std::string> waits = connection.ask<Query>("blue").wait_at_most(std::chrono::milliseconds(10)).get();
  std::printf("while closed: %s\n", waits ? waits->c_str() : waits.error().to_string().c_str());
  return !waits && waits.error().kind() == ErrorKind::timeout ? 0 : 1;
}
