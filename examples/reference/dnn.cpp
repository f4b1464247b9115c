// The names for neural networks, one by one. The reference shows what stands between `// example:` and `// end`.
#include <vector>

#include "examples/reference/expect.hpp"
#include "troupe/troupe.hpp"

using namespace troupe;

Array<float> made(const Device& device, const Shape& shape, const std::vector<float>& numbers) {
  Array<float> array = value(device.array<float>(shape));
  value(device.write(array, numbers).get());
  return array;
}

void layers(const Device& device) {
  const Array<float> x = made(device, {1, 1, 4}, {1, 2, 3, 4});
  const Array<float> w = made(device, {1, 1, 2}, {1, 1});
  const Array<float> y = made(device, {1, 1, 3}, {0, 0, 0});
  const Array<float> z = made(device, {1, 1, 2}, {0, 0});

  // example: Dnn, ConvolutionOptions, DnnActivation
  value(device.dnn().convolution(x, w, y, ConvolutionOptions{.activation = DnnActivation::relu}).get());
  expect(value(device.read(y).get())[2] == 7);
  // end

  // example: PoolOptions
  value(device.dnn().average_pool(x, 2, z, PoolOptions{.stride = 2}).get());
  expect(value(device.read(z).get())[1] == 3.5F);
  // end

  // example: DnnActivationOptions
  value(device.dnn().activation(DnnActivation::leaky_relu, z, z, DnnActivationOptions{.alpha = 0.1}).get());
  expect(value(device.read(z).get())[1] == 3.5F);
  // end

  // example: InterpolateOptions, DnnInterpolation
  value(device.dnn().interpolate(x, z, InterpolateOptions{.way = DnnInterpolation::linear}).get());
  expect(value(device.read(z).get())[0] == 1.5F);
  // end
}

void norms(const Device& device) {
  const Array<float> x = made(device, {2, 2}, {1, 3, 5, 9});
  const Array<float> y = made(device, {2, 2}, {0, 0, 0, 0});
  const Array<float> dx = made(device, {2, 2}, {0, 0, 0, 0});
  const Array<float> scale = made(device, {2}, {2, 2});
  const Array<float> mean = made(device, {2}, {0, 0});
  const Array<float> variance = made(device, {2}, {1, 1});

  // example: NormOptions
  value(device.dnn().layer_norm(x, y, NormOptions{.epsilon = 0, .scale = &scale}).get());
  expect(value(device.read(y).get())[1] == 2);
  // end

  // example: NormGradientOptions
  value(device.dnn().layer_norm_gradient(y, x, dx, NormGradientOptions{.scale = &scale, .dscale = &variance}).get());
  expect(value(device.read(variance).get())[0] > 3.9F);
  // end

  // example: BatchNormTrainingOptions
  value(device.dnn()
            .batch_norm_training(
                x, y, BatchNormTrainingOptions{.momentum = 1, .running_mean = &mean, .running_variance = &variance})
            .get());
  expect(value(device.read(mean).get())[1] == 6);
  // end
}

int main() {
  System system({.log = log_nothing()});
  const Device device = value(system.device("host"));
  layers(device);
  norms(device);
}
