#include "troupe/op/dnn_loss.hpp"

#include <cmath>

#include "troupe/op/dnn_rows_check.hpp"

namespace troupe::inline v0::op {
namespace {

/// "mse_loss", or "mse_loss_gradient".
std::string call_of(detail::Loss function, bool is_gradient) {
  return std::string(detail::name(function)) + (is_gradient ? "_gradient" : "");
}

/// One number, or as many as there are.
Result<void> check_loss(std::string_view call, const NamedView& loss, LossReduction reduction, const View& x,
                        const Shape& all) {
  TROUPE_TRY(check_type(call, loss, x.dtype));
  if (reduction == LossReduction::none) return check_shape(call, loss, all);
  if (loss.view.shape.rank() == 0) return {};
  return refuse(call, std::string(loss.name) + " is " + loss.view.shape.to_string() +
                          "; it is one number, [], unless the reduction is none");
}

Result<void> check_terms(std::string_view call, const LossTerms& terms, const View& x, const View& target,
                         const View& weight) {
  const NamedView predicted{"x", x}, wanted{"target", target}, weights{"weight", weight};
  TROUPE_TRY(check_float(call, predicted));
  TROUPE_TRY(check_type(call, wanted, x.dtype));
  TROUPE_TRY(check_shape(call, wanted, x.shape));
  if (terms.has_weight) {
    TROUPE_TRY(check_type(call, weights, x.dtype));
    TROUPE_TRY(check_shape(call, weights, x.shape));
  }
  TROUPE_TRY(check_within(call, "delta", terms.delta, std::isfinite(terms.delta) && terms.delta > 0,
                          "more than 0, and finite"));
  if (terms.reduction == LossReduction::batch_mean && x.shape.rank() == 0)
    return refuse(call, "x has no axis; the mean over a batch needs one");
  return {};
}

Shape rows_of_classes(const View& logits) { return without_last(logits.shape); }

Result<void> check_entropy(std::string_view call, const CrossEntropyTerms& terms, const View& logits,
                           const View& target, const View& weights) {
  const NamedView x{"logits", logits}, wanted{"target", target}, each{"weights", weights};
  TROUPE_TRY(check_float(call, x));
  TROUPE_TRY(check_has_rows(call, x));
  if (row_length(logits) == 0)
    return refuse(call, "logits is " + logits.shape.to_string() + "; there must be one class at least");
  if (target.dtype == DType::i32 || target.dtype == DType::i64) {
    TROUPE_TRY(check_shape(call, wanted, rows_of_classes(logits)));
  } else {
    if (target.dtype != logits.dtype)
      return refuse(call, "target is " + std::string(name(target.dtype)) + "; classes are i32 or i64, and " +
                              "probabilities have the type of logits, " + std::string(name(logits.dtype)));
    TROUPE_TRY(check_shape(call, wanted, logits.shape));
  }
  if (terms.has_weights) {
    TROUPE_TRY(check_type(call, each, logits.dtype));
    TROUPE_TRY(check_shape(call, each, Shape{row_length(logits)}));
  }
  TROUPE_TRY(check_within(call, "label_smoothing", terms.label_smoothing,
                          terms.label_smoothing >= 0 && terms.label_smoothing <= 1, "from 0 to 1"));
  if (terms.reduction == LossReduction::batch_mean)
    return refuse(call, "the reduction is batch_mean; a cross entropy has mean, sum and none");
  return {};
}

}  // namespace

Result<void> check(const DnnLoss& op) {
  const std::string call = call_of(op.terms.function, false);
  TROUPE_TRY(check_terms(call, op.terms, op.x, op.target, op.weight));
  TROUPE_TRY(check_loss(call, {"loss", op.loss}, op.terms.reduction, op.x, op.x.shape));
  if (op.terms.takes_probabilities()) return check_dnn_verdict(call, op.verdict);
  return {};
}

Result<void> check(const DnnLossGradient& op) {
  const std::string call = call_of(op.terms.function, true);
  TROUPE_TRY(check_terms(call, op.terms, op.x, op.target, op.weight));
  TROUPE_TRY(check_loss(call, {"dloss", op.dloss}, op.terms.reduction, op.x, op.x.shape));
  TROUPE_TRY(check_type(call, {"dx", op.dx}, op.x.dtype));
  TROUPE_TRY(check_shape(call, {"dx", op.dx}, op.x.shape));
  if (op.terms.takes_probabilities()) return check_dnn_verdict(call, op.verdict);
  return {};
}

Result<void> check(const DnnCrossEntropy& op) {
  constexpr std::string_view kCall = "cross_entropy";
  TROUPE_TRY(check_entropy(kCall, op.terms, op.logits, op.target, op.weights));
  TROUPE_TRY(check_loss(kCall, {"loss", op.loss}, op.terms.reduction, op.logits, rows_of_classes(op.logits)));
  return check_dnn_verdict(kCall, op.verdict);
}

Result<void> check(const DnnCrossEntropyGradient& op) {
  constexpr std::string_view kCall = "cross_entropy_gradient";
  TROUPE_TRY(check_entropy(kCall, op.terms, op.logits, op.target, op.weights));
  TROUPE_TRY(check_loss(kCall, {"dloss", op.dloss}, op.terms.reduction, op.logits, rows_of_classes(op.logits)));
  TROUPE_TRY(check_type(kCall, {"dlogits", op.dlogits}, op.logits.dtype));
  TROUPE_TRY(check_shape(kCall, {"dlogits", op.dlogits}, op.logits.shape));
  return check_dnn_verdict(kCall, op.verdict);
}

}  // namespace troupe::inline v0::op
