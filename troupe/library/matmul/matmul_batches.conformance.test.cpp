// Batches of products: arrays of three dimensions and more, whose batch axes are broadcast as in NumPy.
#include <cmath>

#include "troupe/core/activation.hpp"
#include "troupe/library/conformance.test.hpp"
#include "troupe/library/dense.test.hpp"

namespace troupe::conformance {
namespace {

/// Batch axes of a, of b and of what they make; and the matrices.
struct BatchCase {
  std::vector<std::int64_t> a, b, d;
  std::int64_t rows, columns, depth;
};
const std::vector<BatchCase>& batch_cases() {
  static const auto* const kCases = new std::vector<BatchCase>{
      {{3}, {3}, {3}, 5, 4, 7},                    // each with its own
      {{4}, {}, {4}, 6, 5, 3},                     // one b for all: a layer of a network
      {{}, {4}, {4}, 6, 5, 3},                     // one a for all
      {{2, 1}, {3}, {2, 3}, 4, 3, 5},              // both are spread
      {{2, 3, 2}, {1, 3, 1}, {2, 3, 2}, 3, 8, 4},  // axes that do not become one
      {{5}, {1}, {5}, 1, 16, 8},
      {{2, 3}, {2, 3}, {2, 3}, 16, 16, 32},
      {{0}, {1}, {0}, 3, 2, 2},
      {{2}, {2}, {2}, 3, 2, 0},
  };
  return *kCases;
}

Shape shape_of(const std::vector<std::int64_t>& batch, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> extents = batch;
  extents.push_back(rows);
  extents.push_back(columns);
  return Shape(std::span<const std::int64_t>(extents));
}

/// Which matrix of an operand with batch axes `own` belongs to product `index` of a result with batch axes `all`.
std::size_t matrix_of(const std::vector<std::int64_t>& own, const std::vector<std::int64_t>& all, std::int64_t index) {
  std::int64_t at = 0;
  std::int64_t step = 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t place = index % all[all.size() - 1 - i];
    index /= all[all.size() - 1 - i];
    if (i >= own.size()) continue;
    const std::int64_t extent = own[own.size() - 1 - i];
    at += (extent == 1 ? 0 : place) * step;
    step *= extent;
  }
  return static_cast<std::size_t>(at);
}

template <class T>
class MatmulBatchConformance : public Conformance<T> {
 protected:
  Matmul matmul() const { return this->device().matmul(); }

  static double roundings(std::int64_t depth) {
    const double unit = std::same_as<T, double> ? epsilon<double>() : epsilon<float>();
    return 4 + (64 + 2 * static_cast<double>(depth)) * unit / epsilon<T>();
  }
  /// The products of all matrices, in row-major order.
  static std::vector<Wide<T>> products(const BatchCase& c, const std::vector<T>& a, const std::vector<T>& b) {
    using W = Wide<T>;
    std::int64_t count = 1;
    for (const std::int64_t extent : c.d) count *= extent;
    std::vector<W> all;
    for (std::int64_t product = 0; product < count; ++product) {
      const std::size_t first_a = matrix_of(c.a, c.d, product) * static_cast<std::size_t>(c.rows * c.depth);
      const std::size_t first_b = matrix_of(c.b, c.d, product) * static_cast<std::size_t>(c.depth * c.columns);
      for (std::int64_t i = 0; i < c.rows; ++i)
        for (std::int64_t j = 0; j < c.columns; ++j) {
          W sum(0);
          for (std::int64_t k = 0; k < c.depth; ++k)
            sum += widen(a[first_a + static_cast<std::size_t>(i * c.depth + k)]) *
                   widen(b[first_b + static_cast<std::size_t>(k * c.columns + j)]);
          all.push_back(sum);
        }
    }
    return all;
  }
};
CONFORMANCE_SUITE(MatmulBatchConformance, Types<float, double, f16, bf16>);

CONFORMANCE_TEST(MatmulBatchConformance, multiply) {
  this->covers("matmul", "batches, multiply");
  for (const BatchCase& c : batch_cases())
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(shape_of(c.d, c.rows, c.columns).to_string() + " " + name(layout));
      const Sample<T> a = this->random(shape_of(c.a, c.rows, c.depth), layout);
      const Sample<T> b = this->random(shape_of(c.b, c.depth, c.columns), next(layout));
      Sample<T> d = this->poisoned(shape_of(c.d, c.rows, c.columns), next(layout, 2));
      value(this->matmul().multiply(a.array(), b.array(), d.array()).get());
      this->expect_close(d.read(), this->products(c, a.values(), b.values()), this->roundings(c.depth));
    }
}

CONFORMANCE_TEST(MatmulBatchConformance, epilogue) {
  using W = Wide<T>;
  this->covers("matmul", "batches, bias, activation, addend");
  for (const BatchCase& c : batch_cases())
    for (const Layout layout : {Layout::dense, Layout::padded, Layout::sliced})
      for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu_tanh})
        for (const bool has_c : {false, true}) {
          SCOPED_TRACE(shape_of(c.d, c.rows, c.columns).to_string() + " " + name(layout) + " activation " +
                       std::to_string(static_cast<int>(activation)) + (has_c ? " c" : ""));
          const Shape shape = shape_of(c.d, c.rows, c.columns);
          const Sample<T> a = this->random(shape_of(c.a, c.rows, c.depth), layout);
          const Sample<T> b = this->random(shape_of(c.b, c.depth, c.columns));
          const Sample<T> bias = this->random({c.columns});
          const Sample<T> addend = this->random(shape, layout);
          Sample<T> pre = this->poisoned(shape, layout);
          Sample<T> d = this->poisoned(shape, layout);
          std::vector<W> before = this->products(c, a.values(), b.values());
          std::vector<W> want;
          for (std::size_t i = 0; i < before.size(); ++i) {
            before[i] += widen(bias.values()[i % static_cast<std::size_t>(c.columns)]);
            if (has_c) before[i] += W(-0.5) * widen(addend.values()[i]);
            want.push_back(activation == Activation::relu        ? relu(before[i])
                           : activation == Activation::gelu_tanh ? gelu_tanh(before[i])
                                                                 : before[i]);
          }
          const bool keeps_pre = has_c || activation == Activation::gelu_tanh;
          value(this->matmul()
                    .multiply(a.array(), b.array(), d.array(),
                              {.beta = has_c ? -0.5 : 0.0,
                               .activation = activation,
                               .c = has_c ? &addend.array() : nullptr,
                               .bias = &bias.array(),
                               .preactivation = keeps_pre ? &pre.array() : nullptr})
                    .get());
          this->expect_close(d.read(), want, 4 * this->roundings(c.depth));
          if (keeps_pre) this->expect_close(pre.read(), before, 2 * this->roundings(c.depth));
        }
}

CONFORMANCE_TEST(MatmulBatchConformance, gradient) {
  using W = Wide<T>;
  this->covers("matmul", "batches, gradient");
  for (const BatchCase& c : batch_cases())
    for (const Layout layout : {Layout::dense, Layout::padded, Layout::sliced}) {
      SCOPED_TRACE(shape_of(c.d, c.rows, c.columns).to_string() + " " + name(layout));
      const Shape shape = shape_of(c.d, c.rows, c.columns);
      const Sample<T> a = this->random(shape_of(c.a, c.rows, c.depth), layout);
      const Sample<T> b = this->random(shape_of(c.b, c.depth, c.columns));
      const Sample<T> pre = this->random(shape, layout);
      Sample<T> d = this->poisoned(shape, layout);
      Sample<T> sums = this->poisoned({c.columns});
      std::vector<W> want = this->products(c, a.values(), b.values());
      std::vector<W> want_sums(static_cast<std::size_t>(c.columns), W(0));
      for (std::size_t i = 0; i < want.size(); ++i) {
        want[i] *= gelu_tanh_slope(widen(pre.values()[i]));
        want_sums[i % want_sums.size()] += want[i];
      }
      value(
          this->matmul()
              .gradient(
                  a.array(), b.array(), d.array(),
                  {.activation = Activation::gelu_tanh, .preactivation = &pre.array(), .bias_gradient = &sums.array()})
              .get());
      const double all = static_cast<double>(want.size()) * static_cast<double>(c.depth);
      this->expect_close(d.read(), want, 4 * this->roundings(c.depth));
      this->expect_close(sums.read(), want_sums, 4 * this->roundings(c.depth), 2 * std::sqrt(all + 1));
    }
}

template <class T>
class MatmulBatchConformanceOf8Bits : public MatmulBatchConformance<T> {};
CONFORMANCE_SUITE(MatmulBatchConformanceOf8Bits, Types<f8e4m3, f8e5m2>);

CONFORMANCE_TEST(MatmulBatchConformanceOf8Bits, into_f32) {
  this->covers("matmul", "batches, 8-bit floats into f32");
  for (const BatchCase& c : batch_cases()) {
    SCOPED_TRACE(shape_of(c.d, c.rows, c.columns).to_string());
    const Sample<T> a = this->random(shape_of(c.a, c.rows, c.depth));
    const Sample<T> b = this->random(shape_of(c.b, c.depth, c.columns));
    Sample<float> d = this->template poisoned_of<float>(shape_of(c.d, c.rows, c.columns), Layout::dense);
    value(this->matmul().multiply(a.array(), b.array(), d.array()).get());
    constexpr double kOfHopper = 0x1p-12 / epsilon<float>();  // its sums of 8-bit products have 14 bits or so
    this->expect_close(d.read(), this->products(c, a.values(), b.values()), 200 + kOfHopper);
  }
}

template <class T>
class MatmulBatchConformanceOfIntegers : public MatmulBatchConformance<T> {};
CONFORMANCE_SUITE(MatmulBatchConformanceOfIntegers, Types<std::int8_t>);

CONFORMANCE_TEST(MatmulBatchConformanceOfIntegers, multiply) {
  this->covers("matmul", "batches, multiply");
  for (const BatchCase& c : batch_cases())
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(shape_of(c.d, c.rows, c.columns).to_string() + " " + name(layout));
      const Sample<T> a = this->random(shape_of(c.a, c.rows, c.depth), layout);
      const Sample<T> b = this->random(shape_of(c.b, c.depth, c.columns), next(layout));
      Sample<std::int32_t> d = this->template poisoned_of<std::int32_t>(shape_of(c.d, c.rows, c.columns), layout);
      value(this->matmul().multiply(a.array(), b.array(), d.array()).get());
      this->expect_close(d.read(), this->products(c, a.values(), b.values()), 0);
    }
}

}  // namespace
}  // namespace troupe::conformance
