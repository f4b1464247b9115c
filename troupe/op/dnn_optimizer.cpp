#include "troupe/op/dnn_optimizer.hpp"

#include <cmath>

#include "troupe/op/dnn_rows_check.hpp"

namespace troupe::inline v0::op {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();

Result<void> check_numbers(std::string_view call, const DnnOptimizerStep& op) {
  const bool is_sgd = op.rule == detail::Optimizer::sgd;
  TROUPE_TRY(check_within(call, "rate", op.rate, op.rate >= 0 && op.rate <= kLargest, "0 or more, and finite"));
  const auto is_share = [](double number) { return number >= 0 && number < 1; };
  constexpr const char* kShare = "from 0 to less than 1";
  TROUPE_TRY(check_within(call, is_sgd ? "momentum" : "beta1", op.first, is_share(op.first), kShare));
  if (is_sgd)
    TROUPE_TRY(check_within(call, "dampening", op.second, op.second >= 0 && op.second <= 1, "from 0 to 1"));
  else
    TROUPE_TRY(check_within(call, "beta2", op.second, is_share(op.second), kShare));
  TROUPE_TRY(
      check_within(call, "epsilon", op.epsilon, op.epsilon >= 0 && op.epsilon <= kLargest, "0 or more, and finite"));
  TROUPE_TRY(
      check_within(call, "weight_decay", op.decay, op.decay >= 0 && op.decay <= kLargest, "0 or more, and finite"));
  if (op.nesterov && (!is_sgd || op.first == 0 || op.second != 0))
    return refuse(call, "nesterov needs momentum, and no dampening");
  if (op.step < 1) return refuse(call, "step is " + std::to_string(op.step) + "; the first step is 1");
  return {};
}

/// "value 3": what the lists are called in the call.
std::string place(std::string_view list, std::size_t parameter) {
  return std::string(list) + " " + std::to_string(parameter);
}

/// The arrays of one parameter; the first one says which shape all have.
Result<void> check_parameter(std::string_view call, const DnnOptimizerStep& op, std::size_t parameter) {
  const Argument* const mine = op.arrays.data() + parameter * op.arrays_each();
  const std::size_t kept = 1 + static_cast<std::size_t>(op.states());
  constexpr std::string_view kKept[] = {"value", "first", "second"};
  const std::string gradient = place("gradient", parameter);
  const NamedView given{gradient, mine[0].view};
  TROUPE_TRY(check_float(call, given));
  const DType type = given.view.dtype;
  for (std::size_t i = 0; i < kept; ++i)
    for (const std::size_t half : {std::size_t{0}, kept}) {
      const std::string called = place(i == 0 && op.has_masters ? "master" : kKept[i], parameter);
      const NamedView array{called, mine[1 + half + i].view};
      TROUPE_TRY(check_type(call, array, i == 0 && !op.has_masters ? type : computed_in(type)));
      TROUPE_TRY(check_shape(call, array, given.view.shape));
    }
  if (op.has_masters) {
    const std::string called = place("value", parameter);
    TROUPE_TRY(check_type(call, {called, mine[1 + 2 * kept].view}, type));
    TROUPE_TRY(check_shape(call, {called, mine[1 + 2 * kept].view}, given.view.shape));
  }
  return {};
}

/// Whether the list says what is read and what is written as it must: a list from another process may not.
Result<void> check_accesses(std::string_view call, const DnnOptimizerStep& op) {
  const std::size_t each = op.arrays_each();
  const std::size_t read = 2 + static_cast<std::size_t>(op.states());
  for (std::size_t i = 0; i < op.arrays.size(); ++i)
    if (op.arrays[i].access != (i % each < read ? Access::read : Access::write))
      return refuse(call, "array " + std::to_string(i) + " is not read or written as a step does");
  return {};
}

Result<void> check_measure(std::string_view call, const View& measure) {
  TROUPE_TRY(check_type(call, {"measure", measure}, DType::f32));
  return check_shape(call, {"measure", measure}, Shape{kMeasureNumbers});
}
Result<void> check_scale(std::string_view call, const NamedView& scale) {
  TROUPE_TRY(check_type(call, scale, DType::f32));
  return check_shape(call, scale, Shape{kLossScaleNumbers});
}

}  // namespace

Result<void> check(const DnnOptimizerStep& op) {
  const std::string_view call = detail::name(op.rule);
  const std::size_t each = op.arrays_each();
  if (op.arrays.empty() || op.arrays.size() % each != 0 || op.arrays.size() / each > kMaxParameters)
    return refuse(call, "there are " + std::to_string(op.arrays.size() / each) +
                            " parameters; one call takes from 1 to " + std::to_string(kMaxParameters) +
                            ": call it for parts of the list");
  TROUPE_TRY(check_numbers(call, op));
  TROUPE_TRY(check_accesses(call, op));
  for (std::size_t i = 0; i < op.arrays.size() / each; ++i) TROUPE_TRY(check_parameter(call, op, i));
  if (op.has_measure) return check_measure(call, op.measure);
  return {};
}

Result<void> check(const DnnMeasureGradients& op) {
  constexpr std::string_view kCall = "measure_gradients";
  if (op.gradients.empty() || op.gradients.size() > kMaxGradients)
    return refuse(kCall, "there are " + std::to_string(op.gradients.size()) + " gradients; one call takes from 1 to " +
                             std::to_string(kMaxGradients));
  for (std::size_t i = 0; i < op.gradients.size(); ++i) {
    if (op.gradients[i].access != Access::read) return refuse(kCall, place("gradient", i) + " must be read only");
    TROUPE_TRY(check_float(kCall, {place("gradient", i), op.gradients[i].view}));
  }
  TROUPE_TRY(check_within(kCall, "max_norm", op.most, op.most >= 0 && op.most <= kLargest, "0 or more, and finite"));
  if (op.has_scale) TROUPE_TRY(check_scale(kCall, {"loss_scale", op.scale}));
  return check_measure(kCall, op.measure);
}

Result<void> check(const DnnAdjustLossScale& op) {
  constexpr std::string_view kCall = "adjust_loss_scale";
  TROUPE_TRY(
      check_within(kCall, "growth", op.growth, op.growth >= 1 && op.growth <= kLargest, "1 or more, and finite"));
  TROUPE_TRY(
      check_within(kCall, "backoff", op.backoff, op.backoff > 0 && op.backoff < 1, "more than 0 and less than 1"));
  if (op.interval < 1) return refuse(kCall, "interval is " + std::to_string(op.interval) + "; it must be 1 or more");
  TROUPE_TRY(check_measure(kCall, op.measure));
  TROUPE_TRY(check_scale(kCall, {"loss_scale", op.scale}));
  return check_scale(kCall, {"next", op.next});
}

}  // namespace troupe::inline v0::op
