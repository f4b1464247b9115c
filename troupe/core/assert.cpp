#include "troupe/core/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace troupe::inline v0 {

void detail::assert_failed(const char* condition, const char* sentence, const char* file, int line) noexcept {
  std::fprintf(stderr, "troupe: broken invariant: %s (%s) at %s:%d\n", sentence, condition, file, line);
  std::abort();
}

void detail::index_is_outside(long long index, long long count) noexcept {
  std::fprintf(stderr, "troupe: index %lld of %lld elements, counted from 0\n", index, count);
  std::abort();
}

}  // namespace troupe::inline v0
