#include "bench/scope_cost.hpp"

#include <cmath>
#include <vector>

#include "bench/batches.hpp"
#include "bench/numbers.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {
namespace {

constexpr int kTurns = 15;
constexpr std::int64_t kPoints = 512, kHidden = 32;
constexpr float kRate = 0.1f;

struct Opened {
  System system{{.threads = 1, .log = log_nothing()}};
  Device device = value(system.device("host", {.standby = Standby::none}));
};

/// In turns, so that both have the same worker and the same moment.
template <class First, class Second>
Pair::Figures in_turns(const First& first_ns, const Second& second_ns) {
  std::vector<double> first, second;
  for (int turn = -1; turn < kTurns; ++turn) {
    const double one = first_ns(), other = second_ns();
    if (turn < 0) continue;  // for warming up
    first.push_back(one);
    second.push_back(other);
  }
  return {.first = median_of(std::move(first)), .second = median_of(std::move(second))};
}

struct Numbers {
  std::vector<float> x = random_numbers(2 * kPoints, 1);
  std::vector<float> inside = random_numbers(kPoints, 4);
  std::vector<float> w1 = random_numbers(2 * kHidden, 2), b1 = random_numbers(kHidden, 5);
  std::vector<float> w2 = random_numbers(kHidden, 3), b2 = random_numbers(1, 6);
};

class Perceptron {
 public:
  explicit Perceptron(const Device& device) : device_(device) {
    const Numbers numbers;
    x_ = made({kPoints, 2}, &numbers.x);
    inside_ = made({kPoints, 1}, &numbers.inside);
    w1_ = made({2, kHidden}, &numbers.w1), b1_ = made({kHidden}, &numbers.b1);
    w2_ = made({kHidden, 1}, &numbers.w2), b2_ = made({1}, &numbers.b2);
    xw_ = made({kPoints, kHidden}), h_ = made({kPoints, kHidden}), dhw_ = made({kPoints, kHidden});
    dh_ = made({kPoints, kHidden}), hw_ = made({kPoints, 1}), y_ = made({kPoints, 1}), dy_ = made({kPoints, 1});
    dw1_ = made({2, kHidden}), db1_ = made({kHidden}), dw2_ = made({kHidden, 1}), db2_ = made({1});
  }

  void step(Scope& on) const {
    const auto h = on.eval(tanh(on.matmul(x_, w1_) + b1_));
    const auto y = on.eval(sigmoid(on.matmul(h, w2_) + b2_));
    const auto dy = on.eval((y - inside_) / static_cast<float>(kPoints));
    const auto dh = on.eval(on.matmul(dy, w2_.transpose()) * (1 - square(h)));
    on.assign(w2_, w2_ - kRate * on.matmul(h.transpose(), dy));
    on.assign(b2_, b2_ - kRate * on.sum(dy, 0));
    on.assign(w1_, w1_ - kRate * on.matmul(x_.transpose(), dh));
    on.assign(b1_, b1_ - kRate * on.sum(dh, 0));
  }

  void step_into_what_is_there() const {
    const Tensor tensor = device_.tensor();
    const Matmul matmul = device_.matmul();
    const auto run = [](Call<void> call) { value(std::move(call).submit()); };
    run(matmul.multiply(x_, w1_, xw_));
    run(tensor.evaluate(tanh(xw_ + b1_), h_));
    run(matmul.multiply(h_, w2_, hw_));
    run(tensor.evaluate(sigmoid(hw_ + b2_), y_));
    run(tensor.evaluate((y_ - inside_) / static_cast<float>(kPoints), dy_));
    run(matmul.multiply(dy_, w2_.transpose(), dhw_));
    run(tensor.evaluate(dhw_ * (1 - square(h_)), dh_));
    run(matmul.multiply(h_.transpose(), dy_, dw2_));
    run(tensor.evaluate(w2_ - kRate * dw2_, w2_));
    run(tensor.reduce(Reduction::sum, dy_, {0}, db2_));
    run(tensor.evaluate(b2_ - kRate * db2_, b2_));
    run(matmul.multiply(x_.transpose(), dh_, dw1_));
    run(tensor.evaluate(w1_ - kRate * dw1_, w1_));
    run(tensor.reduce(Reduction::sum, dh_, {0}, db1_));
    run(tensor.evaluate(b1_ - kRate * db1_, b1_));
  }
  const Array<float>& last() const noexcept { return b1_; }

 private:
  Array<float> made(const Shape& shape, const std::vector<float>* numbers = nullptr) const {
    Array<float> array = value(device_.array<float>(shape));
    if (numbers) value(device_.write(array, *numbers).get());
    return array;
  }

  Device device_;
  Array<float> x_, inside_, w1_, b1_, w2_, b2_;
  Array<float> xw_, h_, hw_, y_, dy_, dhw_, dh_, dw1_, db1_, dw2_, db2_;
};

/// As one writes it without a library.
void step_in_a_loop(Numbers& n, std::vector<float>& hidden) {
  std::vector<float> dw1(n.w1.size()), db1(n.b1.size()), dw2(n.w2.size());
  float db2 = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(kPoints); ++i) {
    float sum = n.b2[0];
    for (std::size_t j = 0; j < hidden.size(); ++j) {
      hidden[j] = std::tanh(n.x[2 * i] * n.w1[j] + n.x[2 * i + 1] * n.w1[hidden.size() + j] + n.b1[j]);
      sum += hidden[j] * n.w2[j];
    }
    const float y = 1 / (1 + std::exp(-sum));
    const float dy = (y - n.inside[i]) / static_cast<float>(kPoints);
    db2 += dy;
    for (std::size_t j = 0; j < hidden.size(); ++j) {
      const float dh = dy * n.w2[j] * (1 - hidden[j] * hidden[j]);
      dw2[j] += hidden[j] * dy;
      db1[j] += dh;
      dw1[j] += n.x[2 * i] * dh;
      dw1[hidden.size() + j] += n.x[2 * i + 1] * dh;
    }
  }
  for (std::size_t j = 0; j < dw1.size(); ++j) n.w1[j] -= kRate * dw1[j];
  for (std::size_t j = 0; j < db1.size(); ++j) n.b1[j] -= kRate * db1[j];
  for (std::size_t j = 0; j < dw2.size(); ++j) n.w2[j] -= kRate * dw2[j];
  n.b2[0] -= kRate * db2;
}

}  // namespace

Pair::Figures scope_cost_ns(int count) {
  const Opened opened;
  const Device& device = opened.device;
  const Array<float> array = value(device.array<float>({1}));
  const auto in_scope = [&] {
    const Stopwatch stopwatch;
    Scope on(device);
    for (int i = 0; i < count; ++i) on.run(device.fill(array, 1.0f));
    value(on.end().get());
    return stopwatch.ns_per(count);
  };
  const auto alone = [&] {
    const Stopwatch stopwatch;
    for (int i = 1; i < count; ++i) value(device.fill(array, 1.0f).submit());
    value(device.fill(array, 1.0f).get());
    return stopwatch.ns_per(count);
  };
  return in_turns(in_scope, alone);
}

Pair::Figures perceptron_step_ns(int steps) {
  const Opened opened;
  const Perceptron perceptron(opened.device);
  const auto in_scope = [&] {
    const Stopwatch stopwatch;
    Scope on(opened.device);
    for (int i = 0; i < steps; ++i) perceptron.step(on);
    value(on.end().get());
    return stopwatch.ns_per(steps);
  };
  const auto given = [&] {
    const Stopwatch stopwatch;
    for (int i = 0; i < steps; ++i) perceptron.step_into_what_is_there();
    value(opened.device.wait_for(perceptron.last()).get());
    return stopwatch.ns_per(steps);
  };
  return in_turns(in_scope, given);
}

double perceptron_in_a_loop_ns(int steps) {
  Numbers numbers;
  std::vector<float> hidden(static_cast<std::size_t>(kHidden));
  step_in_a_loop(numbers, hidden);
  const Stopwatch stopwatch;
  for (int i = 0; i < steps; ++i) step_in_a_loop(numbers, hidden);
  return stopwatch.ns_per(steps);
}

}  // namespace troupe::bench
