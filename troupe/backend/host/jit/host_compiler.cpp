#include "troupe/backend/host/jit/host_compiler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "troupe/backend/host/jit/checked_source.hpp"
#include "troupe/backend/host/jit/kernel_flags.hpp"
#include "troupe/backend/host/jit/kernel_headers.hpp"
#include "troupe/backend/host/jit/kernel_image.hpp"
#include "troupe/backend/host/jit/kernel_source.hpp"
#include "troupe/wire/descriptor.hpp"

namespace troupe::host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLogBytes = std::size_t{256} << 10;
constexpr const char* kSource = "kernels.cu";
constexpr const char* kObject = "kernels.so";
constexpr const char* kHeaders = "headers";  // those of the user that are given as texts
constexpr const char* kMacros = "troupe_macros.h";

std::string variable(const char* name) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return text ? text : "";
}

bool is_program(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// In the folders of PATH, when it has no folder of its own.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? fs::absolute(name).string() : std::string();
  std::string folders = variable("PATH");
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string path = folders.substr(begin, end - begin) + "/" + name;
    if (path.starts_with('/') && is_program(path)) return path;
    begin = end + 1;
  }
  return {};
}

bool write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  return static_cast<bool>(file.flush());
}

struct Ended {
  int status = 0;
  std::string said;
};

/// Runs a program to its end, without a shell.
Result<Ended> run(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(wire::errno_error("no pipe for the compiler", errno));
  const wire::Descriptor from(ends[0]);
  wire::Descriptor to(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  to = wire::Descriptor();
  if (error != 0) return fail(wire::errno_error(ErrorKind::unsupported, "cannot start " + words[0], error));
  Ended ended;
  std::array<char, 4096> buffer;
  for (ssize_t size; (size = ::read(from.get(), buffer.data(), buffer.size())) > 0 || (size < 0 && errno == EINTR);)
    if (size > 0 && ended.said.size() < kMostLogBytes) ended.said.append(buffer.data(), static_cast<std::size_t>(size));
  while (::waitpid(child, &ended.status, 0) < 0 && errno == EINTR) {
  }
  while (ended.said.ends_with('\n')) ended.said.pop_back();
  return ended;
}

/// What comes behind the compiler's name and before the user's flags.
std::vector<std::string> usual_flags(const std::string& before, bool is_checked) {
  std::vector<std::string> flags{"-x", "c++", "-std=gnu++17", "-shared", "-fPIC", "-O2",
                                 // The same bits on every CPU, and as a GPU has them that is told not to contract.
                                 "-ffp-contract=off", "-fno-math-errno", "-fno-exceptions", "-fno-rtti",
                                 "-fvisibility=hidden", "-fno-strict-aliasing", "-fwrapv", "-fdiagnostics-color=never",
                                 "-Wall", "-Wno-sign-compare", "-Wno-unknown-pragmas", "-Wno-unused-function",
                                 "-Wno-attributes", "-iquote", kHeaders, "-I", kHeaders, "-Iinclude", "-iquote", before,
                                 "-include", "troupe_kernels.h"};
  if (is_checked) flags.insert(flags.end(), {"-include", std::string(kCheckedHeader)});
  flags.insert(flags.end(), {"-include", kMacros});
  return flags;
}

/// Headers may have kernels, too, and what a CPU cannot do.
Result<std::vector<wire::SourceHeader>> cpu_headers(std::span<const wire::SourceHeader> given) {
  std::vector<wire::SourceHeader> headers;
  for (const wire::SourceHeader& header : given) {
    Result<std::string> text = cpu_source(header.text, {});
    if (!text)
      return fail(Error(text.error().kind(), std::string(text.error().message()) + " of " + header.name,
                        text.error().origin()));
    headers.push_back({header.name, *std::move(text)});
  }
  return headers;
}

/// Two lines for each instance: as it was written, and its symbol.
std::string symbols_of(std::string_view instances, std::span<const std::byte> image) {
  const std::vector<KernelInImage> kernels = kernels_in(image);
  std::string lines;
  for (int number = 1; !instances.empty(); ++number) {
    const std::string_view instance = instances.substr(0, instances.find('\t'));
    instances.remove_prefix(std::min(instance.size() + 1, instances.size()));
    const auto kernel = std::ranges::find(kernels, number, &KernelInImage::instance);
    if (kernel != kernels.end()) lines += std::string(instance) + '\n' + kernel->symbol + '\n';
  }
  return lines;
}

}  // namespace

Result<std::string> find_cxx() {
  if (const std::string named = variable("TROUPE_CXX"); !named.empty()) {
    if (std::string path = find_program(named); !path.empty()) return path;
    return fail(ErrorKind::unsupported, "there is no compiler " + named + ", which TROUPE_CXX names");
  }
  for (const char* const name : {"g++", "clang++", "c++"})
    if (std::string path = find_program(name); !path.empty()) return path;
  return fail(
      ErrorKind::unsupported,
      "kernels on the CPU need a C++ compiler, and there is none in PATH: install g++ or clang++, or name one in "
      "TROUPE_CXX");
}

Result<wire::CompiledImage> compile_for_cpu(const wire::CompileRequest& request, const std::string& folder,
                                            bool is_checked) {
  const std::string compiler = TROUPE_TRY(find_cxx());
  const std::string before = fs::current_path().string();
  const CpuFlags given = TROUPE_TRY(cpu_flags(request.flags, before));
  const std::string text = TROUPE_TRY(cpu_source(request.source, request.instances));
  const std::vector<wire::SourceHeader> headers = TROUPE_TRY(cpu_headers(request.headers));
  const struct Return {
    const std::string& to;
    ~Return() { (void)!::chdir(to.c_str()); }
  } back{before};
  std::error_code error;
  fs::create_directory(folder + "/include", error);
  bool is_written = ::chdir(folder.c_str()) == 0 && write_file(kSource, text) &&
                    write_file("include/" + std::string(kMacros), given.macros);
  for (const KernelHeader& header : kernel_headers())
    is_written = is_written && write_file("include/" + std::string(header.name), header.text);
  for (const wire::SourceHeader& header : headers) {
    const fs::path path = fs::path(kHeaders) / header.name;
    fs::create_directories(path.parent_path(), error);
    is_written = is_written && write_file(path.string(), header.text);
  }
  if (!is_written) return fail(wire::errno_error("cannot write what the compiler reads into " + folder, errno));
  ::setenv("TMPDIR", folder.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  ::setenv("LC_ALL", "C", 1);             // NOLINT(concurrency-mt-unsafe): one thread

  std::vector<std::string> words{compiler};
  std::ranges::copy(usual_flags(before, is_checked), std::back_inserter(words));
  std::ranges::copy(given.words, std::back_inserter(words));
  words.insert(words.end(), {kSource, "-o", kObject});
  Ended ended = TROUPE_TRY(run(std::move(words)));
  if (ended.status != 0)
    return fail(Error(ErrorKind::invalid_argument, "the kernels do not compile:\n" + ended.said,
                      ErrorOrigin{.library = {}, .native_code = WEXITSTATUS(ended.status)}));
  std::ifstream file(kObject, std::ios::binary);
  wire::CompiledImage image{.bytes = {std::istreambuf_iterator<char>(file), {}},
                            .log = std::move(ended.said),
                            .compiler = fs::canonical(compiler, error).string(),
                            .instances = {}};
  const auto bytes = std::as_writable_bytes(std::span(image.bytes));
  if (!is_cpu_image(bytes)) return fail(ErrorKind::unsupported, compiler + " compiles for another processor");
  mark_symbols(bytes);
  image.instances = symbols_of(request.instances, bytes);
  return image;
}

}  // namespace troupe::host
