// cuSPARSE, opened when it is first needed and never linked: its generic interface, for CSR matrices. Other formats are
// converted to CSR before they come here (sparse_ops.cpp). A handle belongs to one lane.
//
// Descriptors are read on the host only, and gone when a call returns. Buffers are memory that the handle keeps, for
// one call after another in the stream's order; large ones are scratch memory. Scalars are on the host.
//
// What cuSPARSE computes from a structure is kept as a plan, with its descriptors, where that pays: for SpMV, and for
// SpSV and SpSM, whose analysis takes several times as long as a solve and holds up the worker. Plans are found by the
// name of the structure (`op::SparseView::structure`), are bounded (`backend::PlanLimits`), and are gone with the
// worker.
#pragma once

#include <cuda.h>

#include <memory>

#include "troupe/backend/cuda/memory/cuda_memory.hpp"
#include "troupe/backend/cuda/sparse/cusparse_library.hpp"
#include "troupe/core/result.hpp"
#include "troupe/op/sparse.hpp"

namespace troupe::cuda {

class LaneTools;

/// A CSR matrix where the GPU has it. cuSPARSE wants its arrays at multiples of 16 bytes.
struct GpuCsr {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stored = 0;
  CUdeviceptr offsets = 0;
  CUdeviceptr indices = 0;
  CUdeviceptr values = 0;
  DType dtype = DType::f32;
  DType index_type = DType::i32;
  std::uint64_t structure = 0;  // its name, if offsets and indices are those of the op
};

/// A dense matrix without gaps inside its rows, or inside its columns; or a vector.
struct GpuDense {
  CUdeviceptr data = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  std::int64_t leading = 0;
  bool by_rows = false;
  bool is_vector = false;
};

class Cusparse {
 public:
  /// On a stream of the current context. `unsupported` when there is no cuSPARSE, with where it was looked for.
  static Result<std::unique_ptr<Cusparse>> create(CUstream stream);
  ~Cusparse();
  Cusparse(const Cusparse&) = delete;
  Cusparse& operator=(const Cusparse&) = delete;

  // All need a matrix with elements, and extents that are not 0. `transform` is none, transpose or conjugate_transpose.

  /// y = alpha transform(a) x + beta y, for vectors (SpMV) or matrices (SpMM).
  Result<void> multiply(const LaneTools& on, const op::Scalar& alpha, const GpuCsr& a, op::Transform transform,
                        const GpuDense& x, const op::Scalar& beta, const GpuDense& y);
  /// transform(triangle of a) x = alpha b, for vectors (SpSV), or matrices that lie alike (SpSM).
  Result<void> solve(const LaneTools& on, const op::Scalar& alpha, const GpuCsr& a, op::Transform transform,
                     op::StoredTriangle triangle, const GpuDense& b, const GpuDense& x);
  /// The values of c become alpha (a b) + beta values.
  Result<void> sddmm(const LaneTools& on, const op::Scalar& alpha, const GpuDense& a, const GpuDense& b,
                     const op::Scalar& beta, const GpuCsr& c);
  /// The lines of `to` are the columns of `from`. Indices are i32.
  Result<void> transpose(const LaneTools& on, const GpuCsr& from, const GpuCsr& to);
  /// How many elements the product has; with a `c`, which has room for as many, also the product, whose rows may be
  /// unsorted. Indices are i32. Unlike all else, this waits for the GPU: cuSPARSE has to know on the host how large its
  /// buffers and the result are, and waits for that inside its own functions.
  Result<std::int64_t> product(const LaneTools& on, const GpuCsr& a, const GpuCsr& b, const GpuCsr* c);

 private:
  struct Plan;
  struct Plans;
  explicit Cusparse(cusparseHandle_t handle);
  Result<void> multiply_vector(const LaneTools& on, const void* alpha, const GpuCsr& a, op::Transform transform,
                               const GpuDense& x, const void* beta, const GpuDense& y);
  Result<void> solve_vector(const LaneTools& on, const void* alpha, const GpuCsr& a, Plan& plan, bool is_new);
  Result<void> solve_matrix(const LaneTools& on, const void* alpha, const GpuCsr& a, Plan& plan, bool is_new);

  cusparseHandle_t handle_;
  std::unique_ptr<Plans> plans_;
};

}  // namespace troupe::cuda
