// The elements of a list are all over the place.
// expect: write takes elements that lie side by side in memory
#include <list>
#include <vector>

#include "troupe/troupe.hpp"

void use(const troupe::Device& device, const troupe::Array<float>& array) {
#ifdef TROUPE_FIXED
  const std::vector<float> elements = {1.0f, 2.0f};
#else
  const std::list<float> elements = {1.0f, 2.0f};
#endif
  (void)device.write(array, elements).submit();
}
