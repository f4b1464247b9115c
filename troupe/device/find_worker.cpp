#include "troupe/device/find_worker.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

// Defined by what a program links (cmake/TroupeWorkerPath.cmake), or by the program itself; otherwise null.
// NOLINTNEXTLINE(readability-identifier-naming): outside of every namespace, so that a linker can be told its name
extern "C" [[gnu::weak, gnu::visibility("default")]] const char troupe_worker_path[];

namespace troupe::inline v0 {
namespace fs = std::filesystem;

namespace {

/// The shared object, or the program, that contains this function; empty when that is unknown.
fs::path this_object() {
  Dl_info info{};
  std::error_code failed;
  if (dladdr(reinterpret_cast<const void*>(&this_object), &info) == 0 || info.dli_fname == nullptr) return {};
  const fs::path file = fs::canonical(info.dli_fname, failed);
  return failed ? fs::path() : file;
}

}  // namespace

std::vector<std::string> worker_places() {
  std::vector<std::string> places;
  const auto add = [&](const fs::path& path) {
    std::string place = path.lexically_normal().string();
    if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
  };
  std::error_code failed;
  for (const fs::path& file : {fs::read_symlink("/proc/self/exe", failed), this_object()}) {
    if (file.empty()) continue;
    add(file.parent_path() / "troupe-worker");
    add(file.parent_path() / ".." / "libexec" / "troupe" / "troupe-worker");
  }
  if (troupe_worker_path != nullptr) add(troupe_worker_path);
#ifdef TROUPE_WORKER_INSTALL_DIR
  add(fs::path(TROUPE_WORKER_INSTALL_DIR) / "troupe-worker");
#endif
  return places;
}

Result<std::string> find_worker_executable(std::string_view option) {
  if (!option.empty()) return std::string(option);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
  if (const char* named = std::getenv("TROUPE_WORKER"); named && *named) return std::string(named);
  std::string looked;
  for (std::string& place : worker_places()) {
    if (access(place.c_str(), X_OK) == 0) return std::move(place);
    looked += (looked.empty() ? "" : ", ") + place;
  }
  return fail(ErrorKind::invalid_argument,
              "there is no executable troupe-worker; looked for " + looked + ". Set TROUPE_WORKER to its path");
}

}  // namespace troupe::inline v0
