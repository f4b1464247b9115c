// A kernel that was compiled in a process of its own, `troupe-worker --compile CAPABILITY`: it reads the compiler's
// flags (a line) and the source from its standard input, and answers on its standard output. Here is the answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "troupe/core/result.hpp"

namespace troupe::inline v0::wire {

inline constexpr std::size_t kMaxSourceBytes = std::size_t{16} << 20;

struct CompiledImage {
  std::string bytes;
  std::string log;  // what the compiler said all the same
};

std::string encode(const Result<CompiledImage>& compiled);
/// Nothing for what is no answer.
std::optional<Result<CompiledImage>> decode_compiled(std::string_view answer);

}  // namespace troupe::inline v0::wire
