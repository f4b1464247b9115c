#include <cmath>

#include "troupe/core/activation.hpp"
#include "troupe/library/conformance.test.hpp"
#include "troupe/library/dense.test.hpp"

namespace troupe::conformance {
namespace {

struct Extents {
  std::int64_t rows, columns, depth;
};
constexpr std::array<Extents, 8> kExtents{
    {{0, 3, 2}, {3, 0, 2}, {4, 3, 0}, {1, 1, 1}, {5, 7, 3}, {31, 17, 23}, {64, 48, 32}, {32, 64, 130}}};
constexpr std::array kActivations{Activation::none, Activation::relu, Activation::gelu_tanh};

std::string text(const Extents& e, Layout layout, Activation activation = Activation::none) {
  return std::to_string(e.rows) + " " + std::to_string(e.columns) + " " + std::to_string(e.depth) + " " + name(layout) +
         " activation " + std::to_string(static_cast<int>(activation));
}

template <class W>
W activated(Activation activation, W x) {
  if (activation == Activation::relu) return relu(x);
  return activation == Activation::gelu_tanh ? gelu_tanh(x) : x;
}
template <class W>
W slope(Activation activation, W x) {
  if (activation == Activation::relu) return relu_slope(x);
  return activation == Activation::gelu_tanh ? gelu_tanh_slope(x) : W(1);
}

/// Roundings of sums in f32 (or f64), in units of those of the result's type.
template <class T>
double roundings(std::int64_t depth) {
  const double unit = std::same_as<T, double> ? epsilon<double>() : epsilon<float>();
  return 4 + (64 + 2 * static_cast<double>(depth)) * unit / epsilon<T>();
}

template <class T>
class MatmulConformance : public Conformance<T> {
 protected:
  using Number = T;
  Matmul matmul() const { return this->device().matmul(); }
};
CONFORMANCE_SUITE(MatmulConformance, Types<float, double, f16, bf16>);

CONFORMANCE_TEST(MatmulConformance, multiply) {
  this->covers("matmul", "multiply");
  for (const Extents& e : kExtents)
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(text(e, layout));
      const Sample<T> a = this->random({e.rows, e.depth}, layout);
      const Sample<T> b = this->random({e.depth, e.columns}, next(layout));
      Sample<T> d = this->poisoned({e.rows, e.columns}, next(layout, 2));
      const Dense<T> want = Dense<T>(0.5) * (Dense<T>(a, e.rows, e.depth) * Dense<T>(b, e.depth, e.columns));
      value(this->matmul().multiply(a.array(), b.array(), d.array(), {.alpha = 0.5}).get());
      this->expect_close(d.read(), want.elements(), roundings<T>(e.depth));
    }
}

CONFORMANCE_TEST(MatmulConformance, epilogue) {
  using W = Wide<T>;
  this->covers("matmul", "bias, activation, addend");
  for (const Extents& e : kExtents)
    for (const Layout layout : kLayouts)
      for (const Activation activation : kActivations)
        for (const bool has_c : {false, true}) {
          SCOPED_TRACE(text(e, layout, activation));
          const Sample<T> a = this->random({e.rows, e.depth}, layout);
          const Sample<T> b = this->random({e.depth, e.columns}, next(layout));
          const Sample<T> c = this->random({e.rows, e.columns}, layout);
          const Sample<T> bias = this->random({e.columns}, has_c ? layout : Layout::dense);
          Sample<T> pre = this->poisoned({e.rows, e.columns}, layout);
          Sample<T> d = this->poisoned({e.rows, e.columns}, has_c ? next(layout) : Layout::dense);
          Dense<T> want = Dense<T>(a, e.rows, e.depth) * Dense<T>(b, e.depth, e.columns);
          if (has_c) want = want + Dense<T>(-0.5) * Dense<T>(c, e.rows, e.columns);
          for (std::int64_t i = 0; i < e.rows; ++i)
            for (std::int64_t j = 0; j < e.columns; ++j)
              want(i, j) += widen(bias.values()[static_cast<std::size_t>(j)]);
          const std::vector<W> before = want.elements();
          // cuBLASLt does some of it in one pass: what has no addend and no scale, and keeps nothing but for gelu.
          const double scale_d = has_c ? 2 : 1;
          const bool keeps_pre = has_c || activation == Activation::gelu_tanh;
          for (std::int64_t i = 0; i < e.rows; ++i)
            for (std::int64_t j = 0; j < e.columns; ++j) want(i, j) = W(scale_d) * activated(activation, want(i, j));
          value(this->matmul()
                    .multiply(a.array(), b.array(), d.array(),
                              {.beta = has_c ? -0.5 : 0.0,
                               .activation = activation,
                               .scale_d = scale_d,
                               .c = has_c ? &c.array() : nullptr,
                               .bias = &bias.array(),
                               .preactivation = keeps_pre ? &pre.array() : nullptr})
                    .get());
          this->expect_close(d.read(), want.elements(), 4 * roundings<T>(e.depth));
          if (keeps_pre) this->expect_close(pre.read(), before, 2 * roundings<T>(e.depth));
        }
}

CONFORMANCE_TEST(MatmulConformance, gradient) {
  this->covers("matmul", "gradient");
  for (const Extents& e : kExtents)
    for (const Layout layout : kLayouts)
      for (const Activation activation : kActivations) {
        SCOPED_TRACE(text(e, layout, activation));
        const Sample<T> a = this->random({e.rows, e.depth}, layout);
        const Sample<T> b = this->random({e.depth, e.columns}, next(layout));
        const Sample<T> pre = this->random({e.rows, e.columns}, next(layout));
        Sample<T> d = this->poisoned({e.rows, e.columns}, next(layout));
        Sample<T> sums = this->poisoned({e.columns});
        Dense<T> want = Dense<T>(a, e.rows, e.depth) * Dense<T>(b, e.depth, e.columns);
        Dense<T> want_sums(1, e.columns);
        const Dense<T> at(pre, e.rows, e.columns);
        for (std::int64_t i = 0; i < e.rows; ++i)
          for (std::int64_t j = 0; j < e.columns; ++j) {
            want(i, j) *= slope(activation, at(i, j));
            want_sums(0, j) += want(i, j);
          }
        value(this->matmul()
                  .gradient(a.array(), b.array(), d.array(),
                            {.activation = activation, .preactivation = &pre.array(), .bias_gradient = &sums.array()})
                  .get());
        this->expect_close(d.read(), want.elements(), 4 * roundings<T>(e.depth));
        this->expect_close(sums.read(), want_sums.elements(), 4 * roundings<T>(e.depth),
                           2 * std::sqrt(static_cast<double>(e.rows * e.depth + 1)));
      }
}

// ---- other types ----

/// `In` and `In2` into `Out`, with scales and an epilogue.
template <class In, class In2, class Out, class Test>
void expect_mixed(Test& test, const Matmul& matmul) {
  for (const Extents& e : kExtents)
    for (const Layout layout : {Layout::dense, Layout::transposed, Layout::padded, Layout::sliced}) {
      SCOPED_TRACE(text(e, layout) + " " + std::string(troupe::name(dtype_of<In>)) + " " +
                   std::string(troupe::name(dtype_of<In2>)));
      const Sample<In> a = test.template sample<In>({e.rows, e.depth}, layout);
      const Sample<In2> b = test.template sample<In2>({e.depth, e.columns}, Layout::transposed);
      const Sample<bf16> bias = test.template sample<bf16>({e.columns}, Layout::dense);
      Sample<Out> d =
          test.template nothing<Out>({e.rows, e.columns}, layout == Layout::sliced ? layout : Layout::dense);
      std::vector<double> want(static_cast<std::size_t>(e.rows * e.columns));
      for (std::int64_t i = 0; i < e.rows; ++i)
        for (std::int64_t j = 0; j < e.columns; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k < e.depth; ++k)
            sum += widen(a.values()[static_cast<std::size_t>(i * e.depth + k)]) *
                   widen(b.values()[static_cast<std::size_t>(k * e.columns + j)]);
          const double number = 0.25 * sum + widen(bias.values()[static_cast<std::size_t>(j)]);
          want[static_cast<std::size_t>(i * e.columns + j)] = gelu_tanh(number);
        }
      value(matmul
                .multiply(a.array(), b.array(), d.array(),
                          {.activation = Activation::gelu_tanh, .scale_a = 0.5, .scale_b = 0.5, .bias = &bias.array()})
                .get());
      // Hopper's tensor cores keep 14 bits or so of a sum of 8-bit products.
      const double sums = sizeof(In) == 1 ? 0x1p-12 / epsilon<Out>() : 0;
      test.compare(d.read(), want, 2 * roundings<Out>(e.depth) + sums);
    }
}

/// The type of a case is that of the factors.
template <class T>
class MatmulConformanceMixed : public MatmulConformance<T> {
 public:
  template <class U>
  Sample<U> sample(const Shape& shape, Layout layout) {
    return this->template random_of<U>(shape, layout);
  }
  template <class U>
  Sample<U> nothing(const Shape& shape, Layout layout) {
    return this->template poisoned_of<U>(shape, layout);
  }
  template <class U>
  void compare(const std::vector<U>& got, const std::vector<double>& want, double within) {
    this->expect_close(got, want, within);
  }
};
template <class T>
class MatmulConformanceOf8BitFloats : public MatmulConformanceMixed<T> {};
CONFORMANCE_SUITE(MatmulConformanceOf8BitFloats, Types<f8e4m3, f8e5m2>);
template <class T>
class MatmulConformanceIntoF32 : public MatmulConformanceMixed<T> {};
CONFORMANCE_SUITE(MatmulConformanceIntoF32, Types<f16, bf16>);

CONFORMANCE_TEST(MatmulConformanceOf8BitFloats, into_larger_types) {
  this->covers("matmul", "8-bit floats into f32 f16 bf16, scaled");
  expect_mixed<T, f8e4m3, float>(*this, this->matmul());
  expect_mixed<T, f8e4m3, f16>(*this, this->matmul());
  expect_mixed<T, f8e4m3, bf16>(*this, this->matmul());
}
CONFORMANCE_TEST(MatmulConformanceOf8BitFloats, into_8_bits) {
  this->covers("matmul", "8-bit floats into f8e4m3, scaled");
  expect_mixed<T, f8e4m3, f8e4m3>(*this, this->matmul());
}
CONFORMANCE_TEST(MatmulConformanceIntoF32, into_f32) {
  this->covers("matmul", "into f32");
  expect_mixed<T, T, float>(*this, this->matmul());
}

template <class T>
class MatmulConformanceOfIntegers : public MatmulConformance<T> {};
CONFORMANCE_SUITE(MatmulConformanceOfIntegers, Types<std::int8_t>);

CONFORMANCE_TEST(MatmulConformanceOfIntegers, multiply) {
  this->covers("matmul", "multiply");
  for (const Extents& e : kExtents)
    for (const Layout layout : kLayouts) {
      const Sample<std::int8_t> a = this->random({e.rows, e.depth}, layout);
      const Sample<std::int8_t> b = this->random({e.depth, e.columns}, next(layout));
      Sample<std::int32_t> d = this->template poisoned_of<std::int32_t>({e.rows, e.columns}, next(layout, 2));
      const Dense<std::int8_t> want =
          Dense<std::int8_t>(a, e.rows, e.depth) * Dense<std::int8_t>(b, e.depth, e.columns);
      value(this->matmul().multiply(a.array(), b.array(), d.array()).get());
      this->expect_close(d.read(), want.elements(), 0);
    }
}

template <class T>
class MatmulConformanceOfTf32 : public MatmulConformance<T> {};
CONFORMANCE_SUITE(MatmulConformanceOfTf32, Types<float>);

CONFORMANCE_TEST(MatmulConformanceOfTf32, multiply) {
  this->covers("matmul", "multiply, tf32");
  for (const Extents& e : kExtents) {
    const Sample<float> a = this->random({e.rows, e.depth});
    const Sample<float> b = this->random({e.depth, e.columns});
    Sample<float> d = this->poisoned({e.rows, e.columns});
    const Dense<float> want = Dense<float>(a, e.rows, e.depth) * Dense<float>(b, e.depth, e.columns);
    value(this->matmul().multiply(a.array(), b.array(), d.array(), {.compute = Compute::tf32}).get());
    constexpr double kOfF32 = 0x1p13;  // the factors have 10 bits of mantissa instead of 23
    this->expect_close(d.read(), want.elements(), kOfF32 * roundings<float>(e.depth));
  }
}

}  // namespace
}  // namespace troupe::conformance
