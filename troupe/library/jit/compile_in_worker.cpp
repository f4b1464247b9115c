#include "troupe/library/jit/compile_in_worker.hpp"

#include <stdlib.h>

#include <filesystem>
#include <span>

#include "troupe/wire/run_child.hpp"

namespace troupe::inline v0 {
namespace {

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

}  // namespace

Result<wire::CompiledImage> compile_in_worker(const ProgramKey& program, Duration limit) {
  const auto& [executable, source, flags, instances, capability, is_checked] = program;
  if (source.empty() || source.size() > wire::kMaxSourceBytes)
    return fail(ErrorKind::invalid_argument, "the source has " + std::to_string(source.size()) +
                                                 " bytes; it must have 1 to " + std::to_string(wire::kMaxSourceBytes));
  if (flags.find('\n') != std::string::npos || source.find('\0') != std::string::npos)
    return fail(ErrorKind::invalid_argument, "flags must be one line, and the source must have no zero bytes");
  if (instances.find('\n') != std::string::npos) return fail(ErrorKind::invalid_argument, "instances must be one line");
  const std::string input = flags + "\n" + instances + "\n" + source;
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
