#include "bench/actors/finish.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace troupe::bench::actors {

void give_up(const std::string& sentence) {
  std::fprintf(stderr, "troupe_bench_actors: %s\n", sentence.c_str());
  std::_Exit(3);
}

void check_count(const std::string& what, std::int64_t sent, std::int64_t came) {
  if (sent != came) throw std::runtime_error(what + ": " + std::to_string(came) + " came of " + std::to_string(sent));
}

void Finish::arrive() {
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 != expected_) return;
  ended_ = Clock::now();
  const std::lock_guard lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

void Finish::wait_for(Clock::duration limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [this] { return done_; });
}

Clock::time_point Finish::wait() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kPatience, [this] { return done_; }))
    give_up("hangs: after " + std::to_string(kPatience.count()) + " s, " + std::to_string(arrived_.load()) + " of " +
            std::to_string(expected_) + " have arrived");
  return ended_;
}

}  // namespace troupe::bench::actors
