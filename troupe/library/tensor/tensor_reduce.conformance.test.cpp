// Reductions: every function, type, layout and set of axes, against sums in higher precision.
#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

using SixTypes = Types<float, double, f16, bf16, std::complex<float>, std::complex<double>>;

template <class T>
class TensorReduceConformance : public Conformance<T> {
 protected:
  using Number = T;
  using Exact = Wide<Number>;

  static Exact nothing(Reduction function) {
    if (function == Reduction::product) return Exact(1);
    if constexpr (!detail::kIsComplex<Number>) {
      if (function == Reduction::min) return std::numeric_limits<Exact>::infinity();
      if (function == Reduction::max) return -std::numeric_limits<Exact>::infinity();
    }
    return Exact(0);
  }
  static Exact combine(Reduction function, Exact all, Exact x) {
    if (function == Reduction::product) return all * x;
    if (function == Reduction::norm) return all + x * conjugate(x);
    if constexpr (!detail::kIsComplex<Number>) {
      if (function == Reduction::min) return std::min(all, x);
      if (function == Reduction::max) return std::max(all, x);
    }
    return all + x;
  }
  static Exact finish(Reduction function, Exact all, std::int64_t count) {
    if (function == Reduction::mean) return all / Exact(static_cast<double>(count));
    if (function == Reduction::norm) return std::sqrt(all);
    return all;
  }

  /// Reduces over the axes whose bit is set, one element after the other.
  static std::vector<Exact> reference(Reduction function, const std::vector<Number>& in, const Shape& shape,
                                      unsigned axes) {
    std::int64_t outputs = 1;
    std::int64_t terms = 1;
    for (int i = 0; i < shape.rank(); ++i) ((axes >> i & 1) != 0 ? terms : outputs) *= shape[i];
    std::vector<Exact> out(static_cast<std::size_t>(outputs), nothing(function));
    for (std::size_t i = 0; i < in.size(); ++i) {
      auto rest = static_cast<std::int64_t>(i);
      std::int64_t at = 0;
      std::int64_t step = 1;
      for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        if ((axes >> axis & 1) == 0) {
          at += rest % shape[axis] * step;
          step *= shape[axis];
        }
        rest /= shape[axis];
      }
      Exact& sum = out[static_cast<std::size_t>(at)];
      sum = combine(function, sum, widen(in[i]));
    }
    for (Exact& element : out) element = finish(function, element, terms);
    return out;
  }

  static Shape reduced(const Shape& shape, unsigned axes, bool keeps) {
    std::vector<std::int64_t> extents;
    for (int i = 0; i < shape.rank(); ++i) {
      if ((axes >> i & 1) == 0)
        extents.push_back(shape[i]);
      else if (keeps)
        extents.push_back(1);
    }
    return Shape(extents);
  }
  static detail::Axes axes_in(unsigned axes) {
    switch (axes) {
      case 0: return {};
      case 1: return {0};
      case 2: return {1};
      case 3: return {0, 1};
      case 4: return {2};
      case 5: return {2, 0};
      case 6: return {1, 2};
      default: return {0, 1, 2};
    }
  }

  template <class Out>
  void expect_reduced(Reduction function, const Shape& shape, unsigned axes, Layout layout, bool keeps) {
    SCOPED_TRACE(std::string(name(function)) + " " + shape.to_string() + " " + name(layout) + " axes " +
                 std::to_string(axes));
    Sample<Number> in = this->random(shape, layout);
    Sample<Out> out = this->template poisoned_of<Out>(reduced(shape, axes, keeps), next(layout));
    value(this->device().tensor().reduce(function, in.array(), axes_in(axes), out.array()).get());
    std::vector<Wide<Out>> want;
    for (const Exact& element : reference(function, in.values(), shape, axes)) {
      if constexpr (std::same_as<Wide<Out>, Exact>)
        want.push_back(element);
      else
        want.push_back(element.real());
    }
    // What is kept in f64 is rounded once; f64 itself with each addition.
    double terms = 1;
    for (int i = 0; i < shape.rank(); ++i) terms *= (axes >> i & 1) != 0 ? static_cast<double>(shape[i]) : 1;
    const bool adds_up = function == Reduction::sum && epsilon<Out>() < 1e-10;
    this->expect_close(out.read(), want, 4, adds_up ? 1 + terms / 4 : 1);
  }
};
CONFORMANCE_SUITE(TensorReduceConformance, SixTypes);

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};

CONFORMANCE_TEST(TensorReduceConformance, every_function_over_every_set_of_axes) {
  this->covers("tensor", "reduce");
  for (const Layout layout : kLayouts)
    for (unsigned axes = 0; axes < 8; ++axes)
      for (int i = 0; i <= static_cast<int>(Reduction::kLast); ++i) {
        const auto function = static_cast<Reduction>(i);
        if (!(detail::kIsComplex<T> ? detail::takes_complex(function) : detail::takes_floats(function))) continue;
        if (function == Reduction::norm)
          this->template expect_reduced<detail::RealType<T>>(function, {7, 5, 19}, axes, layout, axes % 2 == 0);
        else
          this->template expect_reduced<T>(function, {7, 5, 19}, axes, layout, axes % 2 == 0);
      }
}

CONFORMANCE_TEST(TensorReduceConformance, every_shape) {
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{1, 1, 10'007}, Shape{10'007, 1, 1}, Shape{2, 3, 1031}, Shape{1031, 3, 2},
        Shape{3, 1031, 2}, Shape{17, 64, 37}, Shape{300, 2, 37}, Shape{5, 600, 64}})
    for (const unsigned axes : {1U, 2U, 4U, 5U, 7U})
      for (const Layout layout : {Layout::dense, Layout::transposed}) {
        this->template expect_reduced<T>(Reduction::sum, shape, axes, layout, true);
        this->template expect_reduced<T>(Reduction::mean, shape, axes, layout, false);
      }
}

CONFORMANCE_TEST(TensorReduceConformance, nothing_at_all) {
  const Tensor tensor = this->device().tensor();
  Sample<T> in = this->random({0, 3});
  Sample<T> out = this->poisoned({3});
  value(tensor.reduce(Reduction::sum, in.array(), {0}, out.array()).get());
  this->expect_equal(out.read(), std::vector<T>(3, convert<T>(0.0)));
  value(tensor.reduce(Reduction::product, in.array(), {0}, out.array()).get());
  this->expect_equal(out.read(), std::vector<T>(3, convert<T>(1.0)));
  EXPECT_EQ(tensor.reduce(Reduction::mean, in.array(), {0}, out.array()).get().error().kind(),
            ErrorKind::invalid_argument);
  Sample<T> none = this->poisoned({0});
  value(tensor.reduce(Reduction::mean, in.array(), {1}, none.array()).get());
}

CONFORMANCE_TEST(TensorReduceConformance, factors) {
  using W = Wide<T>;
  Sample<T> in = this->random({19, 31});
  Sample<T> out = this->random({31}, Layout::sliced);
  std::vector<W> want = this->reference(Reduction::sum, in.values(), {19, 31}, 1);
  for (std::size_t i = 0; i < want.size(); ++i) want[i] = W(0.5) * want[i] + W(2) * widen(out.values()[i]);
  value(
      this->device().tensor().reduce(Reduction::sum, in.array(), {0}, out.array(), {.alpha = 0.5, .beta = 2.0}).get());
  this->expect_close(out.read(), want, 4, 10);
}

CONFORMANCE_TEST(TensorReduceConformance, a_number) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{100'003}, Shape{37, 41}}) {
    Sample<T> in = this->random(shape, Layout::sliced);
    Wide<T> want{};
    for (const T element : in.values()) want += widen(element);
    const T got = value(this->device().tensor().reduce(Reduction::sum, in.array()).get());
    this->expect_close(std::vector<T>{got}, std::vector<Wide<T>>{want}, 4, epsilon<T>() < 1e-10 ? 1000 : 1);
  }
}

CONFORMANCE_TEST(TensorReduceConformance, nan_is_the_least_and_the_greatest) {
  if constexpr (!detail::kIsComplex<T>) {
    std::vector<T> values(1000, convert<T>(1.0));
    values[777] = poison<T>();
    Sample<T> in(this->device(), {1000}, Layout::dense, values);
    for (const Reduction function : {Reduction::min, Reduction::max}) {
      const T got = value(this->device().tensor().reduce(function, in.array()).get());
      EXPECT_TRUE(std::isnan(static_cast<double>(widen(got))));
    }
  }
}

}  // namespace
}  // namespace troupe::conformance
