// A scope: ops that belong together, such as those of one request, with one deadline, one error and one cancellation.
//
//   Task<Result<float>> multiply(Device gpu, std::int64_t n) {
//     Scope on(gpu, {.deadline = 20ms});
//     const auto a = on.full<float>({n, n}, 1.0f);  // no check in any line: the scope keeps the first error
//     const auto b = on.full<float>({n, n}, 2.0f);
//     const auto c = on.matmul(a, b) + 1.0f;        // operators make an expression, which is one op
//     const HostArray<float> out = CO_TRY(co_await on.read(c));  // or the first error of the scope, with its line
//     co_return out[0];
//   }
//
// After its first error a scope runs nothing more. What its further ops would have written says why it is not good.
#pragma once

#include <initializer_list>
#include <ranges>
#include <span>
#include <vector>

#include "troupe/device/scope_base.hpp"
#include "troupe/library/checkpoint/checkpoint.hpp"
#include "troupe/library/fft/fft.hpp"
#include "troupe/library/random/random.hpp"
#include "troupe/library/scope/family_forms.hpp"
#include "troupe/library/tensor/tensor.hpp"

#pragma GCC visibility push(default)
namespace troupe::inline v0 {

namespace detail {

/// Axes of an array: `1`, `{0, -1}`, a list that is made at run time, or all of them.
class AxesOrAll {
 public:
  AxesOrAll() noexcept = default;
  template <std::integral... I>
    requires(sizeof...(I) > 0 && sizeof...(I) <= kMaxRank)
  AxesOrAll(I... axes) noexcept : axes_(Axes(axes...)) {}  // NOLINT(google-explicit-constructor)
  template <std::ranges::input_range List>
    requires std::integral<std::ranges::range_value_t<List>>
  AxesOrAll(const List& list) noexcept : axes_(Axes(list)) {}  // NOLINT(google-explicit-constructor)

  /// None: all.
  const std::optional<Axes>& given() const noexcept { return axes_; }

 private:
  std::optional<Axes> axes_;
};

template <class T>
using MeanType = std::conditional_t<std::integral<T>, double, T>;

/// The end of a scope whose results count only when all of it went well.
class [[nodiscard("await it, or call get()")]] CommitOfScope {
 public:
  using troupe_awaitable = void;

  CommitOfScope(EndOfScope end, std::vector<TwoVersions*> written) noexcept
      : end_(std::move(end)), written_(std::move(written)) {}

  /// Waits in this thread.
  [[nodiscard("nothing has happened when it fails")]] Result<void> get() && { return advance(std::move(end_).get()); }

  bool await_ready() const noexcept { return end_.await_ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
    end_.await_suspend(waiter);
  }
  [[nodiscard("nothing has happened when it fails")]] Result<void> await_resume() {
    return advance(end_.await_resume());
  }

 private:
  Result<void> advance(Result<void> end) noexcept {
    if (end)
      for (TwoVersions* const each : written_) each->advance();
    return end;
  }

  EndOfScope end_;
  std::vector<TwoVersions*> written_;
};

}  // namespace detail

/// What a reduction of a scope can be told.
struct ReductionOptions {
  bool keep_axes = false;  // with an extent of 1, so that the result broadcasts to what was reduced
};

/// What `irfft` of a scope can be told.
struct IrfftOptions {
  detail::Axes axes = -1;                   // as for any transform
  FftNorm norm = FftNorm::backward;         // where the factor is
  std::optional<std::int64_t> length = {};  // of the result along the last of the axes; else even, 2 (n - 1)
};

/// Ops that belong together: one deadline, one error, one cancellation. One thread or one task uses it at a time.
/// Dropping it gives up what has not begun; an error that nobody has asked for is logged.
///
/// Its functions make their results themselves. An operand is an array, or an expression of arrays, which is computed
/// on the way. Axes below 0 are counted from the end. Where there is no memory, and for shapes that do not go together,
/// the scope fails, and the result is an empty handle.
class Scope : public detail::ScopeBase, public detail::FamilyForms<Scope> {
 public:
  /// The line that calls, for errors.
  using Where = std::source_location;

  /// A scope on this device, for one caller.
  explicit Scope(Device device, ScopeOptions options = {}, Where where = Where::current())
      : ScopeBase(std::move(device), std::move(options), where) {}

  // ---- arrays ----

  /// Memory of the device. It is empty until something is written to it.
  template <Element T>
  Array<T> array(const Shape& shape, Where where = Where::current()) {
    Array<T> made;
    allocate(made, shape, where);
    return made;
  }
  /// The same with every element `value`.
  template <Element T>
  Array<T> full(const Shape& shape, std::type_identity_t<T> value, Where where = Where::current()) {
    const Array<T> made = array<T>(shape, where);
    if (made) run(device().fill(made, value), where);
    return made;
  }
  /// The same with these elements, in row-major order: a vector, an array, a span. They are copied before this returns.
  template <detail::Contiguous Elements>
  auto from(const Elements& elements, const Shape& shape, Where where = Where::current()) {
    using T = std::remove_cv_t<std::ranges::range_value_t<Elements>>;
    const Array<T> made = array<T>(shape, where);
    if (made) run(device().write(made, std::span<const T>(elements)), where);
    return made;
  }

  // ---- random numbers, by a generator that moves on ----

  /// Numbers of a floating-point type, at least `low` and less than `high`.
  template <Element T>
  Array<T> uniform(const Shape& shape, Generator& generator, double low = 0, double high = 1,
                   Where where = Where::current()) {
    const Array<T> made = array<T>(shape, where);
    if (made) run(device().random().uniform(generator, made, low, high), where);
    return made;
  }
  /// Normal numbers.
  template <Element T>
  Array<T> normal(const Shape& shape, Generator& generator, double mean = 0, double stddev = 1,
                  Where where = Where::current()) {
    const Array<T> made = array<T>(shape, where);
    if (made) run(device().random().normal(generator, made, mean, stddev), where);
    return made;
  }
  /// Integers, at least `low` and less than `high`.
  template <Element T>
  Array<T> integers(const Shape& shape, Generator& generator, detail::WholeNumber low, detail::WholeNumber high,
                    Where where = Where::current()) {
    const Array<T> made = array<T>(shape, where);
    if (made) run(device().random().integers(generator, made, low, high), where);
    return made;
  }
  /// bool, or u8 of 0 and 1: true with this probability.
  template <Element T>
  Array<T> bernoulli(const Shape& shape, Generator& generator, double probability, Where where = Where::current()) {
    const Array<T> made = array<T>(shape, where);
    if (made) run(device().random().bernoulli(generator, made, probability), where);
    return made;
  }
  /// The integers 0 to `count` - 1 in random order.
  template <Element T>
  Array<T> permutation(std::int64_t count, Generator& generator, Where where = Where::current()) {
    const Array<T> made = array<T>(Shape{count}, where);
    if (made) run(device().random().permutation(generator, made), where);
    return made;
  }

  // ---- ops ----

  /// Submits an op of any family. Nobody waits for it: if it fails, so does the scope.
  void run(Call<void> call, Where where = Where::current()) { run_op(std::move(call), where); }
  /// An expression, computed by one op into an array.
  template <Element T>
  Array<T> eval(const ExpressionOf<T>& expression, Where where = Where::current()) {
    return eval<T>(static_cast<const Expression&>(expression), where);
  }
  /// The same where the expression does not say of which type it is, or another one is wanted: `eval<double>(a / b)`.
  template <Element T>
  Array<T> eval(const Expression& expression, Where where = Where::current()) {
    Array<T> out;
    evaluate_into_new(expression, out, where);
    return out;
  }
  /// An expression, computed into an array that is there; it may be one of its own operands: `assign(x, x + dx)`.
  void assign(const AnyArray& out, const Expression& expression, Where where = Where::current());

  /// The product of matrices, or of a matrix and a vector, as NumPy's matmul: axes in front are batches. Floating-point
  /// and complex numbers of one type.
  template <detail::TypedTerm A, detail::TypedTerm B>
  auto matmul(const A& a, const B& b, Where where = Where::current()) {
    using T = detail::TypeOf<A>;
    static_assert(std::same_as<T, detail::TypeOf<B>>,
                  "matmul takes two operands of one type: eval<T>(...) converts the other one");
    Array<T> out;
    multiply_into_new(term(a, where), term(b, where), out, where);
    return out;
  }

  using detail::FamilyForms<Scope>::matmul;  // with an epilogue

  /// The sum over these axes, or over all. Integers are summed in 64 bits, bools are counted.
  template <detail::TypedTerm X>
  auto sum(const X& x, detail::AxesOrAll axes = {}, ReductionOptions options = {}, Where where = Where::current()) {
    using T = detail::TypeOf<X>;
    using Out = std::conditional_t<std::same_as<T, bool>, std::int64_t, detail::ReducedType<void, T>>;
    return reduced<Out>(Reduction::sum, x, axes, options, where);
  }
  /// The mean, in f64 of integers.
  template <detail::TypedTerm X>
  auto mean(const X& x, detail::AxesOrAll axes = {}, ReductionOptions options = {}, Where where = Where::current()) {
    return reduced<detail::MeanType<detail::TypeOf<X>>>(Reduction::mean, x, axes, options, where);
  }
  /// The greatest.
  template <detail::TypedTerm X>
  auto max(const X& x, detail::AxesOrAll axes = {}, ReductionOptions options = {}, Where where = Where::current()) {
    return reduced<detail::TypeOf<X>>(Reduction::max, x, axes, options, where);
  }
  /// The least.
  template <detail::TypedTerm X>
  auto min(const X& x, detail::AxesOrAll axes = {}, ReductionOptions options = {}, Where where = Where::current()) {
    return reduced<detail::TypeOf<X>>(Reduction::min, x, axes, options, where);
  }
  /// The square root of the sum of the squares of the absolute values.
  template <detail::TypedTerm X>
  auto norm(const X& x, detail::AxesOrAll axes = {}, ReductionOptions options = {}, Where where = Where::current()) {
    return reduced<detail::RealType<detail::TypeOf<X>>>(Reduction::norm, x, axes, options, where);
  }
  /// exp(x) divided by its sum along the axis.
  template <detail::TypedTerm X>
  auto softmax(const X& x, int axis = -1, Where where = Where::current()) {
    const auto values = term(x, where);
    const auto exponentials = eval(exp(values - max(values, axis, {.keep_axes = true}, where)), where);
    return eval(exponentials / sum(exponentials, axis, {.keep_axes = true}, where), where);
  }
  /// The spectrum, along the last axis unless told (troupe/library/fft/fft.hpp). Of complex numbers; `rfft` takes real
  /// ones.
  template <detail::TypedTerm X>
    requires detail::kIsComplex<detail::TypeOf<X>>
  auto fft(const X& x, FftOptions options = {}, Where where = Where::current()) {
    Array<detail::TypeOf<X>> out;
    transform_into_new(term(x, where), options, true, out, where);
    return out;
  }
  /// What x is the spectrum of.
  template <detail::TypedTerm X>
    requires detail::kIsComplex<detail::TypeOf<X>>
  auto ifft(const X& x, FftOptions options = {}, Where where = Where::current()) {
    Array<detail::TypeOf<X>> out;
    transform_into_new(term(x, where), options, false, out, where);
    return out;
  }
  /// The spectrum of real numbers: along the last of the axes the first n / 2 + 1 numbers of it.
  template <detail::TypedTerm X>
    requires std::floating_point<detail::TypeOf<X>>
  auto rfft(const X& x, FftOptions options = {}, Where where = Where::current()) {
    Array<std::complex<detail::TypeOf<X>>> out;
    transform_into_new(term(x, where), options, true, out, where);
    return out;
  }
  /// The real numbers whose half of a spectrum x is.
  template <detail::TypedTerm X>
    requires detail::kIsComplex<detail::TypeOf<X>>
  auto irfft(const X& x, IrfftOptions options = {}, Where where = Where::current()) {
    Array<detail::RealType<detail::TypeOf<X>>> out;
    real_inverse_into_new(term(x, where), options, out, where);
    return out;
  }
  /// Arrays of one type, one behind the other along the axis; their other extents are equal.
  template <Element T>
  Array<T> concat(std::span<const Array<T>> parts, int axis = 0, Where where = Where::current()) {
    Array<T> out;
    std::vector<AnyArray> all(parts.begin(), parts.end());
    concatenate_into_new(all, axis, out, where);
    return out;
  }
  /// The same of arrays in braces.
  template <Element T>
  Array<T> concat(std::initializer_list<Array<T>> parts, int axis = 0, Where where = Where::current()) {
    return concat(std::span<const Array<T>>(parts.begin(), parts.size()), axis, where);
  }

  // ---- steps that are whole or did not happen ----

  /// The version of `x` that this scope writes, and that counts when the scope is committed: write all of it.
  template <Element T>
  Array<T> next(Versioned<T>& x) {
    if (std::ranges::find(written_, &x) == written_.end()) {
      written_.push_back(&x);
      must_write(x.next_);
    }
    return x.next_;
  }
  /// The same for an op that works in place: it begins as a copy of the version that counts.
  template <Element T>
  Array<T> copied(Versioned<T>& x, Where where = Where::current()) {
    const bool is_new = std::ranges::find(written_, &x) == written_.end();
    const Array<T> copy = next(x);
    if (is_new) run(device().copy(x.now(), copy), where);
    return copy;
  }
  /// Ends the scope. When all of its ops went well, what it has written with `next` counts, all at once; otherwise
  /// everything is as before, and the step can be tried again in another scope. `invalid_argument` when nothing in the
  /// scope writes what `next` gave.
  detail::CommitOfScope commit(Where where = Where::current()) {
    fail_unless_written(where);
    return {end(), std::move(written_)};
  }

  // ---- answers ----

  /// The elements of an array or an expression, or the first error of the scope: await it, or call `get`.
  template <detail::TypedTerm X>
  auto read(const X& x, Where where = Where::current()) {
    return give(device().read(term(x, where)));
  }
  /// What any call gives, or the first error of the scope.
  template <class R>
  ScopedCall<R> give(Call<R> call) {
    return {*this, std::move(call)};
  }

 private:
  friend class detail::FamilyForms<Scope>;
  template <Element T>
  static const Array<T>& term(const Array<T>& array, const Where&) {
    return array;
  }
  template <Element T>
  Array<T> term(const ExpressionOf<T>& expression, const Where& where) {
    return eval(expression, where);
  }
  template <Element Out, class X>
  Array<Out> reduced(Reduction function, const X& x, const detail::AxesOrAll& axes, const ReductionOptions& options,
                     const Where& where) {
    Array<Out> out;
    if constexpr (std::derived_from<X, AnyArray>)
      reduce_into_new(function, x, axes, options, out, where);
    else
      reduce_into_new(function, static_cast<const Expression&>(x), axes, options, out, where);
    return out;
  }

  bool allocate(AnyArray& array, const Shape& shape, const Where& where);
  void evaluate_into_new(const Expression& expression, AnyArray& out, const Where& where);
  void multiply_into_new(const AnyArray& a, const AnyArray& b, AnyArray& out, const Where& where);
  void reduce_into_new(Reduction function, const AnyArray& x, const detail::AxesOrAll& axes,
                       const ReductionOptions& options, AnyArray& out, const Where& where);
  void reduce_into_new(Reduction function, const Expression& x, const detail::AxesOrAll& axes,
                       const ReductionOptions& options, AnyArray& out, const Where& where);
  void transform_into_new(const AnyArray& x, const FftOptions& options, bool is_forward, AnyArray& out,
                          const Where& where);
  void real_inverse_into_new(const AnyArray& x, const IrfftOptions& options, AnyArray& out, const Where& where);
  void concatenate_into_new(std::span<const AnyArray> parts, int axis, AnyArray& out, const Where& where);

  std::vector<detail::TwoVersions*> written_;
};

}  // namespace troupe::inline v0
#pragma GCC visibility pop
