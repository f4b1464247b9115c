// Activations, interpolation and their gradients: every type and layout, on each backend, against the definition in
// higher precision.
#include "troupe/library/dnn/dnn_reference.test.hpp"
#include "troupe/op/dnn_functions.hpp"
#include "troupe/op/dnn_interpolate_functions.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class DnnPointwiseConformance : public Conformance<T> {
 protected:
  /// From -4 to 4, where functions have their corners and their bends.
  Sample<T> spread(const Shape& shape, Layout layout) {
    Sample<T> made = this->random(shape, layout);
    std::vector<T> values = made.values();
    for (T& number : values) number = T(static_cast<float>(widen(number) * 4));
    made.write(values);
    return made;
  }
};
CONFORMANCE_SUITE(DnnPointwiseConformance, Types<float, double, f16, bf16>);

constexpr int kFunctions = static_cast<int>(DnnActivation::kLast) + 1;

CONFORMANCE_TEST(DnnPointwiseConformance, activation) {
  this->covers("dnn", "activation");
  Layout layout = Layout::dense;
  for (int i = 0; i < kFunctions; ++i) {
    const auto function = static_cast<DnnActivation>(i);
    layout = next(layout);
    const Sample<T> x = this->spread({31, 17}, layout);
    Sample<T> y = this->poisoned({31, 17}, next(layout));
    value(this->device().dnn().activation(function, x.array(), y.array(), {.alpha = 0.25}).get());
    std::vector<Wide<T>> want = widened(x.values());
    for (Wide<T>& number : want) number = dnn::activated(function, number, Wide<T>(0.25));
    this->expect_close(y.read(), want, 8);
    value(this->device().dnn().activation(function, x.array(), x.array(), {.alpha = 0.25}).get());  // in place
  }
}

CONFORMANCE_TEST(DnnPointwiseConformance, activation_gradient) {
  this->covers("dnn", "activation_gradient");
  Layout layout = Layout::dense;
  for (int i = 0; i < kFunctions; ++i) {
    const auto function = static_cast<DnnActivation>(i);
    layout = next(layout);
    const Sample<T> x = this->spread({31, 17}, layout);
    const Sample<T> dy = this->random({31, 17}, next(layout, 2));
    Sample<T> dx = this->poisoned({31, 17}, next(layout));
    value(this->device().dnn().activation_gradient(function, dy.array(), x.array(), dx.array(), {.alpha = 0.25}).get());
    std::vector<Wide<T>> want = widened(x.values());
    const std::vector<Wide<T>> back = widened(dy.values());
    for (std::size_t n = 0; n < want.size(); ++n) want[n] = back[n] * dnn::slope(function, want[n], Wide<T>(0.25));
    this->expect_close(dx.read(), want, 8);
  }
}

struct InterpolateCase {
  Shape x;
  Shape y;
  InterpolateOptions options;

  /// Calls `f(y, x, weight)` with indices for all that is added.
  template <class W, class F>
  void each(const F& f) const {
    const Extents from(x), to(y);
    const auto taps = [&](int axis, std::int64_t place) {
      return dnn::taps_of<W>(options.way, options.aligns_corners, from[axis], to[axis], place);
    };
    for (std::int64_t plane = 0; plane < to[0] * to[1]; ++plane)
      for (std::int64_t i = 0; i < to.space(); ++i) {
        const auto d = taps(2, i / to[4] / to[3]), h = taps(3, i / to[4] % to[3]), w = taps(4, i % to[4]);
        for (int a = 0; a < d.count; ++a)
          for (int b = 0; b < h.count; ++b)
            for (int c = 0; c < w.count; ++c)
              f(plane * to.space() + i, plane * from.space() + (d.at[a] * from[3] + h.at[b]) * from[4] + w.at[c],
                d.weight[a] * h.weight[b] * w.weight[c]);
      }
  }
};
std::vector<InterpolateCase> interpolate_cases() {
  std::vector<InterpolateCase> cases;
  for (int way = 0; way <= static_cast<int>(DnnInterpolation::kLast); ++way)
    for (const bool aligns : {false, true}) {
      const InterpolateOptions options{static_cast<DnnInterpolation>(way), aligns};
      if (aligns && options.way == DnnInterpolation::nearest) continue;
      cases.push_back({{2, 3, 5}, {2, 3, 11}, options});
      cases.push_back({{2, 2, 7, 4}, {2, 2, 3, 9}, options});
      cases.push_back({{1, 2, 3, 4, 5}, {1, 2, 4, 4, 2}, options});
    }
  return cases;
}

CONFORMANCE_TEST(DnnPointwiseConformance, interpolate) {
  this->covers("dnn", "interpolate");
  Layout layout = Layout::dense;
  for (const InterpolateCase& c : interpolate_cases()) {
    layout = next(layout);
    const Sample<T> x = this->random(c.x, layout);
    Sample<T> y = this->poisoned(c.y, next(layout));
    const auto in = widened(x.values());
    std::vector<Wide<T>> want(index(Extents(c.y).count()));
    c.each<Wide<T>>([&](std::int64_t o, std::int64_t i, Wide<T> by) { want[index(o)] += in[index(i)] * by; });
    value(this->device().dnn().interpolate(x.array(), y.array(), c.options).get());
    this->expect_close(y.read(), want, 8, 2);
  }
}

CONFORMANCE_TEST(DnnPointwiseConformance, interpolate_gradient) {
  this->covers("dnn", "interpolate_gradient");
  Layout layout = Layout::dense;
  for (const InterpolateCase& c : interpolate_cases()) {
    layout = next(layout);
    const Sample<T> dy = this->random(c.y, layout);
    Sample<T> dx = this->poisoned(c.x, next(layout));
    const auto back = widened(dy.values());
    std::vector<Wide<T>> want(index(Extents(c.x).count()));
    c.each<Wide<T>>([&](std::int64_t o, std::int64_t i, Wide<T> by) { want[index(i)] += back[index(o)] * by; });
    value(this->device().dnn().interpolate_gradient(dy.array(), dx.array(), c.options).get());
    this->expect_close(dx.read(), want, 8, 4);
  }
}

}  // namespace
}  // namespace troupe::conformance
