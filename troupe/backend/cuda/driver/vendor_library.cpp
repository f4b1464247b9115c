#include "troupe/backend/cuda/driver/vendor_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace troupe::cuda {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The folders in a folder whose names begin with `prefix`, in alphabetical order; none when it cannot be read.
std::vector<fs::path> folders_in(const fs::path& parent, std::string_view prefix = {}) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_directory(error) && entry->path().filename().string().starts_with(prefix))
      found.push_back(entry->path());
  std::ranges::sort(found);
  return found;
}

std::string last_dl_error() {
  const char* const message = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread, in glibc
  return message != nullptr ? message : "the dynamic linker gives no reason";
}

}  // namespace

SearchPaths SearchPaths::from_environment() {
  SearchPaths paths{.option = environment("TROUPE_CUDA_LIBRARIES"), .toolkits = {}, .pythons = {}};
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string value = environment(name); !value.empty()) paths.toolkits.push_back(std::move(value));
  paths.toolkits.emplace_back("/usr/local/cuda");
  const auto add_pythons = [&](const fs::path& library, const char* packages) {
    for (const fs::path& python : folders_in(library, "python")) paths.pythons.push_back(python / packages);
  };
  if (const std::string virtual_environment = environment("VIRTUAL_ENV"); !virtual_environment.empty())
    add_pythons(fs::path(virtual_environment) / "lib", "site-packages");
  if (const std::string home = environment("HOME"); !home.empty())
    add_pythons(fs::path(home) / ".local" / "lib", "site-packages");
  add_pythons("/usr/local/lib", "site-packages");
  add_pythons("/usr/local/lib", "dist-packages");
  add_pythons("/usr/lib", "dist-packages");
  return paths;
}

std::vector<std::string> candidates(std::string_view file, const SearchPaths& paths) {
  std::vector<std::string> found;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    if (fs::is_directory(folder, error)) found.push_back((folder / file).string());
  };
  if (!paths.option.empty()) add(paths.option);
  found.emplace_back(file);
  for (const std::string& toolkit : paths.toolkits) {
    add(fs::path(toolkit) / "lib64");
    add(fs::path(toolkit) / "lib");
    for (const fs::path& target : folders_in(fs::path(toolkit) / "targets")) add(target / "lib");
  }
  for (const std::string& python : paths.pythons) {
    for (const fs::path& package : folders_in(fs::path(python) / "nvidia")) add(package / "lib");
    add(fs::path(python) / "cutensor" / "lib");  // which is not where the others are
  }
  return found;
}

Result<Library> Library::open(const std::vector<std::string_view>& files, const SearchPaths& paths) {
  std::string tried;
  std::optional<Error> unusable;  // the first that is there
  for (const std::string_view file : files)
    for (const std::string& candidate : candidates(file, paths)) {
      if (void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) return Library(handle, candidate);
      std::string reason = last_dl_error();
      if (!reason.starts_with(candidate)) reason.insert(0, candidate + ": ");  // names what it lacks, not itself
      // An auditor (LD_AUDIT) may hide what is there: then the reason has no cause.
      const std::string is_not_there = candidate + ": cannot open shared object file";
      if (!unusable && reason != is_not_there && !reason.starts_with(is_not_there + ": No such file"))
        unusable = Error(ErrorKind::unsupported, "cannot be opened: " + reason, {.library = candidate});
      tried += (tried.empty() ? "" : ", ") + candidate;
    }
  if (unusable) return fail(*std::move(unusable));
  return fail(ErrorKind::unsupported, "was not found; tried " + tried);
}

void* Library::find(const char* symbol) const noexcept { return dlsym(handle_, symbol); }

std::string Library::file() const {
  const link_map* entry = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&entry)) != 0 || !entry || *entry->l_name == '\0')
    return path_;
  std::error_code error;
  const fs::path file = fs::canonical(entry->l_name, error);
  return error ? std::string(entry->l_name) : file.string();
}

}  // namespace troupe::cuda
