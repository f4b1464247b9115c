// A perceptron with one hidden layer learns whether a point is inside a circle, by gradients that are written by hand:
// forward, backward, and a step of all weights, as one would write it on paper.
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr std::int64_t kPoints = 512, kHidden = 32;

std::vector<float> random_numbers(std::int64_t count, float scale, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> in(-scale, scale);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = in(random);
  return numbers;
}

/// The share of points that it gets right after so many steps.
Task<Result<float>> learn(Device device, int steps, float rate) {
  Scope on(device);
  const auto x = on.from(random_numbers(2 * kPoints, 1.0f, 1), {kPoints, 2});
  const auto inside = on.eval<float>(on.sum(x * x, 1, {.keep_axes = true}) < 0.6f);
  const auto w1 = on.from(random_numbers(2 * kHidden, 1.0f, 2), {2, kHidden}), b1 = on.full<float>({kHidden}, 0.0f);
  const auto w2 = on.from(random_numbers(kHidden, 0.5f, 3), {kHidden, 1}), b2 = on.full<float>({1}, 0.0f);
  for (int step = 0; step < steps; ++step) {
    const auto h = on.eval(tanh(on.matmul(x, w1) + b1));
    const auto y = on.eval(sigmoid(on.matmul(h, w2) + b2));
    const auto dy = on.eval((y - inside) / static_cast<float>(kPoints));  // of the cross entropy
    const auto dh = on.eval(on.matmul(dy, w2.transpose()) * (1 - square(h)));
    on.assign(w2, w2 - rate * on.matmul(h.transpose(), dy));
    on.assign(b2, b2 - rate * on.sum(dy, 0));
    on.assign(w1, w1 - rate * on.matmul(x.transpose(), dh));
    on.assign(b1, b1 - rate * on.sum(dh, 0));
  }
  const auto y = sigmoid(on.matmul(on.eval(tanh(on.matmul(x, w1) + b1)), w2) + b2);
  const auto is_right = on.eval<float>(equal(y > 0.5f, inside));
  co_return CO_TRY(co_await on.read(on.mean(is_right)))[0];
}

int main() {
  System system({.log = log_nothing()});
  const Result<float> right = system.run(learn(value(system.device(0)), 500, 2.0f));
  if (!right) return std::printf("%s\n", right.error().to_string().c_str()), 1;
  std::printf("%.1f %% of the points are right\n", 100.0 * static_cast<double>(*right));
  return *right > 0.95f ? 0 : 1;
}
