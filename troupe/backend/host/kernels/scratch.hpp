// Memory for the length of a kernel: on the heap, aligned to a cache line, not initialized, and an `out_of_memory`
// error instead of an exception when there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "troupe/core/result.hpp"

namespace troupe::host {

struct FreeScratch {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};

using Scratch = std::unique_ptr<std::byte[], FreeScratch>;

/// Needs `size_bytes` >= 0.
inline Result<Scratch> make_scratch(std::int64_t size_bytes) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t rounded = (static_cast<std::size_t>(size_bytes) / kAlignment + 1) * kAlignment;
  Scratch scratch(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (scratch != nullptr) return scratch;
  return fail(ErrorKind::out_of_memory, "no memory for " + std::to_string(size_bytes) + " bytes of scratch space");
}

}  // namespace troupe::host
