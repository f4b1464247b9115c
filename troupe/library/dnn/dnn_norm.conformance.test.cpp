// Normalizations and their gradients: every type and layout, on each backend, against plain loops.
#include <functional>

#include "troupe/library/dnn/dnn_reference.test.hpp"

namespace troupe::conformance {
namespace {

/// Which elements are normalized together, and which parameter each of them has.
struct NormCase {
  Shape x;
  Shape parameters;
  std::function<std::int64_t(std::int64_t)> group_of;
  std::function<std::int64_t(std::int64_t)> parameter_of;
};
std::int64_t count_of(const Shape& shape, int first = 0) {
  std::int64_t count = 1;
  for (int i = first; i < shape.rank(); ++i) count *= shape[i];
  return count;
}
NormCase by_layer(const Shape& x, int axes) {
  const std::int64_t length = count_of(x, x.rank() - axes);
  Shape parameters{std::span<const std::int64_t>(x.end() - axes, x.end())};
  return {x, parameters, [=](std::int64_t i) { return i / length; }, [=](std::int64_t i) { return i % length; }};
}
NormCase by_group(const Shape& x, std::int64_t groups) {
  const std::int64_t space = count_of(x, 2), length = x[1] / groups * space, channels = x[1];
  return {x, Shape{channels}, [=](std::int64_t i) { return i / length; },
          [=](std::int64_t i) { return i / space % channels; }};
}
NormCase by_batch(const Shape& x) {
  NormCase made = by_group(x, 1);
  made.group_of = made.parameter_of;
  return made;
}

/// What a normalization is: the mean and deviation of each group, and what becomes of x and of what comes back.
template <class W>
struct NormReference {
  NormReference(const NormCase& c, std::vector<W> its_x, bool its_centred, W epsilon)
      : of(c), x(std::move(its_x)), centred(its_centred) {
    for (std::size_t i = 0; i < x.size(); ++i) at(count, i) += 1;
    for (std::size_t i = 0; i < x.size() && centred; ++i) at(mean, i) += x[i] / at(count, i);
    for (std::size_t i = 0; i < x.size(); ++i) at(variance, i) += off(i) * off(i) / at(count, i);
    for (std::size_t i = 0; i < x.size(); ++i) normal.push_back(off(i) / std::sqrt(at(variance, i) + epsilon));
    epsilon_ = epsilon;
  }
  std::vector<W> back(const std::vector<W>& dy, const std::vector<W>& scale) {
    std::vector<W> sum, product, dx;
    const auto scaled = [&](std::size_t i) { return dy[i] * scale[parameter(i)]; };
    for (std::size_t i = 0; i < x.size(); ++i) {
      at(sum, i) += scaled(i) / at(count, i);
      at(product, i) += scaled(i) * normal[i] / at(count, i);
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      dx.push_back((scaled(i) - (centred ? at(sum, i) : W(0)) - normal[i] * at(product, i)) /
                   std::sqrt(at(variance, i) + epsilon_));
    return dx;
  }
  std::size_t parameter(std::size_t i) const { return index(of.parameter_of(static_cast<std::int64_t>(i))); }
  W& at(std::vector<W>& figures, std::size_t i) const {
    const std::size_t group = index(of.group_of(static_cast<std::int64_t>(i)));
    if (figures.size() <= group) figures.resize(group + 1);
    return figures[group];
  }
  W off(std::size_t i) { return x[i] - at(mean, i); }

  const NormCase& of;
  std::vector<W> x, count, mean, variance, normal;
  bool centred;
  W epsilon_{};
};

constexpr double kEpsilon = 1e-3;
/// Sums go over so many elements; roundings are as large as the greatest results.
constexpr double kNormRoundings = 8, kNormMagnitude = 4;

template <class T>
class DnnNormConformance : public Conformance<T> {
 protected:
  /// Runs `run(x, y, options)` over the layouts, with scale and shift and without.
  template <class P, class Run>
  void check_forward(const NormCase& c, bool centred, const Run& run) {
    for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced})
      for (const bool has_parameters : {true, false}) {
        const Sample<T> x = this->random(c.x, layout);
        const Sample<P> scale = this->template random_of<P>(c.parameters, next(layout));
        const Sample<P> shift = this->template random_of<P>(c.parameters, layout);
        Sample<T> y = this->poisoned(c.x, layout == Layout::dense ? layout : next(layout, 2));
        NormOptions options{.epsilon = kEpsilon};
        if (has_parameters) {
          options.scale = &scale.array();
          options.shift = &shift.array();
        }
        run(x.array(), y.array(), options);
        NormReference<Wide<T>> of(c, widened(x.values()), centred, kEpsilon);
        const std::vector<Wide<P>> by = widened(scale.values()), more = widened(shift.values());
        if (has_parameters)
          for (std::size_t i = 0; i < of.normal.size(); ++i)
            of.normal[i] = of.normal[i] * by[of.parameter(i)] + more[of.parameter(i)];
        this->expect_close(y.read(), of.normal, kNormRoundings, kNormMagnitude);
      }
  }
  template <class P, class Run>
  void check_gradient(const NormCase& c, bool centred, const Run& run) {
    for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced}) {
      const Sample<T> x = this->random(c.x, layout);
      const Sample<T> dy = this->random(c.x, next(layout));
      const Sample<P> scale = this->template random_of<P>(c.parameters, next(layout));
      Sample<P> dscale = this->template poisoned_of<P>(c.parameters, layout);
      Sample<P> dshift = this->template poisoned_of<P>(c.parameters, next(layout, 2));
      Sample<T> dx = this->poisoned(c.x, next(layout, 3));
      run(dy.array(), x.array(), dx.array(),
          NormGradientOptions{
              .epsilon = kEpsilon, .scale = &scale.array(), .dscale = &dscale.array(), .dshift = &dshift.array()});
      NormReference<Wide<T>> of(c, widened(x.values()), centred, kEpsilon);
      const std::vector<Wide<P>> by = widened(scale.values());
      const std::vector<Wide<T>> back = widened(dy.values());
      this->expect_close(dx.read(), of.back(back, std::vector<Wide<T>>(by.begin(), by.end())), 2 * kNormRoundings,
                         kNormMagnitude);
      std::vector<Wide<P>> want_scale(by.size()), want_shift(by.size());
      for (std::size_t i = 0; i < back.size(); ++i) {
        want_scale[of.parameter(i)] += back[i] * of.normal[i];
        want_shift[of.parameter(i)] += back[i];
      }
      this->expect_close(dscale.read(), want_scale, 2 * kNormRoundings, 8);
      this->expect_close(dshift.read(), want_shift, 2 * kNormRoundings, 8);
    }
  }
};
CONFORMANCE_SUITE(DnnNormConformance, Types<float, double, f16, bf16>);
/// Parameters of small types are of f32 in one half of the tests.
template <class T>
using WideParameter = std::conditional_t<sizeof(T) == 2, float, T>;

CONFORMANCE_TEST(DnnNormConformance, layer_norm) {
  this->covers("dnn", "layer_norm");
  const auto& dnn = this->device().dnn();
  for (const bool centred : {true, false}) {
    const auto run = [&](int axes) {
      return [&dnn, axes, centred](const AnyArray& x, const AnyArray& y, const NormOptions& options) {
        value((centred ? dnn.layer_norm(x, y, options, axes) : dnn.rms_norm(x, y, options, axes)).get());
      };
    };
    this->template check_forward<T>(by_layer({5, 7}, 1), centred, run(1));
    this->template check_forward<WideParameter<T>>(by_layer({3, 2, 4, 8}, 2), centred, run(2));
    this->template check_forward<T>(by_layer({3, 1000}, 1), centred, run(1));  // rows that begin where 16 bytes do
    this->template check_forward<T>(by_layer({4, 6}, 2), centred, run(2));     // one row
  }
}

CONFORMANCE_TEST(DnnNormConformance, layer_norm_gradient) {
  this->covers("dnn", "layer_norm_gradient");
  const auto& dnn = this->device().dnn();
  for (const bool centred : {true, false}) {
    const auto run = [&](int axes) {
      return [&dnn, axes, centred](const AnyArray& dy, const AnyArray& x, const AnyArray& dx,
                                   const NormGradientOptions& options) {
        value((centred ? dnn.layer_norm_gradient(dy, x, dx, options, axes)
                       : dnn.rms_norm_gradient(dy, x, dx, options, axes))
                  .get());
      };
    };
    this->template check_gradient<T>(by_layer({35, 7}, 1), centred, run(1));
    this->template check_gradient<WideParameter<T>>(by_layer({3, 2, 4, 8}, 2), centred, run(2));
  }
}

CONFORMANCE_TEST(DnnNormConformance, group_norm) {
  this->covers("dnn", "group_norm");
  const auto& dnn = this->device().dnn();
  const auto run = [&](std::int64_t groups) {
    return [&dnn, groups](const AnyArray& x, const AnyArray& y, const NormOptions& options) {
      value((groups == 0 ? dnn.instance_norm(x, y, options) : dnn.group_norm(x, groups, y, options)).get());
    };
  };
  this->template check_forward<T>(by_group({3, 6, 5}, 2), true, run(2));
  this->template check_forward<WideParameter<T>>(by_group({2, 4, 3, 6}, 4), true, run(0));
}

CONFORMANCE_TEST(DnnNormConformance, group_norm_gradient) {
  this->covers("dnn", "group_norm_gradient");
  const auto& dnn = this->device().dnn();
  const auto run = [&](std::int64_t groups) {
    return
        [&dnn, groups](const AnyArray& dy, const AnyArray& x, const AnyArray& dx, const NormGradientOptions& options) {
          value((groups == 0 ? dnn.instance_norm_gradient(dy, x, dx, options)
                             : dnn.group_norm_gradient(dy, x, groups, dx, options))
                    .get());
        };
  };
  this->template check_gradient<T>(by_group({3, 6, 5}, 2), true, run(2));
  this->template check_gradient<WideParameter<T>>(by_group({2, 4, 3, 6}, 4), true, run(0));
}

CONFORMANCE_TEST(DnnNormConformance, batch_norm_training) {
  this->covers("dnn", "batch_norm_training");
  using P = WideParameter<T>;
  const NormCase c = by_batch({4, 3, 5, 2});
  Sample<P> mean = this->template random_of<P>({3}, Layout::sliced);
  Sample<P> variance = this->template random_of<P>({3});
  this->template check_forward<P>(c, true, [&](const AnyArray& x, const AnyArray& y, const NormOptions& options) {
    const std::vector<Wide<P>> old_mean = widened(mean.read()), old_variance = widened(variance.read());
    value(this->device()
              .dnn()
              .batch_norm_training(x, y,
                                   {.epsilon = options.epsilon,
                                    .momentum = 0.25,
                                    .scale = options.scale,
                                    .shift = options.shift,
                                    .running_mean = &mean.array(),
                                    .running_variance = &variance.array()})
              .get());
    const Array<T> dense = value(this->device().template array<T>(c.x));
    value(this->device().copy(x, dense).get());
    const HostArray<T> host = value(this->device().read(dense).get());
    std::vector<T> now;
    for (std::int64_t i = 0; i < host.element_count(); ++i) now.push_back(host[i]);
    NormReference<Wide<T>> of(c, widened(now), true, kEpsilon);
    std::vector<Wide<P>> want_mean(3), want_variance(3);
    for (std::size_t i = 0; i < 3; ++i) {
      want_mean[i] = Wide<P>(0.75) * old_mean[i] + Wide<P>(0.25) * static_cast<Wide<P>>(of.mean[i]);
      want_variance[i] =
          Wide<P>(0.75) * old_variance[i] + Wide<P>(0.25) * static_cast<Wide<P>>(of.variance[i]) * 40 / 39;
    }
    this->expect_close(mean.read(), want_mean, 4);
    this->expect_close(variance.read(), want_variance, 4);
  });
}

CONFORMANCE_TEST(DnnNormConformance, batch_norm_gradient) {
  this->covers("dnn", "batch_norm_gradient");
  const auto run = [&](const AnyArray& dy, const AnyArray& x, const AnyArray& dx, const NormGradientOptions& options) {
    value(this->device().dnn().batch_norm_gradient(dy, x, dx, options).get());
  };
  this->template check_gradient<T>(by_batch({4, 3, 5, 2}), true, run);
  this->template check_gradient<WideParameter<T>>(by_batch({40, 6}), true, run);
}

CONFORMANCE_TEST(DnnNormConformance, batch_norm) {
  this->covers("dnn", "batch_norm");
  const NormCase c = by_batch({2, 3, 5, 4});
  Sample<T> mean = this->random({3}, Layout::sliced);
  Sample<T> variance = this->random({3});
  std::vector<T> positive = variance.values();
  for (T& number : positive) number = T(static_cast<float>(std::abs(widen(number)) + 0.5));
  variance.write(positive);
  const std::vector<Wide<T>> by_mean = widened(mean.values()), by_variance = widened(positive);
  for (const Layout layout : kLayouts) {
    const Sample<T> x = this->random(c.x, layout);
    const Sample<T> scale = this->random({3}), shift = this->random({3});
    Sample<T> y = this->poisoned(c.x, next(layout));
    value(this->device()
              .dnn()
              .batch_norm(x.array(), mean.array(), variance.array(), y.array(),
                          {.epsilon = kEpsilon, .scale = &scale.array(), .shift = &shift.array()})
              .get());
    std::vector<Wide<T>> want = widened(x.values());
    const auto by = widened(scale.values()), more = widened(shift.values());
    for (std::size_t i = 0; i < want.size(); ++i) {
      const std::size_t channel = index(c.parameter_of(static_cast<std::int64_t>(i)));
      want[i] = (want[i] - by_mean[channel]) / std::sqrt(by_variance[channel] + Wide<T>(kEpsilon)) * by[channel] +
                more[channel];
    }
    this->expect_close(y.read(), want, 4, 2);
  }
}

}  // namespace
}  // namespace troupe::conformance
