// What cuDNN does on a real GPU: that it is what computes, and that a rerun has the same bits. Needs a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "troupe/troupe.hpp"

namespace troupe {
namespace {

class GpuDnn : public ::testing::Test {
 protected:
  void SetUp() override {
    if (system.devices().front().backend != "cuda") GTEST_SKIP() << "no GPU";
    gpu = value(system.device("cuda", {.standby = Standby::none}));
  }
  template <class T = bf16>
  Array<T> random(const Shape& shape) {
    const Array<T> made = value(gpu->array<T>(shape));
    value(gpu->random().normal(generator, made).get());
    return made;
  }
  /// How far `out` is from what `run` makes of the same numbers in f64, beside the deviation of that.
  template <class Run>
  double distance_from_f64(const Array<float>& a, const Array<float>& b, const Array<float>& out, const Run& run) {
    const auto wide = [&](const Array<float>& of) {
      const Array<double> made = value(gpu->array<double>(of.shape()));
      value(gpu->cast(of, made).get());
      return made;
    };
    const Array<double> want = wide(out);
    value(run(a, b, out).get());
    value(run(wide(a), wide(b), want).get());
    const HostArray<float> got = value(gpu->read(out).get());
    const HostArray<double> exact = value(gpu->read(want).get());
    double farthest = 0, squares = 0;
    for (std::int64_t i = 0; i < exact.size(); ++i) {
      const double off = std::abs(static_cast<double>(got[i]) - exact[i]);
      farthest = off <= farthest ? farthest : off;
      squares += exact[i] * exact[i];
    }
    return farthest / std::sqrt(squares / static_cast<double>(exact.size()));
  }
  Array<bf16> image(std::int64_t batch, std::int64_t channels, std::int64_t extent) {
    return value(random({batch, extent, extent, channels}).permute({0, 3, 1, 2}));
  }
  /// Whether the worker has mapped a file whose name has this in it.
  bool has_mapped(const std::string& name) const {
    std::ifstream maps("/proc/" + std::to_string(gpu->worker_pid()) + "/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.find(name) != std::string::npos) return true;
    return false;
  }
  /// That `run` writes the same bits to `out` again and again.
  template <class Run>
  void expect_same_bits(const Array<bf16>& out, const Run& run) {
    std::optional<HostArray<bf16>> first;
    for (int i = 0; i < 5; ++i) {
      value(gpu->fill(out, convert<bf16>(0.0F)).get());
      value(run().get());
      HostArray<bf16> now = value(gpu->read(out).get());
      if (!first)
        first.emplace(std::move(now));
      else
        EXPECT_EQ(std::memcmp(first->data(), now.data(), static_cast<std::size_t>(now.size()) * sizeof(bf16)), 0);
    }
  }

  System system{{.threads = 1, .log = log_nothing()}};
  std::optional<Device> gpu;
  Generator generator{3};
};

TEST_F(GpuDnn, convolutions_load_cudnns_engines_where_it_is_installed) {
  EXPECT_FALSE(has_mapped("libcudnn")) << "before it is needed";
  value(gpu->dnn().convolution(image(8, 64, 28), image(64, 64, 3), image(8, 64, 28), {.padding = 1}).get());
  if (!has_mapped("libcudnn.so")) GTEST_SKIP() << "no cuDNN";
  EXPECT_TRUE(has_mapped("libcudnn_engines"));
}

TEST_F(GpuDnn, reruns_of_convolutions_and_their_gradients_have_the_same_bits) {
  const Array<bf16> x = image(8, 64, 28), w = image(64, 64, 3), y = image(8, 64, 28);
  const ConvolutionOptions padded{.padding = 1};
  const Dnn dnn = gpu->dnn();
  const Array<bf16> dx = image(8, 64, 28), dw = image(64, 64, 3), z = image(8, 64, 28);
  expect_same_bits(z, [&] { return dnn.convolution(x, w, z, padded); });
  expect_same_bits(dx, [&] { return dnn.convolution_input_gradient(y, w, dx, padded); });
  expect_same_bits(dw, [&] { return dnn.convolution_filter_gradient(x, y, dw, padded); });
}

TEST_F(GpuDnn, convolutions_of_f32_are_not_rounded_to_tf32_however_large) {
  const Array<float> x = random<float>({8, 256, 56, 56}), w = random<float>({256, 256, 3, 3});
  const Array<float> y = random<float>({8, 256, 56, 56});
  const Array<float> dx = random<float>(x.shape()), dw = random<float>(w.shape()), z = random<float>(y.shape());
  const Dnn dnn = gpu->dnn();
  const ConvolutionOptions padded{.padding = 1};
  constexpr double kNear = 1e-4;  // of tf32 it is 1e-3 and more
  const double forward = distance_from_f64(
      x, w, z, [&](const auto& a, const auto& b, const auto& c) { return dnn.convolution(a, b, c, padded); });
  const double input = distance_from_f64(y, w, dx, [&](const auto& a, const auto& b, const auto& c) {
    return dnn.convolution_input_gradient(a, b, c, padded);
  });
  const double filter = distance_from_f64(x, y, dw, [&](const auto& a, const auto& b, const auto& c) {
    return dnn.convolution_filter_gradient(a, b, c, padded);
  });
  std::printf("farthest from f64: forward %.2g, input %.2g, filters %.2g\n", forward, input, filter);
  EXPECT_LT(forward, kNear);
  EXPECT_LT(input, kNear);
  EXPECT_LT(filter, kNear);
}

TEST_F(GpuDnn, reruns_of_attention_and_its_gradients_have_the_same_bits) {
  const Shape shape{2, 8, 1024, 64};
  const Array<bf16> q = random(shape), k = random(shape), v = random(shape), dy = random(shape), y = random(shape);
  const Array<bf16> dq = random(shape), dk = random(shape), dv = random(shape);
  const Array<float> sums = value(gpu->array<float>({2, 8, 1024}));
  const AttentionOptions causal{.causal = true};
  const Dnn dnn = gpu->dnn();
  expect_same_bits(y, [&] { return dnn.scaled_dot_product_attention(q, k, v, y, sums, causal); });
  for (const Array<bf16>& out : {dq, dk, dv})
    expect_same_bits(
        out, [&] { return dnn.scaled_dot_product_attention_gradient(dy, q, k, v, y, sums, dq, dk, dv, causal); });
}

}  // namespace
}  // namespace troupe
