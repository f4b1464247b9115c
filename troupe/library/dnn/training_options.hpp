// What softmax, losses, optimizers and lookups of `gpu.dnn()` can be told, and the lists of arrays that an optimizer
// takes. All of it is trivially destructible: safe inside a co_await with g++ 12.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <type_traits>

#include "troupe/core/training_kinds.hpp"
#include "troupe/device/array.hpp"
#include "troupe/library/random/random.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

/// What `softmax` and `log_softmax` can be told.
struct SoftmaxOptions {
  int axis = -1;  // whose elements make a row: counted from 0, or below 0 from the end
};
/// What losses by element can be told.
struct LossOptions {
  LossReduction reduction = LossReduction::mean;  // what becomes of the losses of the elements
  const AnyArray* weight = nullptr;               // for each element, of x's shape or broadcast to it
};
/// What `huber_loss` can be told.
struct HuberOptions {
  LossReduction reduction = LossReduction::mean;  // what becomes of the losses of the elements
  const AnyArray* weight = nullptr;               // for each element, of x's shape or broadcast to it
  double delta = 1;                               // up to here the loss is a square, and from here on a line
};
/// What `kl_div` can be told.
struct KlDivOptions {
  LossReduction reduction = LossReduction::mean;  // `batch_mean` is the divergence as it is defined
  bool log_target = false;                        // the target is the logarithm of probabilities
};
/// What `cross_entropy` can be told.
struct CrossEntropyOptions {
  LossReduction reduction = LossReduction::mean;  // what becomes of the losses of the rows
  int axis = -1;                                  // along which the classes are
  const AnyArray* weights = nullptr;              // for each class
  double label_smoothing = 0;                     // this part of each target goes to all classes alike
  std::int64_t ignore_index = -100;               // rows with this class as their target do not count
};
/// What `embedding_gradient` can be told.
struct EmbeddingOptions {
  std::int64_t padding = -1;  // a row of the table whose gradient stays 0
};

/// A list of arrays, as `std::vector<Array<float>>` or `std::vector<AnyArray>` is one. It does not keep them: a call
/// does.
class ArrayList {
 public:
  /// An empty one.
  constexpr ArrayList() noexcept = default;
  template <std::ranges::contiguous_range List>
    requires std::derived_from<std::ranges::range_value_t<List>, AnyArray>
  ArrayList(const List& list) noexcept  // NOLINT(google-explicit-constructor): a list is what it is
      : first_(std::ranges::data(list)), size_(std::ranges::size(list)), at_(at_of<std::ranges::range_value_t<List>>) {}

  /// How many there are.
  std::size_t size() const noexcept { return size_; }
  /// Needs i < size().
  const AnyArray& operator[](std::size_t i) const noexcept { return at_(first_, i); }

 private:
  template <class A>
  static const AnyArray& at_of(const void* first, std::size_t i) noexcept {
    return static_cast<const A*>(first)[i];
  }
  const void* first_ = nullptr;
  std::size_t size_ = 0;
  const AnyArray& (*at_)(const void*, std::size_t) noexcept = nullptr;
};

/// What an optimizer goes on from, list by list: place i of each belongs to parameter i.
struct OptimizerArrays {
  ArrayList values = {};   // the parameters
  ArrayList first = {};    // momenta: f32, or f64 for f64. Not for sgd without momentum
  ArrayList second = {};   // of adam and adamw: means of squares
  ArrayList masters = {};  // of values in f16 and bf16: the same in f32, of which the values are made
};
/// What `sgd` can be told.
struct SgdOptions {
  double rate = 1e-3;                 // the step is so many times the gradient
  double momentum = 0;                // how much of the last step goes on
  double dampening = 0;               // how much less of the gradient goes into the momentum
  bool nesterov = false;              // the gradient is taken as if the momentum had been followed
  double weight_decay = 0;            // so much of each parameter is added to its gradient
  std::int64_t step = 1;              // which step this is, from 1 on
  const AnyArray* measure = nullptr;  // what `measure_gradients` wrote: gradients are multiplied, or there is no step
  const OptimizerArrays* next = nullptr;  // where the results go; without, they replace what was there
};
/// What `adam`, `adamw` and `lion` can be told. A number that is left out is the usual one of the optimizer.
struct AdamOptions {
  std::optional<double> rate = std::nullopt;          // 1e-3; of lion 1e-4
  double beta1 = 0.9;                                 // how much of the mean of gradients stays
  std::optional<double> beta2 = std::nullopt;         // 0.999; of lion 0.99
  double epsilon = 1e-8;                              // not of lion
  std::optional<double> weight_decay = std::nullopt;  // 0; of adamw 0.01
  std::int64_t step = 1;                              // which step this is, from 1 on
  const AnyArray* measure = nullptr;  // what `measure_gradients` wrote: gradients are multiplied, or there is no step
  const OptimizerArrays* next = nullptr;  // where the results go; without, they replace what was there
};
static_assert(std::is_trivially_destructible_v<AdamOptions>);

/// What `measure_gradients` can be told.
struct MeasureOptions {
  double max_norm = 0;                   // gradients are multiplied so that their norm is at most this; 0: no limit
  const AnyArray* loss_scale = nullptr;  // what the loss was multiplied by
};
/// What `adjust_loss_scale` can be told.
struct LossScaleOptions {
  double growth = 2;             // the scale is multiplied by this ...
  std::int64_t interval = 2000;  // ... after so many steps with finite gradients,
  double backoff = 0.5;          // and by this after gradients that are not finite
};

/// Which keys a query sees, and what becomes of its scores.
struct AttentionOptions {
  std::optional<double> scale = std::nullopt;  // 1 / the root of the width
  bool causal = false;                         // no key behind the query's own place
  bool ends_together = false;                  // the last query is at the last key's place; else the first ones meet
  std::int64_t window = 0;                     // only keys less than so many places away; 0: all
  const AnyArray* mask = nullptr;     // bool: whether a key is seen; else added. Broadcasts to [batch, heads, q, k]
  const AnyArray* lengths = nullptr;  // [batch]: only so many keys of each sequence, i32 or i64
  const AnyArray* query_offsets = nullptr;  // of packed sequences, one behind another in a batch of one: where each
  const AnyArray* key_offsets = nullptr;    // begins, and where the last one ends
  double dropout = 0;                       // the probability of leaving a key out
  Generator* generator = nullptr;           // what draws them; it moves on by one for each score
};
static_assert(std::is_trivially_destructible_v<AttentionOptions>);
/// What `paged_attention` can be told.
struct PagedOptions {
  std::optional<double> scale = std::nullopt;  // 1 / the root of the width
  std::int64_t window = 0;                     // only keys less than so many places away; 0: all
};
/// What `rotary` can be told.
struct RotaryOptions {
  double base = 10000;                  // the slowest pair takes 2 pi times so many tokens for a turn
  bool interleaved = false;             // pairs are 2 i and 2 i + 1, not i and i + width / 2
  std::int64_t first = 0;               // the place of the first token
  const AnyArray* positions = nullptr;  // or the place of each token, i32 or i64: broadcasts to x without its last axis
};

/// What `lstm` and `gru` can be told. The state is [layers * directions, batch, hidden].
struct RecurrentOptions {
  bool bias = true;                   // there are biases
  bool bidirectional = false;         // each layer goes both ways, with weights for each
  const AnyArray* lengths = nullptr;  // [batch]: only so many tokens of each sequence, i32 or i64
  const AnyArray* h0 = nullptr;       // the state before the first token; zeros without
  const AnyArray* c0 = nullptr;       // with h0, of an LSTM
  const AnyArray* h_n = nullptr;      // where the state after the last token goes, when it is wanted
  const AnyArray* c_n = nullptr;      // with h_n, of an LSTM
  const AnyArray* kept = nullptr;     // what the gradient needs: [layers * directions, tokens, batch, 5 * hidden]
};
/// What their gradients can be told: the same as the layers, what comes back of the last state, and what else is
/// wanted.
struct RecurrentGradientOptions {
  bool bias = true;                   // as before
  bool bidirectional = false;         // as before
  const AnyArray* lengths = nullptr;  // as before
  const AnyArray* h0 = nullptr;       // as before
  const AnyArray* c0 = nullptr;       // as before
  const AnyArray* dh_n = nullptr;     // the gradient of h_n; zeros without
  const AnyArray* dc_n = nullptr;     // with dh_n, of an LSTM
  const AnyArray* dh0 = nullptr;      // the gradient of h0, when it is wanted
  const AnyArray* dc0 = nullptr;      // with dh0, of an LSTM
  ArrayList dweights = {};            // those of all weights, when they are wanted
};
static_assert(std::is_trivially_destructible_v<RecurrentOptions> &&
              std::is_trivially_destructible_v<RecurrentGradientOptions>);

}  // namespace troupe::inline v0
#pragma GCC visibility pop
