// Whoever trains: one step after another in scopes, each of which is whole or has not happened. Whatever befalls the
// workers, the arrays hold what the steps that were committed have made, and nothing of any other.
#pragma once

#include <atomic>
#include <string>

#include "tests/chaos/scene.hpp"

namespace troupe::chaos {

class Trainer {
 public:
  Trainer(Scene& scene, std::uint32_t number);

  /// Whether there is one more step to do, or both arrays are to be read once more.
  bool goes_on() const noexcept;
  bool checks_next() const noexcept;
  /// The ops of a step; whoever waits commits them.
  void step(Scope& on);
  /// How a step ended: exactly once for each.
  void ended(const Result<void>& result);
  const Device& device() const noexcept { return scene_.device; }
  Call<HostArray<float>> read(const Array<float>& array);
  /// What is in the arrays: the number of steps, and its double.
  const Array<float>& count() const noexcept { return count_.now(); }
  const Array<float>& doubled() const noexcept { return doubled_.now(); }
  void check(const Result<HostArray<float>>& count, const Result<HostArray<float>>& doubled);

  std::string where() const;

 private:
  Versioned<float> made() const;
  void check_one(const char* what, const Result<HostArray<float>>& found, float expected);
  /// True when others are to blame for it, which is counted; otherwise it is a complaint.
  bool is_excused(const Error& error);
  void write_anew();

  Scene& scene_;
  const std::uint32_t number_;
  Versioned<float> count_;
  Versioned<float> doubled_;
  std::atomic<int> committed_{0};
  std::atomic<bool> waits_{false};
  bool was_checked_ = false;          // since the last step
  std::uint64_t past_shortages_ = 0;  // when the step under way began
};

/// An actor whose one message is the whole run.
class TrainerActor {
 public:
  struct Run {};
  TrainerActor(Trainer* trainer, std::atomic<int>* running) noexcept : trainer_(trainer), running_(running) {}
  Task<void> on(Run);

 private:
  Trainer* trainer_;
  std::atomic<int>* running_;
};

void run_in_thread(Trainer& trainer);

}  // namespace troupe::chaos
