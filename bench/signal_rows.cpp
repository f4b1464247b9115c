#include "bench/signal_rows.hpp"

#if !TROUPE_CUDA_BACKEND

namespace troupe::bench {

std::vector<Row> signal_rows(const Options&) { return {}; }

}  // namespace troupe::bench

#else

#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bench/numbers.hpp"
#include "bench/raw_signal.hpp"
#include "bench/shared_gpu.hpp"
#include "bench/signal_cases.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {
namespace {

constexpr std::int64_t kNumbers = std::int64_t{1} << 28;
constexpr int kSmallTransforms = 5000;
constexpr int kTransforms = 200;
constexpr int kFills = 50;
constexpr double kUs = 1e-3;  // of a nanosecond

/// Both sides, made when they are first needed.
class Signal {
 public:
  double ours_transform_ns(const TransformCase& of, int count) {
    open();
    std::vector<std::int64_t> extents{of.batch};
    std::vector<int> axes;
    for (int i = 0; i < of.rank; ++i) {
      extents.push_back(of.lengths[static_cast<std::size_t>(i)]);
      axes.push_back(i + 1);
    }
    const Shape shape(extents);
    extents.back() = of.spectrum_of_line();
    const auto y = array<std::complex<float>>(Shape(extents));
    const auto measure = [&](const AnyArray& x) {
      return settled_median_ns(count, [&] { value(device_->fft().forward(x, y, {.axes = axes}).get()); });
    };
    const std::vector<float> numbers = random_numbers(static_cast<std::size_t>(of.numbers() * (of.is_real ? 1 : 2)), 1);
    if (of.is_real) {
      const auto x = array<float>(shape);
      value(device_->write(x, numbers).get());
      return measure(x);
    }
    std::vector<std::complex<float>> pairs;
    for (std::size_t i = 0; i < numbers.size(); i += 2) pairs.emplace_back(numbers[i], numbers[i + 1]);
    const auto x = array<std::complex<float>>(shape);
    value(device_->write(x, pairs).get());
    return measure(x);
  }
  double ours_fill_ns(FillKind kind, int count) {
    open();
    const Array<float> x = array<float>({kNumbers});
    Generator generator(1);
    return settled_median_ns(count, [&] {
      value(
          (kind == FillKind::uniform ? device_->random().uniform(generator, x) : device_->random().normal(generator, x))
              .get());
    });
  }
  RawSignal& raw() {
    if (!raw_) raw_.emplace(open_raw_gpu(value(first_gpu()).id));
    return *raw_;
  }

 private:
  void open() {
    if (!device_) device_ = value(system_.device("cuda", {.standby = Standby::none}));
  }
  template <class T>
  Array<T> array(const Shape& shape) {
    return value(device_->array<T>(shape));
  }

  System system_{{.threads = 1, .log = log_nothing()}};
  std::optional<Device> device_;
  std::optional<RawSignal> raw_;
};

Row transform_row(const std::shared_ptr<Signal>& on, const TransformCase& of, const Options& options) {
  const int count = options.count(of.numbers() < 1 << 16 ? kSmallTransforms : kTransforms);
  const bool is_short = of.numbers() < 1 << 23;  // the GPU works for less than 100 us
  return {.name = of.name,
          .unit = "us",
          .ours = [=] { return kUs * on->ours_transform_ns(of, count); },
          .references = {.all = {{"raw: cuFFT, flag, spin", [=] { return kUs * on->raw().transform_ns(of, count); }}},
                         .why_none = {}},
          .limit = Limit::at_most_times(is_short ? 1.15 : 1.03),
          .rounds = options.rounds(5)};
}

Row fill_row(const std::shared_ptr<Signal>& on, FillKind kind, const Options& options) {
  const int count = options.count(kFills);
  const bool is_uniform = kind == FillKind::uniform;
  return {.name = is_uniform ? "random uniform f32, 2^28" : "random normal f32, 2^28",
          .unit = "us",
          .ours = [=] { return kUs * on->ours_fill_ns(kind, count); },
          .references = {.all = {{"raw: cuRAND's Philox, flag, spin",
                                  [=] { return kUs * on->raw().fill_ns(kind, kNumbers, count); }},
                                 {"raw: a copy that moves as many bytes",
                                  [=] { return kUs * on->raw().copy_ns(kNumbers * 2, count); }}},
                         .why_none = {}},
          .limit = Limit::at_most_times(1.11),
          .rounds = options.rounds(5)};
}

}  // namespace

std::vector<Row> signal_rows(const Options& options) {
  const auto on = std::make_shared<Signal>();
  std::vector<Row> rows;
  for (const TransformCase& of : kTransformCases) rows.push_back(transform_row(on, of, options));
  for (const FillKind kind : {FillKind::uniform, FillKind::normal}) rows.push_back(fill_row(on, kind, options));
  return rows;
}

}  // namespace troupe::bench

#endif
