// Everybody in a run: innocent callers, trainers and culprits, half of them coroutines in actors, half of them plain
// threads. Callers and trainers begin when they are made and end when the run stops; culprits do what they are told.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/chaos/run.hpp"
#include "tests/chaos/scene.hpp"
#include "tests/chaos/trainer.hpp"

namespace troupe::chaos {

class CulpritThread;

class Cast {
 public:
  /// The callers begin at once. Throws `Exception`.
  Cast(System& system, Scene& scene);
  /// Waits for the threads of culprits; callers must have ended.
  ~Cast();

  /// Hands a bad op to its culprit.
  void commit(const Fault& fault);
  /// Bad ops that have not ended.
  int under_way() const noexcept;
  /// Callers and trainers that have not ended.
  int running() const noexcept { return running_.load(); }
  /// In the calling thread, when all have ended: the arrays that culprits put aside.
  void check_all_kept();
  std::string where_everybody_is() const;

 private:
  std::atomic<int> running_{0};
  std::vector<std::unique_ptr<Caller>> callers_;
  std::vector<std::unique_ptr<Trainer>> trainers_;
  std::vector<std::unique_ptr<Culprit>> culprits_;
  std::vector<Ref<CulpritActor>> culprit_actors_;
  std::vector<std::unique_ptr<CulpritThread>> culprit_threads_;
  std::vector<std::jthread> threads_;
};

}  // namespace troupe::chaos
