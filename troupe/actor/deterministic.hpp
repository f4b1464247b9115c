// A dispatcher for tests. It has no threads, and it draws from a seed which actor runs next. The same seed gives the
// same order of turns, so a failure that one seed shows can be repeated. A turn handles one message at most, so that
// every order of messages between actors can come up.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <vector>

#include "troupe/actor/cell.hpp"

namespace troupe::inline v0 {

class Deterministic final : public Dispatcher {
 public:
  explicit Deterministic(std::uint64_t seed) : Dispatcher(1), random_(seed) {}

  void schedule(Runnable& runnable, Scheduling why) noexcept override;

  /// Runs one turn of one ready actor; false when none is ready.
  bool step();
  /// A hash of the turns that have run so far: runs with different orders of turns have different fingerprints.
  std::uint64_t fingerprint() const noexcept { return fingerprint_; }

 private:
  std::mutex mutex_;  // one thread of a test may tell while another one steps
  std::vector<Runnable*> ready_;
  std::mt19937_64 random_;
  std::uint64_t fingerprint_ = 14695981039346656037u;
};

}  // namespace troupe::inline v0
