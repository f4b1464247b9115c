#include "bench/fft_rows.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <optional>
#include <utility>

#include "bench/batches.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {
namespace {

constexpr double kUs = 1e-3;  // of a nanosecond

/// Lines of one length.
struct Lines {
  std::int64_t length = 1;
  std::int64_t count = 1;

  static Lines of(std::int64_t length) {
    return {.length = length, .count = std::max<std::int64_t>(1, (std::int64_t{1} << 16) / length)};
  }
  std::int64_t numbers() const { return length * count; }
};

template <class T>
class Ours {
 public:
  explicit Ours(Lines lines) noexcept : lines_(lines) {}

  double ns(int batches) {
    open();
    return median_ns(batches, 1, [&] { value(device_->fft().forward(x_, y_).get()); });
  }

 private:
  void open() {
    if (device_) return;
    device_ = value(system_.device("host", {.standby = Standby::none}));
    for (Array<std::complex<T>>* const array : {&x_, &y_}) {
      *array = value(device_->array<std::complex<T>>({lines_.count, lines_.length}));
      value(device_->fill(*array, std::complex<T>(1)).get());
    }
  }

  const Lines lines_;
  System system_{{.threads = 1, .log = log_nothing()}};
  std::optional<Device> device_;
  Array<std::complex<T>> x_;
  Array<std::complex<T>> y_;
};

/// The functions of FFTW that we call, for one type; null where it is not installed.
struct Fftw {
  using Plan = void* (*)(int rank, const int* n, int count, void* in, const int*, int stride, int distance, void* out,
                         const int*, int out_stride, int out_distance, int sign, unsigned flags);
  Plan plan = nullptr;
  void (*execute)(void* plan) = nullptr;
  void (*destroy)(void* plan) = nullptr;

  template <class T>
  static Fftw open() {
    const std::string letter = std::same_as<T, float> ? "f" : "";
    void* const library = dlopen(("libfftw3" + letter + ".so.3").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return {};
    const auto find = [&](const char* name) { return dlsym(library, ("fftw" + letter + name).c_str()); };
    return {.plan = reinterpret_cast<Plan>(find("_plan_many_dft")),
            .execute = reinterpret_cast<void (*)(void*)>(find("_execute")),
            .destroy = reinterpret_cast<void (*)(void*)>(find("_destroy_plan"))};
  }
};

template <class T>
double fftw_ns(Lines lines, int batches) {
  static const Fftw kFftw = Fftw::open<T>();
  if (!kFftw.plan || !kFftw.execute || !kFftw.destroy) return kNotMeasured;
  constexpr int kForward = -1;
  constexpr unsigned kMeasure = 0, kEstimate = 64;
  const int length = static_cast<int>(lines.length);
  std::vector<std::complex<T>> x(static_cast<std::size_t>(lines.numbers())), y(x.size());
  void* const plan = kFftw.plan(1, &length, static_cast<int>(lines.count), x.data(), nullptr, 1, length, y.data(),
                                nullptr, 1, length, kForward, lines.numbers() <= (1 << 16) ? kMeasure : kEstimate);
  std::ranges::fill(x, std::complex<T>(1));  // making a plan may have written it
  const double ns = median_ns(batches, 1, [&] { kFftw.execute(plan); });
  kFftw.destroy(plan);
  return ns;
}

template <class T>
Row row_of(std::int64_t length, const Options& options) {
  const Lines lines = Lines::of(length);
  const auto ours = std::make_shared<Ours<T>>(lines);
  const int batches = options.count(lines.numbers() > (1 << 18) ? 5 : 50);
  return {.name = "fft " + std::string(name(dtype_of<std::complex<T>>)) + ", " + std::to_string(lines.count) +
                  " lines of " + std::to_string(length),
          .unit = "us",
          .ours = [=] { return kUs * ours->ns(batches); },
          .references = {.all = {{"FFTW", [=] { return kUs * fftw_ns<T>(lines, batches); }}}, .why_none = {}},
          .limit = Limit::printed(),
          .rounds = options.rounds(5)};
}

}  // namespace

std::vector<Row> fft_rows(const Options& options) {
  std::vector<Row> rows;
  for (const std::int64_t length : {1 << 4, 1 << 6, 1 << 8, 1 << 10, 1 << 12, 1009, 1 << 16, 1 << 20, 1 << 22}) {
    rows.push_back(row_of<float>(length, options));
    rows.push_back(row_of<double>(length, options));
  }
  return rows;
}

}  // namespace troupe::bench
