// A number that may not fit into a kernel's parameter is not cut off behind one's back.
// expect: an argument has another type than the kernel's parameter, or may not fit into it
#include "troupe/troupe.hpp"

void use(const troupe::Device& device, const troupe::Kernel<void(int)>& kernel, long long n) {
#ifdef TROUPE_FIXED
  (void)device.jit().launch(kernel, {}, static_cast<int>(n)).submit();
#else
  (void)device.jit().launch(kernel, {}, n).submit();
#endif
}
