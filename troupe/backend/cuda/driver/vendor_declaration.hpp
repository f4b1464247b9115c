// What Troupe knows about a library of NVIDIA before it opens it: its name, its files, the versions that Troupe
// accepts, and what to install. Written once, in the folder of the ops that use it, for workers, which open the
// library, and for `troupe doctor`, which looks for it. Needs no CUDA header.
//
//   inline constexpr VendorDeclaration kCusparse{.name = "cuSPARSE",
//                                                .files = {"libcusparse.so.13", "libcusparse.so.12"},
//                                                .versions = {.oldest = {12, 0}, .newest_major = 13},
//                                                .version_symbol = "cusparseGetProperty",
//                                                .read_version = version_by_property,
//                                                .install = "the CUDA toolkit"};
//   const OpenLibrary opened = TROUPE_TRY(open(kCusparse));
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "troupe/backend/cuda/driver/vendor_library.hpp"
#include "troupe/core/result.hpp"

namespace troupe::cuda {

struct Version {
  int major = 0;
  int minor = 0;
  int patch = -1;  // not told

  std::string to_string() const;
  /// By major and minor.
  friend constexpr bool operator<(Version a, Version b) noexcept {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
  }
};

/// From the oldest version to every version of the newest major one.
struct VersionRange {
  Version oldest;
  int newest_major = 0;  // 0: however new

  /// "12.0 to 13.x", "12.0 or newer".
  std::string to_string() const;
  constexpr bool is_too_old(Version version) const noexcept { return version < oldest; }
  constexpr bool is_too_new(Version version) const noexcept {
    return newest_major != 0 && version.major > newest_major;
  }
};

// How a library tells its version: each takes the address of the function for it, and gives none when that refuses.

/// `libraryPropertyType` 0, 1, 2: major, minor, patch.
std::optional<Version> version_by_property(void* symbol);
/// Returns a number: 91300 is 9.13.0; cuDNN before 9 and NCCL before 2.9 wrote 8902 for 8.9.2.
std::optional<Version> version_by_number(void* symbol);
/// The same, written where a pointer says.
std::optional<Version> version_by_written_number(void* symbol);
std::optional<Version> version_by_major_and_minor(void* symbol);
/// The driver's own way: 13000 is 13.0, the newest CUDA that it can do.
std::optional<Version> version_by_cuda_number(void* symbol);

struct VendorDeclaration {
  std::string_view name;
  /// Newest first. The last may be one that is too old, so that an error can name it when there is nothing else.
  std::array<std::string_view, 3> files{};
  VersionRange versions;
  const char* version_symbol = nullptr;
  std::optional<Version> (*read_version)(void* symbol) = nullptr;
  std::string_view install;  // what has it: "the CUDA toolkit"

  /// As errors call it: "cublasLt" of "libcublasLt.so.13".
  constexpr std::string_view id() const noexcept {
    const std::string_view file = files[0].substr(std::string_view("lib").size());
    return file.substr(0, file.find(".so"));
  }
};

struct OpenLibrary {
  Library library;
  std::optional<Version> version;  // none when it does not tell
};

/// Opens the newest that is there. `unsupported` when there is none, with what was tried; when there is one that cannot
/// be opened, or whose version is out of range, also with its path as the error's origin. One that does not tell its
/// version is taken.
Result<OpenLibrary> open(const VendorDeclaration& declaration,
                         const SearchPaths& paths = SearchPaths::from_environment());

}  // namespace troupe::cuda
