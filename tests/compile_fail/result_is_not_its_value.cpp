// A result must be looked into before it is used: it does not turn into the value that it may not hold.
// expect: cannot convert|no viable conversion
#include "troupe/core/result.hpp"

int doubled(const troupe::Result<int>& result) {
#ifdef TROUPE_FIXED
  int number = result.value_or(0);
#else
  int number = result;
#endif
  return 2 * number;
}
