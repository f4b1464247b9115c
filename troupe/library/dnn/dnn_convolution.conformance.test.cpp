// Convolutions and their gradients: every type, number of axes, step and layout, on each backend, against plain loops.
#include "troupe/library/dnn/dnn_reference.test.hpp"

namespace troupe::conformance {
namespace {

struct ConvolutionCase {
  Shape x;
  Shape w;
  ConvolutionOptions options;

  int space() const { return x.rank() - 2; }
  WindowSteps steps() const { return steps_of(options, options.stride, space()); }
  Shape y() const {
    Shape shape = x;
    shape[1] = w[0];
    for (int i = 0; i < space(); ++i)
      shape[i + 2] = extent_of_window(x[i + 2], w[i + 2], steps(), index(3 - space() + i));
    return shape;
  }
  /// How many terms a sum of y has at most.
  double depth() const { return static_cast<double>(Extents(w).count() / w[0]); }
  template <class F>
  void each(const F& f) const {
    each_term(Extents(x), Extents(w), Extents(y()), steps(), options.groups, f);
  }
};

std::vector<ConvolutionCase> convolution_cases() {
  return {
      {{2, 3, 9}, {4, 3, 3}, {}},
      {{2, 4, 11}, {6, 2, 4}, {.stride = 3, .padding = 2, .padding_after = 1, .dilation = 2, .groups = 2}},
      {{3, 5, 7, 6}, {4, 5, 3, 2}, {.padding = 1}},
      {{2, 6, 9, 8}, {9, 2, 3, 3}, {.stride = {2, 1}, .padding = {1, 2}, .padding_after = {0, 1}, .groups = 3}},
      {{2, 5, 6, 7}, {5, 1, 3, 3}, {.padding = 1, .groups = 5}},                       // depth-wise
      {{1, 4, 8, 8}, {8, 1, 2, 2}, {.stride = 2, .groups = 4}},                        // two filters for each channel
      {{2, 7, 5, 5}, {6, 7, 1, 1}, {}},                                                // pointwise
      {{2, 3, 10, 9}, {5, 3, 3, 3}, {.stride = 2, .padding = 2, .dilation = {2, 3}}},  // apart from each other
      {{2, 3, 4, 5, 6}, {4, 3, 2, 3, 2}, {.stride = {1, 2, 1}, .padding = {1, 0, 1}}},
      {{0, 3, 5, 5}, {4, 3, 3, 3}, {}},
      {{1, 40, 14, 13}, {70, 40, 3, 3}, {.padding = 1}},  // more than one tile of everything
      // Enough to do for a library of the GPU's.
      {{4, 16, 18, 17}, {16, 16, 3, 3}, {.padding = 1}},
      {{2, 3, 40, 41}, {24, 3, 5, 5}, {.stride = 2, .padding = 2}},
      {{4, 32, 15, 14}, {48, 8, 3, 3}, {.stride = {1, 2}, .padding = {1, 2}, .padding_after = {0, 1}, .groups = 4}},
      {{4, 16, 17, 19}, {16, 16, 3, 3}, {.padding = 2, .dilation = 2}},
      {{2, 64, 33, 31}, {64, 1, 3, 3}, {.padding = 1, .groups = 64}},
      {{2, 16, 2100}, {16, 16, 4}, {.stride = 2, .padding = 1, .dilation = 2}},
      {{2, 8, 6, 12, 10}, {16, 8, 3, 3, 2}, {.padding = 1}},
      {{4, 64, 12, 12}, {32, 64, 1, 1}, {}},
  };
}

/// Sums of products are off by a rounding of each term at most.
double magnitude_of(double terms) { return std::max(1.0, terms / 4); }

template <class T>
class DnnConvolutionConformance : public Conformance<T> {};
CONFORMANCE_SUITE(DnnConvolutionConformance, Types<float, double, f16, bf16>);

/// The same elements with the channels side by side.
template <class T>
Array<T> with_channels_last(const Device& device, const Array<T>& image) {
  const Shape& shape = image.shape();
  const Array<T> last = value(device.array<T>({shape[0], shape[2], shape[3], shape[1]}));
  const Array<T> seen = value(last.permute({0, 3, 1, 2}));
  value(device.copy(image, seen).get());
  return seen;
}

template <class W>
W leaky(W number) {
  return number < 0 ? number * W(0.01) : number;
}

CONFORMANCE_TEST(DnnConvolutionConformance, convolution) {
  this->covers("dnn", "convolution");
  Layout layout = Layout::dense;
  for (ConvolutionCase c : convolution_cases()) {
    for (const bool is_fused : {false, true}) {
      layout = next(layout);
      const Sample<T> x = this->random(c.x, layout);
      const Sample<T> w = this->random(c.w, next(layout));
      const Sample<T> bias = this->random({c.w[0]}, next(layout, 2));
      const Sample<T> addend = this->random(c.y(), next(layout, 4));
      Sample<T> y = this->poisoned(c.y(), next(layout, 3));
      const auto in = widened(x.values()), filters = widened(w.values()), more = widened(addend.values());
      std::vector<Wide<T>> want(index(Extents(c.y()).count()));
      c.each(
          [&](std::int64_t i, std::int64_t f, std::int64_t o) { want[index(o)] += in[index(i)] * filters[index(f)]; });
      if (is_fused) {
        c.options.activation = DnnActivation::leaky_relu;
        c.options.bias = &bias.array();
        c.options.addend = &addend.array();
        const auto by = widened(bias.values());
        const Extents extents(c.y());
        for (std::size_t i = 0; i < want.size(); ++i)
          want[i] = leaky(want[i] + by[i / index(extents.space()) % index(extents[1])] + more[i]);
      }
      const Dnn dnn = this->device().dnn();
      value(dnn.convolution(x.array(), w.array(), y.array(), c.options).get());
      this->expect_close(y.read(), want, 3, magnitude_of(c.depth()));
      if (c.space() != 2 || c.x[0] == 0) continue;
      const auto turned = [&](const Sample<T>& sample) { return with_channels_last(this->device(), sample.array()); };
      const Array<T> again = turned(y);
      value(this->device().fill(again, T(0)).get());
      value(dnn.convolution(turned(x), turned(w), again, c.options).get());
      value(this->device().copy(again, y.array()).get());
      this->expect_close(y.read(), want, 3, magnitude_of(c.depth()));
    }
  }
}

CONFORMANCE_TEST(DnnConvolutionConformance, convolution_input) {
  this->covers("dnn", "convolution_input");
  Layout layout = Layout::dense;
  for (ConvolutionCase c : convolution_cases()) {
    layout = next(layout);
    const Sample<T> dy = this->random(c.y(), layout);
    const Sample<T> w = this->random(c.w, next(layout));
    const Sample<T> bias = this->random({c.x[1]}, next(layout, 2));
    Sample<T> dx = this->poisoned(c.x, next(layout, 3));
    const auto back = widened(dy.values()), filters = widened(w.values());
    std::vector<Wide<T>> want(index(Extents(c.x).count()));
    c.each(
        [&](std::int64_t i, std::int64_t f, std::int64_t o) { want[index(i)] += back[index(o)] * filters[index(f)]; });
    const double magnitude = magnitude_of(c.depth() * static_cast<double>(c.w[0]) / static_cast<double>(c.w[1]));
    value(this->device().dnn().convolution_input_gradient(dy.array(), w.array(), dx.array(), c.options).get());
    this->expect_close(dx.read(), want, 3, magnitude);
    // The same by its other name, which has a bias and an activation.
    const auto by = widened(bias.values());
    const Extents extents(c.x);
    for (std::size_t i = 0; i < want.size(); ++i)
      want[i] = leaky(want[i] + by[i / index(extents.space()) % index(extents[1])]);
    c.options.activation = DnnActivation::leaky_relu;
    c.options.bias = &bias.array();
    value(this->device().dnn().transposed_convolution(dy.array(), w.array(), dx.array(), c.options).get());
    this->expect_close(dx.read(), want, 3, magnitude);
  }
}

CONFORMANCE_TEST(DnnConvolutionConformance, convolution_filter) {
  this->covers("dnn", "convolution_filter");
  Layout layout = Layout::dense;
  for (const ConvolutionCase& c : convolution_cases()) {
    layout = next(layout);
    const Sample<T> x = this->random(c.x, layout);
    const Sample<T> dy = this->random(c.y(), next(layout));
    Sample<T> dw = this->poisoned(c.w, next(layout, 3));
    const auto in = widened(x.values()), back = widened(dy.values());
    std::vector<Wide<T>> want(index(Extents(c.w).count()));
    c.each([&](std::int64_t i, std::int64_t f, std::int64_t o) { want[index(f)] += in[index(i)] * back[index(o)]; });
    const double terms = static_cast<double>(c.x[0] * Extents(c.y()).space());
    value(this->device().dnn().convolution_filter_gradient(x.array(), dy.array(), dw.array(), c.options).get());
    this->expect_close(dw.read(), want, 3, magnitude_of(terms));
    value(this->device()
              .dnn()
              .transposed_convolution_filter_gradient(dy.array(), x.array(), dw.array(), c.options)
              .get());
    this->expect_close(dw.read(), want, 3, magnitude_of(terms));
  }
}

}  // namespace
}  // namespace troupe::conformance
