// Who waits for the ops of a caller or a culprit: a coroutine in an actor, or a plain thread. Both do the same, because
// both ways to wait must hold.
#pragma once

#include <atomic>

#include "tests/chaos/caller.hpp"
#include "tests/chaos/culprit.hpp"
#include "troupe/troupe.hpp"

namespace troupe::chaos {

/// An actor whose one message is the whole run. The callers belong to main.
class CallerActor {
 public:
  struct Run {};
  CallerActor(Caller* caller, std::atomic<int>* running) noexcept : caller_(caller), running_(running) {}
  Task<void> on(Run);

 private:
  Caller* caller_;
  std::atomic<int>* running_;
};

/// An actor that does one fault after another.
class CulpritActor {
 public:
  explicit CulpritActor(Culprit* culprit) noexcept : culprit_(culprit) {}
  Task<void> on(Fault fault);

 private:
  Culprit* culprit_;
};

void run_in_thread(Caller& caller);
void run_in_thread(Culprit& culprit, const Fault& fault);

}  // namespace troupe::chaos
