// Integers and bool: every function that they have, over all of their numbers, also where results wrap; and reductions.
// References are computed with unsigned numbers of 64 bits, of which the low bits are kept.
#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

using WholeTypes = Types<std::int32_t, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::uint32_t,
                         std::int64_t, std::uint64_t, bool>;

template <class T>
class TensorWholeConformance : public Conformance<T> {
 protected:
  using Number = T;

  template <class F>
  static bool has(F function) {
    return std::same_as<Number, bool> ? detail::takes_bool(function) : detail::takes_integers(function);
  }
  template <class F>
  static std::vector<F> functions() {
    std::vector<F> all;
    for (int i = 0; i <= static_cast<int>(F::kLast); ++i)
      if (has(static_cast<F>(i))) all.push_back(static_cast<F>(i));
    return all;
  }
  /// Any numbers of the type, the ends of its range first.
  Sample<Number> any_numbers(const Shape& shape, Layout layout = Layout::dense) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    std::vector<Number> values(static_cast<std::size_t>(count));
    for (auto&& element : values) element = static_cast<Number>(this->random_numbers()() >> 7);
    using Limits = std::numeric_limits<Number>;
    const std::array ends{Limits::min(), Limits::max(), Number(0), Number(1), static_cast<Number>(-1)};
    for (std::size_t i = 0; i < std::min(values.size(), 3 * ends.size()); ++i) values[i] = ends[i * i % ends.size()];
    return Sample<Number>(this->device(), shape, layout, std::move(values));
  }
  /// How far bits may be shifted, and some more.
  Sample<Number> counts(const Shape& shape, Layout layout) {
    Sample<Number> sample = any_numbers(shape, layout);
    std::vector<Number> values = sample.values();
    for (std::size_t i = 8; i < values.size(); ++i)
      values[i] = static_cast<Number>(this->random_numbers()() % (8 * sizeof(Number) + 2));
    sample.write(values);
    return sample;
  }
};
CONFORMANCE_SUITE(TensorWholeConformance, WholeTypes);

std::uint64_t bits(auto x) { return static_cast<std::uint64_t>(x); }

template <class T>
T reference(Unary function, T x) {
  switch (function) {
    case Unary::neg: return static_cast<T>(0 - bits(x));
    case Unary::square: return static_cast<T>(bits(x) * bits(x));
    case Unary::abs: return x < T(0) ? static_cast<T>(0 - bits(x)) : x;
    case Unary::sign: return x < T(0) ? static_cast<T>(-1) : T(x > T(0));
    case Unary::relu: return std::max(x, T(0));
    case Unary::bit_not: return std::same_as<T, bool> ? static_cast<T>(!x) : static_cast<T>(~bits(x));
    default: return x;
  }
}

template <class T>
T reference(Binary function, T a, T b) {
  const bool is_within = bits(b) < 8 * sizeof(T);
  switch (function) {
    case Binary::add: return static_cast<T>(bits(a) + bits(b));
    case Binary::sub: return static_cast<T>(bits(a) - bits(b));
    case Binary::mul: return static_cast<T>(bits(a) * bits(b));
    case Binary::min: return std::min(a, b);
    case Binary::max: return std::max(a, b);
    case Binary::bit_and: return static_cast<T>(bits(a) & bits(b));
    case Binary::bit_or: return static_cast<T>(bits(a) | bits(b));
    case Binary::bit_xor: return static_cast<T>(bits(a) ^ bits(b));
    case Binary::shift_left: return is_within ? static_cast<T>(bits(a) << bits(b)) : T(0);
    case Binary::shift_right: return is_within ? static_cast<T>(a >> bits(b)) : static_cast<T>(a < T(0) ? -1 : 0);
    case Binary::equal: return T(a == b);
    case Binary::not_equal: return T(a != b);
    case Binary::less: return T(a < b);
    case Binary::less_equal: return T(a <= b);
    case Binary::greater: return T(a > b);
    case Binary::greater_equal: return T(a >= b);
    default: return a;
  }
}

CONFORMANCE_TEST(TensorWholeConformance, unary) {
  this->covers("tensor", "unary");
  for (const Unary function : this->template functions<Unary>())
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(std::string(name(function)) + " " + name(layout));
      Sample<T> x = this->any_numbers({9, 67}, layout);
      Sample<T> y = this->poisoned({9, 67}, next(layout));
      value(this->device().tensor().unary(function, x.array(), y.array()).get());
      std::vector<T> want;
      for (const T element : x.values()) want.push_back(reference(function, element));
      this->expect_equal(y.read(), want);
    }
}

CONFORMANCE_TEST(TensorWholeConformance, binary) {
  this->covers("tensor", "binary");
  for (const Binary function : this->template functions<Binary>())
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(std::string(name(function)) + " " + name(layout));
      const bool shifts = function == Binary::shift_left || function == Binary::shift_right;
      Sample<T> a = this->any_numbers({7, 1, 45}, layout);
      Sample<T> b = shifts ? this->counts({5, 45}, next(layout)) : this->any_numbers({5, 45}, next(layout));
      std::vector<T> want;
      for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t j = 0; j < 5; ++j)
          for (std::size_t k = 0; k < 45; ++k)
            want.push_back(reference<T>(function, a.values()[i * 45 + k], b.values()[j * 45 + k]));
      if (detail::is_comparison(function)) {
        Sample<bool> out = this->template poisoned_of<bool>({7, 5, 45}, next(layout, 2));
        value(this->device().tensor().binary(function, a.array(), b.array(), out.array()).get());
        const std::vector<bool> got = out.read();
        EXPECT_TRUE(std::ranges::equal(got, want, [](bool x, T y) { return x == (y != T(0)); }));
      } else {
        Sample<T> out = this->poisoned({7, 5, 45}, next(layout, 2));
        value(this->device().tensor().binary(function, a.array(), b.array(), out.array()).get());
        this->expect_equal(out.read(), want);
      }
    }
}

CONFORMANCE_TEST(TensorWholeConformance, every_shape) {
  for (const Layout layout : kLayouts)
    for (const Shape& shape :
         {Shape{}, Shape{0}, Shape{1}, Shape{31}, Shape{100'003}, Shape{257, 131}, Shape{40, 264}}) {
      SCOPED_TRACE(shape.to_string() + " " + name(layout));
      Sample<T> a = this->any_numbers(shape, layout);
      Sample<T> b = this->any_numbers(shape, next(layout));
      Sample<T> out = this->poisoned(shape, next(layout, 2));
      value(this->device().tensor().binary(Binary::bit_xor, a.array(), b.array(), out.array()).get());
      std::vector<T> want;
      for (std::size_t i = 0; i < a.values().size(); ++i)
        want.push_back(reference<T>(Binary::bit_xor, a.values()[i], b.values()[i]));
      this->expect_equal(out.read(), want);
    }
}

CONFORMANCE_TEST(TensorWholeConformance, permute) {
  this->covers("tensor", "permute");
  for (const Layout layout : kLayouts) {
    Sample<T> x = this->any_numbers({33, 65}, layout);
    Sample<T> y = this->poisoned({65, 33}, next(layout));
    value(this->device().tensor().permute(x.array(), {1, 0}, y.array()).get());
    std::vector<T> want;
    for (std::size_t j = 0; j < 65; ++j)
      for (std::size_t i = 0; i < 33; ++i) want.push_back(x.values()[i * 65 + j]);
    this->expect_equal(y.read(), want);
  }
}

CONFORMANCE_TEST(TensorWholeConformance, ternary) {
  this->covers("tensor", "ternary");
  const Tensor tensor = this->device().tensor();
  for (const Layout layout : kLayouts)
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{1023}, Shape{17, 19}}) {
      Sample<T> a = this->any_numbers(shape, layout);
      Sample<T> b = this->any_numbers(shape, next(layout));
      Sample<T> c = this->any_numbers(shape, next(layout, 2));
      Sample<bool> chooses = this->template random_of<bool>(shape, next(layout, 3));
      Sample<T> out = this->poisoned(shape, next(layout, 4));
      std::vector<T> fma, clamped, chosen;
      for (std::size_t i = 0; i < a.values().size(); ++i) {
        const T x = a.values()[i], y = b.values()[i], z = c.values()[i];
        fma.push_back(static_cast<T>(bits(x) * bits(y) + bits(z)));
        clamped.push_back(std::min(std::max(x, y), z));
        chosen.push_back(chooses.values()[i] ? x : y);
      }
      value(tensor.ternary(Ternary::select, chooses.array(), a.array(), b.array(), out.array()).get());
      this->expect_equal(out.read(), chosen);
      if constexpr (!std::same_as<T, bool>) {
        value(tensor.ternary(Ternary::fma, a.array(), b.array(), c.array(), out.array()).get());
        this->expect_equal(out.read(), fma);
        value(tensor.ternary(Ternary::clamp, a.array(), b.array(), c.array(), out.array()).get());
        this->expect_equal(out.read(), clamped);
      }
    }
}

CONFORMANCE_TEST(TensorWholeConformance, numbers_and_factors) {
  const Tensor tensor = this->device().tensor();
  Sample<T> a = this->any_numbers({1037});
  Sample<T> out = this->poisoned({1037});
  std::vector<T> want;
  const T greatest = std::numeric_limits<T>::max();  // of 64 bits no f64 holds it
  value(tensor.binary(Binary::bit_xor, a.array(), greatest, out.array()).get());
  for (const T element : a.values()) want.push_back(static_cast<T>(bits(element) ^ bits(greatest)));
  this->expect_equal(out.read(), want);
  if constexpr (!std::same_as<T, bool>) {
    value(tensor.binary(Binary::sub, 2, a.array(), out.array(), {.beta = 3}).get());
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = static_cast<T>(2 - 3 * bits(a.values()[i]));
    this->expect_equal(out.read(), want);
    value(tensor.unary(Unary::identity, a.array(), out.array(), {.alpha = 5}).get());
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = static_cast<T>(5 * bits(a.values()[i]));
    this->expect_equal(out.read(), want);
  }
}

CONFORMANCE_TEST(TensorWholeConformance, quotients_are_f64_and_roots_are_what_numpy_takes) {
  using Root = std::conditional_t<sizeof(T) == 1, f16, std::conditional_t<sizeof(T) == 2, float, double>>;
  const Tensor tensor = this->device().tensor();
  Sample<T> a = this->template random_of<T>({133});
  Sample<T> b = this->template random_of<T>({133}, Layout::sliced);
  Sample<double> ratio = this->template poisoned_of<double>({133});
  value(tensor.binary(Binary::div, a.array(), b.array(), ratio.array()).get());
  const std::vector<double> got = ratio.read();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want = static_cast<double>(a.values()[i]) / static_cast<double>(b.values()[i]);
    EXPECT_TRUE(got[i] == want || (std::isnan(got[i]) && std::isnan(want))) << i;
  }
  Sample<Root> power = this->template poisoned_of<Root>({133});
  value(tensor.unary(Unary::exp, a.array(), power.array()).get());
  std::vector<Wide<Root>> want;
  for (const T element : a.values()) want.push_back(std::exp(static_cast<Wide<Root>>(element)));
  this->expect_close(power.read(), want, 4);
}

// ---- reductions ----

template <class T>
using WideInteger = std::conditional_t<std::signed_integral<T> || std::same_as<T, bool>, std::int64_t, std::uint64_t>;

template <class T, class Out>
Out reduced(Reduction function, const std::vector<T>& terms) {
  std::uint64_t sum = 0, product = 1;
  double total = 0;
  T least = std::numeric_limits<T>::max(), greatest = std::numeric_limits<T>::min();
  bool any = false, all = true;
  for (const T x : terms) {
    sum += bits(x);
    product *= bits(x);
    total += static_cast<double>(x);
    least = std::min(least, x);
    greatest = std::max(greatest, x);
    any = any || x != T(0);
    all = all && x != T(0);
  }
  switch (function) {
    case Reduction::sum: return static_cast<Out>(sum);
    case Reduction::product: return static_cast<Out>(product);
    case Reduction::mean: return static_cast<Out>(total / static_cast<double>(terms.size()));
    case Reduction::min: return static_cast<Out>(least);
    case Reduction::max: return static_cast<Out>(greatest);
    case Reduction::any: return static_cast<Out>(any);
    default: return static_cast<Out>(all);
  }
}

template <class T>
class TensorWholeReduceConformance : public TensorWholeConformance<T> {
 protected:
  using Number = T;

  /// Along one axis of three.
  template <class Out>
  void expect_reduced(Reduction function, const Shape& shape, int axis, Layout layout, bool is_mask = false) {
    SCOPED_TRACE(std::string(name(function)) + " " + shape.to_string() + " " + name(layout) + " axis " +
                 std::to_string(axis) + " to " + std::string(troupe::name(dtype_of<Out>)));
    Sample<Number> in = this->any_numbers(shape, layout);
    if (is_mask) {
      std::vector<Number> values = in.values();
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<Number>(function == Reduction::any ? i % 83 == 0 : i % 83 != 0);
      in.write(values);
    }
    Shape kept = shape;
    kept[axis] = 1;
    Sample<Out> out = this->template poisoned_of<Out>(kept, next(layout));
    value(this->device().tensor().reduce(function, in.array(), {axis}, out.array()).get());
    const std::vector<Out> got = out.read();
    std::int64_t inner = 1;
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::int64_t place = static_cast<std::int64_t>(i);
      std::vector<Number> terms;
      for (std::int64_t k = 0; k < shape[axis]; ++k)
        terms.push_back(
            in.values()[static_cast<std::size_t>((place / inner * shape[axis] + k) * inner + place % inner)]);
      const Out want = reduced<Number, Out>(function, terms);
      if constexpr (std::same_as<Out, double>)
        ASSERT_NEAR(got[i], want, 1e-12 * (std::abs(want) + static_cast<double>(std::numeric_limits<Number>::max())));
      else
        ASSERT_EQ(got[i], want) << "output " << i;
    }
    this->count_case();
  }
};
CONFORMANCE_SUITE(TensorWholeReduceConformance, WholeTypes);

CONFORMANCE_TEST(TensorWholeReduceConformance, every_function_along_every_axis) {
  using enum Reduction;
  this->covers("tensor", "reduce");
  for (const Layout layout : kLayouts)
    for (int axis = 0; axis < 3; ++axis) {
      const Shape shape{7, 5, 43};
      for (const Reduction function : {sum, product, min, max}) {
        this->template expect_reduced<WideInteger<T>>(function, shape, axis, layout);
        if (!std::same_as<T, bool> || function == min || function == max)
          this->template expect_reduced<T>(function, shape, axis, layout);
      }
      this->template expect_reduced<double>(mean, shape, axis, layout);
      if constexpr (std::same_as<T, bool>)
        for (const Reduction function : {any, all}) {
          this->template expect_reduced<bool>(function, shape, axis, layout);
          this->template expect_reduced<bool>(function, shape, axis, layout, true);
        }
    }
}

CONFORMANCE_TEST(TensorWholeReduceConformance, every_shape) {
  using enum Reduction;
  for (const Shape& shape : {Shape{1, 1, 10'007}, Shape{10'007, 1, 1}, Shape{2, 3, 1031}, Shape{1031, 3, 2},
                             Shape{17, 64, 37}, Shape{5, 600, 64}})
    for (int axis = 0; axis < 3; ++axis)
      for (const Layout layout : {Layout::dense, Layout::transposed}) {
        this->template expect_reduced<WideInteger<T>>(sum, shape, axis, layout);
        this->template expect_reduced<WideInteger<T>>(max, shape, axis, layout);
        if constexpr (std::same_as<T, bool>) this->template expect_reduced<bool>(all, shape, axis, layout, true);
      }
}

CONFORMANCE_TEST(TensorWholeReduceConformance, a_number) {
  const Tensor tensor = this->device().tensor();
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{100'003}, Shape{37, 41}}) {
    Sample<T> in = this->any_numbers(shape, Layout::sliced);
    using Sum = WideInteger<T>;
    EXPECT_EQ(value(tensor.template reduce<Sum>(Reduction::sum, in.array()).get()),
              (reduced<T, Sum>(Reduction::sum, in.values())));
    if constexpr (std::same_as<T, bool>) {
      EXPECT_EQ(value(tensor.reduce(Reduction::any, in.array()).get()),
                (reduced<T, bool>(Reduction::any, in.values())));
    }
    EXPECT_EQ(value(tensor.reduce(Reduction::max, in.array()).get()),
              (reduced<T, detail::ReducedType<void, T>>(Reduction::max, in.values())));
  }
}

CONFORMANCE_TEST(TensorWholeReduceConformance, nothing_at_all) {
  const Tensor tensor = this->device().tensor();
  Sample<T> in = this->any_numbers({0, 3});
  Sample<WideInteger<T>> sum = this->template poisoned_of<WideInteger<T>>({3});
  value(tensor.reduce(Reduction::sum, in.array(), {0}, sum.array()).get());
  EXPECT_EQ(sum.read(), std::vector<WideInteger<T>>(3, 0));
  if constexpr (std::same_as<T, bool>) {
    Sample<bool> out = this->poisoned({3});
    value(tensor.reduce(Reduction::any, in.array(), {0}, out.array()).get());
    EXPECT_EQ(out.read(), std::vector<bool>(3, false));
    value(tensor.reduce(Reduction::all, in.array(), {0}, out.array()).get());
    EXPECT_EQ(out.read(), std::vector<bool>(3, true));
  }
}

CONFORMANCE_TEST(TensorWholeReduceConformance, factors) {
  if constexpr (!std::same_as<T, bool>) {
    Sample<T> in = this->any_numbers({19, 31});
    Sample<T> out = this->any_numbers({31}, Layout::sliced);
    std::vector<T> want = out.values();
    for (std::size_t j = 0; j < 31; ++j) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < 19; ++i) sum += bits(in.values()[i * 31 + j]);
      want[j] = static_cast<T>(3 * sum + 2 * bits(want[j]));
    }
    value(this->device().tensor().reduce(Reduction::sum, in.array(), {0}, out.array(), {.alpha = 3, .beta = 2}).get());
    this->expect_equal(out.read(), want);
  }
}

}  // namespace
}  // namespace troupe::conformance
