#include "troupe/op/dnn_optimizer.hpp"

#include <string>
#include <vector>

#include "troupe/device/make_call.hpp"
#include "troupe/library/dnn/dnn.hpp"
#include "troupe/op/check.hpp"

namespace troupe::inline v0 {
namespace {

using detail::Optimizer;

/// As many as there are gradients, or the sentence that says so.
Result<void> check_count(std::string_view call, std::string_view name, const ArrayList& list, std::size_t count) {
  if (list.size() == count) return {};
  return op::refuse(call, "there are " + std::to_string(list.size()) + " arrays in " + std::string(name) + " and " +
                              std::to_string(count) + " gradients; there must be one for each");
}

/// The lists that a step reads, or writes, besides the values.
Result<void> check_lists(const op::DnnOptimizerStep& op, const OptimizerArrays& lists, std::size_t count) {
  const std::string_view call = detail::name(op.rule);
  TROUPE_TRY(check_count(call, "values", lists.values, count));
  TROUPE_TRY(check_count(call, "first", lists.first, op.states() > 0 ? count : 0));
  TROUPE_TRY(check_count(call, "second", lists.second, op.states() > 1 ? count : 0));
  return check_count(call, "masters", lists.masters, op.has_masters ? count : 0);
}

Call<void> step(const Device& device, op::DnnOptimizerStep op, const ArrayList& gradients, const OptimizerArrays& now,
                const OptimizerArrays& next, const AnyArray* measure) {
  op.has_masters = now.masters.size() > 0;
  op.has_measure = measure != nullptr;
  for (const OptimizerArrays* const lists : {&now, &next})
    if (const Result<void> good = check_lists(op, *lists, gradients.size()); !good) return fail(good.error());
  std::vector<const AnyArray*> arrays;
  const auto add = [&](const AnyArray& array, op::Access access) {
    op.arrays.push_back({access, array.view()});
    arrays.push_back(&array);
  };
  const auto add_kept = [&](const OptimizerArrays& lists, std::size_t i, op::Access access) {
    add(op.has_masters ? lists.masters[i] : lists.values[i], access);
    if (op.states() > 0) add(lists.first[i], access);
    if (op.states() > 1) add(lists.second[i], access);
  };
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    add(gradients[i], op::Access::read);
    add_kept(now, i, op::Access::read);
    add_kept(next, i, op::Access::write);
    if (op.has_masters) add(next.values[i], op::Access::write);
  }
  if (measure != nullptr) {
    op.measure = measure->view();
    arrays.push_back(measure);
  }
  return make_call(device, op, std::span<const AnyArray* const>(arrays));
}

Call<void> adaptive_step(const Device& device, Optimizer rule, const ArrayList& gradients, const OptimizerArrays& now,
                         const AdamOptions& options) {
  const bool is_lion = rule == Optimizer::lion;
  op::DnnOptimizerStep op;
  op.rule = rule;
  op.step = options.step;
  op.rate = options.rate.value_or(is_lion ? 1e-4 : 1e-3);
  op.first = options.beta1;
  op.second = options.beta2.value_or(is_lion ? 0.99 : 0.999);
  op.epsilon = options.epsilon;
  op.decay = options.weight_decay.value_or(rule == Optimizer::adamw ? 0.01 : 0);
  return step(device, std::move(op), gradients, now, options.next != nullptr ? *options.next : now, options.measure);
}

}  // namespace

Call<void> Dnn::sgd(const ArrayList& gradients, const OptimizerArrays& now, SgdOptions options) const {
  op::DnnOptimizerStep op;
  op.rule = Optimizer::sgd;
  op.nesterov = options.nesterov;
  op.step = options.step;
  op.rate = options.rate;
  op.first = options.momentum;
  op.second = options.dampening;
  op.decay = options.weight_decay;
  return step(device_, std::move(op), gradients, now, options.next != nullptr ? *options.next : now, options.measure);
}
Call<void> Dnn::adam(const ArrayList& gradients, const OptimizerArrays& now, AdamOptions options) const {
  return adaptive_step(device_, Optimizer::adam, gradients, now, options);
}
Call<void> Dnn::adamw(const ArrayList& gradients, const OptimizerArrays& now, AdamOptions options) const {
  return adaptive_step(device_, Optimizer::adamw, gradients, now, options);
}
Call<void> Dnn::lion(const ArrayList& gradients, const OptimizerArrays& now, AdamOptions options) const {
  return adaptive_step(device_, Optimizer::lion, gradients, now, options);
}

Call<void> Dnn::measure_gradients(const ArrayList& gradients, const AnyArray& measure, MeasureOptions options) const {
  op::DnnMeasureGradients op;
  op.most = options.max_norm;
  op.has_scale = options.loss_scale != nullptr;
  op.measure = measure.view();
  std::vector<const AnyArray*> arrays;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    op.gradients.push_back({op::Access::read, gradients[i].view()});
    arrays.push_back(&gradients[i]);
  }
  if (op.has_scale) {
    op.scale = options.loss_scale->view();
    arrays.push_back(options.loss_scale);
  }
  arrays.push_back(&measure);
  return make_call(device_, op, std::span<const AnyArray* const>(arrays));
}

Call<void> Dnn::adjust_loss_scale(const AnyArray& measure, const AnyArray& scale, const AnyArray& next,
                                  LossScaleOptions options) const {
  const op::DnnAdjustLossScale op{.growth = options.growth,
                                  .backoff = options.backoff,
                                  .interval = options.interval,
                                  .measure = measure.view(),
                                  .scale = scale.view(),
                                  .next = next.view()};
  return make_call(device_, op, {&measure, &scale, &next});
}

}  // namespace troupe::inline v0
