#include "troupe/backend/cuda/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

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

}  // namespace

Places Places::from_environment() {
  Places places{.option = environment("TROUPE_CUDA_LIBRARIES"), .toolkits = {}, .pythons = {}};
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string value = environment(name); !value.empty()) places.toolkits.push_back(std::move(value));
  places.toolkits.emplace_back("/usr/local/cuda");
  const auto add_pythons = [&](const fs::path& library, const char* packages) {
    for (const fs::path& python : folders_in(library, "python")) places.pythons.push_back(python / packages);
  };
  if (const std::string virtual_environment = environment("VIRTUAL_ENV"); !virtual_environment.empty())
    add_pythons(fs::path(virtual_environment) / "lib", "site-packages");
  if (const std::string home = environment("HOME"); !home.empty())
    add_pythons(fs::path(home) / ".local" / "lib", "site-packages");
  add_pythons("/usr/local/lib", "site-packages");
  add_pythons("/usr/local/lib", "dist-packages");
  add_pythons("/usr/lib", "dist-packages");
  return places;
}

std::vector<std::string> candidates(std::string_view file, const Places& places) {
  std::vector<std::string> found;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    if (fs::is_directory(folder, error)) found.push_back((folder / file).string());
  };
  if (!places.option.empty()) add(places.option);
  found.emplace_back(file);
  for (const std::string& toolkit : places.toolkits) {
    add(fs::path(toolkit) / "lib64");
    add(fs::path(toolkit) / "lib");
    for (const fs::path& target : folders_in(fs::path(toolkit) / "targets")) add(target / "lib");
  }
  for (const std::string& python : places.pythons)
    for (const fs::path& package : folders_in(fs::path(python) / "nvidia")) add(package / "lib");
  return found;
}

Result<Library> Library::open(const std::vector<std::string_view>& files, const Places& places) {
  std::string tried;
  for (const std::string_view file : files)
    for (const std::string& candidate : candidates(file, places)) {
      if (void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) return Library(handle, candidate);
      tried += (tried.empty() ? "" : ", ") + candidate;
    }
  return fail(ErrorKind::unsupported, "no library found; tried " + tried);
}

void* Library::find(const char* symbol) const noexcept { return dlsym(handle_, symbol); }

}  // namespace troupe::cuda
