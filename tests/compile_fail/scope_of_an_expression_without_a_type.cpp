// Of whole numbers a quotient may be a whole number or a fraction; a scope does not guess.
// expect: this does not say of which type its elements are .*: eval<T>\(expression\) says it
#include "troupe/troupe.hpp"

auto use(troupe::Scope& on, const troupe::Array<int>& x) {
#ifdef TROUPE_FIXED
  return on.read(on.eval<double>(x / 2));
#else
  return on.read(x / 2);
#endif
}
