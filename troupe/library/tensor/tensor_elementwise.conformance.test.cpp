// Element by element: every function, every type, every layout, broadcasting and numbers, against the same function of
// the standard library in higher precision.
#include "troupe/core/activation.hpp"
#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

using SixTypes = Types<float, double, f16, bf16, std::complex<float>, std::complex<double>>;

template <class T>
class TensorElementwiseConformance : public Conformance<T> {
 protected:
  using Number = T;
  static constexpr bool kReal = !detail::kIsComplex<Number>;

  template <class F>
  std::vector<F> functions() const {
    std::vector<F> all;
    for (int i = 0; i <= static_cast<int>(F::kLast); ++i) {
      const auto function = static_cast<F>(i);
      bool is_here = kReal ? detail::takes_floats(function) : detail::takes_complex(function);
      if constexpr (std::same_as<F, Binary>) is_here &= !detail::is_comparison(function);
      if (is_here) all.push_back(function);
    }
    return all;
  }
  /// Numbers where every function is defined and tame: from 1/8 to 2, complex ones in the right half plane.
  Sample<Number> positive(const Shape& shape, Layout layout = Layout::dense) {
    Sample<Number> sample = this->random(shape, layout);
    std::vector<Number> values = sample.values();
    for (Number& element : values) {
      const double size = std::abs(static_cast<double>(std::abs(widen(element))));
      element = convert<Number>(0.125 + (kReal ? size * 1.875 : size));
      if constexpr (detail::kIsComplex<Number>)
        element += Number(0, static_cast<typename Number::value_type>(0.5 * std::sin(100 * size)));
    }
    sample.write(values);
    return sample;
  }
  Array<bool> every_second_of_a_row(Shape shape) {
    const int last = shape.rank() - 1;
    shape[last] *= 2;
    return value(value(this->device().template array<bool>(shape)).slice(last, 0, shape[last], 2));
  }
};
CONFORMANCE_SUITE(TensorElementwiseConformance, SixTypes);

template <class W>
W reference(Unary function, W x) {
  if constexpr (detail::kIsComplex<W>) {
    using R = typename W::value_type;
    switch (function) {
      case Unary::neg: return -x;
      case Unary::conj: return std::conj(x);
      case Unary::square: return x * x;
      case Unary::sqrt: return std::sqrt(x);
      case Unary::rsqrt: return R{1} / std::sqrt(x);
      case Unary::reciprocal: return R{1} / x;
      case Unary::exp: return std::exp(x);
      case Unary::log: return std::log(x);
      case Unary::sin: return std::sin(x);
      case Unary::cos: return std::cos(x);
      case Unary::tanh: return std::tanh(x);
      default: return x;
    }
  } else {
    switch (function) {
      case Unary::neg: return -x;
      case Unary::square: return x * x;
      case Unary::sqrt: return std::sqrt(x);
      case Unary::rsqrt: return W{1} / std::sqrt(x);
      case Unary::reciprocal: return W{1} / x;
      case Unary::exp: return std::exp(x);
      case Unary::log: return std::log(x);
      case Unary::sin: return std::sin(x);
      case Unary::cos: return std::cos(x);
      case Unary::tanh: return std::tanh(x);
      case Unary::abs: return std::abs(x);
      case Unary::sign: return x > 0 ? 1 : x < 0 ? -1 : 0;
      case Unary::expm1: return std::expm1(x);
      case Unary::log1p: return std::log1p(x);
      case Unary::tan: return std::tan(x);
      case Unary::erf: return std::erf(x);
      case Unary::relu: return std::max(x, W{0});
      case Unary::sigmoid: return W{1} / (W{1} + std::exp(-x));
      case Unary::silu: return x / (W{1} + std::exp(-x));
      case Unary::gelu: return x * (W{1} + std::erf(x / std::sqrt(W{2}))) / W{2};
      case Unary::gelu_tanh: return gelu_tanh(x);
      case Unary::softplus: return std::log(W{1} + std::exp(x));
      case Unary::floor: return std::floor(x);
      case Unary::ceil: return std::ceil(x);
      case Unary::round: return std::nearbyint(x);
      default: return x;
    }
  }
}

template <class W>
W reference(Binary function, W a, W b) {
  switch (function) {
    case Binary::add: return a + b;
    case Binary::sub: return a - b;
    case Binary::mul: return a * b;
    case Binary::div: return a / b;
    default: break;
  }
  if constexpr (!detail::kIsComplex<W>) {
    if (function == Binary::min) return std::min(a, b);
    if (function == Binary::max) return std::max(a, b);
  }
  return std::pow(a, b);
}

CONFORMANCE_TEST(TensorElementwiseConformance, unary) {
  this->covers("tensor", "unary");
  for (const Unary function : this->template functions<Unary>())
    for (const Layout layout : {Layout::dense, Layout::sliced}) {
      SCOPED_TRACE(std::string(name(function)) + " " + name(layout));
      Sample<T> x = this->positive({9, 31}, layout);
      Sample<T> y = this->poisoned({9, 31}, next(layout));
      value(this->device().tensor().unary(function, x.array(), y.array()).get());
      std::vector<Wide<T>> want;
      for (const T element : x.values()) want.push_back(reference(function, widen(element)));
      this->expect_close(y.read(), want, 8);
    }
}

CONFORMANCE_TEST(TensorElementwiseConformance, unary_of_negative_numbers) {
  if constexpr (!detail::kIsComplex<T>) {
    for (const Unary function : {Unary::abs, Unary::sign, Unary::relu, Unary::gelu, Unary::gelu_tanh, Unary::sigmoid,
                                 Unary::softplus, Unary::floor, Unary::ceil, Unary::round, Unary::exp, Unary::tanh}) {
      SCOPED_TRACE(name(function));
      std::vector<T> values;
      for (const double x : {-10.0, -2.5, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, 10.0}) values.push_back(convert<T>(x));
      Sample<T> x(this->device(), {10}, Layout::dense, values);
      Sample<T> y = this->poisoned({10});
      value(this->device().tensor().unary(function, x.array(), y.array()).get());
      std::vector<Wide<T>> want;
      for (const T element : values) want.push_back(reference(function, widen(element)));
      this->expect_close(y.read(), want, 8);
    }
  }
}

CONFORMANCE_TEST(TensorElementwiseConformance, no_function_loses_a_nan) {
  for (const Unary function : this->template functions<Unary>()) {
    SCOPED_TRACE(name(function));
    Sample<T> x(this->device(), {40}, Layout::dense, std::vector<T>(40, poison<T>()));
    Sample<T> y(this->device(), {40}, Layout::dense, std::vector<T>(40, T(0)));
    value(this->device().tensor().unary(function, x.array(), y.array()).get());
    for (const T element : y.read()) ASSERT_NE(widen(element), widen(element));
  }
}

CONFORMANCE_TEST(TensorElementwiseConformance, a_factor_of_0_keeps_a_nan) {
  Sample<T> x = this->random({4, 4});
  std::vector<T> values = x.values();
  values.front() = poison<T>();
  x.write(values);
  Sample<T> ones(this->device(), {4, 4}, Layout::dense, std::vector<T>(16, T(1)));
  Sample<T> y(this->device(), {4, 4}, Layout::dense, std::vector<T>(16, T(0)));
  const auto expect = [&](T last) {
    const std::vector<T> got = y.read();
    EXPECT_NE(widen(got.front()), widen(got.front()));
    EXPECT_EQ(got.back(), last);
  };
  value(this->device().tensor().permute(x.array(), {1, 0}, y.array(), 0.0).get());
  expect(T(0));
  value(this->device().tensor().binary(Binary::add, x.array(), ones.array(), y.array(), {.alpha = 0.0}).get());
  expect(T(1));
  for (const TensorEngine engine : {TensorEngine::gemm, TensorEngine::loops}) {
    value(this->device()
              .tensor()
              .einsum("ij,jk->ik", x.array(), ones.array(), y.array(), {.alpha = 0.0, .engine = engine})
              .get());
    expect(T(0));
  }
}

CONFORMANCE_TEST(TensorElementwiseConformance, every_shape_and_layout) {
  for (const Layout layout : kLayouts)
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{31}, Shape{100'003}, Shape{7, 13}, Shape{0, 3},
                               Shape{257, 131}, Shape{40, 264}, Shape{3, 5, 4}, Shape{2, 1, 3, 2, 1, 2, 3, 2}}) {
      SCOPED_TRACE(shape.to_string() + " " + name(layout));
      Sample<T> a = this->random(shape, layout);
      Sample<T> b = this->random(shape, next(layout));
      Sample<T> out = this->poisoned(shape, next(layout, 2));
      value(this->device().tensor().binary(Binary::add, a.array(), b.array(), out.array(), {.alpha = 0.5}).get());
      std::vector<Wide<T>> want = widened(b.values());
      for (std::size_t i = 0; i < want.size(); ++i) want[i] += Wide<T>(0.5) * widen(a.values()[i]);
      this->expect_close(out.read(), want, 2);
    }
}

CONFORMANCE_TEST(TensorElementwiseConformance, permute) {
  this->covers("tensor", "permute");
  for (const Layout layout : kLayouts) {
    for (const auto& [rows, columns] :
         {std::pair(1, 7), std::pair(33, 65), std::pair(300, 211), std::pair(264, 200), std::pair(0, 4)}) {
      Sample<T> x = this->random({rows, columns}, layout);
      Sample<T> y = this->poisoned({columns, rows}, next(layout));
      const double factor = columns == 65 ? 2 : 1;
      value(this->device().tensor().permute(x.array(), {1, 0}, y.array(), factor).get());
      std::vector<Wide<T>> want;
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i)
          want.push_back(Wide<T>(factor) * widen(x.values()[static_cast<std::size_t>(i * columns + j)]));
      this->expect_close(y.read(), want, 1);
    }
    Sample<T> x = this->random({3, 5, 7, 11}, layout);
    Sample<T> y = this->poisoned({7, 3, 11, 5}, next(layout));
    value(this->device().tensor().permute(x.array(), {2, 0, 3, 1}, y.array()).get());
    std::vector<T> want;
    for (int k = 0; k < 7; ++k)
      for (int i = 0; i < 3; ++i)
        for (int l = 0; l < 11; ++l)
          for (int j = 0; j < 5; ++j)
            want.push_back(x.values()[static_cast<std::size_t>(((i * 5 + j) * 7 + k) * 11 + l)]);
    this->expect_equal(y.read(), want);
  }
}

CONFORMANCE_TEST(TensorElementwiseConformance, binary) {
  this->covers("tensor", "binary");
  for (const Binary function : this->template functions<Binary>())
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(std::string(name(function)) + " " + name(layout));
      Sample<T> a = this->positive({13, 1, 29}, layout);
      Sample<T> b = this->positive({5, 29}, next(layout));
      Sample<T> out = this->poisoned({13, 5, 29}, next(layout, 2));
      value(this->device().tensor().binary(function, a.array(), b.array(), out.array()).get());
      std::vector<Wide<T>> want;
      for (std::size_t i = 0; i < 13; ++i)
        for (std::size_t j = 0; j < 5; ++j)
          for (std::size_t k = 0; k < 29; ++k)
            want.push_back(reference(function, widen(a.values()[i * 29 + k]), widen(b.values()[j * 29 + k])));
      this->expect_close(out.read(), want, 8);
    }
}

CONFORMANCE_TEST(TensorElementwiseConformance, numbers_and_factors) {
  using W = Wide<T>;
  const Tensor tensor = this->device().tensor();
  Sample<T> a = this->positive({37});
  Sample<T> out = this->poisoned({37});
  value(tensor.binary(Binary::sub, 2, a.array(), out.array(), {.beta = 3}).get());
  std::vector<W> want;
  for (const T element : a.values()) want.push_back(W(2) - W(3) * widen(element));
  this->expect_close(out.read(), want, 4, 4);
  value(tensor.ternary(Ternary::fma, a.array(), 0.5, a.array(), out.array()).get());
  for (std::size_t i = 0; i < want.size(); ++i) want[i] = W(1.5) * widen(a.values()[i]);
  this->expect_close(out.read(), want, 2, 4);
  if constexpr (detail::kIsComplex<T>) {
    value(tensor.unary(Unary::identity, a.array(), out.array(), {.alpha = {0.0, 1.0}}).get());
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = W(0, 1) * widen(a.values()[i]);
    this->expect_close(out.read(), want, 1);
  }
}

CONFORMANCE_TEST(TensorElementwiseConformance, ternary) {
  using W = Wide<T>;
  this->covers("tensor", "ternary");
  const Tensor tensor = this->device().tensor();
  for (const Layout layout : kLayouts)
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{1023}, Shape{17, 19}}) {
      Sample<T> a = this->random(shape, layout);
      Sample<T> b = this->random(shape, next(layout));
      Sample<T> c = this->random(shape, next(layout, 2));
      Sample<std::uint8_t> choose = this->template random_of<std::uint8_t>(shape, next(layout, 3));
      const Array<bool> chooses = this->every_second_of_a_row(shape);
      value(this->device().cast(choose.array(), chooses).get());
      Sample<T> out = this->poisoned(shape, next(layout, 4));
      std::vector<W> fma;
      std::vector<T> chosen;
      for (std::size_t i = 0; i < a.values().size(); ++i) {
        fma.push_back(widen(a.values()[i]) * widen(b.values()[i]) + widen(c.values()[i]));
        chosen.push_back(choose.values()[i] != 0 ? a.values()[i] : b.values()[i]);
      }
      value(tensor.ternary(Ternary::fma, a.array(), b.array(), c.array(), out.array()).get());
      this->expect_close(out.read(), fma, 4, 2);
      value(tensor.ternary(Ternary::select, chooses, a.array(), b.array(), out.array()).get());
      this->expect_equal(out.read(), chosen);
      if constexpr (!detail::kIsComplex<T>) {
        value(tensor.ternary(Ternary::clamp, a.array(), -0.25, 0.5, out.array()).get());
        std::vector<W> clamped = widened(a.values());
        for (W& element : clamped) element = std::clamp(element, W(-0.25), W(0.5));
        this->expect_close(out.read(), clamped, 0);
      }
    }
}

CONFORMANCE_TEST(TensorElementwiseConformance, nan_stays_nan) {
  if constexpr (!detail::kIsComplex<T>) {
    const Tensor tensor = this->device().tensor();
    Sample<T> nan(this->device(), {1}, Layout::dense, {poison<T>()});
    Sample<T> out = this->random({1});
    for (const Binary function : {Binary::min, Binary::max}) {
      value(tensor.binary(function, nan.array(), 1, out.array()).get());
      EXPECT_TRUE(std::isnan(static_cast<double>(widen(out.read()[0]))));
      value(tensor.binary(function, 1, nan.array(), out.array()).get());
      EXPECT_TRUE(std::isnan(static_cast<double>(widen(out.read()[0]))));
    }
    value(tensor.unary(Unary::relu, nan.array(), out.array()).get());
    EXPECT_TRUE(std::isnan(static_cast<double>(widen(out.read()[0]))));
  }
}

}  // namespace
}  // namespace troupe::conformance
