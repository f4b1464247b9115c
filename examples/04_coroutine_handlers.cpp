// Coroutine handlers: a handler that returns a Task can co_await, here an ask to another actor. While it waits, its
// actor handles other messages; with `max_handlers = 1` they wait until it has ended.
#include <cstdio>
#include <future>
#include <string>

#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;

struct Fetch {  // answered when the gate opens
  std::promise<void> begun;
  std::stop_token gate;
  using Reply = std::string;
};
struct Page {
  Fetch fetch;
  using Reply = std::string;
};
struct Trace {
  using Reply = std::string;
};

class Backend {
 public:
  Task<std::string> on(Fetch message) {
    message.begun.set_value();
    co_await stop_requested(message.gate);
    co_return "data";
  }
};

class Front {
 public:
  explicit Front(Ref<Backend> backend) : backend_(std::move(backend)) {}
  Task<Result<std::string>> on(Page page) {
    trace_ += "page begins, ";
    const std::string data = CO_TRY(co_await backend_.ask<Fetch>(std::move(page.fetch)));
    trace_ += "page ends, ";  // other handlers may have run meanwhile: look at the state anew after each co_await
    co_return "<p>" + data + "</p>";
  }
  std::string on(Trace) { return trace_ += "trace, "; }

 private:
  Ref<Backend> backend_;
  std::string trace_;
};

std::string run(System& system, std::uint32_t max_handlers) {
  Ref<Backend> backend = value(system.spawn<Backend>());
  Ref<Front> front = value(system.spawn<Front>({.max_handlers = max_handlers}, backend));
  std::promise<void> begun;
  std::future<void> begins = begun.get_future();
  std::stop_source gate;
  value(front.tell<Page>(Fetch{std::move(begun), gate.get_token()}));
  begins.wait();

  // Now the page waits for its data.
  const Duration patience = max_handlers > 1 ? Duration(1h) : Duration(20ms);
  const bool answered = front.ask<Trace>().wait_at_most(patience).get().has_value();
  gate.request_stop();
  const std::string trace = value(front.ask<Trace>().get());
  std::printf("max_handlers = %u: trace %s; %s\n", max_handlers, answered ? "came in between" : "had to wait",
              trace.c_str());
  return trace;
}

int main() {
  System system;
  const std::string interleaved = run(system, kDefaultMaxHandlers);
  const std::string one_by_one = run(system, 1);
  return interleaved.starts_with("page begins, trace, ") && one_by_one == "page begins, page ends, trace, " ? 0 : 1;
}
