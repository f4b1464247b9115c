#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/solver/cusolver.hpp"

#include <algorithm>

namespace troupe::cuda {

Result<std::unique_ptr<Cusolver>> Cusolver::create(CUstream stream) {
  const CusolverTable& table = *TROUPE_TRY(find_table<CusolverTable>());
  std::unique_ptr<Cusolver> made(new Cusolver(table));
  TROUPE_TRY(table.cusolverDnCreate(&made->handle_));
  TROUPE_TRY(table.cusolverDnSetStream(made->handle_, stream));
  TROUPE_TRY(table.cusolverDnCreateParams(&made->params_));
  TROUPE_TRY(table.cusolverDnCreateGesvdjInfo(&made->jacobi_));
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
