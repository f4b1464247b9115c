// A kernel's handle knows what its pointers point to.
// expect: the array's elements have another type than those that the kernel's parameter points to
#include "troupe/troupe.hpp"

void use(const troupe::Device& device, const troupe::Kernel<void(const float*)>& kernel,
         const troupe::Array<float>& right, const troupe::Array<int>& wrong) {
#ifdef TROUPE_FIXED
  (void)wrong;
  (void)device.jit().launch(kernel, {}, right).submit();
#else
  (void)right;
  (void)device.jit().launch(kernel, {}, wrong).submit();
#endif
}
