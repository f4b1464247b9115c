// A handle of cuSOLVER, which belongs to one lane, and what cuSOLVER wants beside it: parameters, and memory of the
// host.
#pragma once

#include <cuda.h>

#include <memory>
#include <vector>

#include "troupe/backend/cuda/solver/cusolver_library.hpp"
#include "troupe/core/result.hpp"

namespace troupe::cuda {

/// A lane's handle, and what else cuSOLVER wants beside it.
class Cusolver {
 public:
  static Result<std::unique_ptr<Cusolver>> create(CUstream stream);
  ~Cusolver();
  Cusolver(const Cusolver&) = delete;
  Cusolver& operator=(const Cusolver&) = delete;

  cusolverDnHandle_t handle() const noexcept { return handle_; }
  cusolverDnParams_t params() const noexcept { return params_; }
  gesvdjInfo_t jacobi() const noexcept { return jacobi_; }
  const CusolverTable& functions() const noexcept { return table_; }
  /// Some functions want memory of the host, too, and may use it after they have returned: it stays as long as the
  /// handle, and grows at least by half, so that little is kept for nothing.
  void* host_memory(std::size_t size_bytes);

 private:
  explicit Cusolver(const CusolverTable& table) noexcept : table_(table) {}

  const CusolverTable& table_;
  cusolverDnHandle_t handle_ = nullptr;
  cusolverDnParams_t params_ = nullptr;
  gesvdjInfo_t jacobi_ = nullptr;
  std::vector<std::unique_ptr<std::byte[]>> host_memory_;
  std::size_t host_bytes_ = 0;
};

}  // namespace troupe::cuda
