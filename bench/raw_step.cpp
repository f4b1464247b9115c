#if TROUPE_CUDA_BACKEND

#include "bench/raw_step.hpp"

#include <array>
#include <vector>

#include "bench/numbers.hpp"
#include "bench/raw_blas.hpp"
#include "bench/raw_cuda_parts.hpp"
#include "bench/step.hpp"

namespace troupe::bench {
namespace {

constexpr std::size_t kRowBytes = sizeof(float) * step::kRows * step::kColumns;
constexpr std::size_t kWeightBytes = sizeof(float) * step::kColumns * step::kColumns;

}  // namespace

/// What `step::run` calls.
struct RawStep::Parts {
  struct Layer {
    std::vector<RawMemory> rows, weights;
  };

  explicit Parts(std::shared_ptr<RawGpu> shared)
      : gpu(std::move(shared)),
        blas(gpu->stream()),
        mix_kernel(load_raw_kernel(gpu->driver(), "mix")),
        update_kernel(load_raw_kernel(gpu->driver(), "update")) {
    std::uint32_t seed = 0;
    const auto make = [&](std::vector<RawMemory>& to, int count, std::size_t bytes) {
      for (int i = 0; i < count; ++i)
        gpu->write(to.emplace_back(gpu->context(), bytes).get(), random_numbers(bytes / sizeof(float), ++seed).data(),
                   bytes);
    };
    for (int i = 0; i < step::kLayers; ++i) {
      Layer& layer = layers.emplace_back();
      make(layer.rows, step::kRowArrays, kRowBytes);
      make(layer.weights, step::kWeightArrays, kWeightBytes);
    }
  }

  CUdeviceptr row_array(int layer, int which) const {
    return layers[static_cast<std::size_t>(layer)].rows[static_cast<std::size_t>(which)].get();
  }
  CUdeviceptr weight_array(int layer, int which) const {
    return layers[static_cast<std::size_t>(layer)].weights[static_cast<std::size_t>(which)].get();
  }
  void launch(CUfunction kernel, int elements, void** arguments) const {
    TROUPE_RAW(gpu->driver(), cuLaunchKernel, kernel, static_cast<unsigned>(elements / step::kThreadsOfBlock), 1, 1,
               step::kThreadsOfBlock, 1, 1, 0, gpu->stream(), arguments, nullptr);
  }

  void mix(int layer, step::Of a, step::Of b, int out_layer, step::Of out) {
    std::array addresses{row_array(layer, a), row_array(layer, b), row_array(out_layer, out)};
    std::array<void*, 3> arguments{&addresses[0], &addresses[1], &addresses[2]};
    launch(mix_kernel, step::kRows * step::kColumns, arguments.data());
  }
  void update(int layer) {
    std::array addresses{weight_array(layer, step::kWeightsGradient), weight_array(layer, step::kWeights)};
    std::array<void*, 2> arguments{&addresses[0], &addresses[1]};
    launch(update_kernel, step::kColumns * step::kColumns, arguments.data());
  }
  void forward(int layer) {
    blas.multiply({.rows = step::kRows, .columns = step::kColumns, .inner = step::kColumns},
                  row_array(layer, step::kScaled), weight_array(layer, step::kWeights), row_array(layer, step::kMade));
  }
  void of_weights(int layer) {
    blas.multiply({.rows = step::kColumns, .columns = step::kColumns, .inner = step::kRows, .a_is_transposed = true},
                  row_array(layer, step::kScaled), row_array(layer, step::kMadeGradient),
                  weight_array(layer, step::kWeightsGradient));
  }
  void of_input(int layer) {
    blas.multiply({.rows = step::kRows, .columns = step::kColumns, .inner = step::kColumns, .b_is_transposed = true},
                  row_array(layer, step::kMadeGradient), weight_array(layer, step::kWeights),
                  row_array(layer, step::kScaledGradient));
  }

  std::shared_ptr<RawGpu> gpu;
  RawBlas blas;
  CUfunction mix_kernel;
  CUfunction update_kernel;
  std::vector<Layer> layers;
};

RawStep::RawStep(std::shared_ptr<RawGpu> gpu) : parts_(std::make_unique<Parts>(std::move(gpu))) {}
RawStep::~RawStep() = default;

double RawStep::step_ns(int steps) {
  const Stopwatch since_start;
  while (since_start.ns() < kSettleNs) parts_->gpu->complete([this] { step::run(*parts_); });
  const Stopwatch stopwatch;
  parts_->gpu->complete([&] {
    for (int i = 0; i < steps; ++i) step::run(*parts_);
  });
  return stopwatch.ns_per(steps);
}

}  // namespace troupe::bench

#endif
