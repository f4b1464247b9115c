// Convolutions as data. Three arrays belong together, whichever of them is computed: x [batch, channels, ...], filters
// w [filters, channels / groups, ...] and y [batch, filters, ...], with one to three axes of space. A transposed
// convolution is the gradient of the input by another name, and each of its gradients is one of the other two ops;
// `transposed` says which call it was, so that refusals speak its words.
#pragma once

#include "troupe/core/dnn_kinds.hpp"
#include "troupe/op/dnn_family.hpp"
#include "troupe/op/dnn_window.hpp"

namespace troupe::inline v0::op {

/// y = f(x * w + bias + addend). The bias has an element for each filter, the addend y's shape.
struct DnnConvolve {
  static constexpr Kind kKind = dnn_kind(kDnnConvolution, 0);
  static constexpr std::string_view kName = "dnn.convolution";
  DnnWindow window;
  std::int64_t groups = 1;
  bool transposed = false;
  DnnActivation activation = DnnActivation::none;
  double alpha = 0;
  bool has_bias = false;
  bool has_addend = false;
  View x;
  View w;
  View bias;
  View addend;
  View y;

  std::uint64_t work() const noexcept;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("window", self.window);
    v.field("groups", self.groups);
    v.field("transposed", self.transposed);
    v.field("activation", self.activation);
    v.field("alpha", self.alpha);
    v.field("has_bias", self.has_bias);
    v.field("has_addend", self.has_addend);
    v.reads("x", self.x);
    v.reads("w", self.w);
    if (self.has_bias) v.reads("bias", self.bias);
    if (self.has_addend) v.reads("addend", self.addend);
    v.writes("y", self.y);
  }
  friend bool operator==(const DnnConvolve&, const DnnConvolve&) = default;
};

/// x = f(what comes back of y through w, + bias): the gradient of the input, or a transposed convolution. The bias has
/// an element for each channel of x.
struct DnnConvolveInput {
  static constexpr Kind kKind = dnn_kind(kDnnConvolution, 1);
  static constexpr std::string_view kName = "dnn.convolution_input";
  DnnWindow window;
  std::int64_t groups = 1;
  bool transposed = false;
  DnnActivation activation = DnnActivation::none;
  double alpha = 0;
  bool has_bias = false;
  View y;
  View w;
  View bias;
  View x;

  std::uint64_t work() const noexcept;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("window", self.window);
    v.field("groups", self.groups);
    v.field("transposed", self.transposed);
    v.field("activation", self.activation);
    v.field("alpha", self.alpha);
    v.field("has_bias", self.has_bias);
    v.reads("y", self.y);
    v.reads("w", self.w);
    if (self.has_bias) v.reads("bias", self.bias);
    v.writes("x", self.x);
  }
  friend bool operator==(const DnnConvolveInput&, const DnnConvolveInput&) = default;
};

/// w = the gradient of the filters: what x and y have to do with each other. Samples are added in their order.
struct DnnConvolveFilter {
  static constexpr Kind kKind = dnn_kind(kDnnConvolution, 2);
  static constexpr std::string_view kName = "dnn.convolution_filter";
  DnnWindow window;
  std::int64_t groups = 1;
  bool transposed = false;
  View x;
  View y;
  View w;

  std::uint64_t work() const noexcept;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("window", self.window);
    v.field("groups", self.groups);
    v.field("transposed", self.transposed);
    v.reads("x", self.x);
    v.reads("y", self.y);
    v.writes("w", self.w);
  }
  friend bool operator==(const DnnConvolveFilter&, const DnnConvolveFilter&) = default;
};

using DnnConvolutionOps = OpList<DnnConvolve, DnnConvolveInput, DnnConvolveFilter>;

Result<void> check(const DnnConvolve& op);
Result<void> check(const DnnConvolveInput& op);
Result<void> check(const DnnConvolveFilter& op);

}  // namespace troupe::inline v0::op
