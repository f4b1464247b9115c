// cuBLASLt: products with an epilogue. The slow part, the search for the best algorithm, is done once for each shape
// and kept: a plan. Plans are a cache of one lane, bounded, and gone with the worker.
#pragma once

#include <cublasLt.h>
#include <cuda.h>

#include <compare>
#include <map>
#include <memory>
#include <optional>

#include "troupe/backend/cuda/driver/cuda_context.hpp"
#include "troupe/backend/cuda/lanes/tuning_file.hpp"
#include "troupe/core/result.hpp"
#include "troupe/core/shape.hpp"

namespace troupe::cuda {

/// Of a bias, and of what an epilogue keeps or gets from before.
inline constexpr CUdeviceptr kLtAlignment = 16;

/// A matrix as cuBLASLt takes it: column-major.
struct LtMatrix {
  cudaDataType_t type = CUDA_R_32F;
  std::int64_t rows = 0;  // as it lies, before it is transposed
  std::int64_t columns = 0;
  std::int64_t leading = 0;
  std::uint32_t alignment = 256;  // of its first element, and of that of every other in its batch, in bytes
  std::int32_t batch = 1;         // so many of them
  std::int64_t batch_stride = 0;  // elements from one to the next
  auto operator<=>(const LtMatrix&) const = default;
};

/// All that the choice of an algorithm depends on: d = epilogue(alpha op(a) op(b) + beta c), by columns.
struct LtProblem {
  LtMatrix a;
  LtMatrix b;
  LtMatrix c;
  LtMatrix d;
  bool transposes_a = false;
  bool transposes_b = false;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale = CUDA_R_32F;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cudaDataType_t bias_type = CUDA_R_32F;
  cudaDataType_t aux_type = CUDA_R_32F;
  std::int64_t aux_leading = 0;
  std::int64_t aux_batch_stride = 0;
  bool scales_d = false;
  bool splits = true;  // the sums of a product may be split, and joined before the epilogue
  auto operator<=>(const LtProblem&) const = default;
};

/// Where everything is, for one call.
struct LtCall {
  const void* alpha = nullptr;
  const void* beta = nullptr;
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;
  CUdeviceptr c = 0;
  CUdeviceptr d = 0;
  CUdeviceptr bias = 0;
  CUdeviceptr aux = 0;
  CUdeviceptr scale_d = 0;
  CUdeviceptr workspace = 0;
};

class CublasLt {
 public:
  static constexpr std::size_t kMaxPlans = 512;
  static constexpr std::uint64_t kWorkspaceBytes = std::uint64_t{32} << 20;  // at most, for one call

  class Plan;

  /// `unsupported` when there is no cuBLASLt, with where it was looked for.
  static Result<std::unique_ptr<CublasLt>> create(CUstream stream);
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  /// Null when cuBLASLt has no algorithm for it. It stays valid until the next call.
  Result<Plan*> find(const LtProblem& problem);
  static std::uint64_t workspace_bytes(const Plan& plan) noexcept;
  static bool is_tuned(const Plan& plan) noexcept;
  Result<void> run(Plan& plan, const LtCall& call);
  /// Runs the call with several algorithms, waits for each, and keeps the fastest for this problem, also for workers to
  /// come. False when none of them ran. Needs a workspace of `kWorkspaceBytes`. The only thing here that waits for the
  /// GPU.
  Result<bool> tune(const CudaContext& context, const LtProblem& problem, Plan& plan, const LtCall& call);

 private:
  CublasLt(cublasLtHandle_t handle, CUstream stream);

  static constexpr int kCandidates = 8;
  static constexpr int kRunsEach = 3;

  cublasLtHandle_t handle_;
  CUstream stream_;
  TuningFile tuning_;
  std::map<LtProblem, std::unique_ptr<Plan>> plans_;  // null: there is no algorithm
};

}  // namespace troupe::cuda
