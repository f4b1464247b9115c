// A layer of a network in 8-bit floats: y = gelu(x w^T + b) in one op, with scales that say what the 8 bits stand for,
// beside the same layer in f32.
#include <cmath>
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr std::int64_t kRows = 32, kIn = 64, kOut = 48;

/// Numbers from -size to size, in no order anybody would notice.
std::vector<float> numbers(std::int64_t count, float size) {
  std::vector<float> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = size * std::sin(static_cast<float>(i * i % 1009));
  return all;
}

struct Layer {
  Array<float> x, w, b;
};

/// The numbers of `from` in 8 bits: divided by `scale` so that they use the range that there is.
Task<Result<Array<f8e4m3>>> quantized(Device device, Array<float> from, double scale) {
  Array<float> scaled = CO_TRY(device.array<float>(from.shape()));
  Array<f8e4m3> small = CO_TRY(device.array<f8e4m3>(from.shape()));
  CO_TRY(co_await device.copy(from, scaled));
  CO_TRY(co_await device.blas().scal(1 / scale, scaled));
  CO_TRY(co_await device.cast(scaled, small));
  co_return small;
}

Task<Result<float>> largest_difference(Device device, Layer layer) {
  Array<float> exact = CO_TRY(device.array<float>({kRows, kOut}));
  Array<float> y = CO_TRY(device.array<float>({kRows, kOut}));
  CO_TRY(co_await device.matmul().multiply(layer.x, layer.w.transpose(), exact,
                                           {.activation = Activation::gelu_tanh, .bias = &layer.b}));
  constexpr double kScaleX = 1.0 / 256, kScaleW = 1.0 / 1024;  // x is at most 1, w at most 1/4, and e4m3 reaches 448
  Array<f8e4m3> x = CO_TRY(co_await quantized(device, layer.x, kScaleX));
  Array<f8e4m3> w = CO_TRY(co_await quantized(device, layer.w, kScaleW));
  CO_TRY(co_await device.matmul().multiply(
      x, w.transpose(), y,
      {.activation = Activation::gelu_tanh, .scale_a = kScaleX, .scale_b = kScaleW, .bias = &layer.b}));
  CO_TRY(co_await device.blas().axpy(-1.0, exact, y));
  const std::int64_t worst = CO_TRY(co_await device.blas().iamax(y));
  const HostArray<float> differences = CO_TRY(co_await device.read(y));
  co_return std::abs(differences[worst]);
}

int main() {
  System system({.log = log_nothing()});
  Device device = value(system.device(0));
  Layer layer{value(device.array<float>({kRows, kIn})), value(device.array<float>({kOut, kIn})),
              value(device.array<float>({kOut}))};
  value(device.write(layer.x, numbers(kRows * kIn, 1.0f)).get());
  value(device.write(layer.w, numbers(kOut * kIn, 0.25f)).get());
  value(device.write(layer.b, numbers(kOut, 0.5f)).get());
  const float off = value(system.run(largest_difference(device, layer)));
  std::printf("in 8 bits, results differ by up to %.3f from those in f32\n", static_cast<double>(off));
  return off > 0 && off < 0.2f ? 0 : 1;
}
