#include "troupe/backend/host/openblas.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace troupe::host {
namespace {

Unexpected last_dl_error() {
  const char* const message = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread, in glibc
  return fail(ErrorKind::unsupported, message != nullptr ? message : "the dynamic linker gives no reason");
}

template <class Function>
Result<void> resolve(void* library, const char* symbol, Function*& function) {
  void* const address = dlsym(library, symbol);
  if (address == nullptr) return last_dl_error();
  function = reinterpret_cast<Function*>(address);
  return {};
}

Result<OpenBlas> load(const char* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);  // open for good, whether it is used or not
  if (library == nullptr) return last_dl_error();
  OpenBlas blas;
  blas.library = library;
  char* (*get_config)() = nullptr;
  TROUPE_TRY(resolve(library, "cblas_sgemm", blas.sgemm));
  TROUPE_TRY(resolve(library, "cblas_dgemm", blas.dgemm));
  TROUPE_TRY(resolve(library, "cblas_cgemm", blas.cgemm));
  TROUPE_TRY(resolve(library, "cblas_zgemm", blas.zgemm));
  TROUPE_TRY(resolve(library, "openblas_set_num_threads", blas.set_num_threads));
  TROUPE_TRY(resolve(library, "openblas_get_num_threads", blas.get_num_threads));
  TROUPE_TRY(resolve(library, "openblas_get_config", get_config));
  blas.config = get_config();
  if (blas.config.find("USE64BITINT") != std::string::npos)
    return fail(ErrorKind::unsupported, std::string(file) + " takes 64-bit integers; the 32-bit build is needed");
  return blas;
}

}  // namespace

Result<OpenBlas> load_open_blas(const char* choice) {
  if (choice != nullptr && std::string_view(choice) == "none")
    return fail(ErrorKind::unsupported, "TROUPE_OPENBLAS=none: OpenBLAS is switched off");
  if (choice != nullptr && *choice != '\0') return load(choice);
  std::string reasons;
  for (const char* file : {"libopenblas.so.0", "libopenblas.so"}) {
    Result<OpenBlas> blas = load(file);
    if (blas) return blas;
    reasons += (reasons.empty() ? "" : "; ") + std::string(blas.error().message());
  }
  return fail(ErrorKind::unsupported, "OpenBLAS cannot be opened: " + reasons);
}

const OpenBlas* open_blas() noexcept {
  // Never destroyed: a lane may still compute while the process ends.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is not changed while workers run
  static const auto* const kBlas = new Result<OpenBlas>(load_open_blas(std::getenv("TROUPE_OPENBLAS")));
  return kBlas->has_value() ? &**kBlas : nullptr;
}

}  // namespace troupe::host
