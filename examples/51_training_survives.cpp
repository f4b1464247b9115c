// Training that goes on while its workers are killed: a small convolutional network learns to tell lying bars from
// standing ones, once in peace, and once while a thread kills the worker again and again. The losses of both runs are
// the same, number for number, for a step writes its results beside what it began with: what a kill cut off is run
// again, and a step that failed all the same is taken again. With a file's name it writes the curves there, of which
// `./dev plots --training FILE` makes a picture.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

namespace {

constexpr std::int64_t kImages = 64, kSide = 12, kFilters = 8;
constexpr int kSteps = 200, kStepsToAKill = 20;

/// Numbers from -1 to 1, the same in every run.
class Numbers {
 public:
  std::vector<float> many(std::int64_t count, float scale) {
    std::vector<float> all(static_cast<std::size_t>(count));
    for (float& number : all) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      number = scale * static_cast<float>(static_cast<double>(state_ >> 33) / static_cast<double>(1U << 30) - 1);
    }
    return all;
  }

 private:
  std::uint64_t state_ = 51;
};

/// Noise with one bar that is a little brighter: lying in even images, standing in odd ones.
std::vector<float> draw_images(Numbers& numbers) {
  std::vector<float> all = numbers.many(kImages * kSide * kSide, 0.8F);
  for (std::int64_t image = 0; image < kImages; ++image) {
    const std::int64_t where = image * 7 % kSide;
    for (std::int64_t i = 0; i < kSide; ++i)
      all[static_cast<std::size_t>(image * kSide * kSide + (image % 2 == 0 ? where * kSide + i : i * kSide + where))] +=
          1;
  }
  return all;
}

Result<Array<float>> array(const Device& gpu, const Shape& shape, const std::vector<float>& values = {}) {
  Array<float> made = TROUPE_TRY(gpu.array<float>(shape));
  if (!values.empty()) TROUPE_TRY(gpu.write(made, values).get());
  return made;
}

/// The parameters: filters, their bias and what tells from their maps; and what the optimizer keeps of each.
struct Parameters {
  std::vector<Array<float>> values, first, second;
  OptimizerArrays lists() const { return {.values = values, .first = first, .second = second}; }
};

class Network {
 public:
  static Result<Network> make(const Device& gpu) {
    Numbers numbers;
    Network net(gpu);
    net.images_ = TROUPE_TRY(array(gpu, {kImages, 1, kSide, kSide}, draw_images(numbers)));
    net.classes_ = TROUPE_TRY(gpu.array<std::int64_t>({kImages}));
    std::vector<std::int64_t> classes;
    for (std::int64_t i = 0; i < kImages; ++i) classes.push_back(i % 2);
    TROUPE_TRY(gpu.write(net.classes_, classes).get());
    const std::vector<Shape> shapes{{kFilters, 1, 3, 3}, {kFilters}, {2, kFilters, 3, 3}};
    for (Parameters& set : net.sets_)
      for (const Shape& shape : shapes) {
        std::int64_t count = 1;
        for (const std::int64_t extent : shape) count *= extent;
        const std::vector<float> zeros(static_cast<std::size_t>(count));
        const bool is_bias = shape.rank() == 1;
        set.values.push_back(TROUPE_TRY(array(gpu, shape, is_bias ? zeros : numbers.many(count, 0.3F))));
        set.first.push_back(TROUPE_TRY(array(gpu, shape, zeros)));
        set.second.push_back(TROUPE_TRY(array(gpu, shape, zeros)));
      }
    for (const Shape& shape : shapes) net.gradients_.push_back(TROUPE_TRY(array(gpu, shape)));
    const Shape maps{kImages, kFilters, kSide, kSide}, pooled{kImages, kFilters, 3, 3};
    for (Array<float>* of : {&net.maps_, &net.lit_, &net.dlit_, &net.dmaps_}) *of = TROUPE_TRY(array(gpu, maps));
    for (Array<float>* of : {&net.pooled_, &net.dpooled_}) *of = TROUPE_TRY(array(gpu, pooled));
    for (Array<float>* of : {&net.answers_, &net.danswers_}) *of = TROUPE_TRY(array(gpu, {kImages, 2, 1, 1}));
    net.places_ = TROUPE_TRY(gpu.array<std::int64_t>(pooled));
    net.loss_ = TROUPE_TRY(array(gpu, {}));
    net.one_ = TROUPE_TRY(array(gpu, {}, {1}));
    return net;
  }

  /// One step, from one set of parameters to the other. Gives the loss before it.
  Result<float> learn(int step) const {
    const Dnn dnn = gpu_.dnn();
    const Parameters &now = sets_[step % 2 == 0 ? 0 : 1], &next = sets_[step % 2 == 0 ? 1 : 0];
    const Array<float>&w1 = now.values[0], &b1 = now.values[1], &w2 = now.values[2];
    const Array<float> logits = TROUPE_TRY(answers_.reshape({kImages, 2}));
    const Array<float> dlogits = TROUPE_TRY(danswers_.reshape({kImages, 2}));
    // All of it is submitted at once, and waited for in the end.
    TROUPE_TRY(dnn.convolution(images_, w1, maps_, {.padding = 1, .bias = &b1}).submit());
    TROUPE_TRY(dnn.activation(DnnActivation::relu, maps_, lit_).submit());
    TROUPE_TRY(dnn.max_pool(lit_, 4, pooled_, {.indices = &places_}).submit());
    TROUPE_TRY(dnn.convolution(pooled_, w2, answers_).submit());
    TROUPE_TRY(dnn.cross_entropy(logits, classes_, loss_).submit());
    TROUPE_TRY(dnn.cross_entropy_gradient(one_, logits, classes_, dlogits).submit());
    TROUPE_TRY(dnn.convolution_filter_gradient(pooled_, danswers_, gradients_[2]).submit());
    TROUPE_TRY(dnn.convolution_input_gradient(danswers_, w2, dpooled_).submit());
    TROUPE_TRY(dnn.max_pool_gradient(dpooled_, places_, 4, dlit_).submit());
    TROUPE_TRY(dnn.activation_gradient(DnnActivation::relu, dlit_, maps_, dmaps_).submit());
    TROUPE_TRY(dnn.convolution_filter_gradient(images_, dmaps_, gradients_[0], {.padding = 1}).submit());
    TROUPE_TRY(gpu_.tensor().reduce(Reduction::sum, dmaps_, {0, 2, 3}, gradients_[1]).submit());
    const OptimizerArrays to = next.lists();
    TROUPE_TRY(dnn.adamw(gradients_, now.lists(), {.rate = 0.003, .step = step + 1, .next = &to}).get());
    const HostArray<float> loss = TROUPE_TRY(gpu_.read(loss_).get());
    return loss[0];
  }

 private:
  explicit Network(const Device& gpu) : gpu_(gpu) {}

  Device gpu_;
  Array<float> images_, maps_, lit_, pooled_, answers_, loss_, one_;
  Array<float> danswers_, dpooled_, dlit_, dmaps_;
  Array<std::int64_t> classes_, places_;
  std::vector<Array<float>> gradients_;
  Parameters sets_[2];
};

/// Kills the device's worker each time that so many more steps are done.
class Killer {
 public:
  explicit Killer(const Device& gpu) : thread_([this, gpu] { kill(gpu); }) {}
  void is_at(int step) {
    step_ = step;
    step_.notify_one();
  }
  /// After which steps; when it is done.
  const std::vector<int>& kills() {
    is_at(kSteps);
    if (thread_.joinable()) thread_.join();
    return kills_;
  }

 private:
  void kill(const Device& gpu) {
    for (int at = kStepsToAKill; at < kSteps; at += kStepsToAKill) {
      for (int now = step_; now < at; now = step_) step_.wait(now);
      while (!gpu.kill_worker()) std::this_thread::yield();
      kills_.push_back(step_);
    }
  }

  std::atomic<int> step_{0};
  std::vector<int> kills_;
  std::jthread thread_;
};

struct Curve {
  std::vector<float> losses;
  int taken_again = 0;
};

Result<Curve> train(const Device& gpu, Killer* killer) {
  constexpr int kMostAgain = 20;
  const Network net = TROUPE_TRY(Network::make(gpu));
  Curve curve;
  for (int step = 0; step < kSteps;) {
    const Result<float> loss = net.learn(step);
    if (!loss && ++curve.taken_again > kMostAgain) return fail(loss.error());
    if (!loss) continue;  // it changed nothing that it begins with
    curve.losses.push_back(*loss);
    ++step;
    if (killer != nullptr) killer->is_at(step);
  }
  return curve;
}

template <class Number>
void write_list(std::FILE* file, const char* name, const std::vector<Number>& numbers, const char* behind) {
  std::fprintf(file, "  \"%s\": [", name);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::fprintf(file, "%s%.9g", i == 0 ? "" : ", ", static_cast<double>(numbers[i]));
  std::fprintf(file, "]%s\n", behind);
}
bool write_curves(const char* path, const Curve& peace, const Curve& chaos, const std::vector<int>& kills) {
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return false;
  std::fprintf(file, "{\n");
  write_list(file, "peace", peace.losses, ",");
  write_list(file, "killed", chaos.losses, ",");
  write_list(file, "kills_at_steps", kills, "");
  std::fprintf(file, "}\n");
  return std::fclose(file) == 0;
}

}  // namespace

int main(int count, char** words) {
  System system({.log = log_nothing()});
  const Device gpu = value(system.device(0));
  const Curve peace = value(train(gpu, nullptr));
  const std::int64_t generation = gpu.generation();
  Killer killer(gpu);
  Result<Curve> taught = train(gpu, &killer);
  const std::vector<int>& kills = killer.kills();
  const Curve chaos = value(std::move(taught));
  std::printf("step   loss       with workers killed\n");
  for (std::size_t i = 0; i < peace.losses.size(); i += i + 30 < peace.losses.size() ? 29 : 30)
    std::printf("%4zu   %.6f   %.6f\n", i, static_cast<double>(peace.losses[i]), static_cast<double>(chaos.losses[i]));
  const bool same = std::memcmp(peace.losses.data(), chaos.losses.data(), peace.losses.size() * sizeof(float)) == 0;
  std::printf("%zu workers were killed, and %lld took over; %d of %d steps were taken again; the curves are %s\n",
              kills.size(), static_cast<long long>(gpu.generation() - generation), chaos.taken_again, kSteps,
              same ? "the same in every bit" : "not the same");
  if (count > 1 && !write_curves(words[1], peace, chaos, kills)) return 1;
  constexpr float kLearned = 0.1F;
  return same && !kills.empty() && chaos.losses.back() < kLearned ? 0 : 1;
}
