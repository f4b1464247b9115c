#include "troupe/library/conformance.test.hpp"

namespace troupe::conformance {
namespace {

template <class C>
class BlasConformance : public Conformance<C> {};
TYPED_TEST_SUITE(BlasConformance, FourTypesOnAllBackends, CaseNames);

TYPED_TEST(BlasConformance, axpy) {
  using T = typename TypeParam::Element;
  this->covers("blas", "axpy");
  for (const Lie lie : kLies)
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{31}, Shape{100'003}, Shape{7, 13}, Shape{3, 5, 4}}) {
      Sample<T> x = this->random(shape, lie);
      Sample<T> y = this->random(shape, next(lie));
      std::vector<Wide<T>> want = widened(y.values());
      for (std::size_t i = 0; i < want.size(); ++i) want[i] += Wide<T>(0.5) * widen(x.values()[i]);
      value(this->device().blas().axpy(0.5, x.array(), y.array()).get());
      this->expect_close(y.read(), want, 2);
    }
}

}  // namespace
}  // namespace troupe::conformance
