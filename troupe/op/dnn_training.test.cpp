// One good op of each kind of the topics on rows, lists and lookups; that losses and steps are what their formulas say;
// and what is special about checks of lists.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "troupe/op/dnn.hpp"
#include "troupe/op/dnn.test.hpp"
#include "troupe/op/dnn_finding.hpp"
#include "troupe/op/training_functions.hpp"

namespace troupe::op {
namespace {

View verdict_of(Samples& add) { return add.view({kDnnVerdictWords}, DType::i32); }

DnnOptimizerStep good_step(Samples& add) {
  DnnOptimizerStep op;
  op.rule = detail::Optimizer::adamw;
  op.has_masters = op.has_measure = true;
  op.rate = 1e-3;
  op.first = 0.9;
  op.second = 0.99;
  op.epsilon = 1e-8;
  op.arrays.push_back({Access::read, add.view({2, 3}, DType::bf16)});
  for (int i = 0; i < 6; ++i) op.arrays.push_back({i < 3 ? Access::read : Access::write, add.view({2, 3})});
  op.arrays.push_back({Access::write, add.view({2, 3}, DType::bf16)});
  op.measure = add.view({kMeasureNumbers});
  return op;
}

void add_losses(Samples& add) {
  const LossTerms terms{.function = detail::Loss::binary_cross_entropy,
                        .reduction = LossReduction::none,
                        .delta = 1,
                        .log_target = false,
                        .has_weight = true};
  add(DnnLoss{.terms = terms,
              .x = add.view({2, 3}),
              .target = add.view({2, 3}),
              .weight = add.view({2, 3}),
              .loss = add.view({2, 3}),
              .verdict = verdict_of(add)});
  add(DnnLossGradient{.terms = terms,
                      .x = add.view({2, 3}),
                      .target = add.view({2, 3}),
                      .weight = add.view({2, 3}),
                      .dloss = add.view({2, 3}),
                      .dx = add.view({2, 3}),
                      .verdict = verdict_of(add)});
  const CrossEntropyTerms rows{
      .reduction = LossReduction::mean, .label_smoothing = 0.1, .ignored = -100, .has_weights = true};
  add(DnnCrossEntropy{.terms = rows,
                      .logits = add.view({2, 3}),
                      .target = add.view({2}, DType::i32),
                      .weights = add.view({3}),
                      .loss = add.view({}),
                      .verdict = verdict_of(add)});
  add(DnnCrossEntropyGradient{.terms = rows,
                              .logits = add.view({2, 3}),
                              .target = add.view({2}, DType::i64),
                              .weights = add.view({3}),
                              .dloss = add.view({}),
                              .dlogits = add.view({2, 3}),
                              .verdict = verdict_of(add)});
}

void add_attention(Samples& add) {
  AttentionTerms terms;
  terms.causal = terms.has_mask = terms.has_lengths = true;
  terms.probability = 0.25;
  const auto inputs = [&] {
    return AttentionInputs{.q = add.view({2, 4, 3, 8}),
                           .k = add.view({2, 2, 5, 8}),
                           .v = add.view({2, 2, 5, 6}),
                           .mask_or_key_offsets = add.view({2, 4, 3, 5}),
                           .lengths_or_query_offsets = add.view({2}, DType::i32)};
  };
  add(DnnAttention{.terms = terms,
                   .in = inputs(),
                   .y = add.view({2, 4, 3, 6}),
                   .sums = add.view({2, 4, 3}),
                   .verdict = verdict_of(add)});
  add(DnnAttentionGradient{.terms = terms,
                           .in = inputs(),
                           .y = add.view({2, 4, 3, 6}),
                           .sums = add.view({2, 4, 3}),
                           .dy = add.view({2, 4, 3, 6}),
                           .dq = add.view({2, 4, 3, 8}),
                           .dk = add.view({2, 2, 5, 8}),
                           .dv = add.view({2, 2, 5, 6}),
                           .verdict = verdict_of(add)});
  add(DnnCacheAppend{.k = add.view({2, 2, 3, 8}),
                     .v = add.view({2, 2, 3, 6}),
                     .table = add.view({2, 4}, DType::i32),
                     .lengths = add.view({2}, DType::i32),
                     .key_cache = add.view({7, 2, 2, 8}),
                     .value_cache = add.view({7, 2, 2, 6}),
                     .verdict = verdict_of(add)});
  add(DnnPagedAttention{.scale = 0.5,
                        .window = 0,
                        .q = add.view({2, 4, 3, 8}),
                        .key_cache = add.view({7, 2, 2, 8}),
                        .value_cache = add.view({7, 2, 2, 6}),
                        .table = add.view({2, 4}, DType::i64),
                        .lengths = add.view({2}, DType::i64),
                        .y = add.view({2, 4, 3, 6}),
                        .verdict = verdict_of(add)});
  add(DnnRotary{.base = 10000,
                .interleaved = true,
                .backward = false,
                .has_positions = true,
                .first = 0,
                .x = add.view({2, 3, 8}),
                .positions = add.view({2, 3}, DType::i64),
                .y = add.view({2, 3, 8})});
}

}  // namespace

void add_dnn_training_samples(Samples& add) {
  add_attention(add);
  add(DnnSoftmax{.logarithm = true, .x = add.view({2, 3}), .y = add.view({2, 3})});
  add(DnnSoftmaxGradient{.logarithm = false, .y = add.view({2, 3}), .dy = add.view({2, 3}), .dx = add.view({2, 3})});
  add_losses(add);
  add(good_step(add));
  add(DnnMeasureGradients{.most = 1,
                          .has_scale = true,
                          .gradients = {{Access::read, add.view({2, 3})}, {Access::read, add.view({4})}},
                          .scale = add.view({kLossScaleNumbers}),
                          .measure = add.view({kMeasureNumbers})});
  add(DnnAdjustLossScale{.growth = 2,
                         .backoff = 0.5,
                         .interval = 10,
                         .measure = add.view({kMeasureNumbers}),
                         .scale = add.view({kLossScaleNumbers}),
                         .next = add.view({kLossScaleNumbers})});
  add(DnnEmbedding{.table = add.view({5, 3}),
                   .indices = add.view({2, 2}, DType::i64),
                   .y = add.view({2, 2, 3}),
                   .verdict = verdict_of(add)});
  add(DnnEmbeddingGradient{.padding = 1,
                           .dy = add.view({2, 3}),
                           .indices = add.view({2}, DType::i32),
                           .dtable = add.view({5, 3}),
                           .verdict = verdict_of(add)});
  add(DnnDropout{
      .source = {.seed = 7, .position = 11}, .probability = 0.25, .x = add.view({2, 3}), .y = add.view({2, 3})});
}

namespace {

using detail::Loss;
using detail::Optimizer;

TEST(TrainingFunctions, have_the_slopes_of_their_losses) {
  constexpr double kStep = 1e-6;
  for (int i = 0; i <= static_cast<int>(Loss::kLast); ++i)
    for (const bool log_target : {false, true}) {
      const dnn::LossNumbers<double> of{static_cast<Loss>(i), log_target, 0.7};
      for (double x = -3.03; x < 3; x += 0.17) {
        const double target = log_target ? -0.4 : 0.3;
        const double rise = dnn::loss_of(of, x + kStep, target) - dnn::loss_of(of, x - kStep, target);
        EXPECT_NEAR(dnn::loss_slope(of, x, target), rise / (2 * kStep), 1e-8) << detail::name(of.function) << x;
      }
    }
}

TEST(TrainingFunctions, of_a_cross_entropy_do_not_overflow) {
  const dnn::LossNumbers<float> of{Loss::binary_cross_entropy, false, 1};
  EXPECT_FLOAT_EQ(dnn::loss_of(of, 200.0F, 1.0F), 0);
  EXPECT_FLOAT_EQ(dnn::loss_of(of, -200.0F, 1.0F), 200);
  EXPECT_FLOAT_EQ(dnn::loss_slope(of, -200.0F, 1.0F), -1);
}

TEST(TrainingFunctions, step_adam_by_the_rate_at_first_whatever_the_gradient) {
  for (const double gradient : {1e-4, 3.0, -50.0}) {
    const auto of = dnn::step_numbers<double>(Optimizer::adam, false, 1, 0.1, 0.9, 0.999, 1e-12, 0);
    const dnn::Stepped<double> next = dnn::stepped(of, gradient, {1, 0, 0});
    EXPECT_NEAR(next.value, gradient > 0 ? 0.9 : 1.1, 1e-8);
  }
}

TEST(TrainingFunctions, find_the_least_of_a_parabola) {
  for (const Optimizer rule : {Optimizer::sgd, Optimizer::adam, Optimizer::adamw, Optimizer::lion}) {
    dnn::Stepped<double> now{4, 0, 0};
    const bool is_sgd = rule == Optimizer::sgd;
    for (std::int64_t step = 1; step <= 3000; ++step) {
      const auto of =
          dnn::step_numbers<double>(rule, is_sgd, step, is_sgd ? 0.01 : 0.005, 0.9, is_sgd ? 0 : 0.99, 1e-8, 0);
      now = dnn::stepped(of, 2 * (now.value - 1), now);
    }
    EXPECT_NEAR(now.value, 1, 0.02) << detail::name(rule);
  }
}

TEST(TrainingFunctions, limit_a_norm_without_the_scale_of_the_loss) {
  EXPECT_DOUBLE_EQ(dnn::gradient_factor(6, 1, 0), 1);
  EXPECT_DOUBLE_EQ(dnn::gradient_factor(6, 1, 3), 0.5);
  EXPECT_DOUBLE_EQ(dnn::gradient_factor(6, 4, 3), 0.25);      // 1.5 without the scale
  EXPECT_DOUBLE_EQ(dnn::gradient_factor(6, 4, 0.75), 0.125);  // half of it
}

TEST(TrainingFunctions, lower_a_loss_scale_at_once_and_raise_it_after_a_while) {
  dnn::LossScale now{8, 0};
  now = dnn::next_loss_scale(now, false, 2, 0.5, 3);
  EXPECT_EQ(now.scale, 4);
  for (int i = 0; i < 2; ++i) now = dnn::next_loss_scale(now, true, 2, 0.5, 3);
  EXPECT_EQ(now.scale, 4);
  now = dnn::next_loss_scale(now, true, 2, 0.5, 3);
  EXPECT_EQ(now.scale, 8);
  EXPECT_EQ(now.steps, 0);
}

TEST(DnnOptimizerStep, has_as_many_arrays_as_its_rule_needs) {
  DnnOptimizerStep op;
  EXPECT_EQ(op.arrays_each(), 3U);  // gradient, value, what it becomes
  op.first = 0.9;
  EXPECT_EQ(op.arrays_each(), 5U);
  op.rule = Optimizer::adamw;
  EXPECT_EQ(op.arrays_each(), 7U);
  op.has_masters = true;
  EXPECT_EQ(op.arrays_each(), 8U);
  EXPECT_LE(op.arrays_each() * kMaxParameters + 1, kMaxViews);
}

}  // namespace
}  // namespace troupe::op
