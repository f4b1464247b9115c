// Pools and their gradients: every type, number of axes, step and layout, on each backend, against plain loops.
#include "troupe/library/dnn/dnn_reference.test.hpp"

namespace troupe::conformance {
namespace {

struct PoolCase {
  Shape x;
  detail::AlongSpace window;
  PoolOptions options;
  std::optional<Shape> adaptive = std::nullopt;  // y, when it is an adaptive pool

  int space() const { return x.rank() - 2; }
  WindowSteps steps() const { return steps_of(options, options.stride.value_or(window), space()); }
  std::int64_t extent(std::size_t axis) const {
    const int i = static_cast<int>(axis) - (3 - space());
    return i < 0 ? 1 : window[i];
  }
  Shape y() const {
    if (adaptive) return *adaptive;
    Shape shape = x;
    for (int i = 0; i < space(); ++i)
      shape[i + 2] = extent_of_window(x[i + 2], window[i], steps(), index(3 - space() + i));
    return shape;
  }
  /// Calls `f(out, in)` for all that windows see along one axis.
  template <class F>
  void along(std::size_t axis, const F& f) const {
    const std::int64_t in = Extents(x).all[axis + 2], out = Extents(y()).all[axis + 2];
    if (!adaptive)
      return each_seen(steps(), axis, in, out, extent(axis),
                       [&](std::int64_t o, std::int64_t, std::int64_t i) { f(o, i); });
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t i = 0; i < in; ++i)
        if (i * out < (o + 1) * in && (i + 1) * out > o * in) f(o, i);
  }
  /// Calls `f(y, x, x within its channel)` with the indices of all that windows see.
  template <class F>
  void each(const F& f) const {
    const Extents from(x), to(y());
    for (std::int64_t n = 0; n < from[0]; ++n)
      for (std::int64_t c = 0; c < from[1]; ++c)
        along(0, [&](std::int64_t od, std::int64_t d) {
          along(1, [&](std::int64_t oh, std::int64_t h) {
            along(2, [&](std::int64_t ow, std::int64_t w) {
              f(to.at(n, c, od, oh, ow), from.at(n, c, d, h, w), (d * from[3] + h) * from[4] + w);
            });
          });
        });
  }
  /// By how much each sum is divided.
  std::vector<std::int64_t> divisors() const {
    std::vector<std::int64_t> seen(index(Extents(y()).count()));
    each([&](std::int64_t o, std::int64_t, std::int64_t) { ++seen[index(o)]; });
    if (options.counts_padding && !adaptive)
      for (std::int64_t& count : seen)
        if (count != 0) count = extent(0) * extent(1) * extent(2);
    return seen;
  }
};

std::vector<PoolCase> pool_cases() {
  return {
      {{2, 3, 9}, 3, {}},
      {{2, 3, 8, 9}, {2, 3}, {.stride = {2, 1}, .padding = 1}},
      {{2, 3, 8, 9}, 3, {.stride = 2, .padding = {1, 0}, .padding_after = {0, 1}, .counts_padding = false}},
      {{2, 2, 9, 8}, 2, {.stride = 1, .padding = 1, .dilation = 3}},
      {{2, 3, 4, 6, 5}, {2, 3, 2}, {.padding = {0, 1, 0}}},
      {{2, 1, 1, 2}, 2, {.stride = 1, .padding = 2, .counts_padding = false}},  // windows that see nothing
      {{2, 3, 7, 5}, 1, {}, Shape{2, 3, 3, 2}},
      {{2, 3, 4, 5}, 1, {}, Shape{2, 3, 6, 5}},
      {{2, 3, 4, 3, 5}, 1, {}, Shape{2, 3, 1, 1, 1}},  // all of it
      {{0, 3, 4, 4}, 2, {}},
  };
}

template <class T>
class DnnPoolingConformance : public Conformance<T> {};
CONFORMANCE_SUITE(DnnPoolingConformance, Types<float, double, f16, bf16>);

template <class T, class I>
void check_max_pool(Conformance<T>&, const Device& device, const PoolCase& c, const Sample<T>& x, Sample<T>& y,
                    Sample<I>& indices) {
  PoolOptions options = c.options;
  options.indices = &indices.array();
  if (c.adaptive)
    value(device.dnn().adaptive_max_pool(x.array(), y.array(), options).get());
  else
    value(device.dnn().max_pool(x.array(), c.window, y.array(), options).get());
}

CONFORMANCE_TEST(DnnPoolingConformance, max_pool) {
  this->covers("dnn", "max_pool");
  Layout layout = Layout::dense;
  for (const PoolCase& c : pool_cases()) {
    layout = next(layout);
    const Sample<T> x = this->random(c.x, layout);
    Sample<T> y = this->poisoned(c.y(), next(layout));
    const auto in = widened(x.values());
    std::vector<Wide<T>> want(index(Extents(c.y()).count()), -std::numeric_limits<Wide<T>>::infinity());
    std::vector<std::int64_t> where(want.size(), -1);
    c.each([&](std::int64_t o, std::int64_t i, std::int64_t place) {
      if (where[index(o)] >= 0 && !(in[index(i)] > want[index(o)])) return;
      want[index(o)] = in[index(i)];
      where[index(o)] = place;
    });
    auto wide = this->template poisoned_of<std::int64_t>(c.y(), next(layout, 2));
    check_max_pool(*this, this->device(), c, x, y, wide);
    std::vector<T> got = y.read();
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(widen(got[i]), want[i]);
    EXPECT_EQ(wide.read(), where);
    auto narrow = this->template poisoned_of<std::int32_t>(c.y(), next(layout, 2));
    check_max_pool(*this, this->device(), c, x, y, narrow);
    EXPECT_EQ(narrow.read(), std::vector<std::int32_t>(where.begin(), where.end()));
    this->count_case();
  }
}

CONFORMANCE_TEST(DnnPoolingConformance, max_pool_gradient) {
  this->covers("dnn", "max_pool_gradient");
  Layout layout = Layout::dense;
  for (const PoolCase& c : pool_cases()) {
    layout = next(layout);
    const Sample<T> x = this->random(c.x, layout);
    Sample<T> y = this->poisoned(c.y());
    auto indices = this->template poisoned_of<std::int64_t>(c.y(), next(layout, 2));
    check_max_pool(*this, this->device(), c, x, y, indices);
    const Sample<T> dy = this->random(c.y(), next(layout));
    Sample<T> dx = this->poisoned(c.x, next(layout, 3));
    if (c.adaptive)
      value(this->device().dnn().adaptive_max_pool_gradient(dy.array(), indices.array(), dx.array()).get());
    else
      value(this->device().dnn().max_pool_gradient(dy.array(), indices.array(), c.window, dx.array(), c.options).get());
    const auto back = widened(dy.values());
    const std::vector<std::int64_t> where = indices.read();
    std::vector<Wide<T>> want(index(Extents(c.x).count()));
    const std::size_t outs = index(Extents(c.y()).space()), ins = index(Extents(c.x).space());
    for (std::size_t o = 0; o < back.size(); ++o)
      if (where[o] >= 0) want[o / outs * ins + index(where[o])] += back[o];
    this->expect_close(dx.read(), want, 2, 2);
  }
}

CONFORMANCE_TEST(DnnPoolingConformance, max_pool_gradient_of_places_that_no_window_sees) {
  const auto dy = this->random({1, 1, 2});
  auto indices = this->template random_of<std::int64_t>({1, 1, 2});
  indices.write({-5, std::int64_t{1} << 60});
  Sample<T> dx = this->poisoned({1, 1, 4});
  value(this->device().dnn().max_pool_gradient(dy.array(), indices.array(), 2, dx.array()).get());
  this->expect_close(dx.read(), std::vector<Wide<T>>(4), 0);
  indices.write({3, 0});  // places, but of the other window
  value(this->device().dnn().max_pool_gradient(dy.array(), indices.array(), 2, dx.array()).get());
  this->expect_close(dx.read(), std::vector<Wide<T>>(4), 0);
}

CONFORMANCE_TEST(DnnPoolingConformance, average_pool) {
  this->covers("dnn", "average_pool");
  Layout layout = Layout::dense;
  for (const PoolCase& c : pool_cases()) {
    layout = next(layout);
    const Sample<T> x = this->random(c.x, layout);
    Sample<T> y = this->poisoned(c.y(), next(layout));
    const auto in = widened(x.values());
    std::vector<Wide<T>> want(index(Extents(c.y()).count()));
    c.each([&](std::int64_t o, std::int64_t i, std::int64_t) { want[index(o)] += in[index(i)]; });
    const std::vector<std::int64_t> divisors = c.divisors();
    for (std::size_t i = 0; i < want.size(); ++i)
      want[i] = divisors[i] == 0 ? 0 : want[i] / static_cast<Wide<T>>(divisors[i]);
    if (c.adaptive)
      value(this->device().dnn().adaptive_average_pool(x.array(), y.array()).get());
    else
      value(this->device().dnn().average_pool(x.array(), c.window, y.array(), c.options).get());
    this->expect_close(y.read(), want, 4);
  }
}

CONFORMANCE_TEST(DnnPoolingConformance, average_pool_gradient) {
  this->covers("dnn", "average_pool_gradient");
  Layout layout = Layout::dense;
  for (const PoolCase& c : pool_cases()) {
    layout = next(layout);
    const Sample<T> dy = this->random(c.y(), layout);
    Sample<T> dx = this->poisoned(c.x, next(layout));
    const auto back = widened(dy.values());
    const std::vector<std::int64_t> divisors = c.divisors();
    std::vector<Wide<T>> want(index(Extents(c.x).count()));
    c.each([&](std::int64_t o, std::int64_t i, std::int64_t) {
      want[index(i)] += back[index(o)] / static_cast<Wide<T>>(divisors[index(o)]);
    });
    if (c.adaptive)
      value(this->device().dnn().adaptive_average_pool_gradient(dy.array(), dx.array()).get());
    else
      value(this->device().dnn().average_pool_gradient(dy.array(), c.window, dx.array(), c.options).get());
    this->expect_close(dx.read(), want, 4);
  }
}

}  // namespace
}  // namespace troupe::conformance
