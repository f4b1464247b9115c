// A training loop in which bad code crashes again and again. It goes back to what was kept, goes on in another program,
// so to speak, from what was saved, and ends in the very bits of a run that nobody disturbed.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr std::int64_t kPoints = 256, kInputs = 16;
constexpr int kSteps = 60, kKeepEvery = 10;

/// What a step updates in place, and how many steps were made: all that is needed to go on.
struct Training {
  Array<float> weights, momentum;
  Array<double> steps;
  Checkpoint state;

  static Result<Training> make(const Device& device) {
    const auto weights = TROUPE_TRY(device.array<float>({kInputs, 1}));
    const auto momentum = TROUPE_TRY(device.array<float>({kInputs, 1}));
    const auto steps = TROUPE_TRY(device.array<double>({}));
    Checkpoint state(device, {{"weights", weights}, {"momentum", momentum}, {"steps", steps}});
    return Training{weights, momentum, steps, state};
  }
};

Task<Result<void>> clear(Device device, Training t) {
  CO_TRY(co_await device.fill(t.weights, 0.0f));
  CO_TRY(co_await device.fill(t.momentum, 0.0f));
  co_return co_await device.fill(t.steps, 0.0);
}

/// One step of a logistic regression.
Task<Result<void>> step(Device device, Training t) {
  Scope on(device);
  std::vector<float> numbers(kPoints * kInputs);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * i % 127) / 127.0f - 0.5f;
  const auto x = on.from(numbers, {kPoints, kInputs});
  const auto is_high = on.eval<float>(on.sum(x, 1, {.keep_axes = true}) > 0.1f);
  const auto error = on.eval(sigmoid(on.matmul(x, t.weights)) - is_high);
  on.assign(t.momentum, 0.9f * t.momentum + on.matmul(x.transpose(), error));
  on.assign(t.weights, t.weights - 0.01f * t.momentum);
  on.assign(t.steps, t.steps + 1.0);
  co_return co_await on.end();
}

/// Goes on until so many steps are made. With a plugin, bad code crashes after every 13th one, as it updates. Gives how
/// often it went back.
Task<Result<int>> train(Device device, Training t, int until, std::string plugin) {
  int restored = 0;
  for (int tries = 1;; ++tries) {
    const auto made = static_cast<int>(CO_TRY(co_await device.read(t.steps))[0]);
    if (made % kKeepEvery == 0) CO_TRY(co_await t.state.keep());
    if (made >= until) co_return restored;
    Result<void> went = co_await step(device, t);
    if (!plugin.empty() && tries % 13 == 0)
      went = co_await device.call_plugin(plugin, "crash", {}, updates(t.weights), updates(t.momentum));
    if (went) continue;
    if (went.error().kind() != ErrorKind::worker_crashed) co_return fail(went.error());
    std::printf("after %d steps: %s\n", made, std::string(name(went.error().kind())).c_str());
    CO_TRY(co_await t.state.restore());
    ++restored;
  }
}

struct Trained {
  std::vector<float> weights;
  int restored = 0;
};

/// All steps, in one go.
Task<Result<Trained>> undisturbed(Device device) {
  const Training t = CO_TRY(Training::make(device));
  CO_TRY(co_await clear(device, t));
  const int restored = CO_TRY(co_await train(device, t, kSteps, ""));
  const HostArray<float> weights = CO_TRY(co_await device.read(t.weights));
  co_return Trained(std::vector<float>(weights.begin(), weights.end()), restored);
}

/// The same with crashes, and a file in the middle.
Task<Result<Trained>> disturbed(Device device, std::string plugin, std::string path) {
  Training first = CO_TRY(Training::make(device));
  CO_TRY(co_await clear(device, first));
  int restored = CO_TRY(co_await train(device, first, kSteps / 2, plugin));
  CO_TRY(co_await first.state.save(path));

  Training second = CO_TRY(Training::make(device));  // another program would begin here
  CO_TRY(co_await second.state.load(path));
  restored += CO_TRY(co_await train(device, second, kSteps, plugin));
  const HostArray<float> weights = CO_TRY(co_await device.read(second.weights));
  co_return Trained(std::vector<float>(weights.begin(), weights.end()), restored);
}

int main() {
  const std::string plugin =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libdemo_plugin.so").string();
  const std::string path =
      (std::filesystem::temp_directory_path() / ("44_checkpoint." + std::to_string(::getpid()))).string();
  System system({.log = log_nothing()});
  const Device device = value(system.device("host"));
  const Result<Trained> expected = system.run(undisturbed(device));
  const Result<Trained> trained = system.run(disturbed(device, plugin, path));
  std::filesystem::remove(path);
  for (const Result<Trained>* run : {&expected, &trained})
    if (!*run) return std::printf("%s\n", run->error().to_string().c_str()), 1;
  const bool same = std::memcmp(expected->weights.data(), trained->weights.data(), kInputs * sizeof(float)) == 0;
  std::printf("restored %d times, and it ends in %s as a run that nobody disturbed; the first weight is %g\n",
              trained->restored, same ? "the same bits" : "other bits", static_cast<double>(trained->weights[0]));
  return same && expected->restored == 0 && trained->restored == 4 && trained->weights[0] != 0.0f ? 0 : 1;
}
