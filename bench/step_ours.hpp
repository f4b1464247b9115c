// Our side of a step of many ops (bench/step.hpp), on a device of its own with the lanes that are asked for. What fails
// is thrown. Called from the main thread.
#pragma once

#include <array>
#include <vector>

#include "bench/step.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {

class StepOurs {
 public:
  explicit StepOurs(Lanes lanes);
  ~StepOurs();
  StepOurs(const StepOurs&) = delete;
  StepOurs& operator=(const StepOurs&) = delete;

  /// Nanoseconds for each of so many steps, submitted without waiting; the last is waited for.
  double step_ns(int steps);

  // What `step::run` calls.
  void mix(int layer, step::Of a, step::Of b, int out_layer, step::Of out);
  void update(int layer);
  void forward(int layer);
  void of_weights(int layer);
  void of_input(int layer);

 private:
  struct Layer {
    std::array<Array<float>, step::kRowArrays> rows;
    std::array<Array<float>, step::kWeightArrays> weights;
  };
  Layer& at(int layer) { return layers_[static_cast<std::size_t>(layer)]; }
  void settle();

  System system_;
  Device device_;
  Program program_;
  std::vector<Layer> layers_;
};

}  // namespace troupe::bench
