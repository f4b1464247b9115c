#include "troupe/worker/compile.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "troupe/backend/cuda/nvrtc.hpp"
#include "troupe/wire/run_child.hpp"

namespace troupe::worker {
namespace {

Result<std::string> read_input() {
  std::string text;
  std::array<char, 65536> buffer;
  for (ssize_t size; (size = read(STDIN_FILENO, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
    if (text.size() > 2 * kMaxSourceBytes) return fail(ErrorKind::invalid_argument, "the source is too long");
  }
  return text;
}

Result<CompiledImage> compile_here([[maybe_unused]] const std::string& source, [[maybe_unused]] std::string_view flags,
                                   [[maybe_unused]] int capability) {
#if TROUPE_CUDA_BACKEND
  cuda::CompiledCode code = TROUPE_TRY(cuda::compile(source, flags, capability));
  return CompiledImage{std::move(code.image), std::move(code.log)};
#else
  return fail(ErrorKind::unsupported, "this worker was built without the CUDA toolkit, so it compiles no kernels");
#endif
}

/// "ok LOG_BYTES\n", log, image; or "KIND NATIVE_CODE\n" and the message.
std::string encode(const Result<CompiledImage>& compiled) {
  if (compiled) return "ok " + std::to_string(compiled->log.size()) + "\n" + compiled->log + compiled->bytes;
  const Error& error = compiled.error();
  return std::to_string(static_cast<int>(error.kind())) + " " + std::to_string(error.origin().native_code) + "\n" +
         std::string(error.message());
}

std::optional<Result<CompiledImage>> decode(std::string_view answer) {
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

}  // namespace

Result<CompiledImage> compile_in_worker(const std::string& executable, const std::string& source,
                                        std::string_view flags, int capability, Duration limit) {
  if (source.empty() || source.size() > kMaxSourceBytes)
    return fail(ErrorKind::invalid_argument, "the source has " + std::to_string(source.size()) +
                                                 " bytes; it may have 1 to " + std::to_string(kMaxSourceBytes));
  if (flags.find('\n') != std::string_view::npos || source.find('\0') != std::string::npos)
    return fail(ErrorKind::invalid_argument, "flags are one line, and a source has no zero bytes");
  const std::string input = std::string(flags) + "\n" + source;
  const wire::ChildAnswer answer = TROUPE_TRY(
      wire::run_child(executable, {"--compile", std::to_string(capability)}, std::as_bytes(std::span(input)), limit));
  if (!answer.end) return fail(ErrorKind::timeout, "the kernels did not compile within " + to_string(limit));
  if (std::optional<Result<CompiledImage>> compiled = decode(answer.printed)) return std::move(*compiled);
  return fail(ErrorKind::worker_crashed, "the compiler " + answer.end->to_string());
}

int answer_compile(int capability) {
  // Compilers may print; the answer must stand alone.
  const int out = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const Result<std::string> input = read_input();
  const std::size_t end = input ? input->find('\n') : std::string::npos;
  Result<CompiledImage> compiled = !input ? Result<CompiledImage>(fail(input.error()))
                                   : end == std::string::npos
                                       ? Result<CompiledImage>(fail(ErrorKind::invalid_argument, "there is no source"))
                                       : compile_here(input->substr(end + 1), input->substr(0, end), capability);
  const std::string answer = encode(compiled);
  for (std::size_t done = 0; done < answer.size();) {
    const ssize_t size = write(out, answer.data() + done, answer.size() - done);
    if (size <= 0) return 1;
    done += static_cast<std::size_t>(size);
  }
  return compiled ? 0 : 1;
}

}  // namespace troupe::worker
