#include "troupe/backend/host/blas/blas_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <initializer_list>
#include <mutex>
#include <string_view>
#include <utility>

#include "troupe/backend/host/blas/known_answers.hpp"

namespace troupe::host {
namespace {

/// `letter` stands for the type, `letters` for one whose result is real.
template <class T>
Result<void> resolve_all(void* library, const std::string& letter, const std::string& letters, Cblas<T>& blas) {
  const auto find = [&]<class Function>(const std::string& function, Function*& address) -> Result<void> {
    address = reinterpret_cast<Function*>(dlsym(library, ("cblas_" + function).c_str()));
    if (address) return {};
    return fail(ErrorKind::unsupported, "it lacks cblas_" + function);
  };
  TROUPE_TRY(find(letter + "gemm", blas.gemm));
  TROUPE_TRY(find(letter + "gemv", blas.gemv));
  TROUPE_TRY(find(letter + "symm", blas.symm));
  TROUPE_TRY(find(letter + "syrk", blas.syrk));
  TROUPE_TRY(find(letter + "syr2k", blas.syr2k));
  TROUPE_TRY(find(letter + "trmm", blas.trmm));
  TROUPE_TRY(find(letter + "trsm", blas.trsm));
  TROUPE_TRY(find(letters + "nrm2", blas.nrm2));
  TROUPE_TRY(find(letters + "asum", blas.asum));
  TROUPE_TRY(find("i" + letter + "amax", blas.iamax));
  (void)find("i" + letter + "amin", blas.iamin);
  TROUPE_TRY(find(letter + "scal", blas.scal));
  TROUPE_TRY(find(letter + "swap", blas.swap));
  if constexpr (detail::kIsComplex<T>) {
    TROUPE_TRY(find(letter + "hemm", blas.hemm));
    TROUPE_TRY(find(letter + "herk", blas.herk));
    TROUPE_TRY(find(letter + "her2k", blas.her2k));
    TROUPE_TRY(find(letter + "dotu_sub", blas.dotu_sub));
    TROUPE_TRY(find(letter + "dotc_sub", blas.dotc_sub));
  } else {
    TROUPE_TRY(find(letter + "dot", blas.dot));
  }
  return {};
}

/// All functions of a library, when it answers right. Without LAPACK.
Result<BlasLibrary> load_file(const char* file) {
  BlasLibrary blas;
  blas.library = TROUPE_TRY(open_library(file));
  void* const handle = blas.library->handle;
  TROUPE_TRY(resolve_all(handle, "s", "s", blas.s));
  TROUPE_TRY(resolve_all(handle, "d", "d", blas.d));
  TROUPE_TRY(resolve_all(handle, "c", "sc", blas.c));
  TROUPE_TRY(resolve_all(handle, "z", "dz", blas.z));
  TROUPE_TRY(check_blas_answers(blas));
  return blas;
}

using Reasons = std::vector<PassedOver>;

std::string text_of(const Reasons& reasons) {
  std::string text;
  for (const auto& [name, reason] : reasons) text += (text.empty() ? "" : "; ") + name + ": " + reason;
  return text;
}

/// The first of the files that `open` takes; none, with an entry in `passed`, when it takes none of them.
template <class Open>
auto first_of(std::string_view name, std::span<const char* const> files, Reasons& passed, const Open& open)
    -> decltype(open("")) {
  std::string why = "not found";
  for (const char* const file : files) {
    if (!file) break;
    auto opened = open(file);
    if (opened || opened.error().kind() == ErrorKind::out_of_memory) return opened;
    // That the last file is not there says nothing about one that is there and does not work.
    if (!opened.error().message().contains("cannot open shared object file"))
      why = (name == file ? "" : std::string(file) + ": ") + std::string(opened.error().message());
  }
  passed.push_back({std::string(name), why});
  return fail(ErrorKind::unsupported, why);
}

/// LAPACK from the library itself, or from another: all that we know, and those that have nothing else.
Result<void> find_lapack(BlasLibrary& blas) {
  Result<void> own = check_lapack_answers(blas.library->handle);
  if (own) {
    blas.lapack = blas.library;
    return {};
  }
  Reasons passed{{std::string(blas.library->name()), std::string(own.error().message())}};
  const auto open = [](const char* file) -> Result<std::shared_ptr<MathLibrary>> {
    std::shared_ptr<MathLibrary> library = TROUPE_TRY(open_library(file));
    TROUPE_TRY(check_lapack_answers(library->handle));
    return library;
  };
  const auto try_files = [&](std::string_view name, std::span<const char* const> files) -> Result<void> {
    Result<std::shared_ptr<MathLibrary>> opened = first_of(name, files, passed, open);
    if (!opened && opened.error().kind() == ErrorKind::out_of_memory) return fail(opened.error());
    if (opened) blas.lapack = *opened;
    return {};
  };
  for (const KnownLibrary& known : known_libraries())
    if (!blas.lapack && &known != blas.library->kind) TROUPE_TRY(try_files(known.name, known.files));
  constexpr std::array<const char*, 2> kOnlyLapack{"libflame.so", "liblapack.so.3"};
  for (const char* const& file : kOnlyLapack)
    if (!blas.lapack) TROUPE_TRY(try_files(file, std::span(&file, 1)));
  if (!blas.lapack) blas.lapack_problem = text_of(passed);
  return {};
}

Result<BlasLibrary> load_one(std::string_view name, std::span<const char* const> files, Reasons& passed) {
  BlasLibrary blas = TROUPE_TRY(first_of(name, files, passed, load_file));
  TROUPE_TRY(find_lapack(blas));
  return blas;
}

/// The end of the first try that no shortage spoilt. Never destroyed: a lane may still compute while the process ends.
constinit std::atomic<const Result<BlasLibrary>*> found_blas{nullptr};

}  // namespace

Result<BlasLibrary> load_blas(const char* choice, std::vector<PassedOver>* passed) {
  Reasons own;
  Reasons& reasons = passed ? *passed : own;
  const std::string_view wanted = choice ? choice : "";
  if (wanted == "none") return fail(ErrorKind::unsupported, "TROUPE_BLAS=none: it is switched off");
  if (wanted.contains('/') || wanted.contains(".so")) {
    Result<BlasLibrary> blas = load_one(wanted, std::span(&choice, 1), reasons);
    if (blas || blas.error().kind() == ErrorKind::out_of_memory) return blas;
    return fail(ErrorKind::unsupported, "TROUPE_BLAS=" + std::string(wanted) + ": " + text_of(reasons));
  }
  bool is_known = wanted.empty();
  for (const KnownLibrary& known : known_libraries()) {
    if (!wanted.empty() && wanted != known.word) continue;
    is_known = true;
    Result<BlasLibrary> blas = load_one(known.name, known.files, reasons);
    if (blas || blas.error().kind() == ErrorKind::out_of_memory) return blas;
  }
  if (is_known) return fail(ErrorKind::unsupported, "there is no BLAS that can be used: " + text_of(reasons));
  std::string words;
  for (const KnownLibrary& known : known_libraries()) words += std::string(known.word) + ", ";
  return fail(ErrorKind::unsupported,
              "TROUPE_BLAS=" + std::string(wanted) + ": it must be " + words + "a file, or none");
}

Result<const BlasLibrary*> try_open_blas() {
  static std::mutex mutex;
  const Result<BlasLibrary>* known = found_blas.load(std::memory_order_acquire);
  if (!known) {
    const std::lock_guard lock(mutex);
    known = found_blas.load(std::memory_order_relaxed);
    if (!known) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is not changed while workers run
      Result<BlasLibrary> blas = load_blas(std::getenv("TROUPE_BLAS"));
      if (!blas && blas.error().kind() == ErrorKind::out_of_memory) return fail(blas.error());  // it may pass
      known = new Result<BlasLibrary>(std::move(blas));
      found_blas.store(known, std::memory_order_release);
    }
  }
  if (!*known) return fail(known->error());
  return &**known;
}

const BlasLibrary* open_blas() noexcept {
  if (const Result<BlasLibrary>* known = found_blas.load(std::memory_order_acquire)) return *known ? &**known : nullptr;
  const Result<const BlasLibrary*> blas = try_open_blas();
  return blas ? *blas : nullptr;
}

}  // namespace troupe::host
