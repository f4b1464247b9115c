// The ops of the random family on their way to a GPU, without one. The fake runs the code of the kernels' threads on
// the CPU, so the arguments, the groups and the layouts are shown to give what the host gives, bit for bit; the GPU's
// own arithmetic is not.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

class FakeRandom : public FakeGpu {
 protected:
  /// `draw(random, generator, out)` on both devices: side by side, from a position inside a block, and in one launch.
  template <Element T, class Draw>
  void expect_same(const char* kernel, const Draw& draw) {
    SCOPED_TRACE(kernel);
    const std::uint64_t before = calls("launch troupe_" + std::string(kernel));
    const HostArray<T> on_gpu = drawn<T>(gpu, draw);
    EXPECT_EQ(calls("launch troupe_" + std::string(kernel)), before + 1);
    EXPECT_TRUE(std::ranges::equal(on_gpu, drawn<T>(host, draw)));
  }
  template <Element T, class Draw>
  static HostArray<T> drawn(const Device& device, const Draw& draw) {
    const Array<T> whole = value(device.array<T>({103}));
    value(device.fill(whole, T{}).get());
    Generator generator(99, {.stream = 2, .position = 6});
    value(draw(device.random(), generator, value(whole.slice(0, 1, 102))).get());
    return value(device.read(whole).get());
  }
  template <Element T>
  void expect_same_floats(const std::string& type) {
    using G = Generator;
    using A = AnyArray;
    expect_same<T>(("uniform_" + type).c_str(), [](Random r, G& g, const A& x) { return r.uniform(g, x, -2, 3); });
    expect_same<T>(("normal_" + type).c_str(), [](Random r, G& g, const A& x) { return r.normal(g, x, 1, 2); });
    expect_same<T>(("log_normal_" + type).c_str(), [](Random r, G& g, const A& x) { return r.log_normal(g, x); });
    expect_same<T>(("exponential_" + type).c_str(), [](Random r, G& g, const A& x) { return r.exponential(g, x, 3); });
    expect_same<T>(("cauchy_" + type).c_str(), [](Random r, G& g, const A& x) { return r.cauchy(g, x, 1, 2); });
    expect_same<T>(("gamma_" + type).c_str(), [](Random r, G& g, const A& x) { return r.gamma(g, x, 0.5, 2); });
    expect_same<T>(("beta_" + type).c_str(), [](Random r, G& g, const A& x) { return r.beta(g, x, 2, 0.5); });
  }
  template <Element T>
  void expect_same_counts(const std::string& type) {
    using G = Generator;
    using A = AnyArray;
    expect_same<T>(("poisson_" + type).c_str(), [](Random r, G& g, const A& x) { return r.poisson(g, x, 30); });
    expect_same<T>(("permutation_" + type).c_str(), [](Random r, G& g, const A& x) { return r.permutation(g, x); });
    expect_same<T>(("integers_" + type).c_str(), [](Random r, G& g, const A& x) { return r.integers(g, x, 1, 7); });
  }

  Device gpu = open_gpu();
  Device host = value(system.device("host", patient()));
};

TEST_F(FakeRandom, floats_are_those_of_the_host) {
  expect_same_floats<float>("f32");
  expect_same_floats<double>("f64");
  expect_same_floats<f16>("f16");
  expect_same_floats<bf16>("bf16");
}

TEST_F(FakeRandom, whole_numbers_are_those_of_the_host) {
  expect_same_counts<std::int32_t>("i32");
  expect_same_counts<std::uint32_t>("u32");
  expect_same_counts<std::int64_t>("i64");
  expect_same_counts<std::uint64_t>("u64");
  using G = Generator;
  using A = AnyArray;
  expect_same<std::int8_t>("integers_i8", [](Random r, G& g, const A& x) { return r.integers(g, x, -128, 128); });
  expect_same<std::uint8_t>("integers_u8", [](Random r, G& g, const A& x) { return r.integers(g, x, 3, 200); });
  expect_same<std::int16_t>("integers_i16", [](Random r, G& g, const A& x) { return r.integers(g, x, -5, 5); });
  expect_same<std::uint16_t>("integers_u16", [](Random r, G& g, const A& x) { return r.integers(g, x, 3, 60000); });
  expect_same<std::uint64_t>("wide_integers_u64",
                             [](Random r, G& g, const A& x) { return r.integers(g, x, 1, std::uint64_t{3} << 62); });
  expect_same<std::uint32_t>("bits_u32", [](Random r, G& g, const A& x) { return r.bits(g, x); });
  expect_same<std::uint64_t>("bits_u64", [](Random r, G& g, const A& x) { return r.bits(g, x); });
  expect_same<bool>("bernoulli_u8", [](Random r, G& g, const A& x) { return r.bernoulli(g, x, 0.3); });
}

TEST_F(FakeRandom, outcomes_by_a_table_are_those_of_the_host) {
  const std::vector<std::uint64_t> table = value(alias_table(std::vector<double>{1, 2, 0, 4}));
  const auto outcomes = [&](const Device& device) {
    const Array<std::uint64_t> on_device = value(device.array<std::uint64_t>({4, 2}));
    value(device.write(on_device, table).get());
    return drawn<std::int32_t>(device,
                               [&](Random r, Generator& g, const AnyArray& x) { return r.discrete(g, on_device, x); });
  };
  EXPECT_TRUE(std::ranges::equal(outcomes(gpu), outcomes(host)));
}

/// Those without a counter, each with a stream where it has several.
std::vector<Generator> other_engines(std::uint64_t position) {
  std::vector<Generator> all;
  for (auto number = 1; number <= static_cast<int>(RandomEngine::kLast); ++number) {
    const auto engine = static_cast<RandomEngine>(number);
    const bool has_stream = engine != RandomEngine::sobol32 && engine != RandomEngine::sobol64;
    all.emplace_back(7, GeneratorOptions{.stream = has_stream ? 2U : 0U,
                                         .position = position,
                                         .engine = engine,
                                         .dimensions = engine >= RandomEngine::sobol32 ? 5U : 1U});
  }
  return all;
}

TEST_F(FakeRandom, every_engine_gives_what_it_gives_on_the_host) {
  const auto both = [&]<Element T>(std::type_identity<T>, Generator from, const auto& draw) {
    const auto on = [&](const Device& device) {
      const Array<T> whole = value(device.array<T>({103}));
      value(device.fill(whole, T{}).get());
      Generator generator = from;
      value(draw(device.random(), generator, value(whole.slice(0, 1, 102))).get());
      return value(device.read(whole).get());
    };
    EXPECT_TRUE(std::ranges::equal(on(gpu), on(host)));
  };
  using G = Generator;
  using A = AnyArray;
  for (const Generator& from : other_engines(1001)) {
    SCOPED_TRACE(name(from.engine()));
    both(std::type_identity<float>{}, from, [](Random r, G& g, const A& x) { return r.uniform(g, x, -2, 3); });
    both(std::type_identity<double>{}, from, [](Random r, G& g, const A& x) { return r.uniform(g, x); });
    both(std::type_identity<float>{}, from, [](Random r, G& g, const A& x) { return r.normal(g, x, 1, 2); });
    both(std::type_identity<double>{}, from, [](Random r, G& g, const A& x) { return r.log_normal(g, x); });
    both(std::type_identity<std::int32_t>{}, from,
         [](Random r, G& g, const A& x) { return r.integers(g, x, -5, 100); });
    both(std::type_identity<std::uint64_t>{}, from, [](Random r, G& g, const A& x) { return r.bits(g, x); });
    both(std::type_identity<bool>{}, from, [](Random r, G& g, const A& x) { return r.bernoulli(g, x, 0.3); });
    if (from.engine() >= RandomEngine::sobol32) continue;
    both(std::type_identity<double>{}, from, [](Random r, G& g, const A& x) { return r.gamma(g, x, 0.5, 2); });
    both(std::type_identity<std::int64_t>{}, from, [](Random r, G& g, const A& x) { return r.poisson(g, x, 30); });
    both(std::type_identity<std::int32_t>{}, from, [](Random r, G& g, const A& x) { return r.permutation(g, x); });
  }
}

TEST_F(FakeRandom, threads_and_blocks_find_their_place_in_a_stream) {
  constexpr std::int64_t kCount = 900'000;  // four segments of the Mersenne Twister's, 880 of the others
  for (const Generator& from : other_engines(3)) {
    if (from.engine() > RandomEngine::mt19937) continue;
    const auto bits = [&](const Device& device) {
      const Array<std::uint32_t> out = value(device.array<std::uint32_t>({kCount}));
      Generator generator = from;
      value(device.random().bits(generator, out).get());
      return value(device.read(out).get());
    };
    EXPECT_TRUE(std::ranges::equal(bits(gpu), bits(host))) << name(from.engine());
  }
}

TEST_F(FakeRandom, arrays_may_have_any_layout) {
  const auto transposed = [](const Device& device) {
    const Array<float> whole = value(device.array<float>({7, 12}));
    value(device.fill(whole, 0.0F).get());
    Generator generator(5, {.position = 3});
    value(device.random().normal(generator, value(whole.slice(1, 1, 12, 2)).transpose()).get());
    return value(device.read(whole).get());
  };
  EXPECT_TRUE(std::ranges::equal(transposed(gpu), transposed(host)));
}

TEST_F(FakeRandom, nothing_is_launched_for_nothing) {
  const std::uint64_t before = calls("cuLaunchKernel");
  Generator generator(1);
  value(gpu.random().uniform(generator, value(gpu.array<float>({0, 4}))).get());
  value(gpu.random().permutation(generator, value(gpu.array<std::int32_t>({0}))).get());
  EXPECT_EQ(calls("cuLaunchKernel"), before);
}

}  // namespace
}  // namespace troupe
