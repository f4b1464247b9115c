#if TROUPE_CUDA_BACKEND

#include "troupe/backend/cuda/solver/gpu_solver.hpp"

#include "troupe/backend/cuda/solver/solver_kernels.hpp"
namespace troupe::cuda {
namespace {

/// The first columns of each matrix become those of another with as many rows.
template <class T>
Result<void> copy_columns(const GpuPacked<T>& from, const GpuPacked<T>& to, int columns) {
  const auto view = [&](const GpuPacked<T>& packed) {
    return op::View{.address = 0,
                    .dtype = dtype_of<T>,
                    .shape = {from.batch(), columns, from.rows()},
                    .strides = {packed.rows_ll() * packed.columns_ll(), packed.rows_ll(), 1LL}};
  };
  return copy_elements(view(from), reinterpret_cast<CUdeviceptr>(from.data()), view(to),
                       reinterpret_cast<CUdeviceptr>(to.data()), from.on());
}

cusolverEigMode_t mode_of(bool wants_vectors) noexcept {
  return wants_vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
}

}  // namespace

template <class T>
Result<GpuSolver<T>> GpuSolver<T>::make(const LaneTools& on) {
  Cusolver* const solver = TROUPE_TRY(on.handle<Cusolver>());
  Cublas* const blas = TROUPE_TRY(on.handle<Cublas>());
  return GpuSolver(on, *solver, *blas);
}

template <class T>
auto GpuSolver<T>::workspace(std::size_t device_bytes, std::size_t host_bytes) const -> Result<Workspace> {
  return Workspace{TROUPE_TRY(on_.scratch(device_bytes)), device_bytes, solver_.host_memory(host_bytes), host_bytes};
}

// ---- linear systems ----

template <class T>
Result<void> GpuSolver<T>::lu(const GpuPacked<T>& a, const GpuPivots& pivots, int* info) const {
  if (!pivots.wide()) {
    const StreamScratch all = TROUPE_TRY(a.addresses());
    return getrf_batched<T>(cublas())(blas_.handle(), a.rows(), all.data<CudaType<T>*>(), a.leading(), pivots.narrow(),
                                      info, a.batch());
  }
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  TROUPE_TRY(functions_.cusolverDnXgetrf_bufferSize(solver_.handle(), solver_.params(), a.rows(), a.columns(), kType,
                                                    a.data(), a.leading(), kType, &device_bytes, &host_bytes));
  const Workspace work = TROUPE_TRY(workspace(device_bytes, host_bytes));
  for (int i = 0; i < a.batch(); ++i)
    TROUPE_TRY(functions_.cusolverDnXgetrf(
        solver_.handle(), solver_.params(), a.rows(), a.columns(), kType, a.at(i), a.leading(),
        reinterpret_cast<std::int64_t*>(pivots.wide()) + std::int64_t{i} * pivots_of(a), kType, work.device.data(),
        work.device_bytes, work.host, work.host_bytes, info + i));
  return {};
}

template <class T>
Result<void> GpuSolver<T>::lu_solve(const GpuPacked<T>& lu, const GpuPivots& pivots, const GpuPacked<T>& b,
                                    int* spare) const {
  if (b.count() == 0) return {};
  if (!pivots.wide()) {
    const StreamScratch all = TROUPE_TRY(lu.addresses());
    const StreamScratch all_b = TROUPE_TRY(b.addresses());
    int refused = 0;  // of the host: which argument
    return getrs_batched<T>(cublas())(blas_.handle(), CUBLAS_OP_N, lu.rows(), b.columns(), all.data<CudaType<T>*>(),
                                      lu.leading(), pivots.narrow(), all_b.data<CudaType<T>*>(), b.leading(), &refused,
                                      lu.batch());
  }
  for (int i = 0; i < lu.batch(); ++i)
    TROUPE_TRY(functions_.cusolverDnXgetrs(solver_.handle(), solver_.params(), CUBLAS_OP_N, lu.rows(), b.columns(),
                                           kType, lu.at(i), lu.leading(),
                                           reinterpret_cast<std::int64_t*>(pivots.wide()) + std::int64_t{i} * lu.rows(),
                                           kType, b.at(i), b.leading(), spare));
  return {};
}

template <class T>
Result<void> GpuSolver<T>::cholesky(const GpuPacked<T>& a, int* info) const {
  constexpr cublasFillMode_t kTriangle = CUBLAS_FILL_MODE_LOWER;
  if (is_batched(a.batch(), a.rows())) {
    const StreamScratch all = TROUPE_TRY(a.addresses());
    return potrf_batched<T>(functions_)(solver_.handle(), kTriangle, a.rows(), all.data<CudaType<T>*>(), a.leading(),
                                        info, a.batch());
  }
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  TROUPE_TRY(functions_.cusolverDnXpotrf_bufferSize(solver_.handle(), solver_.params(), kTriangle, a.rows(), kType,
                                                    a.data(), a.leading(), kType, &device_bytes, &host_bytes));
  const Workspace work = TROUPE_TRY(workspace(device_bytes, host_bytes));
  for (int i = 0; i < a.batch(); ++i)
    TROUPE_TRY(functions_.cusolverDnXpotrf(solver_.handle(), solver_.params(), kTriangle, a.rows(), kType, a.at(i),
                                           a.leading(), kType, work.device.data(), work.device_bytes, work.host,
                                           work.host_bytes, info + i));
  return {};
}

template <class T>
Result<void> GpuSolver<T>::cholesky_solve(const GpuPacked<T>& l, const GpuPacked<T>& b, int* spare) const {
  if (b.count() == 0) return {};
  for (int i = 0; i < l.batch(); ++i)
    TROUPE_TRY(functions_.cusolverDnXpotrs(solver_.handle(), solver_.params(), CUBLAS_FILL_MODE_LOWER, l.rows(),
                                           b.columns(), kType, l.at(i), l.leading(), kType, b.at(i), b.leading(),
                                           spare));
  return {};
}

// ---- QR ----

template <class T>
Result<void> GpuSolver<T>::qr_for_all(const GpuPacked<T>& a, const GpuPacked<T>& tau) const {
  const StreamScratch all = TROUPE_TRY(a.addresses());
  const StreamScratch all_tau = TROUPE_TRY(tau.addresses());
  int refused = 0;  // of the host: which argument
  return geqrf_batched<T>(cublas())(blas_.handle(), a.rows(), a.columns(), all.data<CudaType<T>*>(), a.leading(),
                                    all_tau.data<CudaType<T>*>(), &refused, a.batch());
}

template <class T>
Result<void> GpuSolver<T>::qr(const GpuPacked<T>& a, const GpuPacked<T>& tau, int* spare) const {
  if (has_qr_for_all(a.batch(), a.rows(), a.columns())) return qr_for_all(a, tau);
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  TROUPE_TRY(functions_.cusolverDnXgeqrf_bufferSize(solver_.handle(), solver_.params(), a.rows(), a.columns(), kType,
                                                    a.data(), a.leading(), kType, tau.data(), kType, &device_bytes,
                                                    &host_bytes));
  const Workspace work = TROUPE_TRY(workspace(device_bytes, host_bytes));
  for (int i = 0; i < a.batch(); ++i)
    TROUPE_TRY(functions_.cusolverDnXgeqrf(solver_.handle(), solver_.params(), a.rows(), a.columns(), kType, a.at(i),
                                           a.leading(), kType, tau.at(i), kType, work.device.data(), work.device_bytes,
                                           work.host, work.host_bytes, spare));
  return {};
}

template <class T>
Result<void> GpuSolver<T>::form_q(const GpuPacked<T>& a, const GpuPacked<T>& tau, const GpuPacked<T>& q,
                                  int* spare) const {
  if (has_qr_for_all(a.batch(), a.rows(), a.columns())) {
    constexpr long long kThreadsForEach = 32;
    return launch_solver_kernel(on_, SolverKernel::form_q, dtype_of<T>, kThreadsForEach * q.batch_ll() * q.columns_ll(),
                                static_cast<const T*>(a.data()), static_cast<const T*>(tau.data()), a.rows_ll(),
                                a.columns_ll(), tau.rows_ll(), q.data(), q.columns_ll(), q.batch_ll());
  }
  TROUPE_TRY(copy_columns(a, q, tau.rows()));
  int lwork = 0;
  TROUPE_TRY(orgqr_size<T>(functions_)(solver_.handle(), q.rows(), q.columns(), tau.rows(), native(q.data()),
                                       q.leading(), native(tau.data()), &lwork));
  const StreamScratch work = TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(lwork) * sizeof(T)));
  for (int i = 0; i < q.batch(); ++i)
    TROUPE_TRY(orgqr<T>(functions_)(solver_.handle(), q.rows(), q.columns(), tau.rows(), native(q.at(i)), q.leading(),
                                    native(tau.at(i)), work.data<CudaType<T>>(), lwork, spare));
  return {};
}

template <class T>
Result<void> GpuSolver<T>::apply_q(bool adjoint, const GpuPacked<T>& reflectors, const GpuPacked<T>& tau,
                                   const GpuPacked<T>& c, int* spare) const {
  const cublasOperation_t operation = !adjoint ? CUBLAS_OP_N : detail::kIsComplex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
  int lwork = 0;
  TROUPE_TRY(ormqr_size<T>(functions_)(solver_.handle(), CUBLAS_SIDE_LEFT, operation, c.rows(), c.columns(), tau.rows(),
                                       native(reflectors.data()), reflectors.leading(), native(tau.data()),
                                       native(c.data()), c.leading(), &lwork));
  const StreamScratch work = TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(lwork) * sizeof(T)));
  for (int i = 0; i < c.batch(); ++i)
    TROUPE_TRY(ormqr<T>(functions_)(solver_.handle(), CUBLAS_SIDE_LEFT, operation, c.rows(), c.columns(), tau.rows(),
                                    native(reflectors.at(i)), reflectors.leading(), native(tau.at(i)), native(c.at(i)),
                                    c.leading(), work.data<CudaType<T>>(), lwork, spare));
  return {};
}

template <class T>
Result<void> GpuSolver<T>::solve_upper(bool adjoint, const GpuPacked<T>& a, const GpuPacked<T>& b) const {
  const T one(1);
  for (int i = 0; i < a.batch(); ++i)
    TROUPE_TRY(trsm<T>(cublas())(blas_.handle(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER,
                                 adjoint ? CUBLAS_OP_C : CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, a.columns(), b.columns(),
                                 reinterpret_cast<const CudaType<T>*>(&one), native(a.at(i)), a.leading(),
                                 native(b.at(i)), b.leading()));
  return {};
}

// ---- singular values and eigenvalues ----

template <class T>
Result<void> GpuSolver<T>::svd(const GpuPacked<T>& a, const GpuPacked<R>& s, const GpuPacked<T>& u,
                               const GpuPacked<T>& vt, bool wants_vectors, int* info) const {
  const signed char job = !wants_vectors ? 'N' : u.columns() > a.columns() ? 'A' : 'S';
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  TROUPE_TRY(functions_.cusolverDnXgesvd_bufferSize(
      solver_.handle(), solver_.params(), job, job, a.rows(), a.columns(), kType, a.data(), a.leading(), kRealType,
      s.data(), kType, u.data(), u.leading(), kType, vt.data(), vt.leading(), kType, &device_bytes, &host_bytes));
  const Workspace work = TROUPE_TRY(workspace(device_bytes, host_bytes));
  for (int i = 0; i < a.batch(); ++i)
    TROUPE_TRY(functions_.cusolverDnXgesvd(solver_.handle(), solver_.params(), job, job, a.rows(), a.columns(), kType,
                                           a.at(i), a.leading(), kRealType, s.at(i), kType, u.at(i), u.leading(), kType,
                                           vt.at(i), vt.leading(), kType, work.device.data(), work.device_bytes,
                                           work.host, work.host_bytes, info + i));
  return {};
}

/// As exactly as the type allows.
template <class T>
Result<void> GpuSolver<T>::set_tolerance() const {
  return functions_.cusolverDnXgesvdjSetTolerance(solver_.jacobi(), std::numeric_limits<R>::epsilon());
}

template <class T>
Result<void> GpuSolver<T>::jacobi(const GpuPacked<T>& a, const GpuPacked<R>& s, const GpuPacked<T>& u,
                                  const GpuPacked<T>& v, bool wants_vectors, int* info) const {
  TROUPE_TRY(set_tolerance());
  const int thin = u.columns() < a.rows() ? 1 : 0;
  const cusolverEigMode_t mode = mode_of(wants_vectors);
  int lwork = 0;
  TROUPE_TRY(gesvdj_size<T>(functions_)(solver_.handle(), mode, thin, a.rows(), a.columns(), native(a.data()),
                                        a.leading(), s.data(), native(u.data()), u.leading(), native(v.data()),
                                        v.leading(), &lwork, solver_.jacobi()));
  const StreamScratch work = TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(lwork) * sizeof(T)));
  for (int i = 0; i < a.batch(); ++i)
    TROUPE_TRY(gesvdj<T>(functions_)(solver_.handle(), mode, thin, a.rows(), a.columns(), native(a.at(i)), a.leading(),
                                     s.at(i), native(u.at(i)), u.leading(), native(v.at(i)), v.leading(),
                                     work.data<CudaType<T>>(), lwork, info + i, solver_.jacobi()));
  return {};
}

template <class T>
Result<void> GpuSolver<T>::jacobi_for_all(const GpuPacked<T>& a, const GpuPacked<R>& s, const GpuPacked<T>& u,
                                          const GpuPacked<T>& v, bool wants_vectors, int* info) const {
  TROUPE_TRY(set_tolerance());
  const cusolverEigMode_t mode = mode_of(wants_vectors);
  int lwork = 0;
  TROUPE_TRY(gesvdj_batched_size<T>(functions_)(solver_.handle(), mode, a.rows(), a.columns(), native(a.data()),
                                                a.leading(), s.data(), native(u.data()), u.leading(), native(v.data()),
                                                v.leading(), &lwork, solver_.jacobi(), a.batch()));
  const StreamScratch work = TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(lwork) * sizeof(T)));
  return gesvdj_batched<T>(functions_)(solver_.handle(), mode, a.rows(), a.columns(), native(a.data()), a.leading(),
                                       s.data(), native(u.data()), u.leading(), native(v.data()), v.leading(),
                                       work.data<CudaType<T>>(), lwork, info, solver_.jacobi(), a.batch());
}

template <class T>
Result<void> GpuSolver<T>::eigh(const GpuPacked<T>& a, const GpuPacked<R>& w, bool wants_vectors, int* info) const {
  const cusolverEigMode_t mode = mode_of(wants_vectors);
  if (a.batch() > 1 && functions_.cusolverDnXsyevBatched) return eigh_for_all(a, w, mode, info);
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  TROUPE_TRY(functions_.cusolverDnXsyevd_bufferSize(solver_.handle(), solver_.params(), mode, CUBLAS_FILL_MODE_LOWER,
                                                    a.rows(), kType, a.data(), a.leading(), kRealType, w.data(), kType,
                                                    &device_bytes, &host_bytes));
  const Workspace work = TROUPE_TRY(workspace(device_bytes, host_bytes));
  for (int i = 0; i < a.batch(); ++i)
    TROUPE_TRY(functions_.cusolverDnXsyevd(solver_.handle(), solver_.params(), mode, CUBLAS_FILL_MODE_LOWER, a.rows(),
                                           kType, a.at(i), a.leading(), kRealType, w.at(i), kType, work.device.data(),
                                           work.device_bytes, work.host, work.host_bytes, info + i));
  return {};
}

/// By the upper triangles: by the lower ones, the function has been seen to fail for c64.
template <class T>
Result<void> GpuSolver<T>::eigh_for_all(const GpuPacked<T>& a, const GpuPacked<R>& w, cusolverEigMode_t mode,
                                        int* info) const {
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  TROUPE_TRY(functions_.cusolverDnXsyevBatched_bufferSize(
      solver_.handle(), solver_.params(), mode, CUBLAS_FILL_MODE_UPPER, a.rows(), kType, a.data(), a.leading(),
      kRealType, w.data(), kType, &device_bytes, &host_bytes, a.batch()));
  const Workspace work = TROUPE_TRY(workspace(device_bytes, host_bytes));
  return functions_.cusolverDnXsyevBatched(solver_.handle(), solver_.params(), mode, CUBLAS_FILL_MODE_UPPER, a.rows(),
                                           kType, a.data(), a.leading(), kRealType, w.data(), kType, work.device.data(),
                                           work.device_bytes, work.host, work.host_bytes, info, a.batch());
}

template <class T>
Result<void> GpuSolver<T>::generalized_eigh(const GpuPacked<T>& a, const GpuPacked<T>& b, const GpuPacked<R>& w,
                                            bool wants_vectors, int* info) const {
  const cusolverEigMode_t mode = mode_of(wants_vectors);
  int lwork = 0;
  TROUPE_TRY(sygvd_size<T>(functions_)(solver_.handle(), CUSOLVER_EIG_TYPE_1, mode, CUBLAS_FILL_MODE_LOWER, a.rows(),
                                       native(a.data()), a.leading(), native(b.data()), b.leading(), w.data(), &lwork));
  const StreamScratch work = TROUPE_TRY(on_.scratch(static_cast<std::uint64_t>(lwork) * sizeof(T)));
  for (int i = 0; i < a.batch(); ++i)
    TROUPE_TRY(sygvd<T>(functions_)(solver_.handle(), CUSOLVER_EIG_TYPE_1, mode, CUBLAS_FILL_MODE_LOWER, a.rows(),
                                    native(a.at(i)), a.leading(), native(b.at(i)), b.leading(), w.at(i),
                                    work.data<CudaType<T>>(), lwork, info + i));
  return {};
}

template class GpuSolver<float>;
template class GpuSolver<double>;
template class GpuSolver<std::complex<float>>;
template class GpuSolver<std::complex<double>>;

}  // namespace troupe::cuda

#endif
