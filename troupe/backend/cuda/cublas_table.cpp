#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cublas_table.hpp"

#include <string>

#include "troupe/backend/cuda/function_table.hpp"

namespace troupe::cuda {
namespace {

Result<CublasTable> open_table() {
  const Library library = TROUPE_TRY(Library::open({"libcublas.so.13", "libcublas.so.12"}));
  CublasTable table;
  FunctionFinder finder(library);
  TROUPE_CUBLAS_FUNCTIONS(TROUPE_FIND_FUNCTION)
  TROUPE_TRY(finder.status());
  return table;
}

}  // namespace

Result<const CublasTable*> find_cublas() { return opened_once<open_table>(); }

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
