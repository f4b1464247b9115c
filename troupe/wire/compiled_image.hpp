// The answer of `troupe-worker --compile CAPABILITY`, or of `--compile cpu FOLDER`, which compiles kernels in a process
// of its own: it reads the compiler's flags (one line), the instances of templates that are wanted (one line, with tabs
// between them) and the source from its standard input, and answers on its standard output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "troupe/core/result.hpp"

namespace troupe::inline v0::wire {

inline constexpr std::size_t kMaxSourceBytes = std::size_t{16} << 20;

struct CompiledImage {
  std::string bytes = {};
  std::string log = {};       // what the compiler said although it succeeded
  std::string compiler = {};  // its file
  /// Two lines for each instance that was wanted: as it was written, and its symbol.
  std::string instances = {};
};

/// Takes what is before the next line break, or all of it, and that line break.
std::string_view take_line(std::string_view& text);

std::string encode(const Result<CompiledImage>& compiled);
/// Nothing when the text is not such an answer. Errors are said to come from that `library`.
std::optional<Result<CompiledImage>> decode_compiled(std::string_view answer, std::string_view library = "nvrtc");

}  // namespace troupe::inline v0::wire
