#include "troupe/library/jit/compile_in_worker.hpp"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "troupe/wire/run_child.hpp"

namespace troupe::inline v0 {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMostHeaders = 1024;
constexpr std::size_t kMostNameBytes = 255;

/// A new folder for what a compiler writes; it goes with all that is in it, also when the compiler was killed.
class CompilerFolder {
 public:
  static Result<CompilerFolder> make() {
    std::error_code error;
    std::string path = std::filesystem::temp_directory_path(error).string() + "/troupe-compile-XXXXXX";
    if (error || !::mkdtemp(path.data()))
      return fail(ErrorKind::unsupported, "there is no folder for temporary files, which a compiler needs");
    return CompilerFolder(std::move(path));
  }
  CompilerFolder(CompilerFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  CompilerFolder& operator=(CompilerFolder&&) = delete;
  ~CompilerFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const noexcept { return path_; }

 private:
  explicit CompilerFolder(std::string path) noexcept : path_(std::move(path)) {}
  std::string path_;
};

Result<void> check_texts(const ProgramKey& program) {
  const auto refuse = [](const std::string& why) { return fail(ErrorKind::invalid_argument, "compile: " + why); };
  std::size_t all_bytes = program.source.size();
  for (const wire::SourceHeader& header : program.headers) {
    const std::string_view name = header.name;
    if (name.empty() || name.size() > kMostNameBytes || name.starts_with('/') || name.ends_with('/') ||
        name.find("..") != std::string_view::npos || name.find_first_of("\t\n\"<>\\\0"sv) != std::string_view::npos)
      return refuse("the header \"" + std::string(name) + "\" has no name that can be included: it must have 1 to " +
                    std::to_string(kMostNameBytes) + " characters, no \"..\", and no \"/\" at its ends");
    if (std::ranges::count(program.headers, header.name, &wire::SourceHeader::name) > 1)
      return refuse("the header \"" + std::string(name) + "\" is given twice");
    if (header.text.find('\0') != std::string::npos)
      return refuse("the header \"" + std::string(name) + "\" has a zero byte");
    all_bytes += header.text.size();
  }
  if (program.headers.size() > kMostHeaders)
    return refuse("there are " + std::to_string(program.headers.size()) + " headers; " + std::to_string(kMostHeaders) +
                  " is the most");
  if (program.source.empty() || all_bytes > wire::kMaxSourceBytes)
    return refuse("the source has " + std::to_string(all_bytes) + " bytes, with its headers; it must have 1 to " +
                  std::to_string(wire::kMaxSourceBytes));
  if (program.flags.find('\n') != std::string::npos || program.source.find('\0') != std::string::npos)
    return refuse("flags must be one line, and the source must have no zero bytes");
  return program.instances.find('\n') == std::string::npos ? Result<void>() : refuse("instances must be one line");
}

}  // namespace

Result<wire::CompiledImage> compile_in_worker(const ProgramKey& program, Duration limit) {
  const auto& [executable, source, flags, instances, headers, capability, is_checked] = program;
  TROUPE_TRY(check_texts(program));
  const std::string input =
      encode(wire::CompileRequest{.flags = flags, .instances = instances, .headers = headers, .source = source});
  std::optional<CompilerFolder> folder;
  std::vector<std::string> arguments{is_checked ? "--compile-checked" : "--compile", std::to_string(capability)};
  if (capability == kOnCpu) {
    folder.emplace(TROUPE_TRY(CompilerFolder::make()));
    arguments = {arguments.front(), "cpu", folder->path()};
  }
  const wire::ChildAnswer answer =
      TROUPE_TRY(wire::run_child(executable, arguments, std::as_bytes(std::span(input)), limit));
  if (!answer.end) return fail(ErrorKind::timeout, "the kernels did not compile within " + to_string(limit));
  if (std::optional<Result<wire::CompiledImage>> compiled =
          wire::decode_compiled(answer.printed, capability == kOnCpu ? "c++" : "nvrtc"))
    return std::move(*compiled);
  return fail(ErrorKind::worker_crashed, "the compiler " + answer.end->to_string());
}

}  // namespace troupe::inline v0
