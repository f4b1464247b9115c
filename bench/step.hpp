// A step as a training program makes it, in the manner of a small GPT: products of matrices and kernels of one's own in
// turn, forward and backward, where each depends on the one before, and products for the weights' gradients, which
// nothing waits for until the end. Written once, for ours and for raw CUDA.
#pragma once

namespace troupe::bench::step {

/// Each has a product and two kernels forward, two products and two kernels backward, and a kernel at the end.
inline constexpr int kLayers = 16;
inline constexpr int kRows = 2048;
inline constexpr int kColumns = 256;
inline constexpr int kOps = 8 * kLayers;

/// The arrays of a layer: of `kRows` by `kColumns`, and the weights with their gradient, of `kColumns` by `kColumns`.
enum Of : int { kIn, kScaled, kMade, kOutGradient, kMadeGradient, kScaledGradient, kRowArrays };
enum OfWeights : int { kWeights, kWeightsGradient, kWeightArrays };

inline constexpr int kThreadsOfBlock = 256;

/// `Side` has `mix(layer, a, b, layer of out, out)`, which is out = (a + b) / 2, `update(layer)`, which is weights =
/// 0.999 weights + 1e-6 gradient, both by a kernel that takes element by element, and three products of a layer:
/// `forward` (made = scaled times weights), `of_weights` (the weights' gradient) and `of_input` (the gradient of
/// scaled). None waits.
template <class Side>
void run(Side& side) {
  for (int layer = 0; layer < kLayers; ++layer) {
    side.mix(layer, kIn, kIn, layer, kScaled);
    side.forward(layer);
    side.mix(layer, kMade, kIn, (layer + 1) % kLayers, kIn);
  }
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    side.mix(layer, kOutGradient, kMade, layer, kMadeGradient);
    side.of_weights(layer);
    side.of_input(layer);
    side.mix(layer, kScaledGradient, kMadeGradient, (layer + kLayers - 1) % kLayers, kOutGradient);
  }
  for (int layer = 0; layer < kLayers; ++layer) side.update(layer);
}

}  // namespace troupe::bench::step
