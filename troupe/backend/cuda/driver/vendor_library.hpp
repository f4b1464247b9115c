// Finding and opening NVIDIA's libraries at run time: nothing of CUDA is linked. Only workers and `troupe doctor` do
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/result.hpp"

namespace troupe::cuda {

/// What decides where libraries are looked for; `from_environment` fills it in, tests make their own.
struct SearchPaths {
  std::string option;                 // a folder that the user named: $TROUPE_CUDA_LIBRARIES
  std::vector<std::string> toolkits;  // $CUDA_HOME, $CUDA_PATH, /usr/local/cuda
  std::vector<std::string> pythons;   // folders with Python packages

  static SearchPaths from_environment();
};

/// The files to try for a library, in order: the folder of the option; the bare name, for the loader's own path; the
/// toolkits; and where NVIDIA's Python packages put theirs. Folders that do not exist are left out.
std::vector<std::string> candidates(std::string_view file, const SearchPaths& paths);

/// An open library. It stays open until the process ends: handles and code of it are everywhere.
class Library {
 public:
  /// The first of `files` (newest version first) that can be opened from any place. `unsupported` when none can, with
  /// what was tried; when one is there and still cannot be opened, its path is the error's origin, and the message has
  /// the loader's reason.
  static Result<Library> open(const std::vector<std::string_view>& files,
                              const SearchPaths& paths = SearchPaths::from_environment());

  /// Null when it has no such symbol.
  void* find(const char* symbol) const noexcept;
  template <class Function>
  Function* find_function(const char* symbol) const noexcept {
    return reinterpret_cast<Function*>(find(symbol));
  }
  /// The name under which it was found.
  const std::string& path() const noexcept { return path_; }
  /// The file itself, links followed, also when the loader found it by its bare name.
  std::string file() const;

 private:
  Library(void* handle, std::string path) noexcept : handle_(handle), path_(std::move(path)) {}
  void* handle_;
  std::string path_;
};

}  // namespace troupe::cuda
