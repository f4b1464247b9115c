// What was read would be gone when the call returns.
// expect: an array is read into memory that is there afterwards, and this is a temporary
#include <vector>

#include "troupe/troupe.hpp"

void use(const troupe::Device& device, const troupe::Array<float>& array) {
#ifdef TROUPE_FIXED
  std::vector<float> elements(8);
  (void)device.read_into(array, elements).get();
#else
  (void)device.read_into(array, std::vector<float>(8)).get();
#endif
}
