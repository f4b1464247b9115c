// Every op of the random family, type and layout, on each backend. Bits, uniform numbers and integers must be exactly
// those of the formulas in docs/random.md; other distributions against them in higher precision. Those that try until
// they accept must be, bit for bit, what op/random_functions.hpp gives on the CPU.
#include "troupe/library/conformance.test.hpp"
#include "troupe/op/random_functions.hpp"

namespace troupe::conformance {
namespace {

constexpr std::uint64_t kSeed = 0xfeed'5eed'1234'5678;
constexpr std::uint32_t kStream = 3;
constexpr std::uint64_t kPosition = 5;
constexpr random::Source kSource{kSeed, kStream};
constexpr long double kPi = 3.14159265358979323846264338327950288L;

std::uint32_t word(std::uint64_t position) {
  return random::philox(kSource, position / 4, random::kWords).words[position % 4];
}
std::uint64_t number(std::uint64_t position) {
  const random::Block block = random::philox(kSource, position / 2, random::kNumbers);
  return block.words[position % 2 * 2] | std::uint64_t{block.words[position % 2 * 2 + 1]} << 32;
}
/// What the formulas over 64 bits take for an element of type T.
template <class T>
std::uint64_t bits64(std::uint64_t position) {
  return std::same_as<T, double> ? number(position) : std::uint64_t{word(position)} << 32 | 0x8000'0000;
}
/// In (0, 1), where 0 has more digits.
long double fine(std::uint64_t bits, int width, int digits) {
  const bool is_small = bits >> digits == 0;
  return is_small ? std::ldexp(static_cast<long double>(bits | 1), -width)
                  : std::ldexp(static_cast<long double>(bits >> (width - digits)), -digits);
}
long double open(std::uint64_t bits) { return std::ldexp(static_cast<long double>(bits >> 12 << 1 | 1), -53); }

long double box_muller(long double u, long double turns, bool is_second) {
  const long double radius = std::sqrt(-2 * std::log(u));
  return radius * (is_second ? std::sin(2 * kPi * turns) : std::cos(2 * kPi * turns));
}
/// From 64 bits a position.
template <class T>
long double wide_normal(std::uint64_t position) {
  const std::uint64_t first = position / 2 * 2;
  return box_muller(fine(bits64<T>(first), 64, 53),
                    std::ldexp(static_cast<long double>(bits64<T>(first + 1) >> 11), -53), position % 2 != 0);
}
/// From a word a position, but for f64.
template <class T>
long double normal(std::uint64_t position) {
  if constexpr (std::same_as<T, double>) return wide_normal<T>(position);
  const std::uint64_t first = position / 2 * 2;
  return box_muller(fine(word(first), 32, 24), std::ldexp(static_cast<long double>(word(first + 1)), -32),
                    position % 2 != 0);
}
/// tan(pi (u - 1/2)), from how far it is to the nearer of 0 and a quarter of a turn.
long double tangent(std::uint64_t bits) {
  constexpr std::int64_t kQuarter = std::int64_t{1} << 51;
  auto turns = static_cast<std::int64_t>((((bits >> 1) - (std::uint64_t{1} << 62)) >> 11 | 1) % (2 * kQuarter));
  if (turns > kQuarter) turns -= 2 * kQuarter;
  const auto angle = [](std::int64_t of) { return kPi * std::ldexp(static_cast<long double>(of), -52); };
  if (std::abs(turns) <= kQuarter / 2) return std::tan(angle(turns));
  return turns > 0 ? 1 / std::tan(angle(kQuarter - turns)) : -1 / std::tan(angle(kQuarter + turns));
}

template <class T>
class RandomConformance : public Conformance<T> {
 protected:
  static constexpr std::array<Shape, 4> shapes() { return {Shape{31, 17}, Shape{5}, Shape{}, Shape{0, 3}}; }
  Generator generator() const { return Generator(kSeed, {.stream = kStream, .position = kPosition}); }

  /// Calls `draw(generator, out)` for every shape and layout, then `compare(elements)`, the first of `kPosition`.
  template <class Draw, class Compare>
  void each_layout(const Draw& draw, const Compare& compare) {
    for (const Shape& shape : shapes())
      for (const Layout layout : kLayouts) {
        Sample<T> out = this->poisoned(shape, layout);
        Generator from = generator();
        value(draw(from, out.array()).get());
        EXPECT_EQ(from.position(), kPosition + static_cast<std::uint64_t>(out.array().element_count()));
        compare(out.read());
      }
  }
  /// The same with elements that must be `element(position)` exactly.
  template <class Draw, class Make>
  void expect_exactly(const Draw& draw, const Make& element) {
    each_layout(draw, [&](const std::vector<T>& got) {
      std::vector<T> want(got.size());
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = element(kPosition + i);
      this->expect_equal(got, want);
    });
  }
  template <class Draw, class Make>
  void expect_nearly(const Draw& draw, const Make& element, double roundings) {
    each_layout(draw, [&](const std::vector<T>& got) {
      std::vector<Wide<T>> want(got.size());
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = static_cast<Wide<T>>(element(kPosition + i));
      this->expect_close(got, want, roundings);
    });
  }
};

template <class T>
class RandomFloatConformance : public RandomConformance<T> {};
CONFORMANCE_SUITE(RandomFloatConformance, Types<float, f16, bf16, double>);

CONFORMANCE_TEST(RandomFloatConformance, uniform) {
  this->covers("random", "uniform");
  const auto draw = [&](Generator& from, const AnyArray& out) {
    return this->device().random().uniform(from, out, -0.5, 1.75);
  };
  this->expect_exactly(draw, [](std::uint64_t position) {
    if constexpr (std::same_as<T, double>)
      return -0.5 + 2.25 * std::ldexp(static_cast<double>(number(position) >> 11), -53);
    const int bits = std::same_as<T, f16> ? 11 : std::same_as<T, bf16> ? 8 : 24;
    const T element(-0.5F + 2.25F * std::ldexp(static_cast<float>(word(position) >> (32 - bits)), -bits));
    const T top(1.75F - std::ldexp(1.0F, -bits + 1));
    return static_cast<float>(element) < 1.75F ? element : top;
  });
}

CONFORMANCE_TEST(RandomFloatConformance, normal) {
  this->covers("random", "normal");
  const auto draw = [&](Generator& from, const AnyArray& out) {
    return this->device().random().normal(from, out, 0.5, 1.5);
  };
  this->expect_nearly(draw, [](std::uint64_t position) { return 0.5L + 1.5L * normal<T>(position); }, 8);
}

CONFORMANCE_TEST(RandomFloatConformance, log_normal) {
  this->covers("random", "log_normal");
  const auto draw = [&](Generator& from, const AnyArray& out) {
    return this->device().random().log_normal(from, out, 0.5, 0.75);
  };
  this->expect_nearly(
      draw, [](std::uint64_t position) { return std::exp(0.5L + 0.75L * wide_normal<T>(position)); }, 16);
}

CONFORMANCE_TEST(RandomFloatConformance, exponential) {
  this->covers("random", "exponential");
  const auto draw = [&](Generator& from, const AnyArray& out) {
    return this->device().random().exponential(from, out, 2.5);
  };
  this->expect_nearly(draw, [](std::uint64_t position) { return -std::log(open(bits64<T>(position))) / 2.5L; }, 4);
}

CONFORMANCE_TEST(RandomFloatConformance, cauchy) {
  this->covers("random", "cauchy");
  const auto draw = [&](Generator& from, const AnyArray& out) {
    return this->device().random().cauchy(from, out, 1.5, 0.25);
  };
  this->expect_nearly(draw, [](std::uint64_t position) { return 1.5L + 0.25L * tangent(bits64<T>(position)); }, 16);
}

CONFORMANCE_TEST(RandomFloatConformance, gamma) {
  this->covers("random", "gamma");
  for (const double shape : {0.25, 3.0}) {
    const auto draw = [&](Generator& from, const AnyArray& out) {
      return this->device().random().gamma(from, out, shape, 1.5);
    };
    this->expect_exactly(draw, [&](std::uint64_t position) {
      return convert<T>(random::gamma(shape, 1.5, random::OwnNumbers(kSource, position)));
    });
  }
}

CONFORMANCE_TEST(RandomFloatConformance, beta) {
  this->covers("random", "beta");
  const auto draw = [&](Generator& from, const AnyArray& out) {
    return this->device().random().beta(from, out, 0.5, 2.5);
  };
  this->expect_exactly(draw, [](std::uint64_t position) {
    return convert<T>(random::beta(0.5, 2.5, random::OwnNumbers(kSource, position)));
  });
}

template <class T>
class RandomBitsConformance : public RandomConformance<T> {};
CONFORMANCE_SUITE(RandomBitsConformance, Types<std::uint32_t, std::uint64_t>);

CONFORMANCE_TEST(RandomBitsConformance, bits) {
  this->covers("random", "bits");
  const auto draw = [&](Generator& from, const AnyArray& out) { return this->device().random().bits(from, out); };
  this->expect_exactly(
      draw, [](std::uint64_t position) { return static_cast<T>(sizeof(T) == 8 ? number(position) : word(position)); });
}

template <class T>
class RandomIntegerConformance : public RandomConformance<T> {};
CONFORMANCE_SUITE(RandomIntegerConformance, Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                                  std::uint32_t, std::int64_t, std::uint64_t>);

CONFORMANCE_TEST(RandomIntegerConformance, integers) {
  this->covers("random", "integers");
  const auto draw = [&](Generator& from, const AnyArray& out) {
    return this->device().random().integers(from, out, 3, 103);
  };
  this->expect_exactly(draw, [](std::uint64_t position) {  // no word of these is one that must be drawn again
    return static_cast<T>(3 + (std::uint64_t{word(position)} * 100 >> 32));
  });
  if constexpr (sizeof(T) >= 4) {
    // So large a range that words and numbers are drawn again for a third of the elements.
    constexpr int kDigits = sizeof(T) * 8;
    const std::uint64_t range = std::uint64_t{3} << (kDigits - 2);
    const std::uint64_t low = std::is_signed_v<T> ? std::uint64_t{0} - range / 2 : 0;
    const auto draw_far = [&](Generator& from, const AnyArray& out) {
      if constexpr (std::is_signed_v<T>)
        return this->device().random().integers(from, out, static_cast<T>(low), static_cast<T>(range / 2));
      else
        return this->device().random().integers(from, out, 0, range);
    };
    this->expect_exactly(draw_far, [&](std::uint64_t position) {
      random::OwnNumbers own(kSource, position);
      if constexpr (sizeof(T) == 8) return static_cast<T>(low + random::below(range, number(position), own));
      return static_cast<T>(low + random::below(static_cast<std::uint32_t>(range), word(position), own));
    });
  }
}

template <class T>
class RandomCountConformance : public RandomConformance<T> {};
CONFORMANCE_SUITE(RandomCountConformance, Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>);

CONFORMANCE_TEST(RandomCountConformance, poisson) {
  this->covers("random", "poisson");
  for (const double rate : {0.0, 2.5, 40.0, 1e6}) {
    const auto draw = [&](Generator& from, const AnyArray& out) {
      return this->device().random().poisson(from, out, rate);
    };
    this->expect_exactly(draw, [&](std::uint64_t position) {
      return static_cast<T>(random::poisson(random::poisson_numbers(rate), random::OwnNumbers(kSource, position)));
    });
  }
}

CONFORMANCE_TEST(RandomCountConformance, discrete) {
  this->covers("random", "discrete");
  const std::vector<std::uint64_t> table = value(alias_table(std::vector<double>{1, 0, 2, 5}));
  for (const Layout layout : kLayouts) {
    const Sample<std::uint64_t> on_device(this->device(), Shape{4, 2}, layout, table);
    const auto draw = [&](Generator& from, const AnyArray& out) {
      return this->device().random().discrete(from, on_device.array(), out);
    };
    this->expect_exactly(draw, [&](std::uint64_t position) {
      const random::Pick pick = random::pick(4, random::OwnNumbers(kSource, position));
      return static_cast<T>(pick.bits < table[2 * pick.place] ? pick.place : table[2 * pick.place + 1]);
    });
  }
}

CONFORMANCE_TEST(RandomCountConformance, permutation) {
  this->covers("random", "permutation");
  for (const std::int64_t count : {0, 1, 2, 5, 1000, 10'000})
    for (const Layout layout : kLayouts) {
      Sample<T> out = this->poisoned(Shape{count}, layout);
      Generator from = this->generator();
      value(this->device().random().permutation(from, out.array()).get());
      EXPECT_EQ(from.position(), kPosition + 1);
      std::vector<T> got = out.read();
      if (count == 0) continue;
      const random::Permutation places(kSource, kPosition, static_cast<std::uint64_t>(count));
      std::vector<T> want(got.size());
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = static_cast<T>(places(i));
      this->expect_equal(got, want);
      std::ranges::sort(got);
      for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], static_cast<T>(i));
    }
}

template <class T>
class RandomTruthConformance : public RandomConformance<T> {};
CONFORMANCE_SUITE(RandomTruthConformance, Types<bool, std::uint8_t>);

CONFORMANCE_TEST(RandomTruthConformance, bernoulli) {
  this->covers("random", "bernoulli");
  for (const double probability : {0.0, 0.3, 1.0}) {
    const auto draw = [&](Generator& from, const AnyArray& out) {
      return this->device().random().bernoulli(from, out, probability);
    };
    this->expect_exactly(draw, [&](std::uint64_t position) {  // the first 32 bits decide
      return static_cast<T>(std::ldexp(static_cast<double>(word(position)), -32) < probability);
    });
  }
}

}  // namespace
}  // namespace troupe::conformance
