// A kernel's handle knows its signature: a launch gives as many arguments as it has.
// expect: the kernel takes another number of arguments than are given
#include "troupe/troupe.hpp"

void use(const troupe::Device& device, const troupe::Kernel<void(int, float*)>& kernel, const troupe::Array<float>& x) {
#ifdef TROUPE_FIXED
  (void)device.jit().launch(kernel, {}, 1, x).submit();
#else
  (void)device.jit().launch(kernel, {}, 1).submit();
#endif
}
