#include "troupe/backend/host/tensor/tensor_reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "troupe/core/seed.test.hpp"

namespace troupe::host {
namespace {

/// One axis of a reduction: how long, how far apart its elements are, and whether it stays.
struct TestAxis {
  std::int64_t extent;
  std::int64_t stride;
  bool is_kept;
};

std::vector<float> reduced(Reduction function, std::vector<float>& in, const std::vector<TestAxis>& axes, Team& team) {
  Nest kept;
  Nest gone;
  std::int64_t outputs = 1;
  for (const TestAxis& axis : axes) {
    const std::int64_t out_step = axis.is_kept ? outputs * std::int64_t{sizeof(float)} : 0;
    (axis.is_kept ? kept : gone).add(axis.extent, {axis.stride * std::int64_t{sizeof(float)}, 0, out_step});
    if (axis.is_kept) outputs *= axis.extent;
  }
  std::vector<float> out(static_cast<std::size_t>(outputs));
  reduce_nests(
      {.function = function, .in = DType::f32, .out = DType::f32, .alpha = op::Scalar(1.0), .beta = op::Scalar(0.0)},
      {reinterpret_cast<std::byte*>(in.data()), nullptr, reinterpret_cast<std::byte*>(out.data())}, kept, gone, team);
  return out;
}

/// Whole, by rows, by columns, by the middle of three, with gaps; each large enough for several threads, and for
/// outputs that are reduced in parts.
const std::vector<std::vector<TestAxis>> kCases{{{1'000'003, 1, false}},
                                                {{3, 200'000, true}, {200'000, 1, false}},
                                                {{1000, 777, true}, {777, 1, false}},
                                                {{777, 1, true}, {1000, 777, false}},
                                                {{20, 1, true}, {40'000, 20, false}},
                                                {{50, 1, true}, {300, 50, false}, {60, 15'000, true}},
                                                {{4, 2, false}, {100'000, 9, true}},
                                                {{2, 400'000, true}, {400, 1000, false}, {900, 1, false}}};

TEST(TensorReduce, gives_the_same_bits_with_every_team) {
  std::mt19937_64 random(test_seed());
  std::vector<float> in(1'100'000);
  for (float& number : in) number = static_cast<float>(random() % 2'000'003) / 1000.0F - 900.0F;
  Team one(1);
  for (std::size_t i = 0; i < kCases.size(); ++i)
    for (const Reduction function : {Reduction::sum, Reduction::norm, Reduction::max}) {
      const std::vector<float> expected = reduced(function, in, kCases[i], one);
      for (const int size : {2, 3, 16}) {
        Team team(size);
        EXPECT_EQ(reduced(function, in, kCases[i], team), expected) << "case " << i << ", " << size << " threads";
      }
    }
}

TEST(TensorReduce, counts_each_element_once) {
  std::vector<float> in(1'100'000);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 7);
  Team team(3);
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    // By plain loops: integers, whose sums are exact.
    std::int64_t outputs = 1;
    for (const TestAxis& axis : kCases[i]) outputs *= axis.is_kept ? axis.extent : 1;
    std::vector<float> expected(static_cast<std::size_t>(outputs));
    std::vector<double> sums(static_cast<std::size_t>(outputs));
    std::int64_t elements = 1;
    for (const TestAxis& axis : kCases[i]) elements *= axis.extent;
    for (std::int64_t e = 0; e < elements; ++e) {
      std::int64_t rest = e;
      std::int64_t from = 0;
      std::int64_t to = 0;
      std::int64_t step = 1;
      for (const TestAxis& axis : kCases[i]) {
        from += rest % axis.extent * axis.stride;
        if (axis.is_kept) to += rest % axis.extent * step;
        if (axis.is_kept) step *= axis.extent;
        rest /= axis.extent;
      }
      sums[static_cast<std::size_t>(to)] += in[static_cast<std::size_t>(from)];
    }
    for (std::size_t o = 0; o < sums.size(); ++o) expected[o] = static_cast<float>(sums[o]);
    EXPECT_EQ(reduced(Reduction::sum, in, kCases[i], team), expected) << "case " << i;
  }
}

}  // namespace
}  // namespace troupe::host
