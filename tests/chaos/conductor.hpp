// Carries out the faults of the plan, each at its moment: hands the bad ops to the culprits, and does itself what no op
// can do: kills and stops workers, scribbles on their memory, takes all descriptors.
#pragma once

#include <chrono>
#include <functional>

#include "tests/chaos/scene.hpp"

namespace troupe::chaos {

class Conductor {
 public:
  /// `commit` hands a bad op to its culprit; `under_way` says how many have not ended.
  struct Hands {
    std::function<void(const Fault&)> commit;
    std::function<int()> under_way;
  };
  Conductor(Scene& scene, Hands hands) : scene_(scene), hands_(std::move(hands)) {}

  /// Until the last fault, or until the run stops.
  void run();

 private:
  /// Until no bad op is under way and there is a worker to spare, but not for longer than until then.
  bool wait_for_calm(std::chrono::steady_clock::time_point until);
  bool carry_out(const Fault& fault);
  /// A fault from outside. False when there was nobody to do it to.
  bool strike(const Fault& fault);
  bool kill(const Fault& fault);
  bool stop(const Fault& fault);
  bool kill_one_that_starts(const Fault& fault);
  bool scribble(const Fault& fault);
  void take_descriptors(const Fault& fault);
  /// A live worker that does not serve; 0 when there is none.
  int find_spare(std::uint32_t pick) const;

  Scene& scene_;
  const Hands hands_;
};

}  // namespace troupe::chaos
