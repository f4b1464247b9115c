#include "troupe/backend/host/jit/kernel_headers.hpp"

#include <array>

// TROUPE_KERNEL_HEADERS is the folder where they lie.
#define TROUPE_TEXT(name, file)                   \
  asm(".pushsection .rodata\n"                    \
      "troupe_kernel_header_" #name               \
      ":\n"                                       \
      ".incbin \"" TROUPE_KERNEL_HEADERS "/" file \
      "\"\n"                                      \
      ".byte 0\n"                                 \
      ".popsection\n");                           \
  extern "C" const char troupe_kernel_header_##name[];
TROUPE_TEXT(kernel_abi, "kernel_abi.h")
TROUPE_TEXT(cuda_words, "cuda_words.h")
TROUPE_TEXT(fibers, "fibers.h")
TROUPE_TEXT(threads_and_atomics, "threads_and_atomics.h")
TROUPE_TEXT(cuda_math, "cuda_math.h")
TROUPE_TEXT(troupe_kernels, "troupe_kernels.h")
TROUPE_TEXT(checked_pointers, "checked_pointers.h")
TROUPE_TEXT(assert, "assert.h")
TROUPE_TEXT(empty, "empty.h")
#undef TROUPE_TEXT

namespace troupe::host {

std::span<const KernelHeader> kernel_headers() noexcept {
  static const std::array kAll{
      KernelHeader{"kernel_abi.h", troupe_kernel_header_kernel_abi},
      KernelHeader{"cuda_words.h", troupe_kernel_header_cuda_words},
      KernelHeader{"fibers.h", troupe_kernel_header_fibers},
      KernelHeader{"threads_and_atomics.h", troupe_kernel_header_threads_and_atomics},
      KernelHeader{"cuda_math.h", troupe_kernel_header_cuda_math},
      KernelHeader{"troupe_kernels.h", troupe_kernel_header_troupe_kernels},
      KernelHeader{"checked_pointers.h", troupe_kernel_header_checked_pointers},
      // What kernels include, and find here before any other.
      KernelHeader{"assert.h", troupe_kernel_header_assert},
      KernelHeader{"cassert", troupe_kernel_header_assert},
      KernelHeader{"cuda_runtime.h", troupe_kernel_header_empty},
      KernelHeader{"device_launch_parameters.h", troupe_kernel_header_empty},
      KernelHeader{"vector_types.h", troupe_kernel_header_empty},
      KernelHeader{"vector_functions.h", troupe_kernel_header_empty},
  };
  return kAll;
}

}  // namespace troupe::host
