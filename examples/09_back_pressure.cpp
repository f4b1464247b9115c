// Back-pressure: every mailbox has a capacity, and a policy for what comes on top. Here an actor is busy, its mailbox
// holds 4 messages, and 10 asks come: refuse answers the first 4, drop_oldest the last 4, suspend_asker all of them.
#include <algorithm>
#include <cstdio>
#include <future>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr int kAsks = 10;

struct Busy {  // until the gate opens
  std::promise<void> begun;
  std::stop_token gate;
};
struct Echo {
  int number = 0;
  using Reply = int;
};

class Slow {
 public:
  Task<> on(Busy message) {
    co_await sleep_for(std::chrono::milliseconds(1));  // until its first wait it has a place in the mailbox
    message.begun.set_value();
    co_await stop_requested(message.gate);
  }
  int on(Echo message) { return message.number; }
};

Task<Result<int>> open(std::stop_source gate) {
  gate.request_stop();
  co_return 0;
}

Task<std::vector<Result<int>>> flood(Ref<Slow> slow, std::stop_source gate) {
  std::vector<Task<Result<int>>> tasks;
  for (int i = 0; i < kAsks; ++i) tasks.push_back(slow.ask<Echo>(i));
  tasks.push_back(open(gate));  // tasks start in their order: by now all asks are sent
  co_return co_await when_all(std::move(tasks));
}

std::vector<int> answered_with(System& system, Overflow policy, const char* name) {
  Ref<Slow> slow = value(system.spawn<Slow>({.mailbox_capacity = 4, .overflow = policy, .max_handlers = 1}));
  std::promise<void> begun;
  std::future<void> begins = begun.get_future();
  std::stop_source gate;
  value(slow.tell<Busy>(std::move(begun), gate.get_token()));
  begins.wait();

  std::vector<Result<int>> results = value(system.run(flood(slow, gate)));
  results.pop_back();  // the gate's
  std::vector<int> answered;
  for (const Result<int>& result : results)
    if (result) answered.push_back(*result);
  std::printf("%-13s answered:", name);
  for (const int number : answered) std::printf(" %d", number);
  std::printf("; mailbox_full: %td\n", std::ranges::count_if(results, [](const Result<int>& result) {
                return !result && result.error().kind() == ErrorKind::mailbox_full;
              }));
  return answered;
}

int main() {
  System system;
  const bool refuse = answered_with(system, Overflow::refuse, "refuse") == std::vector{0, 1, 2, 3};
  const bool drop = answered_with(system, Overflow::drop_oldest, "drop_oldest") == std::vector{6, 7, 8, 9};
  const bool suspend = answered_with(system, Overflow::suspend_asker, "suspend_asker").size() == kAsks;
  return refuse && drop && suspend ? 0 : 1;
}
