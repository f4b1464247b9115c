#include "troupe/wire/compiled_image.hpp"

#include <cstdlib>

namespace troupe::inline v0::wire {

/// "ok LOG_BYTES\n", log, image; or "KIND NATIVE_CODE\n" and the message.
std::string encode(const Result<CompiledImage>& compiled) {
  if (compiled) return "ok " + std::to_string(compiled->log.size()) + "\n" + compiled->log + compiled->bytes;
  const Error& error = compiled.error();
  return std::to_string(static_cast<int>(error.kind())) + " " + std::to_string(error.origin().native_code) + "\n" +
         std::string(error.message());
}

std::optional<Result<CompiledImage>> decode_compiled(std::string_view answer) {
  const std::size_t end = answer.find('\n');
  const std::size_t space = answer.find(' ');
  if (end == std::string_view::npos || space > end) return std::nullopt;
  const std::string first(answer.substr(0, space));
  const long number = std::strtol(std::string(answer.substr(space + 1, end - space - 1)).c_str(), nullptr, 10);
  answer.remove_prefix(end + 1);
  if (first == "ok") {
    if (number < 0 || static_cast<std::size_t>(number) > answer.size()) return std::nullopt;
    const auto log_bytes = static_cast<std::size_t>(number);
    return CompiledImage{std::string(answer.substr(log_bytes)), std::string(answer.substr(0, log_bytes))};
  }
  const long kind = std::strtol(first.c_str(), nullptr, 10);
  if (kind < 0 || kind >= static_cast<long>(kErrorKinds)) return std::nullopt;
  return Result<CompiledImage>(fail(Error(static_cast<ErrorKind>(kind), std::string(answer),
                                          ErrorOrigin{.library = "nvrtc", .native_code = static_cast<int>(number)})));
}

}  // namespace troupe::inline v0::wire
