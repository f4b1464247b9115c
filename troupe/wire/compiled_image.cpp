#include "troupe/wire/compiled_image.hpp"

#include <charconv>

namespace troupe::inline v0::wire {

/// "ok LOG_BYTES COMPILER_BYTES IMAGE_BYTES\n", log, compiler, image; or "KIND NATIVE_CODE\n" and the message.
std::string encode(const Result<CompiledImage>& compiled) {
  if (compiled)
    return "ok " + std::to_string(compiled->log.size()) + " " + std::to_string(compiled->compiler.size()) + " " +
           std::to_string(compiled->bytes.size()) + "\n" + compiled->log + compiled->compiler + compiled->bytes;
  const Error& error = compiled.error();
  return std::to_string(static_cast<int>(error.kind())) + " " + std::to_string(error.origin().native_code) + "\n" +
         std::string(error.message());
}

namespace {

/// The number at the start of a text, and what is behind it.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}
bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}
std::optional<std::string> take_bytes(std::string_view& text, std::size_t count) {
  if (count > text.size()) return std::nullopt;
  std::string bytes(text.substr(0, count));
  text.remove_prefix(count);
  return bytes;
}

}  // namespace

std::optional<Result<CompiledImage>> decode_compiled(std::string_view answer) {
  if (take(answer, "ok ")) {
    const auto log_bytes = take_number<std::size_t>(answer);
    if (!log_bytes || !take(answer, " ")) return std::nullopt;
    const auto compiler_bytes = take_number<std::size_t>(answer);
    if (!compiler_bytes || !take(answer, " ")) return std::nullopt;
    const auto image_bytes = take_number<std::size_t>(answer);
    if (!image_bytes || !take(answer, "\n")) return std::nullopt;
    std::optional<std::string> log = take_bytes(answer, *log_bytes);
    std::optional<std::string> compiler = log ? take_bytes(answer, *compiler_bytes) : std::nullopt;
    if (!compiler || answer.size() != *image_bytes) return std::nullopt;  // a compiler that was killed leaves a part
    return CompiledImage{.bytes = std::string(answer), .log = *std::move(log), .compiler = *std::move(compiler)};
  }
  const auto kind = take_number<std::size_t>(answer);
  if (!kind || *kind >= static_cast<std::size_t>(kErrorKinds) || !take(answer, " ")) return std::nullopt;
  const auto native_code = take_number<int>(answer);
  if (!native_code || !take(answer, "\n")) return std::nullopt;
  return Result<CompiledImage>(fail(Error(static_cast<ErrorKind>(*kind), std::string(answer),
                                          ErrorOrigin{.library = "nvrtc", .native_code = *native_code})));
}

}  // namespace troupe::inline v0::wire
