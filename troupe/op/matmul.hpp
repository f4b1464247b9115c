// Multiplication with an epilogue as data: d = scale_d activation(alpha a b + beta c + bias), rounded once, in one pass
// over the result where a library can. Which of its algorithms runs is a worker's own business: nothing about it is in
// the op.
#pragma once

#include <optional>

#include "troupe/op/blas.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kMatmulFamily{5};

/// a is m by k, b is k by n; c, pre and d are m by n, bias is n long. In front of these all but the bias may have axes
/// of a batch, which are the same for all of them; an operand that is used more than once has strides of 0 there.
struct Matmul {
  static constexpr Kind kKind = kind(kMatmulFamily, 0);
  static constexpr std::string_view kName = "matmul.multiply";
  double alpha = 1;
  double beta = 0;
  double scale_d = 1;
  Activation activation = Activation::none;
  Compute compute = Compute::standard;
  bool has_c = false;
  bool has_bias = false;
  bool keeps_pre = false;  // what the activation is given goes to `pre`, for the gradient
  bool tunes = false;      // algorithms are measured once for the shape, and the fastest is kept
  View a;
  View b;
  View c;
  View bias;
  View pre;
  View d;
  std::uint64_t work() const noexcept { return multiplications(a, d); }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.field("scale_d", self.scale_d);
    v.field("activation", self.activation);
    v.field("compute", self.compute);
    v.field("has_c", self.has_c);
    v.field("has_bias", self.has_bias);
    v.field("keeps_pre", self.keeps_pre);
    v.field("tunes", self.tunes);
    v.reads("a", self.a);
    v.reads("b", self.b);
    if (self.has_c) v.reads("c", self.c);
    if (self.has_bias) v.reads("bias", self.bias);
    if (self.keeps_pre) v.writes("preactivation", self.pre);
    v.writes("d", self.d);
  }
  friend bool operator==(const Matmul&, const Matmul&) = default;
};

/// The way back: d = alpha a b times the activation's derivative at `pre`, element by element, and the sums of d's
/// columns, of all matrices of a batch, the gradient of the bias.
struct MatmulGradient {
  static constexpr Kind kKind = kind(kMatmulFamily, 1);
  static constexpr std::string_view kName = "matmul.gradient";
  double alpha = 1;
  Activation activation = Activation::none;
  Compute compute = Compute::standard;
  bool has_pre = false;
  bool sums_columns = false;
  View a;
  View b;
  View pre;
  View d;
  View sums;
  std::uint64_t work() const noexcept { return multiplications(a, d); }
  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("activation", self.activation);
    v.field("compute", self.compute);
    v.field("has_pre", self.has_pre);
    v.field("sums_columns", self.sums_columns);
    v.reads("a", self.a);
    v.reads("b", self.b);
    if (self.has_pre) v.reads("preactivation", self.pre);
    v.writes("d", self.d);
    if (self.sums_columns) v.writes("sums", self.sums);
  }
  friend bool operator==(const MatmulGradient&, const MatmulGradient&) = default;
};

using MatmulOps = OpList<Matmul, MatmulGradient>;

/// a and b get the axes of the result that they lack, and strides of 0 along those where they have one matrix for all:
/// the rules of NumPy. `invalid_argument` when the axes, or the matrices, do not make a d of that shape.
Result<void> broadcast_batch(std::string_view call, View& a, View& b, const View& d);

/// The same op with fewer axes. Those of a batch become one where they lie behind each other in all arrays, and rows
/// of one matrix where all share one b: a layer of a network on a batch of sequences is a single product.
void merge_batch(Matmul& op);
void merge_batch(MatmulGradient& op);

/// Part `index` along the first axis of a batch: a batch with an axis less, or a matrix.
View at_batch(const View& view, std::int64_t index);
Matmul at_batch(const Matmul& op, std::int64_t index);
MatmulGradient at_batch(const MatmulGradient& op, std::int64_t index);

/// A batch as one matrix with the rows of all of its matrices; none when its axes do not lie behind each other.
std::optional<View> as_one_matrix(const View& batch);

Result<void> check(const Matmul& op);
Result<void> check(const MatmulGradient& op);

}  // namespace troupe::inline v0::op
