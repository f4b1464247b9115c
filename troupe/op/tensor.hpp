// Tensors as data: contraction, reduction and arithmetic element by element, of any rank.
// Views carry their strides, so permuting, broadcasting (stride 0) and taking diagonals need no flags and no copies; no
// op knows of letters.
#pragma once

#include <array>
#include <span>

#include "troupe/core/kinds.hpp"
#include "troupe/op/expression.hpp"
#include "troupe/op/op.hpp"
#include "troupe/op/promotion.hpp"

namespace troupe::inline v0::op {

/// Whether numbers of a type have the function.
template <class F>
constexpr bool takes(F function, DType dtype) noexcept {
  if (dtype == DType::boolean) return detail::takes_bool(function);
  if (is_integer(dtype)) return detail::takes_integers(function);
  if (is_complex(dtype)) return detail::takes_complex(function);
  return detail::takes_floats(function) && size_bytes(dtype) > 1;
}

/// The functions that integers have not, and that are computed in floating point when they are given some.
constexpr bool rounds_integers(Unary function) noexcept { return !detail::takes_integers(function); }
constexpr bool rounds_integers(Binary function) noexcept { return function == Binary::div; }
constexpr bool rounds_integers(Ternary) noexcept { return false; }

/// What a function of numbers of a type is computed in: that type. Of integers and bool, quotients are computed in f64,
/// and functions that they have not in what NumPy takes: f16, f32 or f64, the least that holds them.
template <class F>
constexpr DType computed_in(F function, DType dtype) noexcept {
  if (takes(function, dtype) || !(is_integer(dtype) || dtype == DType::boolean) || !rounds_integers(function))
    return dtype;
  return promoted(dtype, std::is_same_v<F, Binary> ? DType::f64 : DType::f16);
}

/// out = f(factors[0] in[0], ...): views of one shape. An input may be a number instead: its factor then. Inputs may be
/// of any types; all are computed in one, which is out's. Comparisons make bool, and the first of a selection is bool.
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
  /// The input by which a selection chooses. Its type does not count.
  bool is_condition([[maybe_unused]] std::size_t i) const noexcept {
    if constexpr (n == 3)
      return i == 0 && function == Ternary::select;
    else
      return false;
  }
  /// Whether out is bool, whatever the inputs are.
  bool makes_bool() const noexcept {
    if constexpr (n == 2)
      return detail::is_comparison(function);
    else
      return false;
  }
  /// The type that all are computed in: that of the arrays together. Numbers alone are of out's type.
  DType computed_in() const noexcept {
    std::array<DType, n> types;
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (!is_number(i) && !is_condition(i)) types[count++] = in[i].dtype;
    if (count == 0) return makes_bool() ? DType::f64 : out.dtype;
    return op::computed_in(function, promoted(std::span(types).first(count)));
  }
  DType out_type() const noexcept { return makes_bool() ? DType::boolean : computed_in(); }

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
/// axis. Of one type, but the norm of complex numbers is real; `is_reduced_to` says what integers and bool make. With a
/// beta of zero, out is written only.
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
  bool tunes = false;  // engines are measured once for the shapes, and the fastest is kept
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
    v.field("tunes", self.tunes);
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

using TensorOps = OpList<UnaryOp, BinaryOp, TernaryOp, Reduce, Contract, Evaluate, EvaluateReduce>;

/// The reduction that computes it: some bool is true where their sum is not 0, and all are where their product is not.
constexpr Reduction computed_by(Reduction function) noexcept {
  if (function == Reduction::any) return Reduction::sum;
  return function == Reduction::all ? Reduction::product : function;
}
/// What a reduction of integers or bool keeps while it runs: i64, of unsigned integers u64, and f64 for the mean. Of
/// others f64 or c128.
constexpr DType reduced_in(Reduction function, DType in) noexcept {
  if (is_complex(in)) return DType::c128;
  if (is_floating(in) || function == Reduction::mean) return DType::f64;
  return is_integer(in) && !is_signed(in) ? DType::u64 : DType::i64;
}
/// Whether elements of `in` may be reduced to `out`. Integers stay what they are, and then wrap, or become i64 or u64.
/// Bools are counted in i64. The mean of either is f64; any and all are bool.
constexpr bool is_reduced_to(Reduction function, DType in, DType out) noexcept {
  if (is_complex(in) || is_floating(in)) return out == (function == Reduction::norm ? detail::real_type(in) : in);
  if (function == Reduction::mean) return out == DType::f64;
  if (function == Reduction::any || function == Reduction::all) return out == DType::boolean;
  const bool is_count = in == DType::boolean && (function == Reduction::sum || function == Reduction::product);
  return (out == in && !is_count) || out == reduced_in(function, in);
}

Result<void> check(const UnaryOp& op);
Result<void> check(const BinaryOp& op);
Result<void> check(const TernaryOp& op);
Result<void> check(const Reduce& op);
Result<void> check(const Contract& op);

}  // namespace troupe::inline v0::op
