// Recurrent layers, forward and backward: several layers, both directions, sequences of different lengths, with and
// without biases and a first state; against PyTorch's formulas as plain loops in higher precision, and slopes by
// differences.
#include "troupe/library/dnn/dnn_training_reference.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class DnnRecurrentConformance : public Conformance<T> {};
CONFORMANCE_SUITE(DnnRecurrentConformance, Types<float, double, f16, bf16>);

struct RecurrentCase {
  bool is_lstm;
  std::int64_t layers, directions, tokens, batch, features, hidden;
  bool bias = true;
  bool state = true;
  std::vector<std::int64_t> lengths = {};

  std::int64_t gates() const { return is_lstm ? 4 : 3; }
  std::int64_t runs() const { return layers * directions; }
  std::int64_t before(std::int64_t run) const { return run < directions ? features : directions * hidden; }
  Shape state_shape() const { return {runs(), batch, hidden}; }
  Shape y_shape() const { return {tokens, batch, directions * hidden}; }
  Shape x_shape() const { return {tokens, batch, features}; }
  std::vector<Shape> weight_shapes() const {
    std::vector<Shape> shapes;
    for (std::int64_t run = 0; run < runs(); ++run) {
      shapes.push_back({gates() * hidden, before(run)});
      shapes.push_back({gates() * hidden, hidden});
      for (int i = 0; i < (bias ? 2 : 0); ++i) shapes.push_back({gates() * hidden});
    }
    return shapes;
  }
  std::int64_t length(std::int64_t b) const { return lengths.empty() ? tokens : lengths[static_cast<std::size_t>(b)]; }
};

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// What layers are given, and what they give.
template <class W>
struct RecurrentNumbers {
  std::vector<W> x, h0, c0;
  std::vector<std::vector<W>> weights;
};
template <class W>
struct RecurrentResults {
  std::vector<W> y, h_n, c_n;
};

template <class W>
W sigmoid(W x) {
  return 1 / (1 + std::exp(-x));
}

template <class W>
RecurrentResults<W> recurrent_of(const RecurrentCase& of, const RecurrentNumbers<W>& given) {
  const std::int64_t hidden = of.hidden, each = of.bias ? 4 : 2;
  RecurrentResults<W> made;
  made.h_n.resize(at(of.runs() * of.batch * hidden));
  made.c_n = made.h_n;
  std::vector<W> in = given.x;
  for (std::int64_t layer = 0; layer < of.layers; ++layer) {
    const std::int64_t width = of.before(layer * of.directions);
    std::vector<W> out(at(of.tokens * of.batch * of.directions * hidden));
    for (std::int64_t direction = 0; direction < of.directions; ++direction) {
      const std::int64_t run = layer * of.directions + direction;
      const std::vector<W>* const weights = given.weights.data() + run * each;
      for (std::int64_t b = 0; b < of.batch; ++b) {
        std::vector<W> h(at(hidden)), c(at(hidden));
        for (std::int64_t j = 0; j < hidden && of.state; ++j) {
          h[at(j)] = given.h0[at((run * of.batch + b) * hidden + j)];
          if (of.is_lstm) c[at(j)] = given.c0[at((run * of.batch + b) * hidden + j)];
        }
        for (std::int64_t step = 0; step < of.length(b); ++step) {
          const std::int64_t t = direction == 0 ? step : of.length(b) - 1 - step;
          const auto sum = [&](int which, std::int64_t row, const W* values, std::int64_t count) {
            W total = of.bias ? weights[which + 2][at(row)] : W(0);
            for (std::int64_t k = 0; k < count; ++k) total += weights[which][at(row * count + k)] * values[k];
            return total;
          };
          std::vector<W> next = h;
          for (std::int64_t j = 0; j < hidden; ++j) {
            const auto from_x = [&](std::int64_t gate) {
              return sum(0, gate * hidden + j, in.data() + (t * of.batch + b) * width, width);
            };
            const auto from_h = [&](std::int64_t gate) { return sum(1, gate * hidden + j, h.data(), hidden); };
            if (of.is_lstm) {
              const W i = sigmoid(from_x(0) + from_h(0)), f = sigmoid(from_x(1) + from_h(1));
              const W g = std::tanh(from_x(2) + from_h(2)), o = sigmoid(from_x(3) + from_h(3));
              c[at(j)] = f * c[at(j)] + i * g;
              next[at(j)] = o * std::tanh(c[at(j)]);
            } else {
              const W r = sigmoid(from_x(0) + from_h(0)), z = sigmoid(from_x(1) + from_h(1));
              const W n = std::tanh(from_x(2) + r * from_h(2));
              next[at(j)] = (1 - z) * n + z * h[at(j)];
            }
          }
          h = next;
          for (std::int64_t j = 0; j < hidden; ++j)
            out[at(((t * of.batch + b) * of.directions + direction) * hidden + j)] = h[at(j)];
        }
        for (std::int64_t j = 0; j < hidden; ++j) {
          made.h_n[at((run * of.batch + b) * hidden + j)] = h[at(j)];
          made.c_n[at((run * of.batch + b) * hidden + j)] = c[at(j)];
        }
      }
    }
    in = out;
  }
  made.y = in;
  return made;
}

template <class T>
using KeptOf = std::conditional_t<std::same_as<T, double>, double, float>;

/// A case on the device. Behind the end of a sequence x is poison: it must not count.
template <class T>
struct RecurrentSamples {
  using W = Wide<T>;

  RecurrentSamples(const Device& device, const RecurrentCase& of, Layout layout, std::mt19937_64& random)
      : x(device, of.x_shape(), layout, x_values(of, random)),
        h0(device, of.state_shape(), next(layout), values(of.state_shape(), 1, random)),
        c0(device, of.state_shape(), next(layout, 2), values(of.state_shape(), 1, random)),
        kept(device, Shape{of.runs(), of.tokens, of.batch, 5 * of.hidden}, next(layout, 3), {}) {
    const double scale = 1 / std::sqrt(static_cast<double>(of.hidden));
    int i = 0;
    for (const Shape& shape : of.weight_shapes()) {
      weights.emplace_back(device, shape, next(layout, i++), values(shape, scale, random));
      arrays.push_back(weights.back().array());
      numbers.weights.push_back(widened(weights.back().values()));
    }
    numbers.x = widened(x.values());
    numbers.h0 = widened(h0.values());
    numbers.c0 = widened(c0.values());
    if (!of.lengths.empty()) lengths.emplace(device, Shape{of.batch}, Layout::sliced, of.lengths);
  }
  static std::vector<T> values(const Shape& shape, double scale, std::mt19937_64& random) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    std::vector<T> made(at(count));
    for (T& element : made)
      element = T(static_cast<KeptOf<T>>(scale * std::uniform_real_distribution(-1.0, 1.0)(random)));
    return made;
  }
  static std::vector<T> x_values(const RecurrentCase& of, std::mt19937_64& random) {
    std::vector<T> made = values(of.x_shape(), 1, random);
    for (std::int64_t i = 0; i < of.tokens * of.batch; ++i)
      if (i / of.batch >= of.length(i % of.batch))
        std::fill_n(made.begin() + i * of.features, of.features, poison<T>());
    return made;
  }

  /// Forward, with everything that can be asked for.
  void forward(const Dnn& dnn, const RecurrentCase& of, Sample<T>& y, Sample<T>& h_n, Sample<T>& c_n) {
    RecurrentOptions options{.bias = of.bias, .bidirectional = of.directions == 2, .kept = &kept.array()};
    options.lengths = lengths ? &lengths->array() : nullptr;
    options.h0 = of.state ? &h0.array() : nullptr;
    options.c0 = of.state && of.is_lstm ? &c0.array() : nullptr;
    options.h_n = &h_n.array();
    options.c_n = of.is_lstm ? &c_n.array() : nullptr;
    value(
        (of.is_lstm ? dnn.lstm(x.array(), arrays, y.array(), options) : dnn.gru(x.array(), arrays, y.array(), options))
            .get());
  }

  Sample<T> x, h0, c0;
  Sample<KeptOf<T>> kept;
  std::vector<Sample<T>> weights;
  std::vector<Array<T>> arrays;
  std::optional<Sample<std::int64_t>> lengths;
  RecurrentNumbers<W> numbers;
};

const std::vector<RecurrentCase> kCases{
    {true, 1, 1, 4, 3, 5, 6},
    {false, 1, 1, 4, 3, 5, 6},
    {true, 1, 1, 1, 1, 1, 1, false, false},
    {true, 2, 2, 5, 4, 3, 7, true, true, {5, 2, 0, 4}},
    {false, 2, 2, 5, 4, 3, 7, true, true, {1, 5, 3, 0}},
    {false, 3, 1, 6, 2, 4, 5, false, false, {3, 6}},
    {true, 1, 2, 7, 19, 37, 40},  // several panels and tiles
    {false, 2, 2, 7, 19, 37, 40, true, true, {7, 6, 5, 4, 3, 2, 1, 0, 7, 6, 5, 4, 3, 2, 1, 0, 7, 7, 1}},
};

CONFORMANCE_TEST(DnnRecurrentConformance, recurrent) {
  this->covers("dnn", "recurrent");
  int i = 0;
  for (const RecurrentCase& of : kCases) {
    const Layout layout = kLayouts[static_cast<std::size_t>(i++) % kLayouts.size()];
    RecurrentSamples<T> samples(this->device(), of, layout, this->random_numbers());
    Sample<T> y = this->poisoned(of.y_shape(), next(layout, 4)), h_n = this->poisoned(of.state_shape(), layout);
    Sample<T> c_n = this->poisoned(of.state_shape(), next(layout, 5));
    samples.forward(this->device().dnn(), of, y, h_n, c_n);
    const RecurrentResults<Wide<T>> want = recurrent_of(of, samples.numbers);
    const double roundings = sizeof(T) == 2 ? 2 : 24;
    this->expect_close(y.read(), want.y, roundings);
    this->expect_close(h_n.read(), want.h_n, roundings);
    if (of.is_lstm) this->expect_close(c_n.read(), want.c_n, roundings);
  }
}

CONFORMANCE_TEST(DnnRecurrentConformance, recurrent_gradient) {
  using W = Wide<T>;
  using Numbers = RecurrentNumbers<W>;
  this->covers("dnn", "recurrent_gradient");
  const std::vector<RecurrentCase> cases{{true, 1, 1, 3, 2, 2, 3},
                                         {false, 1, 1, 3, 2, 2, 3},
                                         {true, 2, 2, 4, 3, 2, 2, true, true, {4, 0, 2}},
                                         {false, 2, 2, 4, 3, 2, 2, true, true, {2, 4, 1}},
                                         {false, 2, 1, 3, 2, 3, 2, false, false},
                                         {true, 1, 2, 2, 18, 2, 2, false, true, {}}};
  int number = 0;
  for (const RecurrentCase& of : cases) {
    const Layout layout = kLayouts[static_cast<std::size_t>(number++) % kLayouts.size()];
    RecurrentSamples<T> samples(this->device(), of, layout, this->random_numbers());
    Sample<T> y = this->poisoned(of.y_shape()), h_n = this->poisoned(of.state_shape());
    Sample<T> c_n = this->poisoned(of.state_shape());
    const Dnn dnn = this->device().dnn();
    samples.forward(dnn, of, y, h_n, c_n);
    const Sample<T> dy = this->random(of.y_shape(), next(layout)), dh_n = this->random(of.state_shape(), layout);
    const Sample<T> dc_n = this->random(of.state_shape(), next(layout, 2));
    Sample<T> dx = this->poisoned(of.x_shape(), next(layout, 3)), dh0 = this->poisoned(of.state_shape(), layout);
    Sample<T> dc0 = this->poisoned(of.state_shape(), next(layout, 4));
    std::vector<Sample<T>> dweights;
    std::vector<Array<T>> arrays;
    for (const Shape& shape : of.weight_shapes()) {
      dweights.push_back(this->poisoned(shape, next(layout, static_cast<int>(dweights.size()))));
      arrays.push_back(dweights.back().array());
    }
    RecurrentGradientOptions options{.bias = of.bias, .bidirectional = of.directions == 2};
    options.lengths = samples.lengths ? &samples.lengths->array() : nullptr;
    options.h0 = of.state ? &samples.h0.array() : nullptr;
    options.c0 = of.state && of.is_lstm ? &samples.c0.array() : nullptr;
    options.dh_n = &dh_n.array();
    options.dc_n = of.is_lstm ? &dc_n.array() : nullptr;
    options.dh0 = &dh0.array();
    options.dc0 = of.is_lstm ? &dc0.array() : nullptr;
    options.dweights = arrays;
    value((of.is_lstm ? dnn.lstm_gradient(dy.array(), samples.x.array(), samples.arrays, samples.kept.array(),
                                          dx.array(), options)
                      : dnn.gru_gradient(dy.array(), samples.x.array(), samples.arrays, samples.kept.array(),
                                         dx.array(), options))
              .get());

    // Behind the end of a sequence dy does not count, and y is 0 there, whatever x is.
    RecurrentCase with_state = of;
    with_state.state = true;
    Numbers numbers = samples.numbers;
    for (W& element : numbers.x)
      if (std::isnan(element)) element = 0;
    if (!of.state) std::ranges::fill(numbers.h0, W(0)), std::ranges::fill(numbers.c0, W(0));
    const auto told = [&](const Numbers& changed) {
      const RecurrentResults<W> made = recurrent_of(with_state, changed);
      W sum = dot(made.y, widened(dy.values())) + dot(made.h_n, widened(dh_n.values()));
      return of.is_lstm ? sum + dot(made.c_n, widened(dc_n.values())) : sum;
    };
    const auto slopes_by = [&](const std::function<std::vector<W>&(Numbers&)>& which) {
      Numbers changed = numbers;
      return slopes_of<W>(which(changed), [&](const std::vector<W>& by) {
        which(changed) = by;
        return told(changed);
      });
    };
    const double roundings = (sizeof(T) == 2 ? 4 : 24) + off_by_difference<T>();
    const double magnitude = static_cast<double>(of.tokens * of.batch);
    this->expect_close(dx.read(), slopes_by([](Numbers& n) -> auto& { return n.x; }), roundings, 2);
    this->expect_close(dh0.read(), slopes_by([](Numbers& n) -> auto& { return n.h0; }), roundings, 2);
    if (of.is_lstm) this->expect_close(dc0.read(), slopes_by([](Numbers& n) -> auto& { return n.c0; }), roundings, 2);
    for (std::size_t i = 0; i < dweights.size(); ++i)
      this->expect_close(dweights[i].read(), slopes_by([i](Numbers& n) -> auto& { return n.weights[i]; }), roundings,
                         magnitude);
  }
}

CONFORMANCE_TEST(DnnRecurrentConformance, recurrent_with_a_length_outside_is_refused_with_its_place) {
  const RecurrentCase of{false, 1, 1, 3, 2, 2, 2};
  RecurrentSamples<T> samples(this->device(), of, Layout::dense, this->random_numbers());
  Sample<T> y = this->poisoned(of.y_shape()), dx = this->poisoned(of.x_shape());
  const Sample<std::int32_t> lengths(this->device(), {2}, Layout::dense, {3, 4}),
      below(this->device(), {2}, Layout::dense, {-1, 3});
  const Dnn dnn = this->device().dnn();
  EXPECT_EQ(text_of(dnn.gru(samples.x.array(), samples.arrays, y.array(), {.lengths = &lengths.array()}).get()),
            "gru: length 1 is 4; it must be from 0 to 3");
  value(dnn.gru(samples.x.array(), samples.arrays, y.array(), {.kept = &samples.kept.array()}).get());
  EXPECT_EQ(text_of(dnn.gru_gradient(y.array(), samples.x.array(), samples.arrays, samples.kept.array(), dx.array(),
                                     {.lengths = &below.array()})
                        .get()),
            "gru_gradient: length 0 is -1; it must be from 0 to 3");
}

CONFORMANCE_TEST(DnnRecurrentConformance, recurrent_of_no_tokens_gives_its_first_state) {
  const RecurrentCase of{true, 1, 2, 0, 2, 3, 4};
  RecurrentSamples<T> samples(this->device(), of, Layout::dense, this->random_numbers());
  Sample<T> y = this->poisoned(of.y_shape()), h_n = this->poisoned(of.state_shape()),
            c_n = this->poisoned(of.state_shape());
  samples.forward(this->device().dnn(), of, y, h_n, c_n);
  this->expect_equal(h_n.read(), samples.h0.values());
  this->expect_equal(c_n.read(), samples.c0.values());
}

}  // namespace
}  // namespace troupe::conformance
