// Expressions: every function alone against the op of that name, and several steps of several types, layouts and shapes
// against the same in higher precision.
#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

using SixTypes = Types<float, double, f16, bf16, std::complex<float>, std::complex<double>>;

template <class T>
class TensorExpressionConformance : public Conformance<T> {
 protected:
  template <class F, class Try>
  void for_each_function(const Try& attempt) {
    for (int i = 0; i <= static_cast<int>(F::kLast); ++i) {
      const auto function = static_cast<F>(i);
      bool is_here = detail::kIsComplex<T> ? detail::takes_complex(function) : detail::takes_floats(function);
      if constexpr (std::same_as<F, Binary>) is_here &= !detail::is_comparison(function);
      if (is_here) attempt(function);
    }
  }
  void evaluate(const Expression& expression, const AnyArray& out) {
    value(this->device().tensor().evaluate(expression, out).get());
  }
};
CONFORMANCE_SUITE(TensorExpressionConformance, SixTypes);

// Into one of the inputs: what it is with an output of its own. In every layout, and with rows that are not whole
// vectors.
CONFORMANCE_TEST(TensorExpressionConformance, works_in_place) {
  const Tensor tensor = this->device().tensor();
  for (const Shape& shape : {Shape{5, 301}, Shape{64, 64}, Shape{100'003}})
    for (const Layout layout : {Layout::dense, Layout::sliced, Layout::transposed}) {
      SCOPED_TRACE(shape.to_string() + " " + name(layout));
      Sample<T> a = this->random(shape, layout);
      Sample<T> b = this->random(shape, next(layout));
      Sample<T> want = this->poisoned(shape);
      const std::vector<T> first = a.values();
      const auto compare = [&] {
        const std::vector<T> ours = a.read();
        const std::vector<T> theirs = want.read();
        this->count_case();
        for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_TRUE(ours[i] == theirs[i]) << "element " << i;
        a.write(first);
      };
      value(tensor.unary(Unary::square, a.array(), want.array()).get());
      value(tensor.unary(Unary::square, a.array(), a.array()).get());
      compare();
      value(tensor.binary(Binary::sub, b.array(), a.array(), want.array()).get());
      value(tensor.binary(Binary::sub, b.array(), a.array(), a.array()).get());
      compare();
      value(tensor.ternary(Ternary::fma, a.array(), a.array(), b.array(), want.array()).get());
      value(tensor.ternary(Ternary::fma, a.array(), a.array(), b.array(), a.array()).get());
      compare();
      const Expression expression = a.array() * b.array() + a.array();
      this->evaluate(expression, want.array());
      this->evaluate(expression, a.array());
      compare();
    }
}

CONFORMANCE_TEST(TensorExpressionConformance, one_function_is_the_op_of_that_name) {
  const Tensor tensor = this->device().tensor();
  const Shape shape{5, 301};
  for (const Layout layout : {Layout::dense, Layout::sliced}) {
    Sample<T> a = this->random(shape, layout);
    Sample<T> b = this->random(shape, next(layout));
    Sample<T> c = this->random(shape, next(layout, 2));
    Sample<T> want = this->poisoned(shape);
    Sample<T> got = this->poisoned(shape, next(layout, 3));
    const auto compare = [&](std::string_view called) {
      SCOPED_TRACE(std::string(called) + " " + name(layout));
      const std::vector<T> ours = got.read();
      const std::vector<T> theirs = want.read();
      this->count_case();
      for (std::size_t i = 0; i < ours.size(); ++i) {  // NaN where the op gives NaN
        const bool same = ours[i] == theirs[i] || (ours[i] != ours[i] && theirs[i] != theirs[i]);
        ASSERT_TRUE(same) << "element " << i;
      }
    };
    this->template for_each_function<Unary>([&](Unary function) {
      value(tensor.unary(function, a.array(), want.array()).get());
      this->evaluate(Expression::of(function, a.array()), got.array());
      compare(name(function));
    });
    this->template for_each_function<Binary>([&](Binary function) {
      value(tensor.binary(function, a.array(), b.array(), want.array()).get());
      this->evaluate(Expression::of(function, a.array(), b.array()), got.array());
      compare(name(function));
    });
    this->template for_each_function<Ternary>([&](Ternary function) {
      if (function == Ternary::select) return;
      value(tensor.ternary(function, a.array(), b.array(), c.array(), want.array()).get());
      this->evaluate(Expression::of(function, a.array(), b.array(), c.array()), got.array());
      compare(name(function));
    });
  }
}

CONFORMANCE_TEST(TensorExpressionConformance, evaluate) {
  using W = Wide<T>;
  this->covers("tensor", "evaluate");
  for (const Layout layout : kLayouts)
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{31}, Shape{100'003}, Shape{7, 13}, Shape{257, 131},
                               Shape{3, 5, 4}, Shape{2, 1, 3, 2, 1, 2, 3, 2}}) {
      SCOPED_TRACE(shape.to_string() + " " + name(layout));
      Sample<T> x = this->random(shape, layout);
      Sample<T> b = this->random(shape, next(layout));
      Sample<T> m = this->random(shape, next(layout, 2));
      Sample<T> out = this->poisoned(shape, next(layout, 3));
      this->evaluate(tanh(0.5 * x.array() + b.array()) * m.array() - square(x.array()) / 4, out.array());
      std::vector<W> want;
      for (std::size_t i = 0; i < x.values().size(); ++i) {
        const W w = widen(x.values()[i]);
        want.push_back(std::tanh(W(0.5) * w + widen(b.values()[i])) * widen(m.values()[i]) - w * w / W(4));
      }
      this->expect_close(out.read(), want, 8);
    }
}

CONFORMANCE_TEST(TensorExpressionConformance, broadcasts_and_mixes_types) {
  using W = Wide<T>;
  Sample<T> x = this->random({6, 1, 300});
  Sample<float> row = this->template random_of<float>({300}, Layout::sliced);
  Sample<bf16> column = this->template random_of<bf16>({5, 1}, Layout::dense);
  Sample<std::uint8_t> chosen = this->template random_of<std::uint8_t>({6, 5, 300}, Layout::dense);
  const Array<bool> condition = value(this->device().template array<bool>({6, 5, 300}));
  value(this->device().cast(chosen.array(), condition).get());
  Sample<T> out = this->poisoned({6, 5, 300}, Layout::transposed);
  this->evaluate(select(condition, x.array() * column.array(), row.array() + 1), out.array());
  std::vector<W> want;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t k = 0; k < 300; ++k)
        want.push_back(chosen.values()[(i * 5 + j) * 300 + k] != 0
                           ? widen(x.values()[i * 300 + k]) * W(widen(column.values()[j]))
                           : W(widen(row.values()[k])) + W(1));
  this->expect_close(out.read(), want, 2);
}

CONFORMANCE_TEST(TensorExpressionConformance, as_large_as_it_may_be) {
  using W = Wide<T>;
  std::vector<Sample<T>> inputs;
  for (int i = 0; i < 8; ++i) inputs.push_back(this->random({1000}, kLayouts[static_cast<std::size_t>(i) % 6]));
  Expression sum = inputs[0].array();
  std::vector<W> want = widened(inputs[0].values());
  for (std::size_t i = 1; i < 64; ++i) {  // 63 steps, and one more
    sum = sum + inputs[i % 8].array();
    for (std::size_t j = 0; j < want.size(); ++j) want[j] += widen(inputs[i % 8].values()[j]);
  }
  for (W& element : want) element *= W(0.125);
  Sample<T> out = this->poisoned({1000});
  this->evaluate(sum * 0.125, out.array());
  this->expect_close(out.read(), want, 64);
}

}  // namespace
}  // namespace troupe::conformance
