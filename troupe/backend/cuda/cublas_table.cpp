#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cublas_table.hpp"

#include <string>

#include "troupe/backend/cuda/library.hpp"

namespace troupe::cuda {
namespace {

#define TROUPE_NAME_OF(function) TROUPE_NAME_OF_EXPANDED(function)
#define TROUPE_NAME_OF_EXPANDED(function) #function

Result<CublasTable> open_table() {
  const Library library = TROUPE_TRY(Library::open({"libcublas.so.13", "libcublas.so.12"}));
  CublasTable table;
  std::string missing;
#define TROUPE_CUBLAS_FUNCTION(function)                                                               \
  table.function = reinterpret_cast<decltype(table.function)>(library.find(TROUPE_NAME_OF(function))); \
  if (!table.function) missing += (missing.empty() ? "" : ", ") + std::string(TROUPE_NAME_OF(function));
  TROUPE_CUBLAS_FUNCTIONS(TROUPE_CUBLAS_FUNCTION)
#undef TROUPE_CUBLAS_FUNCTION
  if (!missing.empty()) return fail(ErrorKind::unsupported, library.path() + " is too old: it lacks " + missing);
  return table;
}

}  // namespace

Result<const CublasTable*> find_cublas() {
  try {
    static const CublasTable kTable = value(open_table());
    return &kTable;
  } catch (const Exception& exception) {
    return fail(exception.error());
  }
}

const CublasTable& cublas() noexcept { return **find_cublas(); }

Result<void> checked(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  const ErrorKind kind = status == CUBLAS_STATUS_ALLOC_FAILED    ? ErrorKind::out_of_memory
                         : status == CUBLAS_STATUS_NOT_SUPPORTED ? ErrorKind::unsupported
                                                                 : ErrorKind::library_error;
  return fail(Error(kind, std::string(call) + " answered " + std::to_string(status),
                    ErrorOrigin{.library = "cublas", .native_code = status}));
}

}  // namespace troupe::cuda

#endif
