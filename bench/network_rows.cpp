#include "bench/network_rows.hpp"

#if !TROUPE_CUDA_BACKEND

namespace troupe::bench {

std::vector<Row> network_rows(const Options&) { return {}; }

}  // namespace troupe::bench

#else

#include <memory>
#include <optional>
#include <string>

#include "bench/numbers.hpp"
#include "bench/torch_reference.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {
namespace {

constexpr int kLayers = 50;
constexpr double kUs = 1e-3;  // of a nanosecond

/// Both sides, made when they are first needed.
class Networks {
 public:
  double ours_ns(const std::string& layer, int count) {
    if (!device_) device_ = value(system_.device("cuda", {.standby = Standby::none}));
    return layer.starts_with("convolution") ? convolution_ns(layer, count) : attention_ns(layer, count);
  }
  double torch_ns(const std::string& layer, int count) {
    if (!torch_) torch_.emplace();
    return torch_->network_ns(layer, count);
  }

 private:
  double convolution_ns(const std::string& layer, int count) {
    if (layer == "convolution_f32") {
      const Array<float> x = normal<float>({8, 256, 56, 56}), w = normal<float>({256, 256, 3, 3});
      const Array<float> y = normal<float>({8, 256, 56, 56});
      return settled_median_ns(count, [&] { value(device_->dnn().convolution(x, w, y, {.padding = 1}).get()); });
    }
    const auto image = [&](std::int64_t batch, std::int64_t extent) {
      return value(normal({batch, extent, extent, 256}).permute({0, 3, 1, 2}));
    };
    const Array<bf16> x = image(32, 56), w = image(256, 3), y = image(32, 56);
    const Dnn dnn = device_->dnn();
    const ConvolutionOptions padded{.padding = 1};
    return settled_median_ns(count, [&] {
      if (layer == "convolution") value(dnn.convolution(x, w, y, padded).get());
      if (layer == "convolution_input") value(dnn.convolution_input_gradient(y, w, x, padded).get());
      if (layer == "convolution_filter") value(dnn.convolution_filter_gradient(x, y, w, padded).get());
    });
  }
  double attention_ns(const std::string& layer, int count) {
    const Shape shape{8, 16, 4096, 128};
    const Array<bf16> q = normal(shape), k = normal(shape), v = normal(shape), y = normal(shape), dy = normal(shape);
    const Array<bf16> dq = normal(shape), dk = normal(shape), dv = normal(shape);
    const Array<float> sums = value(device_->array<float>({8, 16, 4096}));
    const Dnn dnn = device_->dnn();
    const AttentionOptions causal{.causal = true};
    const auto forward = [&] { value(dnn.scaled_dot_product_attention(q, k, v, y, sums, causal).get()); };
    if (layer == "attention") return settled_median_ns(count, forward);
    forward();
    return settled_median_ns(count, [&] {
      value(dnn.scaled_dot_product_attention_gradient(dy, q, k, v, y, sums, dq, dk, dv, causal).get());
    });
  }
  /// Numbers without a pattern: a GPU that multiplies zeros takes less power and is faster.
  template <class T = bf16>
  Array<T> normal(const Shape& shape) {
    Array<T> made = value(device_->array<T>(shape));
    value(device_->random().normal(generator_, made).get());
    return made;
  }

  System system_{{.threads = 1, .log = log_nothing()}};
  std::optional<Device> device_;
  std::optional<Torch> torch_;
  Generator generator_{1};
};

Row layer_row(const std::shared_ptr<Networks>& on, std::string name, const std::string& layer, const Options& options) {
  const int count = options.count(kLayers);
  return {.name = std::move(name),
          .unit = "us",
          .ours = [=] { return kUs * on->ours_ns(layer, count); },
          .references = {.all = {{"PyTorch", [=] { return kUs * on->torch_ns(layer, count); }}}, .why_none = {}},
          .limit = Limit::at_most_times(1.03),
          .rounds = options.rounds(3)};
}

}  // namespace

std::vector<Row> network_rows(const Options& options) {
  const auto on = std::make_shared<Networks>();
  const auto row = [&](std::string name, const std::string& layer) {
    return layer_row(on, std::move(name), layer, options);
  };
  return {row("dnn convolution bf16 3x3, 256 channels, 56x56, batch 32", "convolution"),
          row("dnn convolution, gradient of the input", "convolution_input"),
          row("dnn convolution, gradient of the filters", "convolution_filter"),
          row("dnn convolution f32, 256 channels, 56x56, batch 8", "convolution_f32"),
          row("dnn attention bf16 causal, 8 x 16 heads, 4096 x 128", "attention"),
          row("dnn attention, its gradients", "attention_gradient")};
}

}  // namespace troupe::bench

#endif
