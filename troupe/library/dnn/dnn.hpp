// Neural networks on a device: `gpu.dnn()`. Arrays of f32, f64, f16 or bf16 with any strides: [batch, channels, ...] is
// how axes are counted, and where the channels lie in memory the strides say, so NCHW and NHWC need no flag. f16 and
// bf16 are computed in f32 and rounded once. What does not fit is refused before anything is submitted.
//
//   CO_TRY(co_await gpu.dnn().convolution(x, w, y, {.padding = 1, .activation = DnnActivation::relu, .bias = &b}));
//   CO_TRY(co_await gpu.dnn().max_pool(y, 2, z));
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <utility>

#include "troupe/core/dnn_kinds.hpp"
#include "troupe/device/device.hpp"
#include "troupe/library/dnn/training_options.hpp"
#include "troupe/library/random/random.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

/// A number for all axes of space, `2`, or one for each, `{2, 1}`; or none yet, `{}`.
class AlongSpace {
 public:
  constexpr AlongSpace() noexcept = default;
  template <std::integral... I>
    requires(sizeof...(I) >= 1 && sizeof...(I) <= 3)
  constexpr AlongSpace(I... numbers) noexcept  // NOLINT(google-explicit-constructor): numbers are written in braces
      : numbers_{static_cast<std::int64_t>(numbers)...}, count_(sizeof...(I)) {}
  /// How many were given.
  constexpr int count() const noexcept { return count_; }
  /// These numbers, or others where there are none.
  constexpr AlongSpace value_or(const AlongSpace& others) const noexcept { return count_ == 0 ? others : *this; }
  constexpr std::int64_t operator[](int axis) const noexcept {
    return numbers_[static_cast<std::size_t>(count_ == 1 ? 0 : axis)];
  }

 private:
  std::array<std::int64_t, 3> numbers_{};
  int count_ = 0;
};

}  // namespace detail

/// What an activation can be told. Without alpha it is the usual one: 0.01 for `leaky_relu`, 1 for `elu`.
struct DnnActivationOptions {
  std::optional<double> alpha = std::nullopt;  // the number of a function that has one
};
/// What a convolution can be told: how the filters go over x, and what its sums go through.
struct ConvolutionOptions {
  detail::AlongSpace stride = 1;                   // from one place of the filters to the next
  detail::AlongSpace padding = 0;                  // zeros in front of x and, unless told, behind it
  detail::AlongSpace padding_after = {};           // zeros behind x
  detail::AlongSpace dilation = 1;                 // from one element of a filter to the next
  std::int64_t groups = 1;                         // so many convolutions side by side
  DnnActivation activation = DnnActivation::none;  // the function that each element goes through
  std::optional<double> alpha = std::nullopt;      // the activation's number
  const AnyArray* bias = nullptr;                  // a number for each channel of the result
  const AnyArray* addend = nullptr;                // of the result's shape; not of a transposed one
};
/// What a pool can be told.
struct PoolOptions {
  detail::AlongSpace stride = {};         // the extents of the window unless told
  detail::AlongSpace padding = 0;         // in front of x and, unless told, behind it
  detail::AlongSpace padding_after = {};  // behind x
  detail::AlongSpace dilation = 1;        // from one element of a window to the next
  bool counts_padding = true;             // in an average: padding is 0, and not left out
  const AnyArray* indices = nullptr;      // where the greatest elements are, i32 or i64, for the gradient
};
/// What a normalization can be told.
struct NormOptions {
  double epsilon = 1e-5;            // added to the variance
  const AnyArray* scale = nullptr;  // multiplies what is normalized
  const AnyArray* shift = nullptr;  // is added then
};
/// What a normalization by the batch can be told while it learns.
struct BatchNormTrainingOptions {
  double epsilon = 1e-5;                       // added to the variance
  double momentum = 0.1;                       // of the way that running figures go towards those of the batch
  const AnyArray* scale = nullptr;             // multiplies what is normalized
  const AnyArray* shift = nullptr;             // is added then
  const AnyArray* running_mean = nullptr;      // both of them or none
  const AnyArray* running_variance = nullptr;  // goes towards the unbiased variance
};
/// What the gradient of a normalization can be told: the same epsilon and scale, and what else it is to give.
struct NormGradientOptions {
  double epsilon = 1e-5;             // as before
  const AnyArray* scale = nullptr;   // as before
  const AnyArray* dscale = nullptr;  // the gradient of the scale, when it is wanted
  const AnyArray* dshift = nullptr;  // the gradient of the shift, when it is wanted
};
/// What an interpolation can be told.
struct InterpolateOptions {
  DnnInterpolation way = DnnInterpolation::nearest;  // what stands between elements
  bool aligns_corners = false;  // the first and last elements of both are at the same places; not with nearest
};
static_assert(std::is_trivially_destructible_v<DnnActivationOptions> &&
                  std::is_trivially_destructible_v<ConvolutionOptions> &&
                  std::is_trivially_destructible_v<PoolOptions> && std::is_trivially_destructible_v<NormOptions> &&
                  std::is_trivially_destructible_v<BatchNormTrainingOptions> &&
                  std::is_trivially_destructible_v<NormGradientOptions> &&
                  std::is_trivially_destructible_v<InterpolateOptions>,
              "safe inside a co_await with g++ 12");

/// The layers of neural networks and their gradients: `gpu.dnn()`.
class Dnn {
 public:
  explicit Dnn(Device device) noexcept : device_(std::move(device)) {}

  // Calls stand by topic, each topic with a source file of its own beside this header. Outputs must not overlap inputs
  // unless it is said.

  // ---- convolutions: dnn_convolution.cpp ----

  /// y = activation(x * w + bias + addend): x [batch, channels, ...], w [filters, channels / groups, ...] and y [batch,
  /// filters, ...] with one to three axes of space. Filters are not turned round, as networks have it.
  Call<void> convolution(const AnyArray& x, const AnyArray& w, const AnyArray& y,
                         ConvolutionOptions options = {}) const;
  /// The gradient of x from that of y, by the same options. Where a stride leaves it open how large x was, dx says so.
  Call<void> convolution_input_gradient(const AnyArray& dy, const AnyArray& w, const AnyArray& dx,
                                        ConvolutionOptions options = {}) const;
  /// The gradient of w: samples are added in their order.
  Call<void> convolution_filter_gradient(const AnyArray& x, const AnyArray& dy, const AnyArray& dw,
                                         ConvolutionOptions options = {}) const;
  /// The transposed convolution: y is larger than x by what strides skip. x [batch, channels, ...], w [channels,
  /// filters / groups, ...] and y [batch, filters, ...]; padding is cut off y.
  Call<void> transposed_convolution(const AnyArray& x, const AnyArray& w, const AnyArray& y,
                                    ConvolutionOptions options = {}) const;
  /// Its gradients.
  Call<void> transposed_convolution_input_gradient(const AnyArray& dy, const AnyArray& w, const AnyArray& dx,
                                                   ConvolutionOptions options = {}) const;
  /// The gradient of w.
  Call<void> transposed_convolution_filter_gradient(const AnyArray& x, const AnyArray& dy, const AnyArray& dw,
                                                    ConvolutionOptions options = {}) const;

  // ---- pools: dnn_pooling.cpp ----

  /// y = the greatest element of each window of x; a NaN counts as the greatest. Padding is never it.
  Call<void> max_pool(const AnyArray& x, detail::AlongSpace window, const AnyArray& y, PoolOptions options = {}) const;
  /// The gradient of x, from the indices that `max_pool` gave.
  Call<void> max_pool_gradient(const AnyArray& dy, const AnyArray& indices, detail::AlongSpace window,
                               const AnyArray& dx, PoolOptions options = {}) const;
  /// y = the mean of each window of x.
  Call<void> average_pool(const AnyArray& x, detail::AlongSpace window, const AnyArray& y,
                          PoolOptions options = {}) const;
  /// The gradient of x.
  Call<void> average_pool_gradient(const AnyArray& dy, detail::AlongSpace window, const AnyArray& dx,
                                   PoolOptions options = {}) const;
  /// The same with a window for each element of y, which together see all of x: a y of extents 1 pools all of it. Of
  /// the options only `indices` counts.
  Call<void> adaptive_max_pool(const AnyArray& x, const AnyArray& y, PoolOptions options = {}) const;
  /// The gradient of x, from the indices.
  Call<void> adaptive_max_pool_gradient(const AnyArray& dy, const AnyArray& indices, const AnyArray& dx) const;
  /// The mean of a window for each element of y.
  Call<void> adaptive_average_pool(const AnyArray& x, const AnyArray& y) const;
  /// The gradient of x.
  Call<void> adaptive_average_pool_gradient(const AnyArray& dy, const AnyArray& dx) const;

  // ---- normalizations: dnn_norm.cpp ----
  // y = (x - mean) / sqrt(variance + epsilon) scale + shift. Scale, shift, means and variances are of x's type, or,
  // where that is of 16 bits, all of f32. Gradients find the mean and the variance again from x.

  /// By figures that are given, one for each channel of x [batch, channels, ...]. y may be x.
  Call<void> batch_norm(const AnyArray& x, const AnyArray& mean, const AnyArray& variance, const AnyArray& y,
                        NormOptions options = {}) const;
  /// By those of the batch, of each channel. Running figures go towards them.
  Call<void> batch_norm_training(const AnyArray& x, const AnyArray& y, BatchNormTrainingOptions options = {}) const;
  /// The gradients of a `batch_norm_training`.
  Call<void> batch_norm_gradient(const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                 NormGradientOptions options = {}) const;
  /// By those of each of `groups` groups of neighbouring channels of a sample.
  Call<void> group_norm(const AnyArray& x, std::int64_t groups, const AnyArray& y, NormOptions options = {}) const;
  /// The gradients of a `group_norm`.
  Call<void> group_norm_gradient(const AnyArray& dy, const AnyArray& x, std::int64_t groups, const AnyArray& dx,
                                 NormGradientOptions options = {}) const;
  /// By those of each channel of a sample.
  Call<void> instance_norm(const AnyArray& x, const AnyArray& y, NormOptions options = {}) const;
  /// The gradients of an `instance_norm`.
  Call<void> instance_norm_gradient(const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                    NormGradientOptions options = {}) const;
  /// By those of the last `axes` axes, whose shape scale and shift have.
  Call<void> layer_norm(const AnyArray& x, const AnyArray& y, NormOptions options = {}, int axes = 1) const;
  /// The gradients of a `layer_norm`.
  Call<void> layer_norm_gradient(const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                 NormGradientOptions options = {}, int axes = 1) const;
  /// x / sqrt(the mean square of the last `axes` axes + epsilon) scale + shift.
  Call<void> rms_norm(const AnyArray& x, const AnyArray& y, NormOptions options = {}, int axes = 1) const;
  /// The gradients of an `rms_norm`.
  Call<void> rms_norm_gradient(const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                               NormGradientOptions options = {}, int axes = 1) const;

  // ---- activations: dnn_pointwise.cpp ----

  /// y = f(x), element by element. y may be x.
  Call<void> activation(DnnActivation function, const AnyArray& x, const AnyArray& y,
                        DnnActivationOptions options = {}) const;
  /// dx = dy f'(x), where x is what the function was given. dx may be dy or x. At a corner the slope is the one to the
  /// left of it: 0 for `relu` at 0.
  Call<void> activation_gradient(DnnActivation function, const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                 DnnActivationOptions options = {}) const;

  // ---- interpolation: dnn_interpolate.cpp ----

  /// y = x with the extents that y has along the axes of space.
  Call<void> interpolate(const AnyArray& x, const AnyArray& y, InterpolateOptions options = {}) const;
  /// The gradient of x.
  Call<void> interpolate_gradient(const AnyArray& dy, const AnyArray& dx, InterpolateOptions options = {}) const;

  // ---- softmax: dnn_softmax.cpp ----

  /// y = e^x / (the sum of e^x along the axis). y may be x.
  Call<void> softmax(const AnyArray& x, const AnyArray& y, SoftmaxOptions options = {}) const;
  /// The logarithm of that, without the detour.
  Call<void> log_softmax(const AnyArray& x, const AnyArray& y, SoftmaxOptions options = {}) const;
  /// dx from dy and y, what `softmax` gave. dx may be dy.
  Call<void> softmax_gradient(const AnyArray& dy, const AnyArray& y, const AnyArray& dx,
                              SoftmaxOptions options = {}) const;
  /// The same of `log_softmax`.
  Call<void> log_softmax_gradient(const AnyArray& dy, const AnyArray& y, const AnyArray& dx,
                                  SoftmaxOptions options = {}) const;

  // ---- losses: dnn_loss.cpp ----
  // `loss` is [], or of the losses' shape when the reduction is `none`. Gradients take the gradient of the loss.

  /// (x - target)^2.
  Call<void> mse_loss(const AnyArray& x, const AnyArray& target, const AnyArray& loss, LossOptions options = {}) const;
  /// The gradient of x.
  Call<void> mse_loss_gradient(const AnyArray& dloss, const AnyArray& x, const AnyArray& target, const AnyArray& dx,
                               LossOptions options = {}) const;
  /// d^2 / 2 of d = |x - target| up to delta, and delta (d - delta / 2) from there on.
  Call<void> huber_loss(const AnyArray& x, const AnyArray& target, const AnyArray& loss,
                        HuberOptions options = {}) const;
  /// The gradient of x.
  Call<void> huber_loss_gradient(const AnyArray& dloss, const AnyArray& x, const AnyArray& target, const AnyArray& dx,
                                 HuberOptions options = {}) const;
  /// - target log p - (1 - target) log(1 - p) with p = sigmoid(x). A target that is no probability comes back as
  /// `invalid_argument`, with its place.
  Call<void> binary_cross_entropy_with_logits(const AnyArray& x, const AnyArray& target, const AnyArray& loss,
                                              LossOptions options = {}) const;
  /// The gradient of x.
  Call<void> binary_cross_entropy_with_logits_gradient(const AnyArray& dloss, const AnyArray& x, const AnyArray& target,
                                                       const AnyArray& dx, LossOptions options = {}) const;
  /// target (log target - x), where x is the logarithm of a probability. Targets are probabilities, as above.
  Call<void> kl_div(const AnyArray& x, const AnyArray& target, const AnyArray& loss, KlDivOptions options = {}) const;
  /// The gradient of x.
  Call<void> kl_div_gradient(const AnyArray& dloss, const AnyArray& x, const AnyArray& target, const AnyArray& dx,
                             KlDivOptions options = {}) const;
  /// - log softmax(logits)[target] of each row of classes. The target is a class for each row, i32 or i64, or a
  /// probability for each class; one that is neither comes back as `invalid_argument`, with its place.
  Call<void> cross_entropy(const AnyArray& logits, const AnyArray& target, const AnyArray& loss,
                           CrossEntropyOptions options = {}) const;
  /// The gradient of the logits.
  Call<void> cross_entropy_gradient(const AnyArray& dloss, const AnyArray& logits, const AnyArray& target,
                                    const AnyArray& dlogits, CrossEntropyOptions options = {}) const;

  // ---- optimizers: dnn_optimizer.cpp ----
  // One call steps up to 23 parameters. A step in place that a crash cuts off leaves its arrays tainted; one that
  // writes to `next` is run again.

  /// Gradient descent, with momentum where there is one.
  Call<void> sgd(const ArrayList& gradients, const OptimizerArrays& now, SgdOptions options = {}) const;
  /// Adam; the decay is part of the gradient.
  Call<void> adam(const ArrayList& gradients, const OptimizerArrays& now, AdamOptions options = {}) const;
  /// Adam; the decay is apart from the gradient.
  Call<void> adamw(const ArrayList& gradients, const OptimizerArrays& now, AdamOptions options = {}) const;
  /// The sign of a momentum.
  Call<void> lion(const ArrayList& gradients, const OptimizerArrays& now, AdamOptions options = {}) const;
  /// measure, f32 [3] = what a step multiplies gradients by, their norm, and 1 if all are finite, else 0. Up to 128
  /// gradients.
  Call<void> measure_gradients(const ArrayList& gradients, const AnyArray& measure, MeasureOptions options = {}) const;
  /// next, f32 [2] = the next scale of a loss, and how many steps ago it changed; of the scale now, and the measure of
  /// the gradients. next may be scale.
  Call<void> adjust_loss_scale(const AnyArray& measure, const AnyArray& scale, const AnyArray& next,
                               LossScaleOptions options = {}) const;

  // ---- lookups: dnn_lookup.cpp ----

  /// y[.., :] = table[indices[..], :]. An index outside of the table comes back as `invalid_argument`, with its place.
  Call<void> embedding(const AnyArray& table, const AnyArray& indices, const AnyArray& y) const;
  /// All of dtable: for each row the sum of dy where its index was, in their order.
  Call<void> embedding_gradient(const AnyArray& dy, const AnyArray& indices, const AnyArray& dtable,
                                EmbeddingOptions options = {}) const;
  /// y = x / (1 - probability), or 0 with that probability: drawn by the generator, which moves on by one for each
  /// element. The gradient is the same call on dy, with the generator as it was. y may be x.
  Call<void> dropout(Generator& generator, const AnyArray& x, const AnyArray& y, double probability) const;

  // ---- attention: dnn_attention.cpp ----
  // Arrays are [batch, heads, tokens, width]; heads of queries are a multiple of the heads of keys and values, which
  // they share. Any strides: [batch, tokens, heads, width] is a permuted view.

  /// y = softmax(scale q k' + mask) v, where each query sees the keys that the options say; one that sees none gives 0.
  /// sums, [batch, heads, queries] of f32 (or f64), are what the gradient needs.
  Call<void> scaled_dot_product_attention(const AnyArray& q, const AnyArray& k, const AnyArray& v, const AnyArray& y,
                                          const AnyArray& sums, AttentionOptions options = {}) const;
  /// dq, dk and dv from the gradient of y, with the options that the forward direction had, and a generator at the
  /// place where it was.
  Call<void> scaled_dot_product_attention_gradient(const AnyArray& dy, const AnyArray& q, const AnyArray& k,
                                                   const AnyArray& v, const AnyArray& y, const AnyArray& sums,
                                                   const AnyArray& dq, const AnyArray& dk, const AnyArray& dv,
                                                   AttentionOptions options = {}) const;
  /// Keys and values go into a cache [blocks, tokens of a block, heads, width], behind the first lengths[b] tokens of
  /// each sequence: token t is in block table[b, t / tokens of a block]. i32 or i64. A table or a length that points
  /// outside comes back as `invalid_argument`, with its place, and nothing is written.
  Call<void> cache_append(const AnyArray& k, const AnyArray& v, const AnyArray& table, const AnyArray& lengths,
                          const AnyArray& key_cache, const AnyArray& value_cache) const;
  /// Attention of the last tokens of each sequence to all of its lengths[b] tokens in a cache, causal.
  Call<void> paged_attention(const AnyArray& q, const AnyArray& key_cache, const AnyArray& value_cache,
                             const AnyArray& table, const AnyArray& lengths, const AnyArray& y,
                             PagedOptions options = {}) const;
  /// y = x [.., tokens, width] with each pair of numbers turned by its token's place. y may be x.
  Call<void> rotary(const AnyArray& x, const AnyArray& y, RotaryOptions options = {}) const;
  /// dx: dy turned back. dx may be dy.
  Call<void> rotary_gradient(const AnyArray& dy, const AnyArray& dx, RotaryOptions options = {}) const;

  // ---- recurrent layers: dnn_recurrent.cpp ----
  // As PyTorch defines them: for each layer, and in it for each direction, `weights` has w_ih [gates * hidden,
  // features], w_hh [gates * hidden, hidden], b_ih and b_hh [gates * hidden]; the features of a layer behind the first
  // are directions * hidden. Up to 16 layers times directions. A state is [layers * directions, batch, hidden].

  /// y [tokens, batch, directions * hidden] = what the last of some layers of LSTMs gives for x [tokens, batch,
  /// features]; gates are i, f, g, o. Behind the end of a sequence y is 0, and x does not count. A length that is
  /// outside comes back as `invalid_argument`, with its place.
  Call<void> lstm(const AnyArray& x, const ArrayList& weights, const AnyArray& y, RecurrentOptions options = {}) const;
  /// The same of GRUs; gates are r, z, n.
  Call<void> gru(const AnyArray& x, const ArrayList& weights, const AnyArray& y, RecurrentOptions options = {}) const;
  /// dx from the gradient of y and what `lstm` kept, by the same options.
  Call<void> lstm_gradient(const AnyArray& dy, const AnyArray& x, const ArrayList& weights, const AnyArray& kept,
                           const AnyArray& dx, RecurrentGradientOptions options = {}) const;
  /// The same of GRUs.
  Call<void> gru_gradient(const AnyArray& dy, const AnyArray& x, const ArrayList& weights, const AnyArray& kept,
                          const AnyArray& dx, RecurrentGradientOptions options = {}) const;

 private:
  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
