// cuSOLVER's functions with packed batches as arguments: this handles sizes, work space and the choice between one
// function for the whole batch and a call for each matrix. Everything is put on the lane's stream; what a function says
// about each matrix (`info`) is written to the GPU's memory.
#pragma once

#include "troupe/backend/cuda/solver/gpu_packed.hpp"

namespace troupe::cuda {

/// Pivots as the library wrote them, counted from 1: 32 bits for a batch at once, 64 for one matrix after another.
class GpuPivots {
 public:
  static Result<GpuPivots> make(const LaneTools& on, std::int64_t batch, std::int64_t n, bool is_wide) {
    return GpuPivots(TROUPE_TRY(on.scratch(static_cast<std::uint64_t>(batch * n) * sizeof(long long))), is_wide);
  }
  long long* wide() const noexcept { return is_wide_ ? memory_.data<long long>() : nullptr; }
  int* narrow() const noexcept { return is_wide_ ? nullptr : memory_.data<int>(); }

 private:
  GpuPivots(StreamScratch memory, bool is_wide) noexcept : memory_(std::move(memory)), is_wide_(is_wide) {}
  StreamScratch memory_;
  bool is_wide_;
};

template <class T>
class GpuSolver {
 public:
  using R = detail::RealType<T>;

  static Result<GpuSolver> make(const LaneTools& on);

  // ---- linear systems: a, b of one batch, not empty ----

  /// Whether a batch of such matrices goes to a function for all of them.
  static bool is_batched(std::int64_t batch, std::int64_t n) noexcept { return batch > 1 && n <= kBatchedMost; }
  Result<GpuPivots> pivots_for(const GpuPacked<T>& a) const {
    const bool is_square = a.rows() == a.columns();
    return GpuPivots::make(on_, a.batch(), pivots_of(a), !(is_square && is_batched(a.batch(), a.rows())));
  }
  static int pivots_of(const GpuPacked<T>& a) noexcept { return std::min(a.rows(), a.columns()); }
  /// a, of any shape, becomes l and u.
  Result<void> lu(const GpuPacked<T>& a, const GpuPivots& pivots, int* info) const;
  /// b becomes x.
  Result<void> lu_solve(const GpuPacked<T>& lu, const GpuPivots& pivots, const GpuPacked<T>& b, int* spare) const;
  /// The lower triangle of a becomes l, with a = l l^H. The other one stays as it is; in a batch that goes to one
  /// function it is lost.
  Result<void> cholesky(const GpuPacked<T>& a, int* info) const;
  /// By the lower triangle.
  Result<void> cholesky_solve(const GpuPacked<T>& l, const GpuPacked<T>& b, int* spare) const;

  // ---- QR ----

  /// Whether a batch of such matrices goes to a function for all of them.
  static bool has_qr_for_all(std::int64_t batch, std::int64_t rows, std::int64_t columns) noexcept {
    return batch > 1 && std::max(rows, columns) <= kBatchedMost;
  }
  /// a becomes r, above, and the reflectors that make up q.
  Result<void> qr(const GpuPacked<T>& a, const GpuPacked<T>& tau, int* spare) const;
  /// q from the reflectors in a, as many columns of it as there are in `q`.
  Result<void> form_q(const GpuPacked<T>& a, const GpuPacked<T>& tau, const GpuPacked<T>& q, int* spare) const;
  /// c becomes q c, or q^H c.
  Result<void> apply_q(bool adjoint, const GpuPacked<T>& reflectors, const GpuPacked<T>& tau, const GpuPacked<T>& c,
                       int* spare) const;
  /// The first rows of b become those of r^-1 b, or of r^-H b, for the upper triangle in a, which has no more columns
  /// than rows.
  Result<void> solve_upper(bool adjoint, const GpuPacked<T>& a, const GpuPacked<T>& b) const;

  // ---- singular values and eigenvalues; a is destroyed ----

  /// Needs no more columns than rows.
  Result<void> svd(const GpuPacked<T>& a, const GpuPacked<R>& s, const GpuPacked<T>& u, const GpuPacked<T>& vt,
                   bool wants_vectors, int* info) const;
  /// The same by Jacobi's method, with v instead of its adjoint.
  Result<void> jacobi(const GpuPacked<T>& a, const GpuPacked<R>& s, const GpuPacked<T>& u, const GpuPacked<T>& v,
                      bool wants_vectors, int* info) const;
  /// For a batch of small ones at once; u is square.
  static bool has_jacobi_for_all(std::int64_t batch, std::int64_t rows, std::int64_t columns) noexcept {
    return batch > 1 && std::max(rows, columns) <= kJacobiMost;
  }
  Result<void> jacobi_for_all(const GpuPacked<T>& a, const GpuPacked<R>& s, const GpuPacked<T>& u,
                              const GpuPacked<T>& v, bool wants_vectors, int* info) const;
  /// a, of which both triangles are there, becomes the vectors.
  Result<void> eigh(const GpuPacked<T>& a, const GpuPacked<R>& w, bool wants_vectors, int* info) const;
  /// b is destroyed, too.
  Result<void> generalized_eigh(const GpuPacked<T>& a, const GpuPacked<T>& b, const GpuPacked<R>& w, bool wants_vectors,
                                int* info) const;

 private:
  static constexpr std::int64_t kBatchedMost = 256;  // beyond, one matrix has work enough for the whole GPU
  static constexpr std::int64_t kJacobiMost = 32;    // the library's limit
  static constexpr cudaDataType_t kType = data_type(dtype_of<T>);
  static constexpr cudaDataType_t kRealType = data_type(dtype_of<R>);

  struct Workspace {
    StreamScratch device;
    std::size_t device_bytes;
    void* host;
    std::size_t host_bytes;
  };

  GpuSolver(const LaneTools& on, Cusolver& solver, Cublas& blas)
      : on_(on), solver_(solver), blas_(blas), functions_(solver.functions()) {}

  Result<Workspace> workspace(std::size_t device_bytes, std::size_t host_bytes) const;
  Result<void> qr_for_all(const GpuPacked<T>& a, const GpuPacked<T>& tau) const;
  Result<void> set_tolerance() const;
  Result<void> eigh_for_all(const GpuPacked<T>& a, const GpuPacked<R>& w, cusolverEigMode_t mode, int* info) const;
  static CudaType<T>* native(T* pointer) noexcept { return reinterpret_cast<CudaType<T>*>(pointer); }

  const LaneTools& on_;
  Cusolver& solver_;
  Cublas& blas_;
  const CusolverTable& functions_;
};

extern template class GpuSolver<float>;
extern template class GpuSolver<double>;
extern template class GpuSolver<std::complex<float>>;
extern template class GpuSolver<std::complex<double>>;

}  // namespace troupe::cuda
