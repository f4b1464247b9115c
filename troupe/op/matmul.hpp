// Multiplication with an epilogue as data: d = scale_d activation(alpha a b + beta c + bias), rounded once, in one pass
// over the result where a library can. Which of its algorithms runs is a worker's own business: nothing about it is in
// the op.
#pragma once

#include "troupe/op/blas.hpp"

namespace troupe::inline v0::op {

inline constexpr Family kMatmulFamily{5};

/// a is m by k, b is k by n; c, pre and d are m by n, bias is n long.
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
    if (self.keeps_pre) v.writes("pre", self.pre);
    v.writes("d", self.d);
  }
  friend bool operator==(const Matmul&, const Matmul&) = default;
};

/// The way back: d = alpha a b times the activation's derivative at `pre`, element by element, and the sums of d's
/// columns, the gradient of the bias.
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
    if (self.has_pre) v.reads("pre", self.pre);
    v.writes("d", self.d);
    if (self.sums_columns) v.writes("sums", self.sums);
  }
  friend bool operator==(const MatmulGradient&, const MatmulGradient&) = default;
};

using MatmulOps = OpList<Matmul, MatmulGradient>;

Result<void> check(const Matmul& op);
Result<void> check(const MatmulGradient& op);

}  // namespace troupe::inline v0::op
