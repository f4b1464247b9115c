// What products with an epilogue promise beyond the usual numbers: a NaN stays one, also through an activation and its
// gradient; a result is rounded once, also where the bias cancels nearly all of a product; gelu_tanh is as exact as the
// type.
#include <cmath>

#include "troupe/core/activation.hpp"
#include "troupe/library/conformance.test.hpp"
#include "troupe/library/dense.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class MatmulCorners : public Conformance<T> {
 protected:
  Matmul matmul() const { return this->device().matmul(); }
  static bool is_nan(T number) { return std::isnan(widen(number)); }
  static T rounded(double number) {
    if constexpr (std::same_as<T, double>)
      return number;
    else
      return T(static_cast<float>(number));
  }
  Sample<T> spoilt(const Shape& shape, Layout layout) {
    Sample<T> sample = this->random(shape, layout);
    std::vector<T> values = sample.values();
    values.front() = poison<T>();
    sample.write(values);
    return sample;
  }
  /// gelu_tanh of so many numbers, by a product with the identity, and its slopes, as gradients of ones.
  static constexpr std::int64_t kRows = 512;
  static constexpr std::int64_t kColumns = 16;
  static constexpr std::int64_t kCount = kRows * kColumns;
  std::pair<std::vector<T>, std::vector<T>> gelu_tanh_of(const std::vector<T>& numbers, Compute compute) {
    const auto zeros = [](std::int64_t rows) {
      return std::vector<T>(static_cast<std::size_t>(rows * kColumns), T(0));
    };
    std::vector<T> diagonal = zeros(kColumns);
    std::vector<T> first_row = zeros(kColumns);
    std::vector<T> first_column = zeros(kRows);
    for (std::size_t i = 0; i < kColumns; ++i) diagonal[i * (kColumns + 1)] = first_row[i] = T(1);
    for (std::size_t i = 0; i < kRows; ++i) first_column[i * kColumns] = T(1);
    const Sample<T> x(this->device(), {kRows, kColumns}, Layout::dense, numbers);
    const Sample<T> one(this->device(), {kColumns, kColumns}, Layout::dense, diagonal);
    const Sample<T> left(this->device(), {kRows, kColumns}, Layout::dense, first_column);
    const Sample<T> right(this->device(), {kColumns, kColumns}, Layout::dense, first_row);
    Sample<T> y = this->poisoned({kRows, kColumns});
    Sample<T> slopes = this->poisoned({kRows, kColumns});
    value(matmul()
              .multiply(x.array(), one.array(), y.array(), {.activation = Activation::gelu_tanh, .compute = compute})
              .get());
    value(matmul()
              .gradient(left.array(), right.array(), slopes.array(),
                        {.activation = Activation::gelu_tanh, .compute = compute, .preactivation = &x.array()})
              .get());
    return {y.read(), slopes.read()};
  }
  /// The first row of a result with a NaN in the first row of a, and nothing else, is NaN.
  void expect_first_row_nan(Sample<T>& d, std::int64_t columns) {
    this->count_case();
    const std::vector<T> values = d.read();
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(is_nan(values[i]), i < static_cast<std::size_t>(columns)) << i;
  }
};
CONFORMANCE_SUITE(MatmulCorners, Types<float, double, f16, bf16>);

constexpr std::array kActivations{Activation::none, Activation::relu, Activation::gelu_tanh};

CONFORMANCE_TEST(MatmulCorners, a_nan_stays_one_through_every_activation) {
  for (const Activation activation : kActivations)
    for (const Layout layout : {Layout::dense, Layout::transposed, Layout::padded, Layout::sliced})
      for (const double alpha : {1.0, 0.0}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(activation)) + " " + name(layout) + " " + std::to_string(alpha));
        const Sample<T> a = this->spoilt({16, 32}, layout);
        const Sample<T> b = this->random({32, 24}, layout);
        const Sample<T> bias = this->random({24});
        Sample<T> pre = this->poisoned({16, 24}, layout);
        Sample<T> d = this->poisoned({16, 24}, layout);
        value(
            this->matmul().multiply(a.array(), b.array(), d.array(), {.alpha = alpha, .activation = activation}).get());
        this->expect_first_row_nan(d, 24);
        value(this->matmul()
                  .multiply(a.array(), b.array(), d.array(),
                            {.alpha = alpha, .activation = activation, .bias = &bias.array()})
                  .get());
        this->expect_first_row_nan(d, 24);
        value(this->matmul()
                  .multiply(
                      a.array(), b.array(), d.array(),
                      {.alpha = alpha, .activation = activation, .bias = &bias.array(), .preactivation = &pre.array()})
                  .get());
        this->expect_first_row_nan(d, 24);
        this->expect_first_row_nan(pre, 24);
      }
}

CONFORMANCE_TEST(MatmulCorners, the_gradient_at_a_nan_is_a_nan) {
  for (const Activation activation : {Activation::relu, Activation::gelu_tanh})
    for (const Layout layout : {Layout::dense, Layout::transposed, Layout::padded}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(activation)) + " " + name(layout));
      const Sample<T> a = this->random({16, 32}, layout);
      const Sample<T> b = this->random({32, 24}, layout);
      const Sample<T> pre = this->spoilt({16, 24}, layout);
      Sample<T> d = this->poisoned({16, 24}, layout);
      Sample<T> sums = this->poisoned({24});
      value(this->matmul()
                .gradient(a.array(), b.array(), d.array(),
                          {.activation = activation, .preactivation = &pre.array(), .bias_gradient = &sums.array()})
                .get());
      const std::vector<T> values = d.read();
      for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(this->is_nan(values[i]), i == 0) << i;
      const std::vector<T> total = sums.read();
      for (std::size_t i = 0; i < total.size(); ++i) ASSERT_EQ(this->is_nan(total[i]), i == 0) << i;
    }
}

CONFORMANCE_TEST(MatmulCorners, what_has_a_beta_of_0_is_not_read) {
  const Sample<T> a = this->random({16, 32});
  const Sample<T> b = this->random({32, 24});
  const Sample<T> c = this->poisoned({16, 24});
  for (const Layout layout : {Layout::dense, Layout::sliced}) {
    Sample<T> d = this->poisoned({16, 24}, layout);
    value(this->matmul().multiply(a.array(), b.array(), d.array(), {.c = &c.array()}).get());
    for (const T number : d.read()) ASSERT_FALSE(this->is_nan(number));
  }
}

CONFORMANCE_TEST(MatmulCorners, a_result_is_rounded_once_where_its_terms_cancel) {
  struct Extents {
    std::int64_t rows, columns, depth;
  };
  for (const Extents& e : {Extents{31, 17, 1000}, {17, 31, 1000}, {64, 48, 130}, {48, 64, 130}, {32, 32, 4096}})
    for (const Layout layout : {Layout::dense, Layout::transposed, Layout::padded, Layout::sliced})
      for (const bool has_c : {false, true}) {
        SCOPED_TRACE(std::to_string(e.rows) + " " + std::to_string(e.columns) + " " + std::to_string(e.depth) + " " +
                     name(layout) + (has_c ? " c" : " bias"));
        const Sample<T> a = this->random({e.rows, e.depth});
        const Sample<T> b = this->random({e.depth, e.columns});
        const Dense<T> product = Dense<T>(a, e.rows, e.depth) * Dense<T>(b, e.depth, e.columns);
        Sample<T> c = this->random({e.rows, e.columns});
        Sample<T> bias = this->random({e.columns});
        std::vector<T> against = c.values();
        for (std::size_t i = 0; i < against.size(); ++i)
          against[i] = this->rounded(-static_cast<double>(product.elements()[i]));
        c.write(against);
        bias.write(std::vector<T>(against.begin(), against.begin() + e.columns));  // cancels the first row
        Sample<T> d = this->poisoned({e.rows, e.columns}, layout);
        value(this->matmul()
                  .multiply(a.array(), b.array(), d.array(),
                            {.beta = has_c ? 1.0 : 0.0,
                             .c = has_c ? &c.array() : nullptr,
                             .bias = has_c ? nullptr : &bias.array()})
                  .get());
        this->count_case();
        const std::vector<T> got = d.read();
        // Half a unit of the result, and what sums of so many terms lose in the type that they are kept in.
        const double in_sums =
            static_cast<double>(e.depth) * (std::same_as<T, double> ? epsilon<double>() : epsilon<float>());
        for (std::size_t i = 0; i < got.size(); ++i) {
          const T added = has_c ? against[i] : bias.values()[i % static_cast<std::size_t>(e.columns)];
          const auto want = product.elements()[i] + widen(added);
          const auto off = static_cast<double>(std::abs(widen(got[i]) - want));
          const double allowed = 0.51 * epsilon<T>() * static_cast<double>(std::abs(want)) + in_sums;
          ASSERT_LE(off, allowed) << i << ": " << static_cast<double>(want);
        }
      }
}

CONFORMANCE_TEST(MatmulCorners, gelu_tanh_is_as_exact_as_the_type) {
  std::vector<T> numbers;
  for (std::int64_t i = 0; i < this->kCount; ++i)
    numbers.push_back(this->rounded(-8 + 16 * static_cast<double>(i) / this->kCount));
  const auto [y, slopes] = this->gelu_tanh_of(numbers, Compute::standard);
  std::vector<Wide<T>> want;
  std::vector<Wide<T>> want_slopes;
  for (const T number : numbers) {
    want.push_back(gelu_tanh(widen(number)));
    want_slopes.push_back(gelu_tanh_slope(widen(number)));
  }
  this->expect_close(y, want, 4, 0.125);
  this->expect_close(slopes, want_slopes, 8, 0.125);
}

template <class T>
class MatmulCornersOfTf32 : public MatmulCorners<T> {};
CONFORMANCE_SUITE(MatmulCornersOfTf32, Types<float>);

CONFORMANCE_TEST(MatmulCornersOfTf32, gelu_tanh_is_within_1e_5_and_its_slope_within_3e_5) {
  std::vector<float> numbers;  // which tf32 has, too
  for (std::int64_t i = 0; i < this->kCount; ++i) numbers.push_back(static_cast<float>(i % 1024 - 512) / 64);
  const auto [y, slopes] = this->gelu_tanh_of(numbers, Compute::tf32);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_NEAR(y[i], gelu_tanh(double{numbers[i]}), 1e-5) << numbers[i];
    ASSERT_NEAR(slopes[i], gelu_tanh_slope(double{numbers[i]}), 3e-5) << numbers[i];
  }
}

}  // namespace
}  // namespace troupe::conformance
