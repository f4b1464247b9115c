// The steps of optimizers, all arrays of a list in one run of the team; and what measures their gradients.
#include "troupe/op/dnn_optimizer.hpp"

#include <cmath>

#include "troupe/backend/host/dnn/dnn_numbers.hpp"
#include "troupe/backend/host/host_tools.hpp"

namespace troupe::host {
namespace {

constexpr double kNsOfStep = 4;  // of an element

/// Where the elements of each array of a list begin when all are counted one after another.
template <std::size_t most>
class CountedArrays {
 public:
  void add(std::int64_t count) noexcept {
    begins_[size_ + 1] = begins_[size_] + count;
    ++size_;
  }
  std::int64_t count() const noexcept { return begins_[size_]; }
  /// Calls `f(array, begin, end)` for the parts of arrays that elements `begin` to `end` are.
  template <class F>
  void each(std::int64_t begin, std::int64_t end, const F& f) const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      const std::int64_t first = std::max(begin, begins_[i]), last = std::min(end, begins_[i + 1]);
      if (first < last) f(i, first - begins_[i], last - begins_[i]);
    }
  }

 private:
  std::array<std::int64_t, most + 1> begins_{};
  std::size_t size_ = 0;
};

/// The arrays of one parameter: gradient, value and up to two of state, and what the last three become.
struct ParameterViews {
  std::array<HostView, 7> views;
  HostView rounded;  // the parameter itself where there are masters
};

ParameterViews parameter_views(const op::DnnOptimizerStep& op, std::size_t parameter, const HostViews& here) noexcept {
  const op::Argument* const mine = op.arrays.data() + parameter * op.arrays_each();
  const std::size_t states = static_cast<std::size_t>(op.states());
  const auto view = [&](std::size_t i) { return here(mine[i].view); };
  ParameterViews made;
  made.views[0] = view(0);
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t i = 0; i < 3; ++i)
      if (i <= states) made.views[1 + 3 * half + i] = view(1 + half * (1 + states) + i);
  if (op.has_masters) made.rounded = view(3 + 2 * states);
  return made;
}

/// Numbers of f32 side by side, or apart.
template <std::size_t n>
std::array<float, n> floats_of(const HostView& view) noexcept {
  std::array<float, n> numbers;
  read_numbers(DType::f32, view.data, step_of(view), numbers.data(), n);
  return numbers;
}

/// The factor of all gradients, and whether there is a step at all.
struct MeasuredGradients {
  double factor = 1;
  bool are_finite = true;
};
MeasuredGradients measured(const op::DnnOptimizerStep& op, const HostViews& here) noexcept {
  if (!op.has_measure) return {};
  const auto measure = floats_of<op::kMeasureNumbers>(here(op.measure));
  return {.factor = measure[0], .are_finite = measure[2] != 0};
}

/// Elements `begin` to `end` of one parameter.
template <class C, std::size_t states>
void step_part(const op::DnnOptimizerStep& op, const dnn::StepNumbers<C>& of, const MeasuredGradients& with,
               const ParameterViews& p, std::int64_t begin, std::int64_t end) noexcept {
  constexpr std::size_t kKept = 1 + states;
  std::array<HostView, 1 + 2 * kKept> views;
  views[0] = p.views[0];
  for (std::size_t i = 0; i < kKept; ++i) {
    views[1 + i] = p.views[1 + i];
    views[1 + kKept + i] = p.views[4 + i];
  }
  const OrderedRows rounded(op.has_masters ? p.rounded : views[0]);
  const auto factor = static_cast<C>(with.factor);
  each_piece<C, 1 + kKept>(views, begin, end, [&](const auto& numbers, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      dnn::Stepped<C> now{numbers[1][i], states > 0 ? numbers[1 + (states > 0)][i] : C(0),
                          states > 1 ? numbers[1 + 2 * (states > 1)][i] : C(0)};
      if (with.are_finite) now = dnn::stepped(of, numbers[0][i] * factor, now);
      numbers[1 + kKept][i] = now.value;
      if constexpr (states > 0) numbers[2 + kKept][i] = now.first;
      if constexpr (states > 1) numbers[3 + kKept][i] = now.second;
    }
    if (!op.has_masters) return;
    for (std::int64_t done = 0; done < count;) {
      const OrderedRows::Piece piece = rounded.piece(first + done, count - done);
      write_numbers(p.rounded.dtype, numbers[1 + kKept] + done, piece.at, rounded.step(), piece.length);
      done += piece.length;
    }
  });
}

template <class C>
void step_all(const op::DnnOptimizerStep& op, const HostViews& here) noexcept {
  const dnn::StepNumbers<C> of =
      dnn::step_numbers<C>(op.rule, op.nesterov, op.step, op.rate, op.first, op.second, op.epsilon, op.decay);
  const MeasuredGradients with = measured(op, here);
  CountedArrays<op::kMaxParameters> all;
  std::array<ParameterViews, op::kMaxParameters> parameters;
  for (std::size_t i = 0; i < op.arrays.size() / op.arrays_each(); ++i) {
    const op::View& gradient = op.arrays[i * op.arrays_each()].view;
    const bool is_mine = (gradient.dtype == DType::f64) == std::same_as<C, double>;
    all.add(is_mine ? op::element_count(gradient) : 0);
    if (is_mine) parameters[i] = parameter_views(op, i, here);
  }
  here.team().run(all.count(), Grain::of_ns(kNsOfStep), [&](std::int64_t begin, std::int64_t end) noexcept {
    all.each(begin, end, [&](std::size_t i, std::int64_t first, std::int64_t last) {
      switch (op.states()) {
        case 0: return step_part<C, 0>(op, of, with, parameters[i], first, last);
        case 1: return step_part<C, 1>(op, of, with, parameters[i], first, last);
        default: return step_part<C, 2>(op, of, with, parameters[i], first, last);
      }
    });
  });
}

/// The sum of the squares of the elements of one array.
template <class C>
double squares_of(const HostView& view, std::int64_t begin, std::int64_t end) noexcept {
  double sum = 0;
  each_piece<C, 1>(std::array{view}, begin, end,
                   [&](const std::array<C*, 1>& numbers, std::int64_t, std::int64_t count) {
                     double some = 0;
                     for (std::int64_t i = 0; i < count; ++i)
                       some += static_cast<double>(numbers[0][i]) * static_cast<double>(numbers[0][i]);
                     sum += some;
                   });
  return sum;
}

}  // namespace

Result<void> run_op(const op::DnnOptimizerStep& op, const HostViews& here) {
  step_all<float>(op, here);
  step_all<double>(op, here);
  return {};
}

Result<void> run_op(const op::DnnMeasureGradients& op, const HostViews& here) {
  CountedArrays<op::kMaxGradients> all;
  for (const op::Argument& gradient : op.gradients) all.add(op::element_count(gradient.view));
  const auto sum_part = [&](std::int64_t begin, std::int64_t end) noexcept {
    double sum = 0;
    all.each(begin, end, [&](std::size_t i, std::int64_t first, std::int64_t last) {
      const HostView view = here(op.gradients[i].view);
      sum += view.dtype == DType::f64 ? squares_of<double>(view, first, last) : squares_of<float>(view, first, last);
    });
    return sum;
  };
  const double squares = here.team().reduce(all.count(), Grain::of_bytes(4), 0.0, sum_part,
                                            [](double a, double b) noexcept { return a + b; });
  const double scale = op.has_scale ? static_cast<double>(floats_of<op::kLossScaleNumbers>(here(op.scale))[0]) : 1;
  const double norm = std::sqrt(squares);
  const std::array<float, 3> measure{static_cast<float>(dnn::gradient_factor(norm, scale, op.most)),
                                     static_cast<float>(norm / scale), std::isfinite(squares) ? 1.0F : 0.0F};
  const HostView to = here(op.measure);
  write_numbers(DType::f32, measure.data(), to.data, step_of(to), op::kMeasureNumbers);
  return {};
}

Result<void> run_op(const op::DnnAdjustLossScale& op, const HostViews& here) {
  const bool are_finite = floats_of<op::kMeasureNumbers>(here(op.measure))[2] != 0;
  const auto now = floats_of<op::kLossScaleNumbers>(here(op.scale));
  const dnn::LossScale made =
      dnn::next_loss_scale({now[0], now[1]}, are_finite, op.growth, op.backoff, static_cast<double>(op.interval));
  const std::array next{made.scale, made.steps};
  const HostView to = here(op.next);
  write_numbers(DType::f32, next.data(), to.data, step_of(to), op::kLossScaleNumbers);
  return {};
}

}  // namespace troupe::host
