#include "troupe/backend/cuda/kernels/kernel_image.hpp"

#if TROUPE_CUDA_BACKEND

#include "troupe/core/assert.hpp"

// The driver wants them aligned, and they are megabytes: no array literals. TROUPE_KERNEL_IMAGES is a file that has a
// line TROUPE_KERNEL_IMAGE(name, "path") for each.
#define TROUPE_KERNEL_IMAGE(name, path)                     \
  asm(".pushsection .rodata\n"                              \
      ".balign 64\n"                                        \
      "troupe_image_" #name                                 \
      "_begin:\n"                                           \
      ".incbin \"" path                                     \
      "\"\n"                                                \
      "troupe_image_" #name                                 \
      "_end:\n"                                             \
      ".popsection\n");                                     \
  extern "C" const std::byte troupe_image_##name##_begin[]; \
  extern "C" const std::byte troupe_image_##name##_end[];
#include TROUPE_KERNEL_IMAGES
#undef TROUPE_KERNEL_IMAGE

namespace troupe::cuda {

std::span<const std::byte> kernel_image(std::string_view name) noexcept {
#define TROUPE_KERNEL_IMAGE(known, path) \
  if (name == #known) return {troupe_image_##known##_begin, troupe_image_##known##_end};
#include TROUPE_KERNEL_IMAGES
#undef TROUPE_KERNEL_IMAGE
  detail::assert_failed("the image is known", "there is no .cu file of that name", __FILE__, __LINE__);
}

}  // namespace troupe::cuda

#endif
