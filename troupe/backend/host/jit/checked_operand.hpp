// What a cast or `&` takes, as far as the words of a source tell: names, calls, subscripts and members, with what
// stands before them. `&x[i]` is not read as a product of two types, and `(float4*)x + 1` casts `x` alone.
#pragma once

#include <cstddef>

#include "troupe/backend/host/jit/checked_types.hpp"

namespace troupe::host {

struct Operand {
  std::size_t end = 0;        // behind its last word; where it would begin, when there is none
  std::size_t subscript = 0;  // the `[` of the last subscript, where that ends it; else 0
  std::size_t begin = 0;      // of what that is a subscript of
};

/// Of the word before `begin`.
Operand operand_at(const SourceWords& words, const KnownTypes& types, std::size_t begin);

}  // namespace troupe::host
