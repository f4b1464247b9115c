#include "troupe/backend/cuda/kernel_image.hpp"

#if TROUPE_CUDA_BACKEND

// The driver wants it aligned, and it is three megabytes: no array literal.
asm(".pushsection .rodata\n"
    ".balign 64\n"
    "troupe_kernel_image_begin:\n"
    ".incbin \"" TROUPE_KERNEL_IMAGE
    "\"\n"
    "troupe_kernel_image_end:\n"
    ".popsection\n");

extern "C" const std::byte troupe_kernel_image_begin[];
extern "C" const std::byte troupe_kernel_image_end[];

namespace troupe::cuda {

std::span<const std::byte> kernel_image() noexcept { return {troupe_kernel_image_begin, troupe_kernel_image_end}; }

}  // namespace troupe::cuda

#endif
