// A small convolutional network that learns to tell lying bars from standing ones: two convolutions, a pool, their
// gradients and steps downhill, on whatever device there is. Images are made here; the program fails when it does not
// learn.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

namespace {

constexpr std::int64_t kImages = 64, kSide = 12, kFilters = 8;
constexpr int kSteps = 60;
constexpr double kRate = 0.05;

/// Numbers from -1 to 1, the same in every run.
class Numbers {
 public:
  float next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(static_cast<double>(state_ >> 33) / static_cast<double>(1U << 30) - 1);
  }
  std::vector<float> many(std::int64_t count, float scale) {
    std::vector<float> all(static_cast<std::size_t>(count));
    for (float& number : all) number = scale * next();
    return all;
  }

 private:
  std::uint64_t state_ = 50;
};

/// Noise with one bright bar: lying in even images, which mean -1, and standing in odd ones, which mean 1.
std::vector<float> draw_images(Numbers& numbers) {
  std::vector<float> all = numbers.many(kImages * kSide * kSide, 0.3F);
  for (std::int64_t image = 0; image < kImages; ++image) {
    const std::int64_t where = image * 7 % kSide;
    for (std::int64_t i = 0; i < kSide; ++i)
      all[static_cast<std::size_t>(image * kSide * kSide + (image % 2 == 0 ? where * kSide + i : i * kSide + where))] +=
          1;
  }
  return all;
}

struct Network {
  Array<float> images, meanings;
  Array<float> w1, b1, w2;  // the filters, their bias, and what tells from their maps
  Array<float> maps, lit, pooled, answers;
  Array<std::int64_t> places;  // of the greatest elements
  Array<float> off, d_pooled, d_lit, d_maps, dw1, db1, dw2;
};

Result<Network> make(const Device& gpu) {
  Numbers numbers;
  const auto array = [&](const Shape& shape, const std::vector<float>& values) -> Result<Array<float>> {
    Array<float> made = TROUPE_TRY(gpu.array<float>(shape));
    if (!values.empty()) TROUPE_TRY(gpu.write(made, values).get());
    return made;
  };
  std::vector<float> meanings;
  for (std::int64_t i = 0; i < kImages; ++i) meanings.push_back(i % 2 == 0 ? -1.0F : 1.0F);
  const Shape maps{kImages, kFilters, kSide, kSide}, pooled{kImages, kFilters, 3, 3};
  const Shape w1{kFilters, 1, 3, 3}, w2{1, kFilters, 3, 3}, answers{kImages, 1, 1, 1};
  Network net;
  net.images = TROUPE_TRY(array({kImages, 1, kSide, kSide}, draw_images(numbers)));
  net.meanings = TROUPE_TRY(array(answers, meanings));
  net.w1 = TROUPE_TRY(array(w1, numbers.many(kFilters * 9, 0.4F)));
  net.b1 = TROUPE_TRY(array({kFilters}, std::vector<float>(kFilters)));
  net.w2 = TROUPE_TRY(array(w2, numbers.many(kFilters * 9, 0.1F)));
  for (Array<float>* of : {&net.maps, &net.lit, &net.d_lit, &net.d_maps}) *of = TROUPE_TRY(array(maps, {}));
  for (Array<float>* of : {&net.pooled, &net.d_pooled}) *of = TROUPE_TRY(array(pooled, {}));
  for (Array<float>* of : {&net.answers, &net.off}) *of = TROUPE_TRY(array(answers, {}));
  net.places = TROUPE_TRY(gpu.array<std::int64_t>(pooled));
  net.dw1 = TROUPE_TRY(array(w1, {}));
  net.db1 = TROUPE_TRY(array({kFilters}, {}));
  net.dw2 = TROUPE_TRY(array(w2, {}));
  return net;
}

/// One step downhill. Gives the mean of the squared errors before it.
Result<double> learn(const Device& gpu, const Network& net) {
  const Dnn dnn = gpu.dnn();
  const ConvolutionOptions same{.padding = 1};
  TROUPE_TRY(dnn.convolution(net.images, net.w1, net.maps, {.padding = 1, .bias = &net.b1}).get());
  TROUPE_TRY(dnn.activation(DnnActivation::relu, net.maps, net.lit).get());
  TROUPE_TRY(dnn.max_pool(net.lit, 4, net.pooled, {.indices = &net.places}).get());
  TROUPE_TRY(dnn.convolution(net.pooled, net.w2, net.answers).get());
  TROUPE_TRY(gpu.tensor().binary(Binary::sub, net.answers, net.meanings, net.off).get());
  const float error = TROUPE_TRY(gpu.tensor().reduce(Reduction::norm, net.off).get());

  TROUPE_TRY(dnn.convolution_filter_gradient(net.pooled, net.off, net.dw2).get());
  TROUPE_TRY(dnn.convolution_input_gradient(net.off, net.w2, net.d_pooled).get());
  TROUPE_TRY(dnn.max_pool_gradient(net.d_pooled, net.places, 4, net.d_lit).get());
  TROUPE_TRY(dnn.activation_gradient(DnnActivation::relu, net.d_lit, net.maps, net.d_maps).get());
  TROUPE_TRY(dnn.convolution_filter_gradient(net.images, net.d_maps, net.dw1, same).get());
  TROUPE_TRY(gpu.tensor().reduce(Reduction::sum, net.d_maps, {0, 2, 3}, net.db1).get());
  constexpr double kStep = -kRate / static_cast<double>(kImages);
  TROUPE_TRY(gpu.blas().axpy(kStep, net.dw1, net.w1).get());
  TROUPE_TRY(gpu.blas().axpy(kStep, net.db1, net.b1).get());
  TROUPE_TRY(gpu.blas().axpy(kStep, net.dw2, net.w2).get());
  return static_cast<double>(error) * static_cast<double>(error) / static_cast<double>(kImages);
}

}  // namespace

int main() {
  System system;
  const Device gpu = value(system.device(0));
  const Network net = value(make(gpu));
  double error = 0;
  for (int step = 0; step < kSteps; ++step) {
    error = value(learn(gpu, net));
    if (step % 10 == 0 || step + 1 == kSteps) std::printf("step %2d: mean squared error %.4f\n", step, error);
  }
  constexpr double kLearned = 0.2;
  return error < kLearned ? 0 : 1;
}
