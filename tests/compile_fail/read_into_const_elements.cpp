// What is const cannot be read into.
// expect: an array is read into elements that can be written, and these are const
#include <span>
#include <vector>

#include "troupe/troupe.hpp"

void use(const troupe::Device& device, const troupe::Array<float>& array, std::vector<float>& elements) {
#ifdef TROUPE_FIXED
  (void)device.read_into(array, std::span<float>(elements)).get();
#else
  (void)device.read_into(array, std::span<const float>(elements)).get();
#endif
}
