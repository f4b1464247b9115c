// The rows of the table of refusals that are of softmax, losses, optimizers and lookups. refusals.test.cpp says what a
// row is.
#include <limits>

#include "troupe/op/dnn.hpp"
#include "troupe/op/refusals.test.hpp"

namespace troupe::op {
namespace {

using enum DType;

constexpr ErrorKind kNotThere = ErrorKind::unsupported;

std::vector<Refusal> of_softmax_and_losses() {
  return {
      {bad<DnnSoftmax>([](DnnSoftmax& op) { retype(i32, op.x, op.y); }),
       "log_softmax: x is i32; it must be f16, bf16, f32 or f64", kNotThere},
      {bad<DnnSoftmax>([](DnnSoftmax& op) { reshape(op.x, {}); }),
       "log_softmax: x has no axis; it must have one at least"},
      {bad<DnnSoftmax>([](DnnSoftmax& op) {
         op.logarithm = false;
         reshape(op.y, {3, 2});
       }),
       "softmax: y is [3, 2]; it must be [2, 3]"},
      {bad<DnnSoftmaxGradient>([](DnnSoftmaxGradient& op) { op.dy.dtype = f64; }),
       "softmax_gradient: dy is f64; it must be f32"},
      {bad<DnnSoftmaxGradient>([](DnnSoftmaxGradient& op) {
         op.logarithm = true;
         reshape(op.dx, {2});
       }),
       "log_softmax_gradient: dx is [2]; it must be [2, 3]"},
      {bad<DnnLoss>([](DnnLoss& op) { reshape(op.target, {3}); }),
       "binary_cross_entropy_with_logits: target is [3]; it must be [2, 3]"},
      {bad<DnnLoss>([](DnnLoss& op) {
         op.terms.function = detail::Loss::mse;
         op.terms.reduction = LossReduction::sum;
       }),
       "mse_loss: loss is [2, 3]; it is one number, [], unless the reduction is none"},
      {bad<DnnLoss>([](DnnLoss& op) {
         op.terms.function = detail::Loss::huber;
         op.terms.delta = 0;
       }),
       "huber_loss: delta is 0; it must be more than 0, and finite"},
      {bad<DnnLoss>([](DnnLoss& op) {
         op.terms.function = detail::Loss::kl_div;
         op.terms.reduction = LossReduction::batch_mean;
         for (View* const view : {&op.x, &op.target, &op.weight, &op.loss}) reshape(*view, {});
       }),
       "kl_div: x has no axis; the mean over a batch needs one"},
      {bad<DnnLossGradient>([](DnnLossGradient& op) { reshape(op.dx, {2}); }),
       "binary_cross_entropy_with_logits_gradient: dx is [2]; it must be [2, 3]"},
      {bad<DnnLossGradient>([](DnnLossGradient& op) {
         op.terms.function = detail::Loss::mse;
         op.dx.dtype = f16;
       }),
       "mse_loss_gradient: dx is f16; it must be f32"},
      {bad<DnnLossGradient>([](DnnLossGradient& op) {
         op.terms.function = detail::Loss::huber;
         op.dloss.dtype = f16;
       }),
       "huber_loss_gradient: dloss is f16; it must be f32"},
      {bad<DnnLossGradient>([](DnnLossGradient& op) {
         op.terms.function = detail::Loss::kl_div;
         op.terms.reduction = LossReduction::mean;
       }),
       "kl_div_gradient: dloss is [2, 3]; it is one number, [], unless the reduction is none"},
  };
}

std::vector<Refusal> of_cross_entropy() {
  return {
      {bad<DnnCrossEntropy>([](DnnCrossEntropy& op) { op.target.dtype = f16; }),
       "cross_entropy: target is f16; classes are i32 or i64, and probabilities have the type of logits, f32"},
      {bad<DnnCrossEntropy>([](DnnCrossEntropy& op) { reshape(op.target, {3}); }),
       "cross_entropy: target is [3]; it must be [2]"},
      {bad<DnnCrossEntropy>([](DnnCrossEntropy& op) { op.target.dtype = f32; }),
       "cross_entropy: target is [2]; it must be [2, 3]"},
      {bad<DnnCrossEntropy>([](DnnCrossEntropy& op) { reshape(op.logits, {2, 0}); }),
       "cross_entropy: logits is [2, 0]; there must be one class at least"},
      {bad<DnnCrossEntropy>([](DnnCrossEntropy& op) { reshape(op.weights, {2}); }),
       "cross_entropy: weights is [2]; it must be [3]"},
      {bad<DnnCrossEntropy>([](DnnCrossEntropy& op) { op.terms.label_smoothing = 1.5; }),
       "cross_entropy: label_smoothing is 1.5; it must be from 0 to 1"},
      {bad<DnnCrossEntropy>([](DnnCrossEntropy& op) { op.terms.reduction = LossReduction::batch_mean; }),
       "cross_entropy: the reduction is batch_mean; a cross entropy has mean, sum and none"},
      {bad<DnnCrossEntropy>([](DnnCrossEntropy& op) { op.verdict.strides[0] = 2; }),
       "cross_entropy: verdict has gaps; it must be contiguous"},
      {bad<DnnCrossEntropyGradient>([](DnnCrossEntropyGradient& op) { op.dlogits.dtype = f64; }),
       "cross_entropy_gradient: dlogits is f64; it must be f32"},
  };
}

std::vector<Refusal> of_optimizers() {
  return {
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.arrays.clear(); }),
       "adamw: there are 0 parameters; one call takes from 1 to 23: call it for parts of the list"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.rate = -1; }),
       "adamw: rate is -1; it must be 0 or more, and finite"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.rate = std::numeric_limits<double>::quiet_NaN(); }),
       "adamw: rate is NaN; it must be finite"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.decay = std::numeric_limits<double>::infinity(); }),
       "adamw: weight_decay is infinite; it must be finite"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.first = 1; }),
       "adamw: beta1 is 1; it must be from 0 to less than 1"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.second = 2; }),
       "adamw: beta2 is 2; it must be from 0 to less than 1"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.epsilon = -1; }),
       "adamw: epsilon is -1; it must be 0 or more, and finite"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.decay = -1; }),
       "adamw: weight_decay is -1; it must be 0 or more, and finite"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.nesterov = true; }),
       "adamw: nesterov needs momentum, and no dampening"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.step = 0; }), "adamw: step is 0; the first step is 1"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.arrays[0].access = Access::update; }),
       "adamw: array 0 is not read or written as a step does"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.arrays[0].view.dtype = i8; }),
       "adamw: gradient 0 is i8; it must be f16, bf16, f32 or f64", kNotThere},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.arrays[1].view.dtype = bf16; }),
       "adamw: master 0 is bf16; it must be f32"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { reshape(op.arrays[2].view, {3}); }),
       "adamw: first 0 is [3]; it must be [2, 3]"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { reshape(op.arrays[6].view, {3}); }),
       "adamw: second 0 is [3]; it must be [2, 3]"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { op.arrays[7].view.dtype = f32; }),
       "adamw: value 0 is f32; it must be bf16"},
      {bad<DnnOptimizerStep>([](DnnOptimizerStep& op) { reshape(op.measure, {2}); }),
       "adamw: measure is [2]; it must be [3]"},
      {bad<DnnMeasureGradients>([](DnnMeasureGradients& op) { op.gradients.clear(); }),
       "measure_gradients: there are 0 gradients; one call takes from 1 to 128"},
      {bad<DnnMeasureGradients>([](DnnMeasureGradients& op) { op.gradients[1].access = Access::write; }),
       "measure_gradients: gradient 1 must be read only"},
      {bad<DnnMeasureGradients>([](DnnMeasureGradients& op) { op.most = -1; }),
       "measure_gradients: max_norm is -1; it must be 0 or more, and finite"},
      {bad<DnnMeasureGradients>([](DnnMeasureGradients& op) { op.scale.dtype = f64; }),
       "measure_gradients: loss_scale is f64; it must be f32"},
      {bad<DnnAdjustLossScale>([](DnnAdjustLossScale& op) { op.growth = 0.5; }),
       "adjust_loss_scale: growth is 0.5; it must be 1 or more, and finite"},
      {bad<DnnAdjustLossScale>([](DnnAdjustLossScale& op) { op.backoff = 1; }),
       "adjust_loss_scale: backoff is 1; it must be more than 0 and less than 1"},
      {bad<DnnAdjustLossScale>([](DnnAdjustLossScale& op) { op.interval = 0; }),
       "adjust_loss_scale: interval is 0; it must be 1 or more"},
  };
}

std::vector<Refusal> of_lookups() {
  return {
      {bad<DnnEmbedding>([](DnnEmbedding& op) { op.indices.dtype = u32; }),
       "embedding: indices is u32; it must be i32 or i64", kNotThere},
      {bad<DnnEmbedding>([](DnnEmbedding& op) { reshape(op.table, {15}); }),
       "embedding: table is [15]; it must be a matrix"},
      {bad<DnnEmbedding>([](DnnEmbedding& op) { reshape(op.y, {2, 3}); }),
       "embedding: y is [2, 3]; it must be [2, 2, 3]"},
      {bad<DnnEmbedding>([](DnnEmbedding& op) { reshape(op.indices, {1, 1, 1, 1, 1, 1, 1, 1}); }),
       "embedding: indices is [1, 1, 1, 1, 1, 1, 1, 1]; what they choose has one axis more, and there are 8 at most"},
      {bad<DnnEmbeddingGradient>([](DnnEmbeddingGradient& op) { op.padding = 5; }),
       "embedding_gradient: padding is 5; it must be a row of the table, which has 5, or -1 for none"},
      {bad<DnnDropout>([](DnnDropout& op) { op.probability = 1; }),
       "dropout: probability is 1; it must be from 0 to less than 1"},
      {bad<DnnDropout>([](DnnDropout& op) { op.source.engine = RandomEngine::mt19937; }),
       "dropout: the generator's engine is mt19937; what is left out is drawn by philox4x32_10", kNotThere},
      {bad<DnnDropout>([](DnnDropout& op) { op.source.position = std::numeric_limits<std::uint64_t>::max(); }),
       "dropout: the generator is at position 18446744073709551615, and 6 more reach past 2^64 - 1; go on with another "
       "stream"},
  };
}

using Attend = DnnAttention;

/// An attention of packed sequences.
void pack(Attend& op) {
  op.terms.is_packed = true;
  op.terms.has_lengths = op.terms.has_mask = false;
  for (View* const view : {&op.in.q, &op.in.k, &op.in.v, &op.y}) {
    Shape shape = view->shape;
    shape[0] = 1;
    reshape(*view, shape);
  }
  reshape(op.sums, {1, 4, 3});
  op.in.mask_or_key_offsets.dtype = op.in.lengths_or_query_offsets.dtype = i32;
  reshape(op.in.mask_or_key_offsets, {3});
  reshape(op.in.lengths_or_query_offsets, {3});
}

std::vector<Refusal> of_attention() {
  return {
      {bad<Attend>([](Attend& op) { op.in.q.dtype = i32; }), "attention: q is i32; it must be f16, bf16, f32 or f64",
       kNotThere},
      {bad<Attend>([](Attend& op) { op.in.v.dtype = f64; }),
       "attention: q is f32 and v is f64; they must have the same type"},
      {bad<Attend>([](Attend& op) { reshape(op.in.q, {2, 3, 8}); }),
       "attention: q is [2, 3, 8]; it must be [batch, heads, tokens, width]"},
      {bad<Attend>([](Attend& op) { reshape(op.in.q, {2, 4, 3, 257}); }),
       "attention: q is [2, 4, 3, 257]; heads must be from 1 to 256 wide"},
      {bad<Attend>([](Attend& op) { reshape(op.in.q, {2, 5, 3, 8}); }),
       "attention: there are 5 heads of queries and 2 of keys; each head of keys must have as many heads of queries"},
      {bad<Attend>([](Attend& op) { reshape(op.in.v, {2, 2, 4, 6}); }),
       "attention: v is [2, 2, 4, 6]; it must be [2, 2, 5, 6]"},
      {bad<Attend>([](Attend& op) { op.terms.scale = std::numeric_limits<double>::infinity(); }),
       "attention: scale is infinite; it must be finite"},
      {bad<Attend>([](Attend& op) { op.terms.window = -1; }),
       "attention: window is -1; it must be 1 or more, or 0 for none"},
      {bad<Attend>([](Attend& op) { op.terms.probability = 1; }),
       "attention: probability is 1; it must be from 0 to less than 1"},
      {bad<Attend>([](Attend& op) { op.in.mask_or_key_offsets.dtype = i8; }),
       "attention: mask is i8; it must be bool, or f32, which is added"},
      {bad<Attend>([](Attend& op) { reshape(op.in.mask_or_key_offsets, {3, 5}); }),
       "attention: mask is [3, 5]; it must be [2, 4, 3, 5]"},
      {bad<Attend>([](Attend& op) { op.terms.is_packed = true; }),
       "attention: there are lengths and offsets; packed sequences have offsets only"},
      {bad<Attend>([](Attend& op) {
         op.terms.is_packed = true;
         op.terms.has_lengths = false;
       }),
       "attention: there are offsets and a mask; packed sequences take no mask"},
      {bad<Attend>([](Attend& op) {
         op.terms.is_packed = true;
         op.terms.has_lengths = op.terms.has_mask = false;
       }),
       "attention: there are offsets, and a batch of 2; packed sequences are a batch of 1"},
      {bad<Attend>([](Attend& op) {
         pack(op);
         reshape(op.in.lengths_or_query_offsets, {0});
       }),
       "attention: query_offsets is [0]; n sequences have n + 1 offsets"},
      {bad<Attend>([](Attend& op) {
         pack(op);
         reshape(op.in.mask_or_key_offsets, {4});
       }),
       "attention: key_offsets is [4]; it must be [3]"},
      {bad<DnnAttentionGradient>([](DnnAttentionGradient& op) { reshape(op.dk, {2, 2, 5, 6}); }),
       "attention_gradient: dk is [2, 2, 5, 6]; it must be [2, 2, 5, 8]"},
      {bad<DnnCacheAppend>([](DnnCacheAppend& op) { reshape(op.k, {2, 2, 8}); }),
       "cache_append: k is [2, 2, 8]; it must be [batch, heads, tokens, width]"},
      {bad<DnnCacheAppend>([](DnnCacheAppend& op) { reshape(op.key_cache, {7, 2, 8}); }),
       "cache_append: key_cache is [7, 2, 8]; it must be [blocks, tokens of a block, heads, width]"},
      {bad<DnnCacheAppend>([](DnnCacheAppend& op) { reshape(op.key_cache, {7, 0, 2, 8}); }),
       "cache_append: key_cache is [7, 0, 2, 8]; a block has one token at least"},
      {bad<DnnPagedAttention>([](DnnPagedAttention& op) { reshape(op.table, {8}); }),
       "paged_attention: table is [8]; it must be a matrix"},
      {bad<DnnRotary>([](DnnRotary& op) { reshape(op.x, {8}); }), "rotary: x is [8]; it must be [.., tokens, width]"},
      {bad<DnnRotary>([](DnnRotary& op) { reshape(op.x, {2, 3, 7}); }),
       "rotary: x is [2, 3, 7]; the width must be even"},
      {bad<DnnRotary>([](DnnRotary& op) {
         op.backward = true;
         op.base = 0;
       }),
       "rotary_gradient: base is 0; it must be more than 0, and finite"},
  };
}

}  // namespace

std::vector<Refusal> training_refusals() {
  std::vector<Refusal> all = of_softmax_and_losses();
  for (const auto& more : {of_cross_entropy(), of_optimizers(), of_lookups(), of_attention()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace troupe::op
