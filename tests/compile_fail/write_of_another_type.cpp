// An array takes elements of its own type: nothing is converted behind one's back.
// expect: write takes elements of the array's own type
#include <vector>

#include "troupe/troupe.hpp"

void use(const troupe::Device& device, const troupe::Array<float>& array) {
#ifdef TROUPE_FIXED
  const std::vector<float> elements = {1.0f, 2.0f};
#else
  const std::vector<double> elements = {1.0, 2.0};
#endif
  (void)device.write(array, elements).submit();
}
