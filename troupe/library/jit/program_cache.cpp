#include "troupe/library/jit/program_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <vector>

#include "troupe/library/checkpoint/checksum.hpp"
#include "troupe/wire/descriptor.hpp"
#include "troupe/wire/encoding.hpp"

namespace troupe::inline v0 {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "troupe program 3";
constexpr std::string_view kSuffix = ".program";

/// Which compiler NVRTC is depends on them, and where it looks for headers.
constexpr std::array kVariables{"TROUPE_CUDA_LIBRARIES", "CUDA_HOME",   "CUDA_PATH",
                                "LD_LIBRARY_PATH",       "VIRTUAL_ENV", "HOME"};

/// The same of a C++ compiler.
constexpr std::array kVariablesOfCpu{"TROUPE_CXX", "PATH", "CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"};

std::string variable(const char* name) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): the program's own affair
  return text ? text : "";
}

/// A file as it is now: replacing or changing it changes this. Empty when it is not there.
std::string state_of(const std::string& file) {
  struct stat found{};
  if (file.empty() || ::stat(file.c_str(), &found) != 0) return {};
  return file + '\n' + std::to_string(found.st_ino) + ' ' + std::to_string(found.st_size) + ' ' +
         std::to_string(found.st_mtim.tv_sec) + '.' + std::to_string(found.st_mtim.tv_nsec);
}

/// Everything that a program is found by.
std::string text_of(const ProgramKey& key) {
  std::string text =
      state_of(key.executable) + '\n' + std::to_string(key.capability) + (key.is_checked ? " checked\n" : "\n");
  for (const char* const name : kVariables) text += variable(name) + '\n';
  if (key.capability == kOnCpu)
    for (const char* const name : kVariablesOfCpu) text += variable(name) + '\n';
  text += key.flags + '\n' + key.instances + '\n';
  for (const wire::SourceHeader& header : key.headers)
    text += header.name + '\n' + std::to_string(header.text.size()) + '\n' + header.text;
  return text + key.source;
}

std::uint64_t sum_of(std::string_view text) { return Checksum::of(std::as_bytes(std::span(text))); }

/// The rest of the name tells apart what has the same sum; what the file says decides.
std::string name_of(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  for (std::uint64_t sum = sum_of(text), i = 0; i < 16; ++i, sum >>= 4) name += kDigits[sum & 15];
  return name + "-" + std::to_string(text.size()) + std::string(kSuffix);
}

/// Only the user may have written it: whoever writes it decides what runs on the GPU.
bool is_of_user(const struct stat& found) {
  return found.st_uid == ::geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}
bool is_of_user(const std::string& folder) {
  struct stat found{};
  return ::stat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && is_of_user(found);
}

std::optional<std::string> read_whole(const std::string& path) {
  const wire::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));  // no pipe
  struct stat found{};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) || !is_of_user(found) ||
      static_cast<std::uint64_t>(found.st_size) > 2 * ProgramCache::kMostBytesOfProgram)
    return std::nullopt;
  std::string text(static_cast<std::size_t>(found.st_size), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = ::read(file.get(), text.data() + done, text.size() - done);
    if (size <= 0) return std::nullopt;
    done += static_cast<std::size_t>(size);
  }
  (void)::futimens(file.get(), nullptr);  // it was used just now
  return text;
}

/// Under its name the file is there whole or not at all.
bool write_whole(const std::string& path, std::span<const std::byte> bytes) {
  std::string beside = path + ".XXXXXX";
  const wire::Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
  if (!file) return false;
  bool is_whole = true;
  while (is_whole && !bytes.empty()) {
    const ssize_t size = ::write(file.get(), bytes.data(), bytes.size());
    is_whole = size > 0;
    if (is_whole) bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
  if (is_whole && ::rename(beside.c_str(), path.c_str()) == 0) return true;
  (void)::unlink(beside.c_str());
  return false;
}

/// As the compiler sees it: a line that ends in a backslash goes on in the next one.
std::string without_splices(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string_view left = source.substr(i);
    if (left.starts_with("\\\n"))
      i += 1;
    else if (left.starts_with("\\\r\n"))
      i += 2;
    else
      text += source[i];
  }
  return text;
}

/// What follows `#include`: "<cuda_fp16.h>", or the name of a header that is given. An absolute name, or one that leads
/// out of a folder, is a file of the user's.
bool is_known_header(std::string_view rest, std::span<const wire::SourceHeader> given) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const std::size_t end = rest.empty() ? 0 : rest.find_first_of(rest.front() == '"' ? "\"\n" : ">\n", 1);
  if (end >= rest.size() || rest[end] == '\n') return false;
  const std::string_view name = rest.substr(1, end - 1);
  if (std::ranges::find(given, name, &wire::SourceHeader::name) != given.end()) return true;
  return rest.starts_with('<') && !name.starts_with('/') && name.find("..") == std::string_view::npos;
}

/// Whether an `#include` names anything but a header that is given, or one in angle brackets, which the toolkit or we
/// have. A comment may stand before the word, and `#` has another spelling.
bool includes_files(std::string_view source, std::span<const wire::SourceHeader> given) {
  constexpr std::string_view kInclude = "include";
  constexpr std::array<std::string_view, 3> kIntroducers{"#", "%:", "*/"};
  const std::string text = without_splices(source);
  for (std::size_t at = text.find(kInclude); at != std::string::npos; at = text.find(kInclude, at + 1)) {
    std::string_view before = std::string_view(text).substr(0, at);
    before.remove_suffix(before.size() - (before.find_last_not_of(" \t\v\f") + 1));  // none is -1
    const bool is_directive =
        std::ranges::any_of(kIntroducers, [&](std::string_view introducer) { return before.ends_with(introducer); });
    if (is_directive && !is_known_header(std::string_view(text).substr(at + kInclude.size()), given)) return true;
  }
  return text.find("__has_include") != std::string::npos;
}

}  // namespace

bool ProgramKey::is_complete() const {
  for (const std::string_view reads_files : {"-I", "include", "pch"})
    if (flags.find(reads_files) != std::string::npos) return false;
  return !includes_files(source, headers) && std::ranges::none_of(headers, [&](const wire::SourceHeader& header) {
    return includes_files(header.text, headers);
  });
}

ProgramCache ProgramCache::of_user() {
  if (const char* const folder = std::getenv("TROUPE_PROGRAMS"))  // NOLINT(concurrency-mt-unsafe): as above
    return ProgramCache(folder);
  if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty())
    return ProgramCache(caches + "/troupe/programs");
  const std::string home = variable("HOME");
  return ProgramCache(home.empty() ? home : home + "/.cache/troupe/programs");
}

std::optional<wire::CompiledImage> ProgramCache::find(const ProgramKey& key) const {
  if (!is_usable(key) || !is_of_user(folder_)) return std::nullopt;
  const std::string wanted = text_of(key);
  const std::string path = folder_ + "/" + name_of(wanted);
  const std::optional<std::string> text = read_whole(path);
  if (!text) return std::nullopt;
  wire::Reader reader(std::as_bytes(std::span(*text)));
  const bool is_ours = reader.get_text() == kMagic;
  const auto sum = reader.get<std::uint64_t>();
  const bool is_whole =
      is_ours && reader.ok() && sum == sum_of(std::string_view(*text).substr(text->size() - reader.left_bytes()));
  const bool is_wanted = is_whole && reader.get_text() == wanted;
  const std::string compiler(reader.get_text()), compiler_then(reader.get_text());
  const std::string log(reader.get_text()), instances(reader.get_text()), bytes(reader.get_text());
  if (is_wanted && reader.finished() && compiler_then == state_of(compiler))
    return wire::CompiledImage{.bytes = bytes, .log = log, .compiler = compiler, .instances = instances};
  (void)::unlink(path.c_str());
  return std::nullopt;
}

void ProgramCache::keep(const ProgramKey& key, const wire::CompiledImage& image) const {
  const std::string compiler = state_of(image.compiler);
  if (!is_usable(key) || compiler.empty() ||
      image.bytes.size() + image.log.size() + image.instances.size() > kMostBytesOfProgram)
    return;
  std::error_code error;
  fs::create_directories(fs::path(folder_).parent_path(), error);
  (void)::mkdir(folder_.c_str(), S_IRWXU);
  if (!is_of_user(folder_)) return;
  const std::string wanted = text_of(key);
  wire::Writer body;
  for (const std::string_view text :
       {std::string_view(wanted), std::string_view(image.compiler), std::string_view(compiler),
        std::string_view(image.log), std::string_view(image.instances), std::string_view(image.bytes)})
    body.put_text(text);
  wire::Writer file;
  file.put_text(kMagic);
  file.put(Checksum::of(body.bytes()));
  file.put_bytes(body.bytes());
  if (write_whole(folder_ + "/" + name_of(wanted), file.bytes())) make_room();
}

void ProgramCache::make_room() const {
  struct Kept {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<Kept> all;
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    // Others may remove files meanwhile, and one that was cut off while it was written has another suffix.
    const std::string name = entry->path().filename().string();
    if (name.find(kSuffix) == std::string::npos) continue;
    std::error_code is_gone;
    const Kept kept{entry->path(), entry->last_write_time(is_gone), entry->file_size(is_gone)};
    if (is_gone) continue;
    bytes += kept.bytes;
    all.push_back(kept);
  }
  std::ranges::sort(all, {}, &Kept::used);
  for (std::size_t i = 0; i < all.size() && (all.size() - i > most_programs_ || bytes > most_bytes_); ++i) {
    fs::remove(all[i].path, error);
    bytes -= all[i].bytes;
  }
}

}  // namespace troupe::inline v0
