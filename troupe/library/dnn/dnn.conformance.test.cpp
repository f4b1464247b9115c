// Every op of the dnn family, type and layout, on each backend, against the same sum in higher precision.
#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class DnnConformance : public Conformance<T> {};
CONFORMANCE_SUITE(DnnConformance, Types<float, double>);

CONFORMANCE_TEST(DnnConformance, scale) {
  this->covers("dnn", "scale");
  for (const Shape& shape : {Shape{31, 17}, Shape{5}, Shape{}, Shape{0, 3}})
    for (const Layout layout : kLayouts) {
      const Sample<T> x = this->random(shape, layout);
      Sample<T> y = this->poisoned(shape, next(layout));
      value(this->device().dnn().scale(1.5, x.array(), -0.25, y.array()).get());
      std::vector<Wide<T>> want = widened(x.values());
      for (Wide<T>& element : want) element = Wide<T>(1.5) * element - Wide<T>(0.25);
      this->expect_close(y.read(), want, 2);
    }
}

}  // namespace
}  // namespace troupe::conformance
