// Losses by element and their gradients. A sum is made of blocks whose places depend on the shape alone.
#include "troupe/op/dnn_loss.hpp"

#include "troupe/backend/host/dnn/dnn_numbers.hpp"
#include "troupe/backend/host/host_tools.hpp"
#include "troupe/op/training_functions.hpp"

namespace troupe::host {
namespace {

constexpr double kNsOfLoss = 8;  // of an element

template <class C>
dnn::LossNumbers<C> numbers_of_loss(const op::LossTerms& terms) noexcept {
  return {.function = terms.function, .log_target = terms.log_target, .delta = static_cast<C>(terms.delta)};
}

/// What a sum of losses is divided by.
double divisor_of(LossReduction reduction, const Shape& shape, std::int64_t count) noexcept {
  if (reduction == LossReduction::mean) return static_cast<double>(count);
  return reduction == LossReduction::batch_mean ? static_cast<double>(shape[0]) : 1;
}

/// Whether the target is one, which the verdict says where there is one.
template <class C, class Op>
bool has_good_target(const Op& op, const HostViews& here) noexcept {
  if (!op.terms.takes_probabilities()) return true;
  return is_well(check_probabilities<C>(here(op.target), here.team()), op.verdict, here);
}

/// The weights, or, where there are none, what stands for them and is not looked at.
template <class Op>
HostView weights_of(const Op& op, const HostViews& here) noexcept {
  return here(op.terms.has_weight ? op.weight : op.target);
}

template <class C>
void loss_of_each(const op::DnnLoss& op, const HostViews& here) noexcept {
  const dnn::LossNumbers<C> of = numbers_of_loss<C>(op.terms);
  const std::array views{here(op.x), here(op.target), weights_of(op, here), here(op.loss)};
  here.team().run(op::element_count(op.x), Grain::of_ns(kNsOfLoss), [&](std::int64_t begin, std::int64_t end) noexcept {
    each_piece<C, 3>(views, begin, end, [&](const std::array<C*, 4>& numbers, std::int64_t, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        numbers[3][i] = dnn::loss_of(of, numbers[0][i], numbers[1][i]);
        if (op.terms.has_weight) numbers[3][i] *= numbers[2][i];
      }
    });
  });
}

template <class C>
void loss_of_all(const op::DnnLoss& op, const HostViews& here) noexcept {
  const dnn::LossNumbers<C> of = numbers_of_loss<C>(op.terms);
  const std::array views{here(op.x), here(op.target), weights_of(op, here)};
  const std::int64_t count = op::element_count(op.x);
  const auto sum_part = [&](std::int64_t begin, std::int64_t end) noexcept {
    double sum = 0;
    each_piece<C, 3>(views, begin, end, [&](const std::array<C*, 3>& numbers, std::int64_t, std::int64_t some) {
      for (std::int64_t i = 0; i < some; ++i) {
        const C loss = dnn::loss_of(of, numbers[0][i], numbers[1][i]);
        sum += op.terms.has_weight ? loss * numbers[2][i] : loss;
      }
    });
    return sum;
  };
  const double sum = here.team().reduce(count, Grain::of_ns(kNsOfLoss), 0.0, sum_part,
                                        [](double a, double b) noexcept { return a + b; });
  const auto loss = static_cast<C>(sum / divisor_of(op.terms.reduction, op.x.shape, count));
  write_numbers(op.loss.dtype, &loss, here(op.loss).data, size_bytes(op.loss.dtype), 1);
}

template <class C>
void slopes_of_loss(const op::DnnLossGradient& op, const HostViews& here) noexcept {
  const dnn::LossNumbers<C> of = numbers_of_loss<C>(op.terms);
  const std::int64_t count = op::element_count(op.x);
  HostView dloss = here(op.dloss);
  const bool is_one = op.terms.reduction != LossReduction::none;
  if (is_one) {  // the same for every element
    dloss.shape = op.x.shape;
    dloss.strides = Strides(std::vector<std::int64_t>(static_cast<std::size_t>(op.x.shape.rank()), 0));
  }
  const auto share = static_cast<C>(1 / divisor_of(op.terms.reduction, op.x.shape, count));
  const std::array views{here(op.x), here(op.target), weights_of(op, here), dloss, here(op.dx)};
  here.team().run(count, Grain::of_ns(kNsOfLoss), [&](std::int64_t begin, std::int64_t end) noexcept {
    each_piece<C, 4>(views, begin, end, [&](const std::array<C*, 5>& numbers, std::int64_t, std::int64_t some) {
      for (std::int64_t i = 0; i < some; ++i) {
        const C slope = dnn::loss_slope(of, numbers[0][i], numbers[1][i]) * (numbers[3][i] * share);
        numbers[4][i] = op.terms.has_weight ? slope * numbers[2][i] : slope;
      }
    });
  });
}

}  // namespace

Result<void> run_op(const op::DnnLoss& op, const HostViews& here) {
  with_numbers(op.x.dtype, [&]<class C>(std::type_identity<C>) {
    if (!has_good_target<C>(op, here)) return;
    op.terms.reduction == LossReduction::none ? loss_of_each<C>(op, here) : loss_of_all<C>(op, here);
  });
  return {};
}

Result<void> run_op(const op::DnnLossGradient& op, const HostViews& here) {
  with_numbers(op.x.dtype, [&]<class C>(std::type_identity<C>) {
    if (has_good_target<C>(op, here)) slopes_of_loss<C>(op, here);
  });
  return {};
}

}  // namespace troupe::host
