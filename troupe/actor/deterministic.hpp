// A dispatcher for tests: no threads, and whom to run next is drawn from a seed. The same seed replays the same
// interleaving of turns, so a failure found by exploring seeds can be looked at as often as one likes. Each turn
// handles one message, so that every order of messages between actors can come up.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <vector>

#include "troupe/actor/dispatcher.hpp"

namespace troupe::inline v0 {

class Deterministic final : public Dispatcher {
 public:
  explicit Deterministic(std::uint64_t seed) : Dispatcher(1), random_(seed) {}

  void schedule(Runnable& runnable, Scheduling why) noexcept override;

  /// Runs one turn of one ready actor; false when none is ready.
  bool step();
  /// Which turns have run so far, folded into a number: two runs that differ in order differ here.
  std::uint64_t fingerprint() const noexcept { return fingerprint_; }

 private:
  std::mutex mutex_;  // a plain thread of a test may tell while another one steps
  std::vector<Runnable*> ready_;
  std::mt19937_64 random_;
  std::uint64_t fingerprint_ = 14695981039346656037u;
};

}  // namespace troupe::inline v0
