// The engines beside Philox, on each backend: uniform numbers, integers and what tries until it accepts must be exactly
// those of the formulas in docs/random.md, over the words that op/random_words.hpp gives one after another; normal
// numbers those in higher precision. In every layout, from a position inside a block.
#include "troupe/library/conformance.test.hpp"
#include "troupe/op/random_words.hpp"

namespace troupe::conformance {
namespace {

constexpr std::uint64_t kEngineSeed = 0x1234'5678'9ABC'DEF0;
constexpr std::uint64_t kEnginePosition = 6;
constexpr std::int64_t kEngineRows = 31, kEngineColumns = 17;

Generator generator_of(RandomEngine engine) {
  const bool has_points = engine >= RandomEngine::sobol32;
  const bool is_plain = engine == RandomEngine::sobol32 || engine == RandomEngine::sobol64;
  return Generator(kEngineSeed, {.stream = is_plain ? 0U : 3U,
                                 .position = kEnginePosition,
                                 .engine = engine,
                                 .dimensions = has_points ? 17U : 1U});
}

/// W(q) or N(q) of the elements, as 64 bits each.
std::vector<std::uint64_t> bits_of(const Generator& from, random::Space space) {
  const random::RandomStart start({.engine = from.engine(),
                                   .stream = from.stream(),
                                   .seed = from.seed(),
                                   .position = from.position(),
                                   .dimensions = from.dimensions()},
                                  space);
  const auto each = static_cast<std::size_t>(start.words_each());
  const std::uint64_t before = from.position() - start.position();
  std::vector<std::uint32_t> words((static_cast<std::size_t>(kEngineRows * kEngineColumns) + before) * each);
  start.at(start.position()).take(start.position() * each, words.data(), static_cast<std::int64_t>(words.size()));
  std::vector<std::uint64_t> bits;
  for (std::size_t i = before * each; i < words.size(); i += each)
    bits.push_back(words[i] | (each == 2 ? std::uint64_t{words[i + 1]} << 32 : 0));
  return bits;
}

template <class T>
class RandomEngineConformance : public Conformance<T> {
 protected:
  /// Calls `check(engine, bits)` for each; those of points as well, or not.
  template <class Check>
  void each_engine(bool with_points, const Check& check) {
    const auto last = with_points ? RandomEngine::kLast : RandomEngine::mt19937;
    for (auto number = 1; number <= static_cast<int>(last); ++number) {
      const auto engine = static_cast<RandomEngine>(number);
      SCOPED_TRACE(name(engine));
      check(engine, bits_of(generator_of(engine), sizeof(T) == 8 ? random::kNumbers : random::kWords));
    }
  }
  /// Calls `draw(generator, out)` in every layout, then `compare(elements)`.
  template <class Draw, class Compare>
  void each_layout(RandomEngine engine, const Draw& draw, const Compare& compare) {
    for (const Layout layout : kLayouts) {
      Sample<T> out = this->poisoned(Shape{kEngineRows, kEngineColumns}, layout);
      Generator from = generator_of(engine);
      value(draw(from, out.array()).get());
      EXPECT_EQ(from.position(), kEnginePosition + static_cast<std::uint64_t>(kEngineRows * kEngineColumns));
      compare(out.read());
    }
  }
};
CONFORMANCE_SUITE(RandomEngineConformance, Types<float, double>);

CONFORMANCE_TEST(RandomEngineConformance, uniform) {
  this->covers("random", "engines");
  this->each_engine(true, [&](RandomEngine engine, const std::vector<std::uint64_t>& bits) {
    std::vector<T> want;
    for (const std::uint64_t of : bits)
      want.push_back(sizeof(T) == 8 ? static_cast<T>(std::ldexp(static_cast<double>(of >> 11), -53))
                                    : static_cast<T>(std::ldexp(static_cast<float>(of >> 8), -24)));
    this->each_layout(
        engine, [&](Generator& from, const AnyArray& out) { return this->device().random().uniform(from, out); },
        [&](const std::vector<T>& got) { this->expect_equal(got, want); });
  });
}

CONFORMANCE_TEST(RandomEngineConformance, normal) {
  constexpr long double kTurn = 2 * 3.14159265358979323846264338327950288L;
  constexpr int kDigits = sizeof(T) == 8 ? 53 : 24;
  constexpr int kWidth = sizeof(T) * 8;
  this->each_engine(false, [&](RandomEngine engine, const std::vector<std::uint64_t>& bits) {
    std::vector<Wide<T>> want;
    for (std::size_t i = 0; i + 1 < bits.size(); i += 2) {
      const bool is_small = bits[i] >> kDigits == 0;
      const long double u = is_small ? std::ldexp(static_cast<long double>(bits[i] | 1), -kWidth)
                                     : std::ldexp(static_cast<long double>(bits[i] >> (kWidth - kDigits)), -kDigits);
      const long double radius = std::sqrt(-2 * std::log(u));
      const long double turns = sizeof(T) == 8 ? std::ldexp(static_cast<long double>(bits[i + 1] >> 11), -53)
                                               : std::ldexp(static_cast<long double>(bits[i + 1]), -32);
      want.push_back(static_cast<Wide<T>>(radius * std::cos(kTurn * turns)));
      want.push_back(static_cast<Wide<T>>(radius * std::sin(kTurn * turns)));
    }
    this->each_layout(
        engine, [&](Generator& from, const AnyArray& out) { return this->device().random().normal(from, out); },
        [&](std::vector<T> got) {
          got.resize(want.size());
          this->expect_close(got, want, 8);
        });
  });
}

CONFORMANCE_TEST(RandomEngineConformance, gamma) {
  this->each_engine(false, [&](RandomEngine engine, const std::vector<std::uint64_t>&) {
    const Generator first = generator_of(engine);
    const std::vector<std::uint64_t> numbers = bits_of(first, random::kNumbers);
    std::vector<T> want;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      want.push_back(
          convert<T>(random::gamma(0.25, 1.5, random::OwnNumbers({numbers[i], first.stream()}, kEnginePosition + i))));
    this->each_layout(
        engine,
        [&](Generator& from, const AnyArray& out) { return this->device().random().gamma(from, out, 0.25, 1.5); },
        [&](const std::vector<T>& got) { this->expect_equal(got, want); });
  });
}

CONFORMANCE_TEST(RandomEngineConformance, points_as_normal_numbers) {
  this->each_engine(true, [&](RandomEngine engine, const std::vector<std::uint64_t>& bits) {
    if (engine < RandomEngine::sobol32) return;
    std::vector<T> want;
    for (const std::uint64_t of : bits)
      want.push_back(convert<T>(
          random::point_normal(0.5, 2, sizeof(T) == 8 ? of : random::widened(static_cast<std::uint32_t>(of)))));
    this->each_layout(
        engine, [&](Generator& from, const AnyArray& out) { return this->device().random().normal(from, out, 0.5, 2); },
        [&](const std::vector<T>& got) { this->expect_equal(got, want); });
  });
}

}  // namespace
}  // namespace troupe::conformance
