#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

#include <vector>

namespace troupe::cuda {
namespace {

// The functions' types are those of the headers, enums and status codes being ints to a caller.
template <class Function>
Function* as(void* symbol) noexcept {
  return reinterpret_cast<Function*>(symbol);
}

Version in_parts(std::size_t number) {
  const std::size_t major_unit = number < 10000 ? 1000 : 10000;
  return {static_cast<int>(number / major_unit), static_cast<int>(number % major_unit / 100),
          static_cast<int>(number % 100)};
}

Error refusal(const VendorDeclaration& declaration, const OpenLibrary& opened, std::string_view why) {
  return Error(ErrorKind::unsupported,
               std::string(declaration.name) + " " + opened.version->to_string() + " is " + std::string(why) +
                   ": Troupe needs " + declaration.versions.to_string() + "; found at " + opened.library.file() +
                   "; install one of those: it comes with " + std::string(declaration.install),
               {.library = opened.library.file()});
}

}  // namespace

std::string Version::to_string() const {
  std::string text = std::to_string(major) + "." + std::to_string(minor);
  if (patch >= 0) text += "." + std::to_string(patch);
  return text;
}

std::string VersionRange::to_string() const {
  return oldest.to_string() + (newest_major == 0 ? " or newer" : " to " + std::to_string(newest_major) + ".x");
}

std::optional<Version> version_by_property(void* symbol) {
  std::array<int, 3> parts{};
  for (int which = 0; which < 3; ++which)
    if (as<int(int, int*)>(symbol)(which, &parts[static_cast<std::size_t>(which)]) != 0) return std::nullopt;
  return Version{parts[0], parts[1], parts[2]};
}

std::optional<Version> version_by_number(void* symbol) { return in_parts(as<std::size_t()>(symbol)()); }

std::optional<Version> version_by_written_number(void* symbol) {
  int number = 0;
  if (as<int(int*)>(symbol)(&number) != 0) return std::nullopt;
  return in_parts(static_cast<std::size_t>(number));
}

std::optional<Version> version_by_major_and_minor(void* symbol) {
  Version version;
  if (as<int(int*, int*)>(symbol)(&version.major, &version.minor) != 0) return std::nullopt;
  return version;
}

std::optional<Version> version_by_cuda_number(void* symbol) {
  int number = 0;
  if (as<int(int*)>(symbol)(&number) != 0) return std::nullopt;
  return Version{number / 1000, number % 1000 / 10};
}

Result<OpenLibrary> open(const VendorDeclaration& declaration, const SearchPaths& paths) {
  std::vector<std::string_view> files;
  for (const std::string_view file : declaration.files)
    if (!file.empty()) files.push_back(file);
  Result<Library> library = Library::open(files, paths);
  if (!library) {
    const Error& error = library.error();
    std::string message = std::string(declaration.name) + " " + std::string(error.message());
    if (error.origin().library.empty()) message += "; install " + std::string(declaration.install);
    return fail(Error(ErrorKind::unsupported, std::move(message), error.origin()));
  }
  OpenLibrary opened{*std::move(library), std::nullopt};
  if (void* const symbol = opened.library.find(declaration.version_symbol))
    opened.version = declaration.read_version(symbol);
  if (!opened.version) return opened;
  if (declaration.versions.is_too_old(*opened.version)) return fail(refusal(declaration, opened, "too old"));
  if (declaration.versions.is_too_new(*opened.version)) return fail(refusal(declaration, opened, "too new"));
  return opened;
}

}  // namespace troupe::cuda
