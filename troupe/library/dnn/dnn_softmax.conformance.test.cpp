// Softmax and log-softmax of rows along any axis, and their gradients; and that a row has the same bits wherever it is.
#include "troupe/library/dnn/dnn_training_reference.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class DnnSoftmaxConformance : public Conformance<T> {};
CONFORMANCE_SUITE(DnnSoftmaxConformance, Types<float, double, f16, bf16>);

struct SoftmaxCase {
  Shape shape;
  int axis;
};
const std::vector<SoftmaxCase> kSoftmaxCases{{{31, 17}, 1},  {{31, 17}, 0},  {{5}, 0},   {{3, 1, 4}, 1},
                                             {{2, 9, 6}, 1}, {{3, 5000}, 1}, {{0, 3}, 1}};

CONFORMANCE_TEST(DnnSoftmaxConformance, softmax) {
  using W = Wide<T>;
  this->covers("dnn", "softmax");
  for (const SoftmaxCase& of : kSoftmaxCases)
    for (const Layout layout : kLayouts) {
      const Sample<T> x = this->random(of.shape, layout);
      Sample<T> y = this->poisoned(of.shape, next(layout)), logarithm = this->poisoned(of.shape, next(layout, 2));
      value(this->device().dnn().softmax(x.array(), y.array(), {.axis = of.axis}).get());
      value(this->device().dnn().log_softmax(x.array(), logarithm.array(), {.axis = of.axis - of.shape.rank()}).get());
      const std::vector<W> want = log_softmax_of(widened(x.values()), of.shape, of.axis);
      this->expect_close(logarithm.read(), want, 4);
      this->expect_close(y.read(), softmax_of(widened(x.values()), of.shape, of.axis), 4, 0.1);
    }
}

CONFORMANCE_TEST(DnnSoftmaxConformance, softmax_of_large_numbers) {
  if constexpr (!std::same_as<T, f16>) {
    const Sample<T> x(this->device(), {1, 3}, Layout::dense, {T(1e4F), T(1e4F), T(-1e30F)});
    Sample<T> y = this->poisoned({1, 3});
    value(this->device().dnn().softmax(x.array(), y.array()).get());
    this->expect_close(y.read(), {0.5, 0.5, 0}, 1);
  }
}

CONFORMANCE_TEST(DnnSoftmaxConformance, softmax_gradient) {
  using W = Wide<T>;
  this->covers("dnn", "softmax_gradient");
  for (const SoftmaxCase& of : {SoftmaxCase{{4, 5}, 1}, SoftmaxCase{{4, 5}, 0}, SoftmaxCase{{2, 3, 2}, 1}})
    for (const bool logarithm : {false, true})
      for (const Layout layout : {Layout::dense, Layout::transposed, Layout::sliced}) {
        const Sample<T> x = this->random(of.shape, layout), dy = this->random(of.shape, next(layout));
        const auto forward = [&](const std::vector<W>& in) {
          return logarithm ? log_softmax_of(in, of.shape, of.axis) : softmax_of(in, of.shape, of.axis);
        };
        // What the op is given is rounded to the type, as a network has it.
        std::vector<T> rounded;
        for (const W number : forward(widened(x.values())))
          rounded.push_back(T(static_cast<detail::ComputeType<T>>(number)));
        const Sample<T> y(this->device(), of.shape, next(layout, 2), std::move(rounded));
        Sample<T> dx = this->poisoned(of.shape, next(layout, 3));
        const Dnn dnn = this->device().dnn();
        value((logarithm ? dnn.log_softmax_gradient(dy.array(), y.array(), dx.array(), {.axis = of.axis})
                         : dnn.softmax_gradient(dy.array(), y.array(), dx.array(), {.axis = of.axis}))
                  .get());
        const std::vector<W> slopes = widened(dy.values());
        const std::vector<W> want =
            slopes_of<W>(widened(x.values()), [&](const std::vector<W>& in) { return dot(forward(in), slopes); });
        this->expect_close(dx.read(), want, 8 + off_by_difference<T>());
      }
}

CONFORMANCE_TEST(DnnSoftmaxConformance, softmax_of_a_row_is_the_same_in_any_batch) {
  const Sample<T> x = this->random({70, 513});
  Sample<T> all = this->poisoned({70, 513}), alone = this->poisoned({1, 513});
  value(this->device().dnn().softmax(x.array(), all.array()).get());
  const std::vector<T> rows = all.read();
  for (const std::int64_t row : {0, 33, 69}) {
    value(this->device().dnn().softmax(value(x.array().slice(0, row, row + 1)), alone.array()).get());
    const std::vector<T> one = alone.read();
    EXPECT_EQ(std::memcmp(one.data(), rows.data() + row * 513, 513 * sizeof(T)), 0) << "row " << row;
  }
}

}  // namespace
}  // namespace troupe::conformance
