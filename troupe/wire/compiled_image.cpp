#include "troupe/wire/compiled_image.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace troupe::inline v0::wire {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string encode(const CompileRequest& request) {
  std::string lines = request.flags + '\n' + request.instances + '\n', texts;
  for (const SourceHeader& header : request.headers) {
    lines += (lines.ends_with('\n') ? "" : "\t") + header.name + '\t' + std::to_string(header.text.size());
    texts += header.text;
  }
  return lines + '\n' + texts + request.source;
}

/// "ok" and the sizes of log, compiler, instances and image, with blanks between them, a line break, and these four; or
/// "KIND NATIVE_CODE\n" and the message.
std::string encode(const Result<CompiledImage>& compiled) {
  if (compiled) {
    std::string text = "ok", content;
    for (const std::string* const part :
         {&compiled->log, &compiled->compiler, &compiled->instances, &compiled->bytes}) {
      text += " " + std::to_string(part->size());
      content += *part;
    }
    return text + "\n" + content;
  }
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

/// Up to the next tab, or to the end.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find('\t'));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

}  // namespace

std::optional<CompileRequest> decode_request(std::string_view text) {
  CompileRequest request;
  request.flags = take_line(text);
  request.instances = take_line(text);
  std::string_view line = take_line(text);
  while (!line.empty()) {
    const std::string_view name = take_word(line);
    std::string_view size = take_word(line);
    const std::optional<std::size_t> bytes = take_number<std::size_t>(size);
    if (name.empty() || !bytes || !size.empty()) return std::nullopt;
    std::optional<std::string> header = take_bytes(text, *bytes);
    if (!header) return std::nullopt;
    request.headers.push_back({std::string(name), *std::move(header)});
  }
  request.source = text;
  return request;
}

std::optional<Result<CompiledImage>> decode_compiled(std::string_view answer, std::string_view library) {
  if (take(answer, "ok")) {
    std::array<std::size_t, 4> sizes{};
    for (std::size_t& size : sizes) {
      const auto given = take(answer, " ") ? take_number<std::size_t>(answer) : std::nullopt;
      if (!given) return std::nullopt;
      size = *given;
    }
    if (!take(answer, "\n")) return std::nullopt;
    CompiledImage image;
    std::size_t next = 0;
    for (std::string* const part : {&image.log, &image.compiler, &image.instances, &image.bytes}) {
      std::optional<std::string> bytes = take_bytes(answer, sizes[next++]);
      if (!bytes) return std::nullopt;  // a compiler that was killed leaves a part
      *part = *std::move(bytes);
    }
    if (!answer.empty()) return std::nullopt;
    return image;
  }
  const auto kind = take_number<std::size_t>(answer);
  if (!kind || *kind >= static_cast<std::size_t>(kErrorKinds) || !take(answer, " ")) return std::nullopt;
  const auto native_code = take_number<int>(answer);
  if (!native_code || !take(answer, "\n")) return std::nullopt;
  return Result<CompiledImage>(fail(Error(static_cast<ErrorKind>(*kind), std::string(answer),
                                          ErrorOrigin{.library = std::string(library), .native_code = *native_code})));
}

}  // namespace troupe::inline v0::wire
