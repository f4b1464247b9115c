#include "troupe/backend/host/blas/openblas.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <initializer_list>
#include <mutex>
#include <string_view>
#include <utility>

namespace troupe::host {
namespace {

Unexpected last_dl_error() {
  const char* const text = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread, in glibc
  const std::string_view message = text != nullptr ? text : "the dynamic linker gives no reason";
  // Other code of this process may hold all descriptors, or all memory, just now.
  for (const char* const shortage : {"Too many open files", "Cannot allocate memory", "failed to map segment"})
    if (message.contains(shortage)) return fail(ErrorKind::out_of_memory, std::string(message));
  return fail(ErrorKind::unsupported, std::string(message));
}

template <class Function>
Result<void> resolve(void* library, const char* symbol, Function*& function) {
  void* const address = dlsym(library, symbol);
  if (address == nullptr) return last_dl_error();
  function = reinterpret_cast<Function*>(address);
  return {};
}

/// `letter` stands for the type, `letters` for one whose result is real.
template <class T>
Result<void> resolve_all(void* library, const std::string& letter, const std::string& letters, Cblas<T>& blas) {
  const auto find = [&](const std::string& function, auto*& address) {
    return resolve(library, ("cblas_" + function).c_str(), address);
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
  TROUPE_TRY(find("i" + letter + "amin", blas.iamin));
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

Result<OpenBlas> load(const char* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);  // open for good, whether it is used or not
  if (library == nullptr) return last_dl_error();
  OpenBlas blas;
  blas.library = library;
  char* (*get_config)() = nullptr;
  TROUPE_TRY(resolve_all(library, "s", "s", blas.s));
  TROUPE_TRY(resolve_all(library, "d", "d", blas.d));
  TROUPE_TRY(resolve_all(library, "c", "sc", blas.c));
  TROUPE_TRY(resolve_all(library, "z", "dz", blas.z));
  TROUPE_TRY(resolve(library, "openblas_set_num_threads", blas.set_num_threads));
  TROUPE_TRY(resolve(library, "openblas_get_num_threads", blas.get_num_threads));
  TROUPE_TRY(resolve(library, "openblas_get_config", get_config));
  blas.config = get_config();
  if (blas.config.find("USE64BITINT") != std::string::npos)
    return fail(ErrorKind::unsupported, std::string(file) + " takes 64-bit integers; the 32-bit build is needed");
  return blas;
}

/// The end of the first try that no shortage spoilt. Never destroyed: a lane may still compute while the process ends.
constinit std::atomic<const Result<OpenBlas>*> found{nullptr};

}  // namespace

Result<OpenBlas> load_open_blas(const char* choice) {
  if (choice != nullptr && std::string_view(choice) == "none")
    return fail(ErrorKind::unsupported, "TROUPE_OPENBLAS=none: OpenBLAS is switched off");
  if (choice != nullptr && *choice != '\0') return load(choice);
  std::string reasons;
  for (const char* file : {"libopenblas.so.0", "libopenblas.so"}) {
    Result<OpenBlas> blas = load(file);
    if (blas || blas.error().kind() == ErrorKind::out_of_memory) return blas;
    reasons += (reasons.empty() ? "" : "; ") + std::string(blas.error().message());
  }
  return fail(ErrorKind::unsupported, "OpenBLAS cannot be opened: " + reasons);
}

Result<const OpenBlas*> try_open_blas() {
  static std::mutex mutex;
  const Result<OpenBlas>* known = found.load(std::memory_order_acquire);
  if (!known) {
    const std::lock_guard lock(mutex);
    known = found.load(std::memory_order_relaxed);
    if (!known) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is not changed while workers run
      Result<OpenBlas> blas = load_open_blas(std::getenv("TROUPE_OPENBLAS"));
      if (!blas && blas.error().kind() == ErrorKind::out_of_memory) return fail(blas.error());  // it may pass
      known = new Result<OpenBlas>(std::move(blas));
      found.store(known, std::memory_order_release);
    }
  }
  if (!*known) return fail(known->error());
  return &**known;
}

const OpenBlas* open_blas() noexcept {
  if (const Result<OpenBlas>* known = found.load(std::memory_order_acquire)) return *known ? &**known : nullptr;
  const Result<const OpenBlas*> blas = try_open_blas();
  return blas ? *blas : nullptr;
}

}  // namespace troupe::host
