// Good ops of recurrent layers, what is refused of them, and that the slopes of a step are those of the step.
#include "troupe/op/dnn_recurrent.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "troupe/op/dnn.test.hpp"
#include "troupe/op/dnn_finding.hpp"
#include "troupe/op/recurrent_functions.hpp"

namespace troupe::op {
namespace {

using enum DType;
using Arguments = std::vector<Argument>;

/// Of 3 features and 2 hidden numbers: two layers in one direction, or one in both.
Arguments good_weights(Samples& add, const RecurrentTerms& terms, Access access) {
  Arguments weights;
  const std::int64_t sums = terms.gates() * 2;
  for (std::int64_t run = 0; run < 2; ++run) {
    weights.push_back({access, add.view({sums, run == 0 || terms.both_directions ? 3 : 2})});
    weights.push_back({access, add.view({sums, 2})});
    for (int i = 0; i < 2; ++i) weights.push_back({access, add.view({sums})});
  }
  return weights;
}
Arguments good_state(Samples& add, const RecurrentTerms& terms, Access access) {
  Arguments state;
  for (std::size_t i = 0; i < terms.states(); ++i) state.push_back({access, add.view({2, 6, 2})});
  return state;
}

}  // namespace

void add_dnn_recurrent_samples(Samples& add) {
  RecurrentTerms terms{.cell = detail::Recurrent::lstm, .has_bias = true, .has_lengths = true};
  add(DnnRecurrent{.terms = terms,
                   .keeps = true,
                   .x = add.view({5, 6, 3}),
                   .weights = good_weights(add, terms, Access::read),
                   .start = good_state(add, terms, Access::read),
                   .lengths = add.view({6}, i64),
                   .y = add.view({5, 6, 2}),
                   .end = good_state(add, terms, Access::write),
                   .kept = add.view({2, 5, 6, 10}),
                   .verdict = add.view({kDnnVerdictWords}, i32)});
  terms.cell = detail::Recurrent::gru;
  terms.both_directions = true;
  add(DnnRecurrentGradient{.terms = terms,
                           .dy = add.view({5, 6, 4}),
                           .x = add.view({5, 6, 3}),
                           .weights = good_weights(add, terms, Access::read),
                           .start = good_state(add, terms, Access::read),
                           .lengths = add.view({6}, i32),
                           .kept = add.view({2, 5, 6, 10}),
                           .dend = good_state(add, terms, Access::read),
                           .dx = add.view({5, 6, 3}),
                           .dstart = good_state(add, terms, Access::write),
                           .dweights = good_weights(add, terms, Access::write),
                           .verdict = add.view({kDnnVerdictWords}, i32)});
}

std::vector<Refusal> dnn_recurrent_refusals() {
  using Op = DnnRecurrent;
  using Gradient = DnnRecurrentGradient;
  return {
      {bad<Op>([](Op& op) { op.x.dtype = i32; }), "lstm: x is i32; it must be f16, bf16, f32 or f64",
       ErrorKind::unsupported},
      {bad<Op>([](Op& op) { reshape(op.x, {5, 6}); }),
       "lstm: x is [5, 6]; it must be [tokens, batch, features], with features"},
      {bad<Op>([](Op& op) { op.weights.pop_back(); }),
       "lstm: there are 7 weights; each layer has 4, and there can be up to 64"},
      {bad<Op>([](Op& op) { reshape(op.weights[1].view, {8}); }),
       "lstm: w_hh 0 is [8]; it must be [4 hidden, hidden], with hidden from 1 to 1048576"},
      {bad<Op>([](Op& op) { reshape(op.weights[4].view, {8, 3}); }), "lstm: w_ih 1 is [8, 3]; it must be [8, 2]"},
      {bad<Op>([](Op& op) { op.weights[7].view.dtype = f64; }), "lstm: b_hh 1 is f64; it must be f32"},
      {bad<Op>([](Op& op) { op.weights[3].access = Access::write; }),
       "lstm: the arrays of the weights are not read or written as they must be"},
      {bad<Op>([](Op& op) { op.start.pop_back(); }), "lstm: h0 and c0 belong together; give both, or none"},
      {bad<Gradient>([](Gradient& op) { op.dend.push_back(op.dend.front()); }),
       "gru_gradient: there is dc_n; a gru has dh_n only"},
      {bad<Op>([](Op& op) { reshape(op.start[1].view, {2, 6, 3}); }), "lstm: c0 is [2, 6, 3]; it must be [2, 6, 2]"},
      {bad<Op>([](Op& op) { reshape(op.end[0].view, {6, 2}); }), "lstm: h_n is [6, 2]; it must be [2, 6, 2]"},
      {bad<Op>([](Op& op) { op.end[1].view = op.end[0].view; }),
       "recurrent: end 0 and end 1 overlap, and the op would write one of them; use another array"},
      {bad<Op>([](Op& op) { op.lengths.dtype = f32; }), "lstm: lengths is f32; it must be i32 or i64",
       ErrorKind::unsupported},
      {bad<Op>([](Op& op) { reshape(op.lengths, {5}); }), "lstm: lengths is [5]; it must be [6]"},
      {bad<Op>([](Op& op) { reshape(op.y, {5, 6, 4}); }), "lstm: y is [5, 6, 4]; it must be [5, 6, 2]"},
      {bad<Op>([](Op& op) { reshape(op.kept, {2, 5, 6, 8}); }), "lstm: kept is [2, 5, 6, 8]; it must be [2, 5, 6, 10]"},
      {bad<Gradient>([](Gradient& op) { op.kept.dtype = f16; }), "gru_gradient: kept is f16; it must be f32"},
      {bad<Gradient>([](Gradient& op) { reshape(op.dweights[5].view, {2, 2}); }),
       "gru_gradient: dw_hh 1 is [2, 2]; it must be [6, 2]"},
      {bad<Gradient>([](Gradient& op) { op.dweights.resize(4); }),
       "gru_gradient: there are 8 weights, and arrays for 4 gradients of them; there must be as many, or none"},
  };
}

namespace {

/// The slopes of h and c of a step, weighed with dh and dc, by `x`, which is one of its numbers.
double rise(double& x, const std::function<double()>& function) {
  constexpr double kStep = 1e-6;
  const double at = x;
  x = at + kStep;
  const double above = function();
  x = at - kStep;
  const double below = function();
  x = at;
  return (above - below) / (2 * kStep);
}

TEST(RecurrentFunctions, have_the_slopes_of_their_steps) {
  for (const bool is_lstm : {true, false}) {
    double in[4] = {0.3, -0.7, 0.2, 1.1}, back[4] = {-0.4, 0.6, 0.9, 0.1}, before = 0.45;
    const double dh = 0.8, dc = is_lstm ? -0.3 : 0;
    const auto step = [&] { return is_lstm ? dnn::lstm_step(in, back, before) : dnn::gru_step(in, back, before); };
    const auto told = [&] {
      const dnn::KeptStep<double> kept = step();
      return dh * dnn::hidden_of(is_lstm, kept) + dc * kept.of[4];
    };
    const dnn::StepSlopes<double> slopes =
        is_lstm ? dnn::lstm_slopes(step(), before, dh, dc) : dnn::gru_slopes(step(), before, dh);
    for (int gate = 0; gate < (is_lstm ? 4 : 3); ++gate) {
      EXPECT_NEAR(rise(in[gate], told), slopes.in[gate], 1e-8) << is_lstm << gate;
      EXPECT_NEAR(rise(back[gate], told), slopes.back[gate], 1e-8) << is_lstm << gate;
    }
    EXPECT_NEAR(rise(before, told), is_lstm ? slopes.c : slopes.h, 1e-8) << is_lstm;
  }
}

TEST(RecurrentFunctions, do_not_overflow) {
  EXPECT_EQ(dnn::sigmoid_of(-1000.0F), 0.0F);
  EXPECT_EQ(dnn::sigmoid_of(1000.0F), 1.0F);
  EXPECT_TRUE(std::isnan(dnn::sigmoid_of(std::nanf(""))));
}

TEST(Recurrent, more_layers_than_an_op_takes_are_refused) {
  DnnRecurrent op = *sample(DnnRecurrent::kKind).get_if<DnnRecurrent>();
  while (op.weights.size() <= 64) op.weights.insert(op.weights.end(), op.weights.begin(), op.weights.begin() + 4);
  const Result<void> end = check(op);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message(), "lstm: there are 68 weights; each layer has 4, and there can be up to 64");
}

TEST(Recurrent, the_largest_gradient_fits_into_an_op) {
  DnnRecurrentGradient op = *sample(DnnRecurrentGradient::kKind).get_if<DnnRecurrentGradient>();
  op.weights.resize(4 * kMaxRecurrentRuns, op.weights.front());
  op.dweights.resize(4 * kMaxRecurrentRuns, op.dweights.front());
  EXPECT_LE(AnyOp(op).encoded().size(), kMaxOpBytes);
}

}  // namespace
}  // namespace troupe::op
