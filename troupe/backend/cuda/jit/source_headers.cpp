#include "troupe/backend/cuda/jit/source_headers.hpp"

#if TROUPE_CUDA_BACKEND

#include <array>

// TROUPE_SOURCE_HEADERS is a file that has a line TROUPE_SOURCE_HEADER(name, "as it is included", "path") for each.
#define TROUPE_SOURCE_HEADER(name, included, path) \
  asm(".pushsection .rodata\n"                     \
      "troupe_header_" #name                       \
      ":\n"                                        \
      ".incbin \"" path                            \
      "\"\n"                                       \
      ".byte 0\n"                                  \
      ".popsection\n");                            \
  extern "C" const char troupe_header_##name[];
#include TROUPE_SOURCE_HEADERS
#undef TROUPE_SOURCE_HEADER

namespace troupe::cuda {

std::span<const SourceHeader> source_headers() noexcept {
#define TROUPE_SOURCE_HEADER(name, included, path) SourceHeader{included, troupe_header_##name},
#define TROUPE_STANDARD_HEADER(name) \
  SourceHeader { name, troupe_header_standard_library }
  static const std::array kAll{
#include TROUPE_SOURCE_HEADERS
      TROUPE_STANDARD_HEADER("array"),      TROUPE_STANDARD_HEADER("bit"),
      TROUPE_STANDARD_HEADER("cmath"),      TROUPE_STANDARD_HEADER("complex"),
      TROUPE_STANDARD_HEADER("concepts"),   TROUPE_STANDARD_HEADER("cstdint"),
      TROUPE_STANDARD_HEADER("limits"),     TROUPE_STANDARD_HEADER("string_view"),
      TROUPE_STANDARD_HEADER("tuple"),      TROUPE_STANDARD_HEADER("type_traits"),
      TROUPE_STANDARD_HEADER("utility"),    TROUPE_STANDARD_HEADER("cuda_bf16.h"),
      TROUPE_STANDARD_HEADER("cuda_fp16.h")};
#undef TROUPE_STANDARD_HEADER
#undef TROUPE_SOURCE_HEADER
  return kAll;
}

std::span<const SourceHeader> c_headers() noexcept {
#define TROUPE_C_HEADER(name) \
  SourceHeader { name, troupe_header_c_library }
  static const std::array kAll{TROUPE_C_HEADER("assert.h"), TROUPE_C_HEADER("cassert"),  TROUPE_C_HEADER("cfloat"),
                               TROUPE_C_HEADER("climits"),  TROUPE_C_HEADER("cmath"),    TROUPE_C_HEADER("cstddef"),
                               TROUPE_C_HEADER("cstdint"),  TROUPE_C_HEADER("cstdio"),   TROUPE_C_HEADER("float.h"),
                               TROUPE_C_HEADER("limits"),   TROUPE_C_HEADER("limits.h"), TROUPE_C_HEADER("math.h"),
                               TROUPE_C_HEADER("stddef.h"), TROUPE_C_HEADER("stdint.h"), TROUPE_C_HEADER("stdio.h")};
#undef TROUPE_C_HEADER
  return kAll;
}

}  // namespace troupe::cuda

#endif
