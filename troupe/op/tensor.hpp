// Tensors as data: contraction, reduction and arithmetic element by element, of any rank.
// Views carry their strides, so permuting, broadcasting (stride 0) and taking diagonals need no flags and no copies; no
// op knows of letters.
#pragma once

#include <array>

#include "troupe/core/kinds.hpp"
#include "troupe/op/expression.hpp"
#include "troupe/op/op.hpp"

namespace troupe::inline v0::op {

/// out = f(factors[0] in[0], ...): views of one shape and type (the first of a selection is bool). An input may be a
/// number instead: its factor then.
template <class F, std::size_t n>
struct Elementwise {
  static constexpr Kind kKind = kind(kTensorFamily, n - 1);
  static constexpr std::string_view kName = n == 1 ? "tensor.unary" : n == 2 ? "tensor.binary" : "tensor.ternary";
  static constexpr std::size_t kInputs = n;
  static constexpr bool kTakesInPlace = true;
  static constexpr std::array<std::string_view, 3> kFactorNames{"factor_0", "factor_1", "factor_2"};
  static constexpr std::array<std::string_view, 3> kInputNames{"in_0", "in_1", "in_2"};
  F function{};
  std::uint8_t numbers = 0;  // bit i: input i is a number
  std::array<Scalar, n> factors;
  std::array<View, n> in;
  View out;

  bool is_number(std::size_t i) const noexcept { return (numbers >> i & 1) != 0; }

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("function", self.function);
    v.field("numbers", self.numbers);
    for (std::size_t i = 0; i < n; ++i) v.field(kFactorNames[i], self.factors[i]);
    for (std::size_t i = 0; i < n; ++i)
      if (!self.is_number(i)) v.reads(kInputNames[i], self.in[i]);  // known by now to the decoder, too
    v.writes("out", self.out);
  }
  friend bool operator==(const Elementwise&, const Elementwise&) = default;
};
using UnaryOp = Elementwise<Unary, 1>;
using BinaryOp = Elementwise<Binary, 2>;
using TernaryOp = Elementwise<Ternary, 3>;

/// out = alpha f(in) + beta out. Both of one rank; where the extents differ, out's is 1, and in is reduced along that
/// axis. Of one type, but the norm of complex numbers is real. With a beta of zero, out is written only.
struct Reduce {
  static constexpr Kind kKind = kind(kTensorFamily, 3);
  static constexpr std::string_view kName = "tensor.reduce";
  Reduction function{};
  Scalar alpha;
  Scalar beta;
  View in;
  View out;

  bool reads_out() const noexcept { return beta.as<std::complex<double>>() != 0.0; }

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("function", self.function);
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.reads("in", self.in);
    if (self.reads_out())
      v.updates("out", self.out);
    else
      v.writes("out", self.out);
  }
  friend bool operator==(const Reduce&, const Reduce&) = default;
};

/// How many axes each group of a contraction has.
struct ContractionGroups {
  std::uint8_t batch = 0;
  std::uint8_t rows = 0;
  std::uint8_t columns = 0;
  std::uint8_t depth = 0;
  std::uint8_t summed_a = 0;
  std::uint8_t summed_b = 0;
  friend bool operator==(const ContractionGroups&, const ContractionGroups&) = default;
};

/// c = alpha a b + beta c, summed over the axes that c has not: a[batch, rows, depth, summed a], b[batch, depth,
/// columns, summed b], c[batch, rows, columns], each group of any number of axes. Of one type, any strides. The axes
/// that are only a's or only b's are summed first. With a beta of zero, c is written only.
struct Contract {
  static constexpr Kind kKind = kind(kTensorFamily, 4);
  static constexpr std::string_view kName = "tensor.contract";
  Scalar alpha;
  Scalar beta;
  TensorEngine engine{};
  ContractionGroups groups;
  View a;
  View b;
  View c;

  bool reads_c() const noexcept { return beta.as<std::complex<double>>() != 0.0; }
  /// Multiplications, for the guess at how long it takes.
  std::uint64_t work() const noexcept;

  template <class Self, class V>
  static void describe(Self& self, V& v) {
    v.field("alpha", self.alpha);
    v.field("beta", self.beta);
    v.field("engine", self.engine);
    v.field("groups.batch", self.groups.batch);
    v.field("groups.rows", self.groups.rows);
    v.field("groups.columns", self.groups.columns);
    v.field("groups.depth", self.groups.depth);
    v.field("groups.summed_a", self.groups.summed_a);
    v.field("groups.summed_b", self.groups.summed_b);
    v.reads("a", self.a);
    v.reads("b", self.b);
    if (self.reads_c())
      v.updates("c", self.c);
    else
      v.writes("c", self.c);
  }
  friend bool operator==(const Contract&, const Contract&) = default;
};

using TensorOps = OpList<UnaryOp, BinaryOp, TernaryOp, Reduce, Contract, Evaluate>;

/// What every op of the family computes with.
constexpr bool is_tensor_type(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16 || is_complex(dtype);
}
Result<void> check(const UnaryOp& op);
Result<void> check(const BinaryOp& op);
Result<void> check(const TernaryOp& op);
Result<void> check(const Reduce& op);
Result<void> check(const Contract& op);

}  // namespace troupe::inline v0::op
