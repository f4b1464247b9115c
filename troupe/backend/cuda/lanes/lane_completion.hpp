// How a lane's timeline is raised when its stream has come so far: one class for each `CompletionPolicy`. All of them
// raise the same word, so that everything else, waits between streams too, is the same.
//
// After a fault all of them fall silent: the GPU writes no more, no event completes, the driver drops its callback. The
// thread that looks for errors finds the fault and tells the app.
#pragma once

#include <functional>
#include <memory>

#include "troupe/backend/backend.hpp"
#include "troupe/backend/cuda/driver/cuda_context.hpp"

namespace troupe::cuda {

class LaneCompletion {
 public:
  struct Parts {
    const CudaContext& context;
    CUstream stream;
    wire::Timeline& timeline;
    CUdeviceptr timeline_on_gpu;
    wire::Bell& bell;
    std::function<void(const Error&)> poisoned;  // any thread
  };
  static std::unique_ptr<LaneCompletion> make(CompletionPolicy completion, const Parts& parts);

  virtual ~LaneCompletion() = default;
  /// When all that was put on the stream is done, its timeline becomes that word. From the thread that submits.
  virtual Result<void> raise_to(std::uint64_t word) = 0;
  /// Whether the timeline may lag behind the stream. Then an op that must not begin before the timeline says so has to
  /// wait for it.
  virtual bool lags() const noexcept { return false; }
  /// The watching thread calls it again and again while something is under way.
  virtual Result<void> poll() { return {}; }
};

}  // namespace troupe::cuda
