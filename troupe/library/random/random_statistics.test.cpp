// Whether numbers come from their distributions: their moments, how far they are from the distribution function
// (Kolmogorov and Smirnov) or from what is expected of each outcome (chi squared), and whether neighbours have to do
// with each other. Seeds are fixed, so each test gives the same every time; limits are those of 1 in 1000.
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

constexpr std::int64_t kCount = 20'000;
constexpr double kPi = 3.14159265358979323846;

/// The part of a gamma distribution of scale 1 below x, by its series or continued fraction.
double gamma_below(double shape, double x) {
  if (x <= 0) return 0;
  const double scale = std::exp(shape * std::log(x) - x - std::lgamma(shape));
  if (x < shape + 1) {
    double term = 1 / shape;
    double sum = term;
    for (double n = shape + 1; term > sum * 1e-16; n += 1) sum += term *= x / n;
    return scale * sum;
  }
  double fraction = 0;
  for (int n = 200; n > 0; --n) fraction = n * (shape - n) / (x + 2 * n + 1 - shape + fraction);
  return 1 - scale / (x + 1 - shape + fraction);
}

class RandomStatistics : public DeviceTest {
 protected:
  template <Element T, class Draw>
  std::vector<double> drawn(const Draw& draw, std::uint64_t seed = 1) {
    const Array<T> out = value(device.array<T>({kCount}));
    Generator from(seed, {.engine = engine});
    value(draw(from, out).get());
    std::vector<double> numbers;
    for (const T element : value(device.read(out).get())) numbers.push_back(static_cast<double>(element));
    return numbers;
  }
  /// Mean and variance within 4 of their deviations, and no correlation with the next number or the one after it.
  static void expect_moments(const std::vector<double>& numbers, double mean, double variance) {
    double sum = 0;
    double squares = 0;
    double next = 0;
    double after = 0;
    double fourths = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double off = numbers[i] - mean;
      sum += off;
      squares += off * off;
      fourths += off * off * off * off;
      next += i + 1 < numbers.size() ? off * (numbers[i + 1] - mean) : 0;
      after += i + 2 < numbers.size() ? off * (numbers[i + 2] - mean) : 0;
    }
    const double root = std::sqrt(static_cast<double>(kCount));
    EXPECT_LT(std::fabs(sum / kCount), 4 * std::sqrt(variance) / root) << "the mean";
    const double deviation = std::sqrt(fourths / kCount - variance * variance);
    EXPECT_LT(std::fabs(squares / kCount - variance), 4 * deviation / root) << "the variance";
    EXPECT_LT(std::fabs(next / kCount / variance), 4 / root) << "neighbours";
    EXPECT_LT(std::fabs(after / kCount / variance), 4 / root) << "those after them";
  }
  template <class Below>
  static void expect_distribution(std::vector<double> numbers, const Below& below) {
    std::ranges::sort(numbers);
    double farthest = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double part = below(numbers[i]);
      farthest =
          std::max({farthest, part - static_cast<double>(i) / kCount, static_cast<double>(i + 1) / kCount - part});
    }
    EXPECT_LT(farthest * std::sqrt(static_cast<double>(kCount)), 1.95);
  }
  /// `probability(k)` of the whole numbers from 0 on; those of which few are expected count as one.
  template <class Probability>
  static void expect_frequencies(const std::vector<double>& numbers, int outcomes, const Probability& probability) {
    std::vector<double> found(static_cast<std::size_t>(outcomes) + 1);
    for (const double number : numbers) {
      ASSERT_GE(number, 0);
      found[static_cast<std::size_t>(std::min<double>(number, outcomes))] += 1;
    }
    double sum = 0;
    double rest = kCount;
    double rest_found = kCount;
    int classes = 0;
    for (int k = 0; k < outcomes; ++k) {
      const double expected = probability(k) * kCount;
      if (expected < 20) continue;
      const double off = found[static_cast<std::size_t>(k)] - expected;
      sum += off * off / expected;
      rest -= expected;
      rest_found -= found[static_cast<std::size_t>(k)];
      ++classes;
    }
    if (rest > 5) sum += (rest_found - rest) * (rest_found - rest) / rest;
    EXPECT_LT(sum, classes + 3.1 * std::sqrt(2.0 * classes) + 8) << classes << " classes";
  }

  RandomEngine engine = RandomEngine::philox4x32_10;
  Device device = open();
  Random random = device.random();
};

TEST_F(RandomStatistics, uniform) {
  const auto check = [&](const std::vector<double>& numbers, double step) {
    for (const double number : numbers) ASSERT_TRUE(number >= -1 && number < 3) << number;
    expect_moments(numbers, 1 - step / 2, 16.0 / 12);
    if (step < 1e-3) expect_distribution(numbers, [](double x) { return (x + 1) / 4; });
  };
  const auto draw = [&](Generator& from, const AnyArray& out) { return random.uniform(from, out, -1, 3); };
  check(drawn<float>(draw), 0);
  check(drawn<double>(draw), 0);
  check(drawn<f16>(draw), 4 * 0x1p-11);
  check(drawn<bf16>(draw), 0);
}

TEST_F(RandomStatistics, normal) {
  const auto check = [&](const std::vector<double>& numbers) {
    expect_moments(numbers, 2, 9);
    expect_distribution(numbers, [](double x) { return std::erfc(-(x - 2) / 3 / std::sqrt(2.0)) / 2; });
  };
  const auto draw = [&](Generator& from, const AnyArray& out) { return random.normal(from, out, 2, 3); };
  check(drawn<float>(draw));
  check(drawn<double>(draw));
}

TEST_F(RandomStatistics, log_normal) {
  const auto draw = [&](Generator& from, const AnyArray& out) { return random.log_normal(from, out, 0.5, 0.25); };
  const double mean = std::exp(0.5 + 0.25 * 0.25 / 2);
  for (const auto& numbers : {drawn<float>(draw), drawn<double>(draw)}) {
    expect_moments(numbers, mean, std::expm1(0.25 * 0.25) * mean * mean);
    expect_distribution(numbers, [](double x) { return std::erfc(-(std::log(x) - 0.5) / 0.25 / std::sqrt(2.0)) / 2; });
  }
}

TEST_F(RandomStatistics, exponential) {
  const auto draw = [&](Generator& from, const AnyArray& out) { return random.exponential(from, out, 4); };
  for (const auto& numbers : {drawn<float>(draw), drawn<double>(draw)}) {
    expect_moments(numbers, 0.25, 1.0 / 16);
    expect_distribution(numbers, [](double x) { return -std::expm1(-4 * x); });
  }
}

TEST_F(RandomStatistics, cauchy) {
  const auto draw = [&](Generator& from, const AnyArray& out) { return random.cauchy(from, out, 1, 2); };
  for (const auto& numbers : {drawn<float>(draw), drawn<double>(draw)})
    expect_distribution(numbers, [](double x) { return std::atan((x - 1) / 2) / kPi + 0.5; });
}

TEST_F(RandomStatistics, gamma) {
  for (const double shape : {0.3, 1.0, 4.5, 200.0}) {
    SCOPED_TRACE(shape);
    const auto draw = [&](Generator& from, const AnyArray& out) { return random.gamma(from, out, shape, 2); };
    const std::vector<double> numbers = drawn<double>(draw);
    expect_moments(numbers, 2 * shape, 4 * shape);
    expect_distribution(numbers, [&](double x) { return gamma_below(shape, x / 2); });
  }
}

TEST_F(RandomStatistics, beta) {
  const auto moments = [&](double a, double b) {
    const std::vector<double> numbers =
        drawn<double>([&](Generator& from, const AnyArray& out) { return random.beta(from, out, a, b); });
    expect_moments(numbers, a / (a + b), a * b / ((a + b) * (a + b) * (a + b + 1)));
    return numbers;
  };
  expect_distribution(moments(1, 3), [](double x) { return 1 - std::pow(1 - x, 3); });
  expect_distribution(moments(0.5, 0.5), [](double x) { return 2 / kPi * std::asin(std::sqrt(x)); });
  expect_distribution(moments(2, 2), [](double x) { return x * x * (3 - 2 * x); });
  for (const double number : moments(0.001, 0.001)) EXPECT_TRUE(number >= 0 && number <= 1) << number;
}

TEST_F(RandomStatistics, poisson) {
  for (const double rate : {0.1, 4.0, 9.99, 10.0, 80.0}) {
    SCOPED_TRACE(rate);
    const std::vector<double> numbers =
        drawn<std::int32_t>([&](Generator& from, const AnyArray& out) { return random.poisson(from, out, rate); });
    expect_moments(numbers, rate, rate);
    expect_frequencies(numbers, 200, [&](int k) { return std::exp(k * std::log(rate) - rate - std::lgamma(k + 1.0)); });
  }
  const double rate = 1e8;
  const std::vector<double> numbers =
      drawn<std::int64_t>([&](Generator& from, const AnyArray& out) { return random.poisson(from, out, rate); });
  expect_moments(numbers, rate, rate);
  expect_distribution(numbers, [&](double k) { return std::erfc(-(k + 0.5 - rate) / std::sqrt(2 * rate)) / 2; });
}

TEST_F(RandomStatistics, bernoulli) {
  const std::vector<double> numbers =
      drawn<bool>([&](Generator& from, const AnyArray& out) { return random.bernoulli(from, out, 0.3); });
  expect_moments(numbers, 0.3, 0.21);
}

TEST_F(RandomStatistics, integers) {
  const std::vector<double> numbers =
      drawn<std::int8_t>([&](Generator& from, const AnyArray& out) { return random.integers(from, out, 0, 100); });
  expect_moments(numbers, 49.5, (100.0 * 100 - 1) / 12);
  expect_frequencies(numbers, 100, [](int) { return 0.01; });
}

TEST_F(RandomStatistics, discrete) {
  const std::vector<double> weights{1, 0, 2.5, 4, 0.5};
  const Array<std::uint64_t> table = value(device.array<std::uint64_t>({5, 2}));
  value(device.write(table, value(alias_table(weights))).get());
  const std::vector<double> numbers =
      drawn<std::int32_t>([&](Generator& from, const AnyArray& out) { return random.discrete(from, table, out); });
  expect_frequencies(numbers, 5, [&](int k) { return weights[static_cast<std::size_t>(k)] / 8; });
  EXPECT_EQ(std::ranges::count(numbers, 1.0), 0) << "its weight is 0";
}

TEST_F(RandomStatistics, permutation) {
  const std::vector<double> numbers =
      drawn<std::int32_t>([&](Generator& from, const AnyArray& out) { return random.permutation(from, out); });
  expect_moments(numbers, (kCount - 1) / 2.0, (static_cast<double>(kCount) * kCount - 1) / 12);
}

TEST_F(RandomStatistics, bits) {
  const std::vector<double> numbers =
      drawn<std::uint32_t>([&](Generator& from, const AnyArray& out) { return random.bits(from, out); });
  expect_moments(numbers, 0x1p31 - 0.5, 0x1p64 / 12);
  expect_distribution(numbers, [](double x) { return x * 0x1p-32; });
}

TEST_F(RandomStatistics, every_engine) {
  for (const RandomEngine each : {RandomEngine::xorwow, RandomEngine::mrg32k3a, RandomEngine::mt19937}) {
    engine = each;
    SCOPED_TRACE(name(engine));
    const auto uniform = [&](Generator& from, const AnyArray& out) { return random.uniform(from, out); };
    for (const auto& numbers : {drawn<float>(uniform), drawn<double>(uniform)}) {
      expect_moments(numbers, 0.5, 1.0 / 12);
      expect_distribution(numbers, [](double x) { return x; });
    }
    const auto normal = [&](Generator& from, const AnyArray& out) { return random.normal(from, out, 2, 3); };
    for (const auto& numbers : {drawn<float>(normal), drawn<double>(normal)}) {
      expect_moments(numbers, 2, 9);
      expect_distribution(numbers, [](double x) { return std::erfc(-(x - 2) / 3 / std::sqrt(2.0)) / 2; });
    }
    const auto gamma = [&](Generator& from, const AnyArray& out) { return random.gamma(from, out, 4.5, 2); };
    const std::vector<double> waits = drawn<double>(gamma);
    expect_moments(waits, 9, 18);
    expect_distribution(waits, [](double x) { return gamma_below(4.5, x / 2); });
    const std::vector<double> dice =
        drawn<std::int8_t>([&](Generator& from, const AnyArray& out) { return random.integers(from, out, 0, 100); });
    expect_moments(dice, 49.5, (100.0 * 100 - 1) / 12);
    expect_frequencies(dice, 100, [](int) { return 0.01; });
    const std::vector<double> counts =
        drawn<std::int32_t>([&](Generator& from, const AnyArray& out) { return random.poisson(from, out, 4); });
    expect_frequencies(counts, 200, [](int k) { return std::exp(k * std::log(4.0) - 4 - std::lgamma(k + 1.0)); });
  }
}

/// The greatest distance of the numbers from their distribution, in numbers.
template <class Below>
double distance(std::vector<double> numbers, const Below& below) {
  std::ranges::sort(numbers);
  double farthest = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    farthest =
        std::max(farthest, std::fabs(below(numbers[i]) * static_cast<double>(numbers.size()) - static_cast<double>(i)));
  return farthest;
}

TEST_F(RandomStatistics, points_are_more_even_than_chance) {
  for (const RandomEngine each : {RandomEngine::sobol32, RandomEngine::scrambled_sobol32, RandomEngine::sobol64,
                                  RandomEngine::scrambled_sobol64}) {
    engine = each;
    SCOPED_TRACE(name(engine));
    const auto uniform = [&](Generator& from, const AnyArray& out) { return random.uniform(from, out); };
    const auto normal = [&](Generator& from, const AnyArray& out) { return random.normal(from, out); };
    const auto exponential = [&](Generator& from, const AnyArray& out) { return random.exponential(from, out); };
    // Of random numbers the distance would be about 140.
    EXPECT_LT(distance(drawn<double>(uniform), [](double x) { return x; }), 10);
    EXPECT_LT(distance(drawn<float>(normal), [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }), 10);
    EXPECT_LT(distance(drawn<double>(exponential), [](double x) { return -std::expm1(-x); }), 10);
  }
}

}  // namespace
}  // namespace troupe
