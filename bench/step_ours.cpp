#include "bench/step_ours.hpp"

#include "bench/numbers.hpp"

namespace troupe::bench {
namespace {

constexpr char kSource[] = R"(
extern "C" __global__ void mix(const float* a, const float* b, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 0.5f * (a[i] + b[i]);
}
extern "C" __global__ void update(const float* d, float* w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  w[i] = 0.999f * w[i] + 1e-6f * d[i];
})";

Grid threads_for(int elements) {
  return {.blocks = static_cast<std::uint32_t>(elements / step::kThreadsOfBlock), .threads = step::kThreadsOfBlock};
}

}  // namespace

StepOurs::StepOurs(Lanes lanes)
    : system_({.threads = 1, .log = log_nothing()}),
      device_(value(system_.device("cuda", {.standby = Standby::none, .lanes = lanes}))),
      program_(value(device_.jit().compile(kSource).get())) {
  std::uint32_t seed = 0;
  const auto make = [&](int rows, int columns) {
    Array<float> array = value(device_.array<float>({rows, columns}));
    const auto elements = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    value(device_.write(array, random_numbers(elements, ++seed)).get());
    return array;
  };
  for (int i = 0; i < step::kLayers; ++i) {
    Layer& layer = layers_.emplace_back();
    for (Array<float>& array : layer.rows) array = make(step::kRows, step::kColumns);
    for (Array<float>& array : layer.weights) array = make(step::kColumns, step::kColumns);
  }
}

StepOurs::~StepOurs() { device_.close(); }  // its worker is gone when this returns

double StepOurs::step_ns(int steps) {
  const Stopwatch since_start;
  while (since_start.ns() < kSettleNs) {
    step::run(*this);
    settle();
  }
  const Stopwatch stopwatch;
  for (int i = 0; i < steps; ++i) step::run(*this);
  settle();
  return stopwatch.ns_per(steps);
}

void StepOurs::settle() {
  for (Layer& layer : layers_) {
    value(device_.wait_for(layer.weights[step::kWeights]).get());
    value(device_.wait_for(layer.rows[step::kOutGradient]).get());
  }
}

void StepOurs::mix(int layer, step::Of a, step::Of b, int out_layer, step::Of out) {
  const Array<float>& first = at(layer).rows[a];
  const Array<float>& second = at(layer).rows[b];
  value(device_.jit()
            .launch(program_, "mix", threads_for(step::kRows * step::kColumns), reads(first), reads(second),
                    writes(at(out_layer).rows[out]))
            .submit());
}

void StepOurs::update(int layer) {
  auto& weights = at(layer).weights;
  value(device_.jit()
            .launch(program_, "update", threads_for(step::kColumns * step::kColumns),
                    reads(weights[step::kWeightsGradient]), updates(weights[step::kWeights]))
            .submit());
}

void StepOurs::forward(int layer) {
  Layer& with = at(layer);
  value(device_.blas().gemm(with.rows[step::kScaled], with.weights[step::kWeights], with.rows[step::kMade]).submit());
}

void StepOurs::of_weights(int layer) {
  Layer& with = at(layer);
  value(device_.blas()
            .gemm(with.rows[step::kScaled].transpose(), with.rows[step::kMadeGradient],
                  with.weights[step::kWeightsGradient])
            .submit());
}

void StepOurs::of_input(int layer) {
  Layer& with = at(layer);
  value(device_.blas()
            .gemm(with.rows[step::kMadeGradient], with.weights[step::kWeights].transpose(),
                  with.rows[step::kScaledGradient])
            .submit());
}

}  // namespace troupe::bench
