#include "bench/primitive_rows.hpp"

#if !TROUPE_CUDA_BACKEND

namespace troupe::bench {

std::vector<Row> primitive_rows(const Options&) { return {}; }

}  // namespace troupe::bench

#else

#include <dlfcn.h>

#include <memory>
#include <optional>
#include <utility>

#include "bench/numbers.hpp"
#include "bench/raw_signal.hpp"
#include "bench/shared_gpu.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {
namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 28;
constexpr std::int64_t kPairs = std::int64_t{1} << 26;
constexpr Shape kRows{4096, 65536};
constexpr std::int64_t kBest = 64;
constexpr int kCount = 30;
constexpr double kUs = 1e-3;  // of a nanosecond

/// As bench/cub/cub_reference.cu numbers them.
enum class CubKind : int { sort, sort_pairs, scan, reduce, select };

/// CUB's time, where there is the library.
double cub_ns(CubKind kind, std::int64_t elements, int count) {
  using Measure = double (*)(int, long long, int);
#ifdef TROUPE_CUB_REFERENCE
  static void* const kLibrary = dlopen(TROUPE_CUB_REFERENCE, RTLD_NOW | RTLD_LOCAL);
#else
  static void* const kLibrary = nullptr;
#endif
  if (!kLibrary) return kNotMeasured;
  const auto measure = reinterpret_cast<Measure>(dlsym(kLibrary, "troupe_cub_ns"));
  const double ns = measure ? measure(static_cast<int>(kind), elements, count) : -1;
  return ns > 0 ? ns : kNotMeasured;
}

/// Both sides, made when they are first needed.
class Sides {
 public:
  const Device& device() {
    if (!device_) device_ = value(system_.device("cuda", {.standby = Standby::none}));
    return *device_;
  }
  template <Element T>
  Array<T> array(const Shape& shape) {
    return value(device().array<T>(shape));
  }
  template <Element T>
  Array<T> numbers(const Shape& shape) {
    const Array<T> made = array<T>(shape);
    Generator generator(1);
    if constexpr (std::same_as<T, float>)
      value(device().random().uniform(generator, made).get());
    else
      value(device().random().bits(generator, made).get());
    return made;
  }
  double copy_ns(std::int64_t bytes, int count) {
    if (!raw_) raw_.emplace(open_raw_gpu(value(first_gpu()).id));
    return raw_->copy_ns(bytes / 2, count);  // it reads and writes each
  }

 private:
  System system_{{.threads = 1, .log = log_nothing()}};
  std::optional<Device> device_;
  std::optional<RawSignal> raw_;
};
using Shared = std::shared_ptr<Sides>;

double ours_ns(const Shared& on, CubKind kind, std::int64_t elements, int count) {
  const Primitives primitives = on->device().primitives();
  const auto timed = [&](const auto& make) { return settled_median_ns(count, [&] { value(make().get()); }); };
  if (kind == CubKind::sort || kind == CubKind::sort_pairs) {
    const auto keys = on->numbers<std::uint32_t>({elements}), sorted = on->array<std::uint32_t>({elements});
    if (kind == CubKind::sort) return timed([&] { return primitives.sort(keys, sorted); });
    const auto values = on->numbers<std::uint32_t>({elements}), moved = on->array<std::uint32_t>({elements});
    return timed([&] { return primitives.sort(keys, values, sorted, moved); });
  }
  const auto x = on->numbers<float>({elements});
  if (kind == CubKind::reduce) {
    const auto sum = on->array<float>({});
    return timed([&] { return primitives.reduce(Combine::sum, x, sum); });
  }
  const auto y = on->array<float>({elements});
  if (kind == CubKind::scan) return timed([&] { return primitives.scan(Combine::sum, x, y); });
  const auto flags = on->array<bool>({elements});
  const auto count_of = on->array<std::int64_t>({1});
  Generator generator(2);
  value(on->device().random().bernoulli(generator, flags, 0.5).get());
  return timed([&] { return primitives.select(x, flags, y, count_of); });
}

/// Bytes that must be moved at least; 0 where that is not what limits it.
Row row_of(const Shared& on, const char* name, CubKind kind, std::int64_t elements, std::int64_t bytes, double limit,
           const Options& options) {
  const int count = options.count(kCount);
  References references{.all = {{"CUB", [=] { return kUs * cub_ns(kind, elements, count); }}}, .why_none = {}};
  if (bytes > 0)
    references.all.push_back({"raw: a copy that moves as many bytes", [=] { return kUs * on->copy_ns(bytes, count); }});
  return {.name = name,
          .unit = "us",
          .ours = [=] { return kUs * ours_ns(on, kind, elements, count); },
          .references = std::move(references),
          .limit = Limit::at_most_times(limit),
          .rounds = options.rounds(5)};
}

}  // namespace

std::vector<Row> primitive_rows(const Options& options) {
  const auto on = std::make_shared<Sides>();
  constexpr double kOfACopy = 1 / 0.85;
  std::vector<Row> rows;
  rows.push_back(row_of(on, "sort u32, 2^28", CubKind::sort, kMany, 0, 1.03, options));
  rows.push_back(row_of(on, "sort pairs of u32, 2^26", CubKind::sort_pairs, kPairs, 0, 1.03, options));
  rows.push_back(row_of(on, "scan f32, 2^28", CubKind::scan, kMany, kMany * 8, kOfACopy, options));
  rows.push_back(row_of(on, "reduce f32, 2^28", CubKind::reduce, kMany, kMany * 4, kOfACopy, options));
  rows.push_back(row_of(on, "select f32, half of 2^28", CubKind::select, kMany, kMany * 7, kOfACopy, options));
  const int count = options.count(kCount);
  rows.push_back({.name = "the 64 greatest of 4096 rows of 65536, f32",
                  .unit = "us",
                  .ours =
                      [=] {
                        const auto x = on->numbers<float>(kRows);
                        const auto best = on->array<float>({kRows[0], kBest});
                        const auto places = on->array<std::int64_t>({kRows[0], kBest});
                        return kUs * settled_median_ns(
                                         count, [&] { value(on->device().primitives().top_k(x, best, places).get()); });
                      },
                  .references = {.all = {}, .why_none = "torch.topk: ./dev bench --torch --only topk"},
                  .limit = Limit::printed(),
                  .rounds = options.rounds(5)});
  return rows;
}

}  // namespace troupe::bench

#endif
