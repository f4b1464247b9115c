// Expressions that end in a reduction: every function over every choice of axes, in several layouts, types and shapes,
// against the same in higher precision.
#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

using SixTypes = Types<float, double, f16, bf16, std::complex<float>, std::complex<double>>;

template <class T>
class ExpressionReduceConformance : public Conformance<T> {
 protected:
  using V = Wide<T>;

  static Shape without(const Shape& shape, const std::vector<int>& axes) {
    std::vector<std::int64_t> kept;
    for (int i = 0; i < shape.rank(); ++i)
      if (std::ranges::find(axes, i) == axes.end()) kept.push_back(shape[i]);
    return Shape(kept);
  }
  /// The numbers, in row-major order, put together along these axes.
  static std::vector<V> reduced(Reduction function, const std::vector<V>& numbers, const Shape& shape,
                                const std::vector<int>& axes) {
    std::int64_t outputs = 1;
    for (const std::int64_t extent : without(shape, axes)) outputs *= extent;
    std::vector<V> all(static_cast<std::size_t>(outputs), V(function == Reduction::product ? 1 : 0));
    std::vector<std::size_t> counts(all.size(), 0);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::size_t place = 0, scale = 1;
      auto rest = static_cast<std::int64_t>(i);
      for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        const std::int64_t index = rest % shape[axis];
        rest /= shape[axis];
        if (std::ranges::find(axes, axis) != axes.end()) continue;
        place += static_cast<std::size_t>(index) * scale;
        scale *= static_cast<std::size_t>(shape[axis]);
      }
      add(function, all[place], numbers[i], counts[place]++ == 0);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (function == Reduction::mean) all[i] /= static_cast<detail::RealType<V>>(counts[i]);
      if (function == Reduction::norm) all[i] = std::sqrt(all[i]);
    }
    return all;
  }
  static void add(Reduction function, V& all, V number, bool is_first) {
    if (function == Reduction::product) {
      all *= number;
    } else if (function == Reduction::norm) {
      all += std::norm(number);
    } else if (function == Reduction::min || function == Reduction::max) {
      if constexpr (!detail::kIsComplex<V>)
        if (is_first || (function == Reduction::min ? number < all : number > all)) all = number;
    } else {
      all += number;
    }
  }

  /// Reduces a x b - c / 2 along each of the choices of axes.
  void try_all(Reduction function, const Shape& shape, Layout layout) {
    Sample<T> a = this->random(shape, layout);
    Sample<T> b = this->random(shape, next(layout));
    Sample<T> c = this->random(shape, next(layout, 2));
    std::vector<V> numbers;
    for (std::size_t i = 0; i < a.values().size(); ++i)
      numbers.push_back(widen(a.values()[i]) * widen(b.values()[i]) - widen(c.values()[i]) / V(2));
    for (int choice = 0; choice < 1 << shape.rank(); ++choice) {
      std::vector<int> axes;
      for (int axis = 0; axis < shape.rank(); ++axis)
        if ((choice >> axis & 1) != 0) axes.push_back(axis);
      SCOPED_TRACE(std::string(troupe::name(function)) + " " + shape.to_string() + " " + name(layout) + " choice " +
                   std::to_string(choice));
      Sample<T> out = this->poisoned(without(shape, axes), next(layout, 3));
      value(this->device()
                .tensor()
                .reduce(function, a.array() * b.array() - c.array() / 2, detail::Axes(std::span<const int>(axes)),
                        out.array())
                .get());
      const double outputs = static_cast<double>(std::max<std::size_t>(out.read().size(), 1));
      const double terms = static_cast<double>(numbers.size()) / outputs;
      // What is put together is f32 or f64, whatever the type: each of its terms is off by a rounding or two of those.
      const double per_term = sizeof(detail::RealType<T>) == 2 ? 1e-3 : 2;
      this->expect_close(out.read(), reduced(function, numbers, shape, axes), 2 + per_term * terms);
    }
  }
};
CONFORMANCE_SUITE(ExpressionReduceConformance, SixTypes);

CONFORMANCE_TEST(ExpressionReduceConformance, evaluate_reduce) {
  this->covers("tensor", "evaluate_reduce");
  for (const Reduction function : {Reduction::sum, Reduction::mean, Reduction::min, Reduction::max}) {
    if (detail::kIsComplex<T> && !detail::takes_complex(function)) continue;
    for (const Layout layout : kLayouts)
      for (const Shape& shape : {Shape{}, Shape{1}, Shape{1000}, Shape{7, 13}, Shape{40, 300}, Shape{3, 5, 70}})
        this->try_all(function, shape, layout);
  }
  this->try_all(Reduction::product, {5, 3}, Layout::dense);
  this->try_all(Reduction::sum, {100'003}, Layout::dense);
  this->try_all(Reduction::sum, {3, 30'000}, Layout::dense);
  this->try_all(Reduction::mean, {30'000, 5}, Layout::transposed);
}

CONFORMANCE_TEST(ExpressionReduceConformance, of_norms_is_real) {
  using Real = detail::RealType<T>;
  using W = Wide<T>;
  Sample<T> a = this->random({20, 60});
  Sample<Real> out = this->template poisoned_of<Real>({20}, Layout::dense);
  if (sizeof(Real) == 2) return;
  value(this->device().tensor().reduce(Reduction::norm, 2 * a.array(), {1}, out.array()).get());
  std::vector<Wide<Real>> want;
  for (std::size_t i = 0; i < 20; ++i) {
    Wide<Real> sum = 0;
    for (std::size_t j = 0; j < 60; ++j) sum += std::norm(W(2) * widen(a.values()[i * 60 + j]));
    want.push_back(std::sqrt(sum));
  }
  this->expect_close(out.read(), want, 8);
}

CONFORMANCE_TEST(ExpressionReduceConformance, broadcasts_mixes_types_and_keeps_axes) {
  using W = Wide<T>;
  Sample<T> x = this->random({6, 1, 300});
  Sample<float> row = this->template random_of<float>({300}, Layout::sliced);
  Sample<bf16> column = this->template random_of<bf16>({5, 1}, Layout::dense);
  Sample<T> out = this->poisoned({6, 1, 1});
  value(this->device()
            .tensor()
            .reduce(Reduction::mean, x.array() * column.array() + row.array(), {1, 2}, out.array())
            .get());
  std::vector<W> want;
  for (std::size_t i = 0; i < 6; ++i) {
    W sum = 0;
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t k = 0; k < 300; ++k)
        sum += widen(x.values()[i * 300 + k]) * W(widen(column.values()[j])) + W(widen(row.values()[k]));
    want.push_back(sum / W(1500));
  }
  this->expect_close(out.read(), want, 4);
}

CONFORMANCE_TEST(ExpressionReduceConformance, of_nothing_is_what_a_reduction_of_nothing_is) {
  const Array<T> none = value(this->device().template array<T>({3, 0}));
  Sample<T> out = this->poisoned({3});
  value(this->device().tensor().reduce(Reduction::sum, none * 2, {1}, out.array()).get());
  this->expect_equal(out.read(), std::vector<T>(3, T(0)));
  value(this->device().tensor().reduce(Reduction::product, none * 2, {1}, out.array()).get());
  this->expect_equal(out.read(), std::vector<T>(3, T(1)));
}

CONFORMANCE_TEST(ExpressionReduceConformance, of_all_axes_gives_one_number) {
  Sample<T> x = this->random({30, 40});
  Sample<T> ours = this->poisoned({}), theirs = this->poisoned({});
  value(this->device().tensor().reduce(Reduction::sum, x.array() * 1, ours.array()).get());
  value(this->device().tensor().reduce(Reduction::sum, x.array(), {0, 1}, theirs.array()).get());
  this->expect_close(ours.read(), widened(theirs.read()), 2, 30);
}

}  // namespace
}  // namespace troupe::conformance
