// A GPU gives the bits that the CPU gives, for a hundred million positions of each kind of numbers, however the fill is
// cut there. Needs a GPU.
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <span>
#include <string>

#include "troupe/library/checkpoint/checksum.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

constexpr std::int64_t kPositions = 100'000'000;
constexpr std::int64_t kPart = 12'500'000;  // on the CPU; the GPU cuts elsewhere

class GpuRandomBits : public ::testing::Test {
 protected:
  void SetUp() override {
    if (system.devices().front().backend != "cuda") GTEST_SKIP() << "no GPU";
    gpu = value(system.device("cuda", {.standby = Standby::none}));
    cpu = value(system.device("host", {.standby = Standby::none}));
  }

  /// The checksum of all numbers, which are made in parts of so many, from the position that a part begins at.
  template <Element T, class Fill>
  std::uint64_t sum_of(const Device& device, std::int64_t part, const Fill& fill) {
    const Array<T> out = value(device.array<T>({part}));
    const bool has_stream = engine != RandomEngine::sobol32 && engine != RandomEngine::sobol64;
    const bool has_points = engine >= RandomEngine::sobol32;
    Generator generator(
        20, {.stream = has_stream ? 3U : 0U, .position = 5, .engine = engine, .dimensions = has_points ? 7U : 1U});
    Checksum sum;
    for (std::int64_t done = 0; done < kPositions; done += part) {
      value(fill(device.random(), generator, out).get());
      const HostArray<T> read = value(device.read(out).get());
      sum.add(std::as_bytes(std::span(read.data(), static_cast<std::size_t>(part))));
    }
    return sum.value();
  }
  template <Element T, class Fill>
  void compare(const char* what, const Fill& fill) {
    SCOPED_TRACE(what);
    const std::uint64_t expected = sum_of<T>(*cpu, kPart, fill);
    EXPECT_EQ(sum_of<T>(*gpu, kPositions / 2, fill), expected);
    EXPECT_EQ(sum_of<T>(*gpu, kPositions / 5, fill), expected);
    std::printf("%s: %lld numbers with the same bits on CPU and GPU, checksum %016llx\n", what,
                static_cast<long long>(kPositions), static_cast<unsigned long long>(expected));
  }

  RandomEngine engine = RandomEngine::philox4x32_10;
  System system{{.threads = 1, .log = log_nothing()}};
  std::optional<Device> gpu, cpu;
};

TEST_F(GpuRandomBits, are_those_of_the_cpu) {
  compare<std::uint32_t>("bits u32",
                         [](const Random& on, Generator& from, const AnyArray& out) { return on.bits(from, out); });
  compare<float>("uniform f32",
                 [](const Random& on, Generator& from, const AnyArray& out) { return on.uniform(from, out); });
  compare<float>("uniform f32 from -3 to 5",
                 [](const Random& on, Generator& from, const AnyArray& out) { return on.uniform(from, out, -3, 5); });
  compare<float>("normal f32",
                 [](const Random& on, Generator& from, const AnyArray& out) { return on.normal(from, out); });
  compare<double>("normal f64",
                  [](const Random& on, Generator& from, const AnyArray& out) { return on.normal(from, out, 1, 2); });
  compare<f16>("normal f16",
               [](const Random& on, Generator& from, const AnyArray& out) { return on.normal(from, out); });
  compare<double>("exponential f64",
                  [](const Random& on, Generator& from, const AnyArray& out) { return on.exponential(from, out); });
}

TEST_F(GpuRandomBits, of_every_engine_are_those_of_the_cpu) {
  for (auto number = 1; number <= static_cast<int>(RandomEngine::kLast); ++number) {
    engine = static_cast<RandomEngine>(number);
    SCOPED_TRACE(name(engine));
    compare<std::uint32_t>((std::string(name(engine)) + " bits u32").c_str(),
                           [](const Random& on, Generator& from, const AnyArray& out) { return on.bits(from, out); });
    compare<double>((std::string(name(engine)) + " normal f64").c_str(),
                    [](const Random& on, Generator& from, const AnyArray& out) { return on.normal(from, out); });
  }
}

}  // namespace
}  // namespace troupe
