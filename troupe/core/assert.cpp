#include "troupe/core/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace troupe::inline v0 {

void detail::assert_failed(const char* condition, const char* sentence, const char* file, int line) noexcept {
  std::fprintf(stderr, "troupe: broken invariant: %s (%s) at %s:%d\n", sentence, condition, file, line);
  std::abort();
}

}  // namespace troupe::inline v0
