#include "bench/random_rows.hpp"

#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "bench/batches.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {
namespace {

constexpr std::int64_t kNumbers = std::int64_t{64} << 20;
constexpr std::int64_t kStandardNumbers = std::int64_t{4} << 20;  // so few that it does not take seconds
constexpr int kBatches = 3;

/// Nanoseconds for a number, on a device that is opened when it is first needed.
class Fills {
 public:
  double uniform_ns() {
    return ns([&] { value(device_->random().uniform(generator_, x_).get()); });
  }
  double normal_ns() {
    return ns([&] { value(device_->random().normal(generator_, x_).get()); });
  }
  double copy_ns() {
    return ns([&] { value(device_->copy(y_, x_).get()); });
  }

 private:
  template <class Work>
  double ns(const Work& work) {
    open();
    return median_ns(kBatches, 1, work) / static_cast<double>(kNumbers);
  }
  void open() {
    if (device_) return;
    device_ = value(system_.device("host", {.standby = Standby::none}));
    for (Array<float>* const array : {&x_, &y_}) {
      *array = value(device_->array<float>({kNumbers}));
      value(device_->fill(*array, 1.0F).get());
    }
  }

  System system_{{.threads = 1, .log = log_nothing()}};
  std::optional<Device> device_;
  Array<float> x_;
  Array<float> y_;
  Generator generator_{1};
};

template <class Distribution>
double standard_ns(Distribution distribution) {
  std::mt19937_64 engine(1);
  std::vector<float> numbers(static_cast<std::size_t>(kStandardNumbers));
  return median_ns(kBatches, 1,
                   [&] {
                     for (float& number : numbers) number = distribution(engine);
                   }) /
         static_cast<double>(kStandardNumbers);
}

Row row_of(const char* what, const std::shared_ptr<Fills>& fills, double (Fills::*ours)(),
           std::function<double()> standard, const Options& options) {
  return {.name = std::string("random ") + what + " f32, 64 Mi",
          .unit = "ns",
          .ours = [=] { return (fills.get()->*ours)(); },
          .references = {.all = {{"std, one thread", std::move(standard)},
                                 {"ours of a copy", [=] { return fills->copy_ns(); }, /*is_ours=*/true}},
                         .why_none = {}},
          .limit = Limit::printed(),
          .rounds = options.rounds(5)};
}

}  // namespace

std::vector<Row> random_rows(const Options& options) {
  const auto fills = std::make_shared<Fills>();
  return {
      row_of(
          "uniform", fills, &Fills::uniform_ns, [] { return standard_ns(std::uniform_real_distribution<float>()); },
          options),
      row_of(
          "normal", fills, &Fills::normal_ns, [] { return standard_ns(std::normal_distribution<float>()); }, options)};
}

}  // namespace troupe::bench
