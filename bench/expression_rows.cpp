#include "bench/expression_rows.hpp"

#if !TROUPE_CUDA_BACKEND

namespace troupe::bench {

std::vector<Row> expression_rows(const Options&) { return {}; }

}  // namespace troupe::bench

#else

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "bench/stopwatch.hpp"
#include "troupe/troupe.hpp"

namespace troupe::bench {
namespace {

constexpr int kExpressions = 200;
constexpr std::int64_t kElements = std::int64_t{64} << 20;
constexpr double kUs = 1e-3;  // of a nanosecond

/// A device whose expressions are compiled when they are first used, and three arrays there. Made when first needed.
class Expressions {
 public:
  explicit Expressions(DType dtype) noexcept : dtype_(dtype) {}

  double one_step_ns(int count) {
    open();
    return ns(count, x_ + b_);
  }
  double five_steps_ns(int count) {
    open();
    return ns(count, tanh(0.5 * x_ + b_) * x_ - b_);
  }

 private:
  void open() {
    if (device_) return;
    setenv("TROUPE_EXPRESSIONS", "compiled", 1);  // NOLINT(concurrency-mt-unsafe): no other thread asks for it
    device_ = value(system_.device("cuda", {.standby = Standby::none}));
    value(device_->nop().get());     // its worker has read that
    unsetenv("TROUPE_EXPRESSIONS");  // NOLINT(concurrency-mt-unsafe)
    visit(dtype_, [&]<class T>(std::type_identity<T>) {
      for (AnyArray* const array : {&x_, &b_, &y_}) {
        const Array<T> made = value(device_->array<T>({kElements}));
        value(device_->fill(made, convert<T>(0.25F)).get());
        *array = made;
      }
    });
  }
  double ns(int count, const Expression& expression) {
    const auto run = [&](int times) {
      for (int i = 1; i < times; ++i) value(device_->tensor().evaluate(expression, y_).submit());
      value(device_->tensor().evaluate(expression, y_).get());
    };
    run(count / 4 + 1);
    const Stopwatch stopwatch;
    run(count);
    return stopwatch.ns_per(count);
  }

  const DType dtype_;
  System system_{{.threads = 1, .log = log_nothing()}};
  std::optional<Device> device_;
  AnyArray x_, b_, y_;
};

Row row_of(DType dtype, const Options& options) {
  const auto on = std::make_shared<Expressions>(dtype);
  const int count = options.count(kExpressions);
  return {.name = "expression " + std::string(name(dtype)) + ", five steps over 64 Mi elements",
          .unit = "us",
          .ours = [=] { return kUs * on->five_steps_ns(count); },
          .references = {.all = {{"ours of one step", [=] { return kUs * on->one_step_ns(count); }, /*is_ours=*/true}},
                         .why_none = {}},
          .limit = Limit::at_most_times(1.1),
          .rounds = options.rounds(7)};
}

}  // namespace

std::vector<Row> expression_rows(const Options& options) {
  return {row_of(DType::f32, options), row_of(DType::bf16, options)};
}

}  // namespace troupe::bench

#endif
