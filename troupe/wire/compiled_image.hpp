// What `troupe-worker --compile CAPABILITY`, or `--compile cpu FOLDER`, reads and answers: it compiles kernels in a
// process of its own. On its standard input it has the compiler's flags (one line), the instances of templates that are
// wanted and the names and sizes of headers that are given (a line each, with tabs between them), and behind these
// lines the headers and the source.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/result.hpp"

namespace troupe::inline v0::wire {

inline constexpr std::size_t kMaxSourceBytes = std::size_t{16} << 20;

struct SourceHeader {
  std::string name;  // as it is included
  std::string text;
  friend bool operator==(const SourceHeader&, const SourceHeader&) = default;
};

/// What is compiled. Flags, instances and names of headers have no line breaks, and the latter two no tabs.
struct CompileRequest {
  std::string flags = {};
  std::string instances = {};
  std::vector<SourceHeader> headers = {};
  std::string source = {};
};

std::string encode(const CompileRequest& request);
/// Nothing when the text is no request.
std::optional<CompileRequest> decode_request(std::string_view text);

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
