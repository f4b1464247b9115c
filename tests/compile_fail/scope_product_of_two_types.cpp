// A product has operands of one type.
// expect: matmul takes two operands of one type
#include "troupe/troupe.hpp"

auto use(troupe::Scope& on, const troupe::Array<float>& a, const troupe::Array<double>& b) {
#ifdef TROUPE_FIXED
  return on.matmul(a, on.eval<float>(b + 0.0));
#else
  return on.matmul(a, b);
#endif
}
