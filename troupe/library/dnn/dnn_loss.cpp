#include "troupe/op/dnn_loss.hpp"

#include <string>

#include "troupe/library/dnn/dnn.hpp"
#include "troupe/library/dnn/dnn_verdict.hpp"
#include "troupe/library/rows_along.hpp"

namespace troupe::inline v0 {
namespace {

using detail::Loss;

Result<void> judge_entropy(std::span<const std::int32_t> words) {
  return judge_dnn("binary_cross_entropy_with_logits", words);
}
Result<void> judge_entropy_gradient(std::span<const std::int32_t> words) {
  return judge_dnn("binary_cross_entropy_with_logits_gradient", words);
}
Result<void> judge_kl(std::span<const std::int32_t> words) { return judge_dnn("kl_div", words); }
Result<void> judge_kl_gradient(std::span<const std::int32_t> words) { return judge_dnn("kl_div_gradient", words); }

DnnJudge judge_of(Loss function, bool is_gradient) noexcept {
  if (function == Loss::kl_div) return is_gradient ? judge_kl_gradient : judge_kl;
  return is_gradient ? judge_entropy_gradient : judge_entropy;
}

/// The weights of x's elements; empty where there are none.
Result<AnyArray> weight_of(const Device& device, Loss function, const AnyArray& x, const AnyArray* weight) {
  if (weight == nullptr) return AnyArray();
  const std::string_view call = detail::name(function);
  TROUPE_TRY(DeviceParts::check(device, call, "weight", *weight));
  if (Result<AnyArray> all = weight->broadcast(x.shape())) return all;
  return op::refuse(
      call, "weight is " + weight->shape().to_string() + "; it must broadcast to x, which is " + x.shape().to_string());
}

/// A call of an op on x, target and, where there are some, weights, with `rest` behind them.
template <class Op>
Call<void> loss_call(const Device& device, Op op, const AnyArray& x, const AnyArray& target, const AnyArray* weight,
                     std::initializer_list<const AnyArray*> rest, bool is_gradient) {
  const Result<AnyArray> weights = weight_of(device, op.terms.function, x, weight);
  if (!weights) return fail(weights.error());
  op.terms.has_weight = weight != nullptr;
  op.x = x.view();
  op.target = target.view();
  std::vector<const AnyArray*> arrays{&x, &target};
  if (weight != nullptr) {
    op.weight = weights->view();
    arrays.push_back(&*weights);
  }
  arrays.insert(arrays.end(), rest.begin(), rest.end());
  if (op.terms.takes_probabilities())
    return make_dnn_call(device, op, std::span<const AnyArray* const>(arrays),
                         judge_of(op.terms.function, is_gradient));
  return make_call(device, op, std::span<const AnyArray* const>(arrays));
}

Call<void> loss_of(const Device& device, const op::LossTerms& terms, const AnyArray& x, const AnyArray& target,
                   const AnyArray* weight, const AnyArray& loss) {
  op::DnnLoss op{.terms = terms, .x = {}, .target = {}, .weight = {}, .loss = loss.view(), .verdict = {}};
  return loss_call(device, op, x, target, weight, {&loss}, false);
}
Call<void> loss_gradient_of(const Device& device, const op::LossTerms& terms, const AnyArray& dloss, const AnyArray& x,
                            const AnyArray& target, const AnyArray* weight, const AnyArray& dx) {
  op::DnnLossGradient op{
      .terms = terms, .x = {}, .target = {}, .weight = {}, .dloss = dloss.view(), .dx = dx.view(), .verdict = {}};
  return loss_call(device, op, x, target, weight, {&dloss, &dx}, true);
}

op::LossTerms terms_of(Loss function, LossReduction reduction) {
  return {.function = function, .reduction = reduction, .delta = 1, .log_target = false, .has_weight = false};
}
op::LossTerms terms_of(const HuberOptions& options) {
  op::LossTerms terms = terms_of(Loss::huber, options.reduction);
  terms.delta = options.delta;
  return terms;
}
op::LossTerms terms_of(const KlDivOptions& options) {
  op::LossTerms terms = terms_of(Loss::kl_div, options.reduction);
  terms.log_target = options.log_target;
  return terms;
}

// ---- cross entropy ----

/// The classes behind all other axes.
struct Classes {
  AnyArray logits;
  AnyArray target;
};
Result<Classes> classes_of(const Device& device, std::string_view call, const AnyArray& logits, const AnyArray& target,
                           int axis) {
  AnyArray rows = TROUPE_TRY(rows_along(device, call, {"logits", logits}, axis));
  TROUPE_TRY(DeviceParts::check(device, call, "target", target));
  if (!is_floating(target.dtype())) return Classes{std::move(rows), target};
  return Classes{std::move(rows), TROUPE_TRY(rows_along(device, call, {"target", target}, axis))};
}
op::CrossEntropyTerms terms_of(const CrossEntropyOptions& options) noexcept {
  return {.reduction = options.reduction,
          .label_smoothing = options.label_smoothing,
          .ignored = options.ignore_index,
          .has_weights = options.weights != nullptr};
}

template <class Op>
Call<void> entropy_call(const Device& device, Op op, const Classes& classes, const AnyArray* weights,
                        std::initializer_list<const AnyArray*> rest) {
  op.logits = classes.logits.view();
  op.target = classes.target.view();
  std::vector<const AnyArray*> arrays{&classes.logits, &classes.target};
  if (weights != nullptr) {
    op.weights = weights->view();
    arrays.push_back(weights);
  }
  arrays.insert(arrays.end(), rest.begin(), rest.end());
  return make_dnn_call(device, op, std::span<const AnyArray* const>(arrays));
}

}  // namespace

Call<void> Dnn::mse_loss(const AnyArray& x, const AnyArray& target, const AnyArray& loss, LossOptions options) const {
  return loss_of(device_, terms_of(Loss::mse, options.reduction), x, target, options.weight, loss);
}
Call<void> Dnn::mse_loss_gradient(const AnyArray& dloss, const AnyArray& x, const AnyArray& target, const AnyArray& dx,
                                  LossOptions options) const {
  return loss_gradient_of(device_, terms_of(Loss::mse, options.reduction), dloss, x, target, options.weight, dx);
}
Call<void> Dnn::huber_loss(const AnyArray& x, const AnyArray& target, const AnyArray& loss,
                           HuberOptions options) const {
  return loss_of(device_, terms_of(options), x, target, options.weight, loss);
}
Call<void> Dnn::huber_loss_gradient(const AnyArray& dloss, const AnyArray& x, const AnyArray& target,
                                    const AnyArray& dx, HuberOptions options) const {
  return loss_gradient_of(device_, terms_of(options), dloss, x, target, options.weight, dx);
}
Call<void> Dnn::binary_cross_entropy_with_logits(const AnyArray& x, const AnyArray& target, const AnyArray& loss,
                                                 LossOptions options) const {
  return loss_of(device_, terms_of(Loss::binary_cross_entropy, options.reduction), x, target, options.weight, loss);
}
Call<void> Dnn::binary_cross_entropy_with_logits_gradient(const AnyArray& dloss, const AnyArray& x,
                                                          const AnyArray& target, const AnyArray& dx,
                                                          LossOptions options) const {
  return loss_gradient_of(device_, terms_of(Loss::binary_cross_entropy, options.reduction), dloss, x, target,
                          options.weight, dx);
}
Call<void> Dnn::kl_div(const AnyArray& x, const AnyArray& target, const AnyArray& loss, KlDivOptions options) const {
  return loss_of(device_, terms_of(options), x, target, nullptr, loss);
}
Call<void> Dnn::kl_div_gradient(const AnyArray& dloss, const AnyArray& x, const AnyArray& target, const AnyArray& dx,
                                KlDivOptions options) const {
  return loss_gradient_of(device_, terms_of(options), dloss, x, target, nullptr, dx);
}

Call<void> Dnn::cross_entropy(const AnyArray& logits, const AnyArray& target, const AnyArray& loss,
                              CrossEntropyOptions options) const {
  const Result<Classes> classes = classes_of(device_, "cross_entropy", logits, target, options.axis);
  if (!classes) return fail(classes.error());
  const op::DnnCrossEntropy op{
      .terms = terms_of(options), .logits = {}, .target = {}, .weights = {}, .loss = loss.view(), .verdict = {}};
  return entropy_call(device_, op, *classes, options.weights, {&loss});
}

Call<void> Dnn::cross_entropy_gradient(const AnyArray& dloss, const AnyArray& logits, const AnyArray& target,
                                       const AnyArray& dlogits, CrossEntropyOptions options) const {
  constexpr std::string_view kCall = "cross_entropy_gradient";
  const Result<Classes> classes = classes_of(device_, kCall, logits, target, options.axis);
  if (!classes) return fail(classes.error());
  const Result<AnyArray> out = rows_along(device_, kCall, {"dlogits", dlogits}, options.axis);
  if (!out) return fail(out.error());
  const op::DnnCrossEntropyGradient op{.terms = terms_of(options),
                                       .logits = {},
                                       .target = {},
                                       .weights = {},
                                       .dloss = dloss.view(),
                                       .dlogits = out->view(),
                                       .verdict = {}};
  return entropy_call(device_, op, *classes, options.weights, {&dloss, &*out});
}

}  // namespace troupe::inline v0
