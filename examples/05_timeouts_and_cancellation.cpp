// Timeouts and cancellation: an ask can be given a time limit and a stop token; a whole task can, too. Whatever
// happens, the asker gets exactly one outcome, and a task that is cut off is destroyed where it stands.
#include <cstdio>
#include <stop_token>
#include <thread>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

struct Work {
  using Reply = int;
};

class NeverDone {
 public:
  Task<int> on(Work) {
    co_await stop_requested(std::stop_token());  // nobody can request that
    co_return 1;
  }
};

struct SetAtEnd {
  bool* flag;
  ~SetAtEnd() { *flag = true; }
};

Task<Result<int>> two_steps(Ref<NeverDone> actor, bool* cleaned_up) {
  const SetAtEnd at_end{cleaned_up};
  const int first = CO_TRY(co_await actor.ask<Work>());
  co_return first + CO_TRY(co_await actor.ask<Work>());
}

bool ends_in(ErrorKind kind, const char* what, const Result<int>& result) {
  std::printf("%-28s %s\n", what, result ? "a value" : result.error().to_string().c_str());
  return !result && result.error().kind() == kind;
}

int main() {
  System system;
  Ref<NeverDone> actor = value(system.spawn<NeverDone>());
  bool holds = ends_in(ErrorKind::timeout, "within 10 ms:", actor.ask<Work>().wait_at_most(10ms).get());
  holds &= ends_in(ErrorKind::timeout, "within 0 ms, never sent:", actor.ask<Work>().wait_at_most(0ms).get());

  std::stop_source source;
  std::jthread canceller([&] { source.request_stop(); });
  holds &= ends_in(ErrorKind::cancelled,
                   "cancelled by another thread:", actor.ask<Work>().cancel_on(source.get_token()).get());

  bool cleaned_up = false;
  holds &= ends_in(ErrorKind::timeout,
                   "a task within 10 ms:", system.run(with_timeout(two_steps(actor, &cleaned_up), 10ms)));
  std::printf("the task's locals were destroyed: %s\n", cleaned_up ? "yes" : "no");

  actor.stop();  // its handlers did not end with their askers; this cuts them off
  return holds && cleaned_up ? 0 : 1;
}
