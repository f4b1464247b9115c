// The names of what networks are trained with, one by one. The reference shows what stands between `// example:` and
// `// end`.
#include <cmath>
#include <vector>

#include "examples/reference/expect.hpp"
#include "troupe/troupe.hpp"

using namespace troupe;

Array<float> made(const Device& device, const Shape& shape, const std::vector<float>& numbers) {
  Array<float> array = value(device.array<float>(shape));
  value(device.write(array, numbers).get());
  return array;
}
Array<std::int64_t> indices_of(const Device& device, const std::vector<std::int64_t>& numbers) {
  Array<std::int64_t> array = value(device.array<std::int64_t>({static_cast<std::int64_t>(numbers.size())}));
  value(device.write(array, numbers).get());
  return array;
}
float first_of(const Device& device, const Array<float>& x) { return value(device.read(x).get())[0]; }
bool is_near(float a, double b) { return std::fabs(a - b) < 1e-4; }

void losses(const Device& device) {
  const Array<float> x = made(device, {1, 2}, {0, 0}), y = made(device, {1, 2}, {0, 0});
  const Array<float> target = made(device, {1, 2}, {2, 4}), loss = made(device, {}, {0});
  const Array<float> probabilities = made(device, {1, 2}, {0.5, 0.5});
  const Array<std::int64_t> classes = indices_of(device, {1});

  // example: SoftmaxOptions
  value(device.dnn().softmax(x, y, SoftmaxOptions{.axis = 1}).get());
  expect(first_of(device, y) == 0.5F);
  // end

  // example: LossOptions, LossReduction
  value(device.dnn().mse_loss(x, target, loss, LossOptions{.reduction = LossReduction::sum}).get());
  expect(first_of(device, loss) == 20);
  // end

  // example: HuberOptions
  value(device.dnn().huber_loss(x, target, loss, HuberOptions{.delta = 1}).get());
  expect(first_of(device, loss) == 2.5F);
  // end

  // example: KlDivOptions
  value(device.dnn().log_softmax(x, y).get());
  value(device.dnn().kl_div(y, probabilities, loss, KlDivOptions{.reduction = LossReduction::batch_mean}).get());
  expect(is_near(first_of(device, loss), 0));
  // end

  // example: CrossEntropyOptions
  value(device.dnn().cross_entropy(x, classes, loss, CrossEntropyOptions{.label_smoothing = 0.1}).get());
  expect(is_near(first_of(device, loss), std::log(2.0)));
  // end
}

void steps(const Device& device) {
  const std::vector<Array<float>> gradients{made(device, {2}, {3, 4})};
  const std::vector<Array<float>> values{made(device, {2}, {1, 1})};
  const std::vector<Array<float>> first{made(device, {2}, {0, 0})}, second{made(device, {2}, {0, 0})};
  const Array<float> measure = made(device, {3}, {0, 0, 0}), scale = made(device, {2}, {1024, 0});

  // example: MeasureOptions, ArrayList
  value(device.dnn().measure_gradients(gradients, measure, MeasureOptions{.max_norm = 1}).get());
  expect(is_near(value(device.read(measure).get())[1], 5));
  // end

  // example: SgdOptions, OptimizerArrays
  value(device.dnn().sgd(gradients, OptimizerArrays{.values = values}, SgdOptions{.rate = 0.1}).get());
  expect(is_near(first_of(device, values[0]), 0.7));
  // end

  // example: AdamOptions
  const OptimizerArrays now{.values = values, .first = first, .second = second};
  value(device.dnn().adamw(gradients, now, AdamOptions{.rate = 0.1, .step = 1, .measure = &measure}).get());
  expect(first_of(device, values[0]) < 0.7F);
  // end

  // example: LossScaleOptions
  value(device.dnn().adjust_loss_scale(measure, scale, scale, LossScaleOptions{.interval = 1}).get());
  expect(first_of(device, scale) == 2048);
  // end
}

void lookups(const Device& device) {
  const Array<std::int64_t> indices = indices_of(device, {1, 1});
  const Array<float> dy = made(device, {2, 1}, {1, 2}), dtable = made(device, {2, 1}, {0, 0});

  // example: EmbeddingOptions
  value(device.dnn().embedding_gradient(dy, indices, dtable, EmbeddingOptions{.padding = 0}).get());
  expect(value(device.read(dtable).get())[1] == 3);
  // end
}

void attention(const Device& device) {
  const Shape shape{1, 1, 2, 2};
  const Array<float> q = made(device, shape, {1, 0, 0, 1}), v = made(device, shape, {1, 2, 3, 4});
  const Array<float> y = made(device, shape, {0, 0, 0, 0}), sums = made(device, {1, 1, 2}, {0, 0});

  // example: AttentionOptions
  value(device.dnn().scaled_dot_product_attention(q, q, v, y, sums, AttentionOptions{.causal = true}).get());
  expect(first_of(device, y) == 1);  // the first query sees the first key alone
  // end

  const Array<float> cache = made(device, {1, 2, 1, 2}, {1, 2, 3, 4});
  Array<std::int64_t> table = value(device.array<std::int64_t>({1, 1}));
  value(device.write(table, std::vector<std::int64_t>{0}).get());
  const Array<std::int64_t> lengths = indices_of(device, {2});

  // example: PagedOptions
  value(device.dnn().paged_attention(q, cache, cache, table, lengths, y, PagedOptions{.scale = 0.0}).get());
  expect(is_near(value(device.read(y).get())[2], 2));  // the mean of both tokens' values
  // end

  // example: RotaryOptions
  value(device.dnn().rotary(q, y, RotaryOptions{.base = 100}).get());
  expect(first_of(device, y) == 1);  // at place 0 nothing turns
  // end
}

void recurrent(const Device& device) {
  const std::vector<Array<float>> weights{made(device, {3, 1}, {0, 0, 1}), made(device, {3, 1}, {0, 0, 0})};
  const Array<float> x = made(device, {1, 1, 1}, {1}), y = made(device, {1, 1, 1}, {0});
  const Array<float> kept = made(device, {1, 1, 1, 5}, {0, 0, 0, 0, 0}), dx = made(device, {1, 1, 1}, {0});

  // example: RecurrentOptions
  value(device.dnn().gru(x, weights, y, RecurrentOptions{.bias = false, .kept = &kept}).get());
  expect(is_near(first_of(device, y), std::tanh(1) / 2));  // half of the old state, and half of the new one
  // end

  // example: RecurrentGradientOptions
  value(device.dnn().gru_gradient(x, x, weights, kept, dx, RecurrentGradientOptions{.bias = false}).get());
  expect(is_near(first_of(device, dx), 0.20998));
  // end
}

int main() {
  System system({.log = log_nothing()});
  const Device device = value(system.device("host"));
  losses(device);
  steps(device);
  lookups(device);
  attention(device);
  recurrent(device);
}
