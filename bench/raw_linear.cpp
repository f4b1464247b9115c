#if TROUPE_CUDA_BACKEND

#include "bench/raw_linear.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/numbers.hpp"
#include "bench/raw_cuda_parts.hpp"
#include "troupe/backend/cuda/blas/cublas_library.hpp"
#include "troupe/backend/cuda/matmul/cublas_lt_library.hpp"
#include "troupe/backend/cuda/solver/cusolver_library.hpp"
#include "troupe/backend/cuda/sparse/cusparse_library.hpp"

namespace troupe::bench {
namespace {

template <class Function>
Function* find(const cuda::Library& library, const char* name) {
  Function* const found = library.find_function<Function>(name);
  if (!found) throw std::runtime_error(library.path() + " lacks " + name);
  return found;
}
/// A function of an open library, by the name it has there.
#define TROUPE_RAW_FIND(library, function) find<decltype(::function)>(library, #function)

template <class Status>
void check_status(Status status, const char* call) {
  if (static_cast<int>(status) != 0)  // success, in all of the libraries
    throw std::runtime_error(std::string(call) + " answered " + std::to_string(static_cast<int>(status)));
}

template <class T>
T* pointer(const RawMemory& memory) {
  return reinterpret_cast<T*>(memory.get());
}

/// Numbers at random in the GPU's memory. Of many, a million are rounded and then repeated.
template <class T>
RawMemory numbers_of(const RawGpu& gpu, std::size_t count, std::uint32_t seed) {
  constexpr std::size_t kRounded = 1'000'003;  // a prime: rows of matrices begin at ever other places of it
  RawMemory memory(gpu.context(), count * sizeof(T));
  std::vector<T> numbers;
  numbers.reserve(count);
  for (const float number : random_numbers(std::min(count, kRounded), seed)) numbers.push_back(convert<T>(number));
  while (numbers.size() < count) numbers.push_back(numbers[numbers.size() - kRounded]);
  gpu.write(memory.get(), numbers.data(), count * sizeof(T));
  return memory;
}
template <class T>
RawMemory copy_of(const RawGpu& gpu, const std::vector<T>& numbers) {
  RawMemory memory(gpu.context(), numbers.size() * sizeof(T));
  gpu.write(memory.get(), numbers.data(), numbers.size() * sizeof(T));
  return memory;
}

std::size_t squared(int n) { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }

constexpr float kOne = 1;
constexpr float kZero = 0;

}  // namespace

/// Opened once, each with one handle on the stream.
struct RawLinear::Libraries {
  explicit Libraries(CUstream stream) {
    check_status(TROUPE_RAW_FIND(blas, cublasCreate_v2)(&blas_handle), "cublasCreate");
    check_status(TROUPE_RAW_FIND(blas, cublasSetStream_v2)(blas_handle, stream), "cublasSetStream");
    check_status(TROUPE_RAW_FIND(lt, cublasLtCreate)(&lt_handle), "cublasLtCreate");
    check_status(TROUPE_RAW_FIND(solver, cusolverDnCreate)(&solver_handle), "cusolverDnCreate");
    check_status(TROUPE_RAW_FIND(solver, cusolverDnSetStream)(solver_handle, stream), "cusolverDnSetStream");
    check_status(TROUPE_RAW_FIND(solver, cusolverDnCreateParams)(&params), "cusolverDnCreateParams");
    check_status(TROUPE_RAW_FIND(sparse, cusparseCreate)(&sparse_handle), "cusparseCreate");
    check_status(TROUPE_RAW_FIND(sparse, cusparseSetStream)(sparse_handle, stream), "cusparseSetStream");
  }
  // Handles end with the process.

  cuda::Library blas = value(cuda::open(cuda::kCublas)).library;
  cuda::Library lt = value(cuda::open(cuda::kCublasLt)).library;
  cuda::Library solver = value(cuda::open(cuda::kCusolver)).library;
  cuda::Library sparse = value(cuda::open(cuda::kCusparse)).library;
  cublasHandle_t blas_handle = nullptr;
  cublasLtHandle_t lt_handle = nullptr;
  cusolverDnHandle_t solver_handle = nullptr;
  cusolverDnParams_t params = nullptr;
  cusparseHandle_t sparse_handle = nullptr;
};

RawLinear::RawLinear(std::shared_ptr<RawGpu> gpu)
    : gpu_(std::move(gpu)), libraries_(std::make_unique<Libraries>(gpu_->stream())) {}
RawLinear::~RawLinear() = default;

// ---- products ----

double RawLinear::gemm_ns(DType dtype, int n, int count) {
  const auto multiply = TROUPE_RAW_FIND(libraries_->blas, cublasGemmEx_64);
  const auto measure = [&]<class T>(std::type_identity<T>, cudaDataType_t type) {
    const RawMemory a = numbers_of<T>(*gpu_, squared(n), 1);
    const RawMemory b = numbers_of<T>(*gpu_, squared(n), 2);
    const RawMemory c(gpu_->context(), squared(n) * sizeof(T));
    return settled_median_ns(count, [&] {
      gpu_->complete([&] {
        check_status(multiply(libraries_->blas_handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &kOne, pointer<void>(b), type,
                              n, pointer<void>(a), type, n, &kZero, pointer<void>(c), type, n, CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT),
                     "cublasGemmEx_64");
      });
    });
  };
  if (dtype == DType::f16) return measure(std::type_identity<f16>{}, CUDA_R_16F);
  if (dtype == DType::bf16) return measure(std::type_identity<bf16>{}, CUDA_R_16BF);
  throw std::invalid_argument("no gemm of that type is measured");
}

double RawLinear::batched_gemm_ns(int batch, int n, int count) {
  const auto multiply = TROUPE_RAW_FIND(libraries_->blas, cublasSgemmStridedBatched);
  const std::size_t elements = static_cast<std::size_t>(batch) * squared(n);
  const auto stride = static_cast<long long>(squared(n));
  const RawMemory a = numbers_of<float>(*gpu_, elements, 1);
  const RawMemory b = numbers_of<float>(*gpu_, elements, 2);
  const RawMemory c(gpu_->context(), elements * sizeof(float));
  return settled_median_ns(count, [&] {
    gpu_->complete([&] {
      check_status(multiply(libraries_->blas_handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &kOne, pointer<float>(b), n,
                            stride, pointer<float>(a), n, stride, &kZero, pointer<float>(c), n, stride, batch),
                   "cublasSgemmStridedBatched");
    });
  });
}

double RawLinear::layer_ns(DType dtype, int n, int count) {
  const cuda::Library& lt = libraries_->lt;
  constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;
  const auto measure = [&]<class T>(std::type_identity<T>, cudaDataType_t type) {
    const RawMemory x = numbers_of<T>(*gpu_, squared(n), 1);
    const RawMemory w = numbers_of<T>(*gpu_, squared(n), 2);
    const RawMemory bias = numbers_of<bf16>(*gpu_, static_cast<std::size_t>(n), 3);
    const RawMemory y(gpu_->context(), squared(n) * sizeof(bf16));
    const RawMemory workspace(gpu_->context(), kWorkspaceBytes);

    cublasLtMatmulDesc_t task = nullptr;
    check_status(TROUPE_RAW_FIND(lt, cublasLtMatmulDescCreate)(&task, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                 "cublasLtMatmulDescCreate");
    const auto set = [&](cublasLtMatmulDescAttributes_t name, const auto& to) {
      check_status(TROUPE_RAW_FIND(lt, cublasLtMatmulDescSetAttribute)(task, name, &to, sizeof(to)),
                   "cublasLtMatmulDescSetAttribute");
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, pointer<void>(bias));
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_16BF);
    const auto layout = [&](cudaDataType_t of) {
      cublasLtMatrixLayout_t made = nullptr;
      const auto extent = static_cast<std::uint64_t>(n);
      check_status(TROUPE_RAW_FIND(lt, cublasLtMatrixLayoutCreate)(&made, of, extent, extent, n),
                   "cublasLtMatrixLayoutCreate");
      return made;
    };
    const cublasLtMatrixLayout_t in = layout(type);
    const cublasLtMatrixLayout_t out = layout(CUDA_R_16BF);
    cublasLtMatmulPreference_t preference = nullptr;
    check_status(TROUPE_RAW_FIND(lt, cublasLtMatmulPreferenceCreate)(&preference), "cublasLtMatmulPreferenceCreate");
    check_status(TROUPE_RAW_FIND(lt, cublasLtMatmulPreferenceSetAttribute)(
                     preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspaceBytes, sizeof(kWorkspaceBytes)),
                 "cublasLtMatmulPreferenceSetAttribute");
    cublasLtMatmulHeuristicResult_t choice{};
    int found = 0;
    check_status(TROUPE_RAW_FIND(lt, cublasLtMatmulAlgoGetHeuristic)(libraries_->lt_handle, task, in, in, out, out,
                                                                     preference, 1, &choice, &found),
                 "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) throw std::runtime_error("cuBLASLt has no algorithm for this layer");

    const auto multiply = TROUPE_RAW_FIND(lt, cublasLtMatmul);
    const double ns = settled_median_ns(count, [&] {
      gpu_->complete([&] {
        check_status(multiply(libraries_->lt_handle, task, &kOne, pointer<void>(w), in, pointer<void>(x), in, &kZero,
                              pointer<void>(y), out, pointer<void>(y), out, &choice.algo, pointer<void>(workspace),
                              kWorkspaceBytes, gpu_->stream()),
                     "cublasLtMatmul");
      });
    });
    check_status(TROUPE_RAW_FIND(lt, cublasLtMatmulPreferenceDestroy)(preference), "cublasLtMatmulPreferenceDestroy");
    check_status(TROUPE_RAW_FIND(lt, cublasLtMatrixLayoutDestroy)(in), "cublasLtMatrixLayoutDestroy");
    check_status(TROUPE_RAW_FIND(lt, cublasLtMatrixLayoutDestroy)(out), "cublasLtMatrixLayoutDestroy");
    check_status(TROUPE_RAW_FIND(lt, cublasLtMatmulDescDestroy)(task), "cublasLtMatmulDescDestroy");
    return ns;
  };
  if (dtype == DType::bf16) return measure(std::type_identity<bf16>{}, CUDA_R_16BF);
  if (dtype == DType::f8e4m3) return measure(std::type_identity<f8e4m3>{}, CUDA_R_8F_E4M3);
  throw std::invalid_argument("no layer of that type is measured");
}

// ---- solvers ----

namespace {

/// A matrix, and one that each op works on in place, which gets a copy of it first.
struct InPlace {
  InPlace(const RawGpu& gpu, const std::vector<float>& numbers)
      : bytes(numbers.size() * sizeof(float)), whole(copy_of(gpu, numbers)), work(gpu.context(), bytes) {}

  void refresh(const RawGpu& gpu) const {
    TROUPE_RAW(gpu.driver(), cuMemcpyAsync, work.get(), whole.get(), bytes, gpu.stream());
  }
  float* data() const { return pointer<float>(work); }

  std::size_t bytes;
  RawMemory whole;
  RawMemory work;
};

/// Where a library wants both.
struct Buffers {
  Buffers(const RawGpu& gpu, std::size_t device_bytes, std::size_t host_bytes)
      : device_size(device_bytes), device(gpu.context(), device_bytes + 1), host(host_bytes) {}

  std::size_t device_size;
  RawMemory device;
  std::vector<std::byte> host;
};

}  // namespace

double RawLinear::lu_ns(int n, int count) {
  const Libraries& open = *libraries_;
  const InPlace a(*gpu_, random_numbers(squared(n), 1));
  const RawMemory pivots(gpu_->context(), static_cast<std::size_t>(n) * sizeof(std::int64_t));
  const RawMemory info(gpu_->context(), sizeof(int));
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  check_status(
      TROUPE_RAW_FIND(open.solver, cusolverDnXgetrf_bufferSize)(open.solver_handle, open.params, n, n, CUDA_R_32F,
                                                                a.data(), n, CUDA_R_32F, &device_bytes, &host_bytes),
      "cusolverDnXgetrf_bufferSize");
  Buffers buffers(*gpu_, device_bytes, host_bytes);
  const auto factor = TROUPE_RAW_FIND(open.solver, cusolverDnXgetrf);
  return settled_median_ns(count, [&] {
    gpu_->complete([&] {
      a.refresh(*gpu_);
      check_status(factor(open.solver_handle, open.params, n, n, CUDA_R_32F, a.data(), n, pointer<std::int64_t>(pivots),
                          CUDA_R_32F, pointer<void>(buffers.device), buffers.device_size, buffers.host.data(),
                          buffers.host.size(), pointer<int>(info)),
                   "cusolverDnXgetrf");
    });
  });
}

double RawLinear::cholesky_ns(int n, int count) {
  constexpr cublasFillMode_t kTriangle = CUBLAS_FILL_MODE_LOWER;  // the upper one takes 2.7 times as long
  const Libraries& open = *libraries_;
  const InPlace a(*gpu_, positive_matrix(n));
  const RawMemory info(gpu_->context(), sizeof(int));
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  check_status(TROUPE_RAW_FIND(open.solver, cusolverDnXpotrf_bufferSize)(open.solver_handle, open.params, kTriangle, n,
                                                                         CUDA_R_32F, a.data(), n, CUDA_R_32F,
                                                                         &device_bytes, &host_bytes),
               "cusolverDnXpotrf_bufferSize");
  Buffers buffers(*gpu_, device_bytes, host_bytes);
  const auto factor = TROUPE_RAW_FIND(open.solver, cusolverDnXpotrf);
  return settled_median_ns(count, [&] {
    gpu_->complete([&] {
      a.refresh(*gpu_);
      check_status(factor(open.solver_handle, open.params, kTriangle, n, CUDA_R_32F, a.data(), n, CUDA_R_32F,
                          pointer<void>(buffers.device), buffers.device_size, buffers.host.data(), buffers.host.size(),
                          pointer<int>(info)),
                   "cusolverDnXpotrf");
    });
  });
}

double RawLinear::svd_ns(int n, int count) {
  const Libraries& open = *libraries_;
  const InPlace a(*gpu_, random_numbers(squared(n), 1));
  const RawMemory u(gpu_->context(), a.bytes);
  const RawMemory vt(gpu_->context(), a.bytes);
  const RawMemory s(gpu_->context(), static_cast<std::size_t>(n) * sizeof(float));
  const RawMemory info(gpu_->context(), sizeof(int));
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  check_status(
      TROUPE_RAW_FIND(open.solver, cusolverDnXgesvd_bufferSize)(
          open.solver_handle, open.params, 'S', 'S', n, n, CUDA_R_32F, a.data(), n, CUDA_R_32F, pointer<void>(s),
          CUDA_R_32F, pointer<void>(u), n, CUDA_R_32F, pointer<void>(vt), n, CUDA_R_32F, &device_bytes, &host_bytes),
      "cusolverDnXgesvd_bufferSize");
  Buffers buffers(*gpu_, device_bytes, host_bytes);
  const auto decompose = TROUPE_RAW_FIND(open.solver, cusolverDnXgesvd);
  return settled_median_ns(count, [&] {
    gpu_->complete([&] {
      a.refresh(*gpu_);
      check_status(decompose(open.solver_handle, open.params, 'S', 'S', n, n, CUDA_R_32F, a.data(), n, CUDA_R_32F,
                             pointer<void>(s), CUDA_R_32F, pointer<void>(u), n, CUDA_R_32F, pointer<void>(vt), n,
                             CUDA_R_32F, pointer<void>(buffers.device), buffers.device_size, buffers.host.data(),
                             buffers.host.size(), pointer<int>(info)),
                   "cusolverDnXgesvd");
    });
  });
}

double RawLinear::batched_qr_ns(int batch, int n, int count) {
  const Libraries& open = *libraries_;
  const std::size_t elements = static_cast<std::size_t>(batch) * squared(n);
  const InPlace a(*gpu_, random_numbers(elements, 1));
  const RawMemory tau(gpu_->context(), elements / static_cast<std::size_t>(n) * sizeof(float));
  const RawMemory info(gpu_->context(), sizeof(int));
  const auto addresses_in = [&](float* first, std::size_t stride) {
    std::vector<float*> addresses;
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i) addresses.push_back(first + i * stride);
    return addresses;
  };
  const std::vector<float*> each_a = addresses_in(a.data(), squared(n));
  const std::vector<float*> each_tau = addresses_in(pointer<float>(tau), static_cast<std::size_t>(n));
  const RawMemory all_a = copy_of(*gpu_, each_a);
  const RawMemory all_tau = copy_of(*gpu_, each_tau);
  int work_elements = 0;
  check_status(TROUPE_RAW_FIND(open.solver, cusolverDnSorgqr_bufferSize)(open.solver_handle, n, n, n, a.data(), n,
                                                                         pointer<float>(tau), &work_elements),
               "cusolverDnSorgqr_bufferSize");
  const RawMemory work(gpu_->context(), static_cast<std::size_t>(work_elements) * sizeof(float));
  const auto factor = TROUPE_RAW_FIND(open.blas, cublasSgeqrfBatched);
  const auto form_q = TROUPE_RAW_FIND(open.solver, cusolverDnSorgqr);
  return settled_median_ns(count, [&] {
    gpu_->complete([&] {
      a.refresh(*gpu_);
      int refused = 0;
      check_status(factor(open.blas_handle, n, n, pointer<float*>(all_a), n, pointer<float*>(all_tau), &refused, batch),
                   "cublasSgeqrfBatched");
      for (std::size_t i = 0; i < each_a.size(); ++i)
        check_status(form_q(open.solver_handle, n, n, n, each_a[i], n, each_tau[i], pointer<float>(work), work_elements,
                            pointer<int>(info)),
                     "cusolverDnSorgqr");
    });
  });
}

// ---- sparse ----

namespace {

/// A sample on the GPU, and cuSPARSE's descriptor of it.
struct RawCsr {
  RawCsr(const RawGpu& gpu, const cuda::Library& cusparse, const SparseSample& sample)
      : library(cusparse),
        offsets(copy_of(gpu, sample.offsets)),
        indices(copy_of(gpu, sample.columns)),
        values(copy_of(gpu, sample.values)) {
    check_status(TROUPE_RAW_FIND(library, cusparseCreateCsr)(
                     &matrix, sample.rows, sample.rows, static_cast<std::int64_t>(sample.values.size()),
                     pointer<void>(offsets), pointer<void>(indices), pointer<void>(values), CUSPARSE_INDEX_32I,
                     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
                 "cusparseCreateCsr");
  }
  RawCsr(const RawCsr&) = delete;
  RawCsr& operator=(const RawCsr&) = delete;
  ~RawCsr() { (void)TROUPE_RAW_FIND(library, cusparseDestroySpMat)(matrix); }

  const cuda::Library& library;
  RawMemory offsets;
  RawMemory indices;
  RawMemory values;
  cusparseSpMatDescr_t matrix = nullptr;
};

}  // namespace

double RawLinear::sparse_multiply_ns(int columns, int count, int rows) {
  const cuda::Library& library = libraries_->sparse;
  const cusparseHandle_t handle = libraries_->sparse_handle;
  const RawCsr csr(*gpu_, library, SparseSample::make(rows, kSparsePerRow));
  const std::size_t elements = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  const RawMemory x = numbers_of<float>(*gpu_, elements, 1);
  const RawMemory y(gpu_->context(), elements * sizeof(float));

  const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  std::size_t bytes = 0;
  double ns = 0;
  if (columns == 1) {
    cusparseDnVecDescr_t in = nullptr;
    cusparseDnVecDescr_t out = nullptr;
    const auto describe = TROUPE_RAW_FIND(library, cusparseCreateDnVec);
    check_status(describe(&in, rows, pointer<void>(x), CUDA_R_32F), "cusparseCreateDnVec");
    check_status(describe(&out, rows, pointer<void>(y), CUDA_R_32F), "cusparseCreateDnVec");
    check_status(TROUPE_RAW_FIND(library, cusparseSpMV_bufferSize)(handle, plain, &kOne, csr.matrix, in, &kZero, out,
                                                                   CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
                 "cusparseSpMV_bufferSize");
    const RawMemory buffer(gpu_->context(), bytes + 1);
    check_status(
        TROUPE_RAW_FIND(library, cusparseSpMV_preprocess)(handle, plain, &kOne, csr.matrix, in, &kZero, out, CUDA_R_32F,
                                                          CUSPARSE_SPMV_ALG_DEFAULT, pointer<void>(buffer)),
        "cusparseSpMV_preprocess");
    const auto multiply = TROUPE_RAW_FIND(library, cusparseSpMV);
    ns = settled_median_ns(count, [&] {
      gpu_->complete([&] {
        check_status(multiply(handle, plain, &kOne, csr.matrix, in, &kZero, out, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                              pointer<void>(buffer)),
                     "cusparseSpMV");
      });
    });
    check_status(TROUPE_RAW_FIND(library, cusparseDestroyDnVec)(in), "cusparseDestroyDnVec");
    check_status(TROUPE_RAW_FIND(library, cusparseDestroyDnVec)(out), "cusparseDestroyDnVec");
  } else {
    cusparseDnMatDescr_t in = nullptr;
    cusparseDnMatDescr_t out = nullptr;
    const auto describe = TROUPE_RAW_FIND(library, cusparseCreateDnMat);
    check_status(describe(&in, rows, columns, columns, pointer<void>(x), CUDA_R_32F, CUSPARSE_ORDER_ROW),
                 "cusparseCreateDnMat");
    check_status(describe(&out, rows, columns, columns, pointer<void>(y), CUDA_R_32F, CUSPARSE_ORDER_ROW),
                 "cusparseCreateDnMat");
    check_status(TROUPE_RAW_FIND(library, cusparseSpMM_bufferSize)(handle, plain, plain, &kOne, csr.matrix, in, &kZero,
                                                                   out, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes),
                 "cusparseSpMM_bufferSize");
    const RawMemory buffer(gpu_->context(), bytes + 1);
    const auto multiply = TROUPE_RAW_FIND(library, cusparseSpMM);
    ns = settled_median_ns(count, [&] {
      gpu_->complete([&] {
        check_status(multiply(handle, plain, plain, &kOne, csr.matrix, in, &kZero, out, CUDA_R_32F,
                              CUSPARSE_SPMM_ALG_DEFAULT, pointer<void>(buffer)),
                     "cusparseSpMM");
      });
    });
    check_status(TROUPE_RAW_FIND(library, cusparseDestroyDnMat)(in), "cusparseDestroyDnMat");
    check_status(TROUPE_RAW_FIND(library, cusparseDestroyDnMat)(out), "cusparseDestroyDnMat");
  }
  return ns;
}

double RawLinear::sparse_solve_ns(int rows, int count) {
  const cuda::Library& library = libraries_->sparse;
  const cusparseHandle_t handle = libraries_->sparse_handle;
  const RawCsr csr(*gpu_, library, SparseSample::make_lower(rows, kSparsePerRow));
  const RawMemory b = numbers_of<float>(*gpu_, static_cast<std::size_t>(rows), 1);
  const RawMemory x(gpu_->context(), static_cast<std::size_t>(rows) * sizeof(float));

  cusparseFillMode_t lower = CUSPARSE_FILL_MODE_LOWER;
  check_status(
      TROUPE_RAW_FIND(library, cusparseSpMatSetAttribute)(csr.matrix, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof lower),
      "cusparseSpMatSetAttribute");
  cusparseDnVecDescr_t in = nullptr;
  cusparseDnVecDescr_t out = nullptr;
  const auto describe = TROUPE_RAW_FIND(library, cusparseCreateDnVec);
  check_status(describe(&in, rows, pointer<void>(b), CUDA_R_32F), "cusparseCreateDnVec");
  check_status(describe(&out, rows, pointer<void>(x), CUDA_R_32F), "cusparseCreateDnVec");
  cusparseSpSVDescr_t plan = nullptr;
  check_status(TROUPE_RAW_FIND(library, cusparseSpSV_createDescr)(&plan), "cusparseSpSV_createDescr");
  const auto call = [&](auto function, auto... last) {
    return function(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, csr.matrix, in, out, CUDA_R_32F,
                    CUSPARSE_SPSV_ALG_DEFAULT, plan, last...);
  };
  std::size_t bytes = 0;
  check_status(call(TROUPE_RAW_FIND(library, cusparseSpSV_bufferSize), &bytes), "cusparseSpSV_bufferSize");
  const RawMemory buffer(gpu_->context(), bytes + 1);
  check_status(call(TROUPE_RAW_FIND(library, cusparseSpSV_analysis), pointer<void>(buffer)), "cusparseSpSV_analysis");
  const auto update = TROUPE_RAW_FIND(library, cusparseSpSV_updateMatrix);
  const auto solve = TROUPE_RAW_FIND(library, cusparseSpSV_solve);
  const double ns = settled_median_ns(count, [&] {
    gpu_->complete([&] {
      check_status(update(handle, plan, pointer<void>(csr.values), CUSPARSE_SPSV_UPDATE_GENERAL),
                   "cusparseSpSV_updateMatrix");
      check_status(call(solve), "cusparseSpSV_solve");
    });
  });
  check_status(TROUPE_RAW_FIND(library, cusparseSpSV_destroyDescr)(plan), "cusparseSpSV_destroyDescr");
  check_status(TROUPE_RAW_FIND(library, cusparseDestroyDnVec)(in), "cusparseDestroyDnVec");
  check_status(TROUPE_RAW_FIND(library, cusparseDestroyDnVec)(out), "cusparseDestroyDnVec");
  return ns;
}

}  // namespace troupe::bench

#endif
