// Tensors on a device: `gpu.tensor()`. Arrays of any rank and strides, of f32, f64, f16, bf16, c64 or c128, and but for
// contractions also of integers and bool, mixed by NumPy's rules. Broadcasting and permuting copy nothing. f16 and bf16
// are computed in f32 and rounded once.
//
//   CO_TRY(co_await gpu.tensor().einsum("bik,bkj->bij", a, b, c));
//   CO_TRY(co_await gpu.tensor().binary(Binary::add, c, bias, c_and_bias));   // bias of shape [j]: NumPy's rules
//   CO_TRY(co_await gpu.tensor().reduce(Reduction::mean, c_and_bias, {1, 2}, means));
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/device/device.hpp"
#include "troupe/library/tensor/expression.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

/// Axes of an array by their numbers, counted from 0, or below 0 from the end: `{1, -1}`, or a list that is made at run
/// time, such as a vector.
class Axes {
 public:
  template <std::integral... I>
    requires(sizeof...(I) <= kMaxRank)
  constexpr Axes(I... axes) noexcept  // NOLINT(google-explicit-constructor): axes are written in braces
      : axes_{in_range(axes)...}, count_(sizeof...(I)) {}
  template <std::ranges::input_range List>
    requires std::integral<std::ranges::range_value_t<List>> && (!std::same_as<std::remove_cvref_t<List>, Axes>)
  constexpr Axes(const List& list) noexcept {  // NOLINT(google-explicit-constructor): a list is what they are
    for (const auto axis : list)
      if (count_ < axes_.size()) axes_[count_++] = in_range(axis);
  }
  constexpr const int* begin() const noexcept { return axes_.data(); }
  constexpr const int* end() const noexcept { return axes_.data() + count_; }
  constexpr int size() const noexcept { return static_cast<int>(count_); }

 private:
  /// A number that no `int` can be is no axis, and neither is the nearest `int`.
  static constexpr int in_range(std::integral auto axis) noexcept {
    if (std::in_range<int>(axis)) return static_cast<int>(axis);
    return std::cmp_less(axis, 0) ? std::numeric_limits<int>::min() : std::numeric_limits<int>::max();
  }

  std::array<int, kMaxRank + 1> axes_{};  // one too many is enough: it is no axis, or there twice
  std::size_t count_ = 0;
};

/// An array, or a number that stands for an array full of that number. It does not keep the array alive: use it only as
/// an argument.
class Operand {
 public:
  Operand(const AnyArray& array) noexcept : array_(&array) {}  // NOLINT(google-explicit-constructor)
  template <class T>
    requires std::is_arithmetic_v<T>
  Operand(T number) noexcept : number_(static_cast<Widest<T>>(number)) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  Operand(std::complex<T> number) noexcept  // NOLINT(google-explicit-constructor)
      : number_(std::complex<double>(number)) {}

  /// Null for a number.
  const AnyArray* array() const noexcept { return array_; }
  const op::Scalar& number() const noexcept { return number_; }

 private:
  /// Integers keep all their digits.
  template <class T>
  using Widest = std::conditional_t<std::floating_point<T>, double,
                                    std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>>;

  const AnyArray* array_ = nullptr;
  op::Scalar number_;
};

/// The operands of an einsum: `{a, b, c}`, or a list that is made at run time, such as a vector of arrays. It does not
/// keep the arrays alive: use it only as an argument.
class Operands {
 public:
  static constexpr std::size_t kMost = 32;

  template <std::derived_from<AnyArray>... A>
    requires(sizeof...(A) >= 2 && sizeof...(A) <= kMost)
  Operands(const A&... arrays) noexcept  // NOLINT(google-explicit-constructor): operands are written in braces
      : arrays_{&arrays...}, count_(sizeof...(A)) {}
  template <std::ranges::forward_range List>
    requires std::derived_from<std::ranges::range_value_t<List>, AnyArray>
  Operands(const List& list) noexcept {  // NOLINT(google-explicit-constructor): a list is what they are
    for (const AnyArray& array : list)
      if (count_++ < kMost) arrays_[count_ - 1] = &array;
  }

  /// As many as were given, and the first `kMost` of them.
  std::size_t count() const noexcept { return count_; }
  std::span<const AnyArray* const> all() const noexcept { return {arrays_.data(), std::min(count_, kMost)}; }

 private:
  std::array<const AnyArray*, kMost> arrays_{};
  std::size_t count_ = 0;
};

/// What a whole array of `T` is reduced to: `Out`, unless it is void.
template <class Out, class T>
using ReducedType =
    std::conditional_t<!std::is_void_v<Out>, Out,
                       std::conditional_t<!std::integral<T> || std::same_as<T, bool>, T,
                                          std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>>>;

}  // namespace detail

/// What `unary`, `binary` and `ternary` multiply each array operand by: the first by alpha, the second by beta, the
/// third by gamma. An operand that is a number has no factor.
struct ElementwiseOptions {
  detail::Factor alpha = 1.0;  // multiplies the first operand
  detail::Factor beta = 1.0;   // the second
  detail::Factor gamma = 1.0;  // the third
};
/// What `reduce` can be told: out = alpha (what was computed) + beta out. With a beta of 0 the old content of out is
/// not read.
struct ReduceOptions {
  detail::Factor alpha = 1.0;  // multiplies what was computed
  detail::Factor beta = 0.0;   // multiplies the old content of the output
};
/// What `einsum` can be told.
struct EinsumOptions {
  detail::Factor alpha = 1.0;                     // multiplies the sum
  detail::Factor beta = 0.0;                      // multiplies the old content of the output
  TensorEngine engine = TensorEngine::automatic;  // how it is computed
  /// Measures the engines on a GPU, and the kernels of cuTENSOR, the first time that shapes and strides are seen, and
  /// uses the fastest from then on. The file that $TROUPE_TENSOR_TUNING names keeps the choice. Without autotune, and
  /// where there is only one engine, the choice is an estimate.
  bool autotune = false;
};
static_assert(std::is_trivially_destructible_v<ElementwiseOptions> && std::is_trivially_destructible_v<ReduceOptions> &&
                  std::is_trivially_destructible_v<EinsumOptions> && std::is_trivially_destructible_v<detail::Axes> &&
                  std::is_trivially_destructible_v<detail::Operand> &&
                  std::is_trivially_destructible_v<detail::Operands>,
              "safe inside a co_await with g++ 12");

/// How an einsum of two operands would be computed, and its estimated cost.
struct EinsumPlan {
  TensorEngine engine{};        // never automatic
  bool takes_cutensor = false;  // instead, where the worker finds cuTENSOR
  bool sums_a_first = false;    // letters that only a has
  bool sums_b_first = false;    // letters that only b has
  bool permutes_a = false;      // into scratch memory; b likewise
  bool permutes_b = false;      // the same of b
  bool permutes_c = false;      // computed in scratch memory first
  std::int64_t batch = 1;       // how many products [rows x depth] [depth x columns]
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t depth = 1;  // what is summed over
  std::int64_t calls = 1;  // of the library
  double flops = 0;        // multiplications and additions
  double bytes_moved = 0;  // by permuting
  double seconds = 0;      // a guess

  /// "gemm: 8 x [64 x 32] [32 x 16], b permuted, ...".
  std::string to_string() const;
};

/// In which order an einsum of many operands would be computed, two at a time.
struct EinsumOrder {
  /// Operands are counted from 1, as in the text, and results go on from there; the last result is the output.
  struct Step {
    std::size_t first = 0;   // an operand or a result
    std::size_t second = 0;  // the other one
    Shape shape;             // of the result
  };
  std::vector<Step> steps;     // one for each pair
  double multiplications = 0;  // of all steps
  double scratch_bytes = 0;    // of all results but the last

  /// "2 by 3 gives 4, [10, 20]; 1 by 4 gives the output; 12000 multiplications, ...".
  std::string to_string() const;
};

/// Contractions, reductions and functions of elements on a device: `gpu.tensor()`.
class Tensor {
 public:
  explicit Tensor(Device device) noexcept : device_(std::move(device)) {}

  // For every function: outputs must not overlap inputs. Shapes that do not fit are refused with `invalid_argument`,
  // and types that the operation does not take with `unsupported`, both before anything is submitted.

  /// c = alpha (the sum over all letters that are not in c) + beta c: "bik,bkj->bij" and any other text with two
  /// operands, also with diagonals ("iij,j->i"). When the text is wrong, the message marks the character.
  Call<void> einsum(std::string_view text, const AnyArray& a, const AnyArray& b, const AnyArray& c,
                    EinsumOptions options = {}) const;
  /// The same with one operand: sums, permutations, diagonals, traces. There is only one way to compute it, so the
  /// engine must be automatic.
  Call<void> einsum(std::string_view text, const AnyArray& a, const AnyArray& c, EinsumOptions options = {}) const;
  /// The same with up to 32 operands: `einsum("ij,jk,kl->il", {a, b, d}, c)`. They are multiplied two at a time, in the
  /// order with the fewest multiplications for up to eight of them, and in a good one for more; the results in between
  /// are in scratch memory and have the type of the operands. It is one call with one end, and several ops: no op may
  /// write an operand between the first and the last.
  Call<void> einsum(std::string_view text, detail::Operands operands, const AnyArray& c,
                    EinsumOptions options = {}) const;
  /// In which order that would be.
  Result<EinsumOrder> explain(std::string_view text, detail::Operands operands) const;
  /// How the einsum would be computed on this device.
  Result<EinsumPlan> explain(std::string_view text, const AnyArray& a, const AnyArray& b, const AnyArray& c,
                             EinsumOptions options = {}) const;
  /// The same for an output that does not exist yet and would be contiguous.
  Result<EinsumPlan> explain(std::string_view text, const AnyArray& a, const AnyArray& b,
                             EinsumOptions options = {}) const;

  /// Reduces the given axes. Out may keep them, with an extent of 1, or leave them out. Intermediate results are f64.
  /// The norm of complex numbers is real: f32 for c64, f64 for c128. Integers are reduced in 64 bits: out is of their
  /// type, and then wraps, or i64, or u64 for unsigned ones. Bools are counted in i64. The mean of either is f64, and
  /// any and all are bool. Of no elements, the sum and the norm are 0, the product is 1, any is false and all is true;
  /// minimum, maximum and mean are refused.
  Call<void> reduce(Reduction function, const AnyArray& in, detail::Axes axes, const AnyArray& out,
                    ReduceOptions options = {}) const;
  /// Reduces all axes and gives the number: of integers as i64 or u64, of others in their type. Where the result is of
  /// another type, name it: `reduce<double>(Reduction::mean, integers)`, `reduce<std::int64_t>(Reduction::sum, mask)`.
  template <class Out = void, Element T>
  Call<detail::ReducedType<Out, T>> reduce(Reduction function, const Array<T>& in) const {
    using Number = detail::ReducedType<Out, T>;
    Result<HostArray<Number>> number = device_.host_array<Number>(Shape());
    if (!number) return fail(std::move(number).error());
    return {reduce_all(function, in, *number), std::move(*number)};
  }

  /// Axis i of out is axis `order[i]` of in. Elements are multiplied by alpha.
  Call<void> permute(const AnyArray& in, detail::Axes order, const AnyArray& out, detail::Factor alpha = 1.0) const;

  /// out = f(alpha a), f(alpha a, beta b), f(alpha a, beta b, gamma c), element by element. An operand is repeated
  /// along the axes that it lacks or that have an extent of 1 (NumPy's rules). Out must have the resulting shape.
  /// Operands may be of several types: all are computed in the type that NumPy promotes them to, and out must have it.
  /// A number has the type of the arrays. Comparisons make bool. Integers wrap; docs/tensor.md says which functions
  /// they and bool have. `ternary(Ternary::select, condition, a, b, out)` is NumPy's where.
  Call<void> unary(Unary function, const AnyArray& a, const AnyArray& out, ElementwiseOptions options = {}) const;
  /// The same of two operands.
  Call<void> binary(Binary function, detail::Operand a, detail::Operand b, const AnyArray& out,
                    ElementwiseOptions options = {}) const;
  /// The same of three operands.
  Call<void> ternary(Ternary function, detail::Operand a, detail::Operand b, detail::Operand c, const AnyArray& out,
                     ElementwiseOptions options = {}) const;
  /// out = the expression, element by element in one pass: `evaluate(tanh(a * x + b) * m, y)`. Operands are repeated by
  /// NumPy's rules, and out must have the resulting shape. They may be of several types: everything is computed in f32,
  /// or in f64 where an array is f64, c128 or of integers of 32 or 64 bits, and rounded once, to out's type. A bool out
  /// says whether the result is not 0. What does not go together is refused with its place in the expression.
  Call<void> evaluate(const Expression& expression, const AnyArray& out) const;
  /// Reduces the given axes of an expression, which is stored nowhere: `reduce(Reduction::sum, square(x - y), {1},
  /// out)`. Its elements are computed as by `evaluate` and put together in f64, the result is rounded to out's type,
  /// and out may keep the axes, with an extent of 1, or leave them out. Sum, product, mean, norm, min and max.
  Call<void> reduce(Reduction function, const Expression& expression, detail::Axes axes, const AnyArray& out) const;
  /// The same along all axes; out has one element.
  Call<void> reduce(Reduction function, const Expression& expression, const AnyArray& out) const;

 private:
  Call<void> reduce_all(Reduction function, const AnyArray& in, const AnyArray& out) const;
  Device device_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
