#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/cusolver.hpp"

#include <algorithm>
#include <string>

#include "troupe/backend/cuda/function_table.hpp"

namespace troupe::cuda {
namespace {

Result<Library> open_cusolver() { return Library::open({"libcusolver.so.12", "libcusolver.so.11"}); }

Result<CusolverTable> open_table() {
  const Library library = TROUPE_TRY(open_cusolver());
  CusolverTable table;
  FunctionFinder finder(library);
  TROUPE_CUSOLVER_FUNCTIONS(TROUPE_FIND_FUNCTION)
  TROUPE_TRY(finder.status());
  TROUPE_FIND_FUNCTION(cusolverDnXsyevBatched_bufferSize)  // these may be missing
  TROUPE_FIND_FUNCTION(cusolverDnXsyevBatched)
  return table;
}

// Functions for one type, held against the header's.
#define TROUPE_FIND(member, symbol)                                                                        \
  static_assert(std::is_same_v<decltype(&::symbol), decltype(table.member)>, "as the header declares it"); \
  finder.find(table.member, #symbol);
#define TROUPE_FIND_ALL(X, form_q, apply_q, eigen)                          \
  TROUPE_FIND(potrf_batched, cusolverDn##X##potrfBatched)                   \
  TROUPE_FIND(orgqr_size, cusolverDn##X##form_q##_bufferSize)               \
  TROUPE_FIND(orgqr, cusolverDn##X##form_q)                                 \
  TROUPE_FIND(ormqr_size, cusolverDn##X##apply_q##_bufferSize)              \
  TROUPE_FIND(ormqr, cusolverDn##X##apply_q)                                \
  TROUPE_FIND(gesvdj_size, cusolverDn##X##gesvdj_bufferSize)                \
  TROUPE_FIND(gesvdj, cusolverDn##X##gesvdj)                                \
  TROUPE_FIND(gesvdj_batched_size, cusolverDn##X##gesvdjBatched_bufferSize) \
  TROUPE_FIND(gesvdj_batched, cusolverDn##X##gesvdjBatched)                 \
  TROUPE_FIND(sygvd_size, cusolverDn##X##eigen##_bufferSize)                \
  TROUPE_FIND(sygvd, cusolverDn##X##eigen)                                  \
  TROUPE_FIND(getrf_batched, cublas##X##getrfBatched)                       \
  TROUPE_FIND(getrs_batched, cublas##X##getrsBatched)                       \
  TROUPE_FIND(geqrf_batched, cublas##X##geqrfBatched)                       \
  TROUPE_FIND(trsm, cublas##X##trsm_v2_64)

void find_all(FunctionFinder& finder, CusolverFor<float>& table) { TROUPE_FIND_ALL(S, orgqr, ormqr, sygvd) }
void find_all(FunctionFinder& finder, CusolverFor<double>& table) { TROUPE_FIND_ALL(D, orgqr, ormqr, sygvd) }
void find_all(FunctionFinder& finder, CusolverFor<std::complex<float>>& table) {
  TROUPE_FIND_ALL(C, ungqr, unmqr, hegvd)
}
void find_all(FunctionFinder& finder, CusolverFor<std::complex<double>>& table) {
  TROUPE_FIND_ALL(Z, ungqr, unmqr, hegvd)
}

#undef TROUPE_FIND_ALL
#undef TROUPE_FIND

template <class T>
Result<CusolverFor<T>> open_for() {
  const Library solver = TROUPE_TRY(open_cusolver());
  const Library blas = TROUPE_TRY(Library::open({"libcublas.so.13", "libcublas.so.12"}));
  FunctionFinder finder(solver, blas);
  CusolverFor<T> table{};
  find_all(finder, table);
  TROUPE_TRY(finder.status());
  return table;
}

}  // namespace

Result<const CusolverTable*> cusolver_table() { return opened_once<open_table>(); }

template <class T>
Result<const CusolverFor<T>*> cusolver_for() {
  return opened_once<open_for<T>>();
}
template Result<const CusolverFor<float>*> cusolver_for<float>();
template Result<const CusolverFor<double>*> cusolver_for<double>();
template Result<const CusolverFor<std::complex<float>>*> cusolver_for<std::complex<float>>();
template Result<const CusolverFor<std::complex<double>>*> cusolver_for<std::complex<double>>();

Result<void> checked(cusolverStatus_t status, const char* call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return {};
  const ErrorKind kind = status == CUSOLVER_STATUS_ALLOC_FAILED    ? ErrorKind::out_of_memory
                         : status == CUSOLVER_STATUS_NOT_SUPPORTED ? ErrorKind::unsupported
                                                                   : ErrorKind::library_error;
  return fail(Error(kind, std::string(call) + " answered " + std::to_string(status),
                    ErrorOrigin{.library = "cusolver", .native_code = status}));
}

Result<void> checked_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  const ErrorKind kind = status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorKind::out_of_memory : ErrorKind::library_error;
  return fail(Error(kind, std::string(call) + " answered " + std::to_string(status),
                    ErrorOrigin{.library = "cublas", .native_code = status}));
}

Result<std::unique_ptr<Cusolver>> Cusolver::create(CUstream stream) {
  const CusolverTable& table = *TROUPE_TRY(cusolver_table());
  std::unique_ptr<Cusolver> made(new Cusolver(table));
  TROUPE_TRY(checked(table.cusolverDnCreate(&made->handle_), "cusolverDnCreate"));
  TROUPE_TRY(checked(table.cusolverDnSetStream(made->handle_, stream), "cusolverDnSetStream"));
  TROUPE_TRY(checked(table.cusolverDnCreateParams(&made->params_), "cusolverDnCreateParams"));
  TROUPE_TRY(checked(table.cusolverDnCreateGesvdjInfo(&made->jacobi_), "cusolverDnCreateGesvdjInfo"));
  return made;
}

Cusolver::~Cusolver() {
  if (jacobi_) (void)table_.cusolverDnDestroyGesvdjInfo(jacobi_);
  if (params_) (void)table_.cusolverDnDestroyParams(params_);
  if (handle_) (void)table_.cusolverDnDestroy(handle_);
}

void* Cusolver::host_memory(std::size_t size_bytes) {
  if (size_bytes == 0) return nullptr;
  if (size_bytes > host_bytes_) {
    const std::size_t grown = std::max(size_bytes, host_bytes_ + host_bytes_ / 2);
    host_memory_.push_back(std::make_unique<std::byte[]>(grown));
    host_bytes_ = grown;
  }
  return host_memory_.back().get();
}

}  // namespace troupe::cuda

#endif
