// What a generator promises: positions that are known beforehand, the same numbers again, nothing moved by what is
// refused. What a worker's death changes: nothing.
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class RandomDraws : public DeviceTest {
 protected:
  template <Element T>
  std::vector<T> drawn(const Shape& shape, Generator& from,
                       Call<void> (Random::*bits)(Generator&, const AnyArray&) const) {
    const Array<T> out = value(device.array<T>(shape));
    value((device.random().*bits)(from, out).get());
    const HostArray<T> read = value(device.read(out).get());
    return {read.begin(), read.end()};
  }
  std::vector<std::uint32_t> words(Generator& from, std::int64_t count) {
    return drawn<std::uint32_t>({count}, from, &Random::bits);
  }

  Device device = open();
};

TEST_F(RandomDraws, move_the_generator_by_one_position_for_each_element) {
  Generator generator(7);
  EXPECT_EQ(generator.position(), 0U);
  (void)words(generator, 10);
  EXPECT_EQ(generator.position(), 10U);
  value(device.random().normal(generator, value(device.array<double>({3, 5}))).get());
  EXPECT_EQ(generator.position(), 25U);
  value(device.random().gamma(generator, value(device.array<float>({4})), 0.5).get());
  EXPECT_EQ(generator.position(), 29U) << "however often an element tries";
  value(device.random().permutation(generator, value(device.array<std::int32_t>({100}))).get());
  EXPECT_EQ(generator.position(), 30U) << "a permutation takes one for all of it";
  value(device.random().uniform(generator, value(device.array<float>({0, 3}))).get());
  EXPECT_EQ(generator.position(), 30U);
}

TEST_F(RandomDraws, move_nothing_when_they_are_refused) {
  Generator generator(7, {.position = 5});
  const Array<float> out = value(device.array<float>({4}));
  const Result<void> end = device.random().normal(generator, out, 0.0, -1.0).get();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message(), "normal: stddev is -1; it must be 0 or more");
  EXPECT_FALSE(device.random().bernoulli(generator, out, 0.5).get());
  EXPECT_FALSE(device.random().uniform(generator, Array<float>()).get()) << "an empty handle";
  EXPECT_EQ(generator, Generator(7, {.position = 5}));
  Generator last(7, {.position = ~std::uint64_t{0} - 3});
  EXPECT_EQ(kind_of(device.random().uniform(last, out).get()), ErrorKind::invalid_argument);
}

TEST_F(RandomDraws, give_the_same_again_from_the_same_place_and_nothing_else) {
  Generator first(7);
  Generator again = first;
  const std::vector<std::uint32_t> some = words(first, 100);
  EXPECT_EQ(words(again, 100), some);
  EXPECT_EQ(first, again);
  Generator back = first.at(40);
  EXPECT_EQ(words(back, 60), std::vector<std::uint32_t>(some.begin() + 40, some.end()));
  Generator other_seed(8);
  Generator other_stream(7, {.stream = 1});
  EXPECT_NE(words(other_seed, 100), some);
  EXPECT_NE(words(other_stream, 100), some);
}

TEST_F(RandomDraws, are_those_of_the_published_sequence) {
  Generator zero(0);
  EXPECT_EQ(words(zero, 4), (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST_F(RandomDraws, are_the_same_after_a_worker_was_killed_in_between) {
  const Shape shape{kSanitized ? 1 << 17 : 1 << 20};
  const Generator start(11);
  const Array<float> whole = value(device.array<float>(shape));
  Generator from = start;
  value(device.random().gamma(from, whole, 0.5).get());
  const HostArray<float> want = value(device.read(whole).get());
  // Its elements are above 0, so the app sees in shared memory that the fill is under way. It may end before the kill.
  HostArray<float> seen = value(device.host_array<float>(shape));
  eventually([&] {
    std::ranges::fill(seen, 0.0F);
    from = start;
    EXPECT_TRUE(device.random().gamma(from, seen, 0.5).submit());
    eventually([&] { return std::atomic_ref(seen[0]).load() != 0.0F; });
    (void)device.kill_worker();
    EXPECT_TRUE(device.wait_for(seen).get());
    EXPECT_TRUE(std::ranges::equal(seen, want));
    return HasFailure() || device.stats().reruns > 0;
  });
}

TEST_F(RandomDraws, by_a_table_are_as_frequent_as_their_weights) {
  const std::vector<double> weights{1, 0, 2.5, 4, 0.5};
  const std::vector<std::uint64_t> table = value(alias_table(weights));
  std::vector<double> parts(weights.size());
  for (std::size_t row = 0; row < weights.size(); ++row) {
    const double stays = std::ldexp(static_cast<double>(table[2 * row]), -64);
    parts[row] += stays / 5;
    parts[static_cast<std::size_t>(table[2 * row + 1])] += (1 - stays) / 5;
  }
  for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(parts[i], weights[i] / 8, 1e-15) << i;
  EXPECT_EQ(value(alias_table(std::vector<double>{1e308, 1e308})).size(), 4U) << "their sum is no number";
}

TEST_F(RandomDraws, need_weights_that_can_be) {
  const auto refusal = [](const std::vector<double>& weights) {
    const auto table = alias_table(weights);
    return table ? std::string() : std::string(table.error().message());
  };
  EXPECT_EQ(refusal({}), "alias_table: there are 0 weights; there must be 1 to 2^31");
  EXPECT_EQ(refusal({1, -2}), "alias_table: weight 1 is -2; it must be 0 or more");
  EXPECT_EQ(refusal({1, std::nan("")}), "alias_table: weight 1 is NaN; it must be finite");
  EXPECT_EQ(refusal({std::numeric_limits<double>::infinity()}), "alias_table: weight 0 is infinite; it must be finite");
  EXPECT_EQ(refusal({0, 0}), "alias_table: every weight is 0; one must be more");
}

TEST_F(RandomDraws, are_made_by_scopes_too) {
  Scope on(device);
  Generator generator(7);
  Generator again = generator;
  const auto uniform = on.uniform<float>({4, 3}, generator, -1.0, 1.0);
  const auto normal = on.normal<double>({5}, generator);
  const auto dice = on.integers<std::int8_t>({6}, generator, 1, 7);
  const auto coins = on.bernoulli<bool>({7}, generator, 0.5);
  const auto order = on.permutation<std::int64_t>(8, generator);
  EXPECT_EQ(generator.position(), 12U + 5 + 6 + 7 + 1);
  const HostArray<float> got = value(on.read(uniform).get());
  const Array<float> want = value(device.array<float>({4, 3}));
  value(device.random().uniform(again, want, -1, 1).get());
  EXPECT_TRUE(std::ranges::equal(got, value(device.read(want).get())));
  EXPECT_EQ(normal.shape(), Shape{5});
  for (const std::int8_t die : value(on.read(dice).get())) EXPECT_TRUE(die >= 1 && die <= 6);
  EXPECT_EQ(coins.shape(), Shape{7});
  EXPECT_EQ(value(on.read(on.sum(order)).get())[0], 28);
  (void)on.normal<float>({2}, generator, 0, -1);
  EXPECT_FALSE(on.end().get());
}

}  // namespace
}  // namespace troupe
