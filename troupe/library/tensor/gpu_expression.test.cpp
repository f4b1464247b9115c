// A compiled expression gives what the interpreting kernel gives, bit by bit: so it makes no difference to a program
// when its expressions are compiled, or whether they are. Needs a GPU and NVRTC.
#include <cstdlib>
#include <cstring>

#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

/// Opened with what $TROUPE_EXPRESSIONS is to be.
Device open(System& system, const char* mode) {
  setenv("TROUPE_EXPRESSIONS", mode, 1);
  const Device device = value(system.device("cuda", {.standby = Standby::none}));
  value(device.nop().get());
  unsetenv("TROUPE_EXPRESSIONS");
  return device;
}

/// Two devices on one GPU, for all tests.
struct Two {
  System system{{.log = log_to_stderr()}};
  Device compiled = open(system, "compiled");
  Device interpreted = open(system, "interpreted");
  ~Two() {
    compiled.close();
    interpreted.close();
  }
};

template <class T>
class GpuExpression : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const System system{{.log = log_nothing()}};
    if (system.devices().front().backend == "cuda") two.emplace();
  }
  static void TearDownTestSuite() { two.reset(); }
  void SetUp() override {
    if (!two) GTEST_SKIP() << "no GPU";
    const Array<float> x = value(two->compiled.array<float>({4}));
    value(two->compiled.fill(x, 1.0f).get());
    const Result<void> done = two->compiled.tensor().evaluate(x + 1, x).get();
    if (!done && done.error().to_string().find("NVRTC was not found") != std::string::npos)
      GTEST_SKIP() << done.error().to_string();
    value(Result<void>(done));
  }

  /// What `make` makes of samples with the same numbers on both devices. NaNs are all alike.
  template <Element Out = T, class Make>
  void compare(const std::string& what, const Shape& shape, Layout layout, const Make& make) {
    SCOPED_TRACE(what + " " + shape.to_string() + " " + name(layout));
    const auto run = [&](const Device& device) {
      std::mt19937_64 random(7);
      std::vector<Sample<T>> in;
      for (std::size_t i = 0; i < 3; ++i)
        in.push_back(sample<T>(device, shape, next(layout, static_cast<int>(i)), random));
      Sample<Out> out(device, shape, next(layout, 3), {});
      const Result<void> done =
          device.tensor().evaluate(make(in[0].array(), in[1].array(), in[2].array()), out.array()).get();
      EXPECT_TRUE(done) << done.error().to_string();
      return out.read();
    };
    const std::vector<Out> ours = run(two->compiled), theirs = run(two->interpreted);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const Out a = ours[i], b = theirs[i];
      const bool same = std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
      ASSERT_TRUE(same) << "element " << i << ": " << std::abs(widen(a)) << " and " << std::abs(widen(b));
    }
  }

  template <Element U>
  static Sample<U> sample(const Device& device, const Shape& shape, Layout layout, std::mt19937_64& random) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    std::vector<U> values(static_cast<std::size_t>(count));
    for (auto&& element : values) element = random_element<U>(random);
    return Sample<U>(device, shape, layout, std::move(values));
  }

  static inline std::optional<Two> two;
};

using SixTypes = ::testing::Types<float, double, f16, bf16, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuExpression, SixTypes);

TYPED_TEST(GpuExpression, of_every_function_among_others_is_what_the_interpreter_gives) {
  using T = TypeParam;
  if (sizeof(T) == 2) GTEST_SKIP() << "f16 and bf16 are computed in f32";
  const auto each = [&]<class F>(F) {
    for (int i = 0; i <= static_cast<int>(F::kLast); ++i) {
      const auto function = static_cast<F>(i);
      if (!(detail::kIsComplex<T> ? detail::takes_complex(function) : detail::takes_floats(function))) continue;
      const auto applied = [=](const Expression& a, const Expression& b, const Expression& c) {
        if constexpr (std::same_as<F, Unary>)
          return Expression::of(function, a);
        else if constexpr (std::same_as<F, Binary>)
          return Expression::of(function, a, b);
        else
          return Expression::of(function, a, b, c);
      };
      // After a product and before a sum, with which a compiler would like to join it.
      this->compare("in " + std::string(name(function)), {70'000}, Layout::dense,
                    [&](const auto& a, const auto& b, const auto& c) { return applied(a * b, b * c, a * c) + a; });
    }
  };
  each(Unary{});
  each(Binary{});
  each(Ternary{});
}

TYPED_TEST(GpuExpression, of_many_steps_in_any_layout_is_what_the_interpreter_gives) {
  const auto make = [](const auto& x, const auto& b, const auto& m) {
    return tanh(0.5 * x + b) * m - square(x) / 4 + x * b * m;
  };
  for (const Layout layout : kLayouts)
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{3}, Shape{31}, Shape{100'003}, Shape{7, 13}, Shape{257, 131},
                               Shape{3, 5, 4}, Shape{2, 1, 3, 2, 1, 2, 3, 2}})
      this->compare("five", shape, layout, make);
}

TYPED_TEST(GpuExpression, in_place_broadcasting_and_of_mixed_types_is_what_the_interpreter_gives) {
  using T = TypeParam;
  const auto run = [&](const Device& device) {
    std::mt19937_64 random(7);
    Sample<T> x = this->template sample<T>(device, {60, 300}, Layout::dense, random);
    Sample<float> row = this->template sample<float>(device, {300}, Layout::sliced, random);
    Sample<bf16> column = this->template sample<bf16>(device, {60, 1}, Layout::dense, random);
    Sample<std::int32_t> one = this->template sample<std::int32_t>(device, {1}, Layout::dense, random);
    value(device.tensor().evaluate((x.array() * column.array() + row.array()) * one.array(), x.array()).get());
    std::vector<T> all = x.read();
    value(device.tensor().evaluate(x.array() * one.array() + 1, x.array()).get());
    const std::vector<T> more = x.read();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<T> ours = run(this->two->compiled), theirs = run(this->two->interpreted);
  ASSERT_EQ(ours.size(), theirs.size());
  EXPECT_EQ(std::memcmp(ours.data(), theirs.data(), ours.size() * sizeof(T)), 0);
}

TYPED_TEST(GpuExpression, that_ends_in_a_reduction_is_what_the_interpreter_gives) {
  using T = TypeParam;
  const auto run = [&](const Device& device) {
    std::mt19937_64 random(7);
    std::vector<T> all;
    for (const Shape& shape : {Shape{300'007, 1}, Shape{3, 30'000}, Shape{30'000, 5}, Shape{257, 131}})
      for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced})
        for (const Reduction function : {Reduction::sum, Reduction::mean, Reduction::max}) {
          if (detail::kIsComplex<T> && !detail::takes_complex(function)) continue;
          Sample<T> x = this->template sample<T>(device, shape, layout, random);
          Sample<float> row = this->template sample<float>(device, {shape[1]}, Layout::dense, random);
          for (const int axis : {0, 1}) {
            Sample<T> out(device, {shape[1 - axis]}, Layout::dense, {});
            value(device.tensor().reduce(function, x.array() * x.array() * row.array() + 1, {axis}, out.array()).get());
            const std::vector<T> some = out.read();
            all.insert(all.end(), some.begin(), some.end());
          }
        }
    return all;
  };
  const std::vector<T> ours = run(this->two->compiled), theirs = run(this->two->interpreted);
  ASSERT_EQ(ours.size(), theirs.size());
  EXPECT_EQ(std::memcmp(ours.data(), theirs.data(), ours.size() * sizeof(T)), 0);
}

TYPED_TEST(GpuExpression, whose_partial_results_have_no_room_at_once_is_what_two_rows_give) {
  if constexpr (std::same_as<TypeParam, float>) {
    constexpr std::int64_t kOutputs = (std::int64_t{1} << 25) + 5;
    const Device& device = this->two->compiled;
    const Array<float> rows = value(device.array<float>({2, kOutputs}));
    const Array<float> sums = value(device.array<float>({kOutputs})), most = value(device.array<float>({1, 1}));
    Generator generator(7);
    value(device.random().uniform(generator, rows).get());
    value(device.tensor().reduce(Reduction::sum, rows * 1.0f, {0}, sums).get());
    const AnyArray first = value(rows.slice(0, 0, 1)), second = value(rows.slice(0, 1, 2));
    const AnyArray line = value(sums.reshape({1, kOutputs}));
    value(device.tensor().reduce(Reduction::max, abs(line - (first + second)), {0, 1}, most).get());
    EXPECT_EQ(value(device.read(most).get())[0], 0.0f);
  } else {
    GTEST_SKIP() << "one type stands for all";
  }
}

TYPED_TEST(GpuExpression, of_bools_is_what_the_interpreter_gives) {
  if (detail::kIsComplex<TypeParam>) GTEST_SKIP() << "complex numbers make no bools";
  this->template compare<bool>("not zero", {100'003}, Layout::dense,
                               [](const auto& a, const auto& b, const auto&) { return a * b; });
}

}  // namespace
}  // namespace troupe::conformance
