// libcublas.so.13, the fake.
#include "tests/fake_cuda/stand_in.hpp"

namespace {
constexpr fake_cuda::Statuses kStatuses{.no_memory = 3, .invalid = 7, .failed = 13, .internal = 14};
}

STAND_IN_PROPERTY(cublasGetProperty, 13)
STAND_IN_CREATE(cublasCreate_v2)
STAND_IN_DESTROY(cublasDestroy_v2)
#if !FAKE_CUDA_OLD
STAND_IN(cublasSetStream_v2)
STAND_IN(cublasSetPointerMode_v2)
STAND_IN(cublasSetMathMode)
STAND_IN(cublasGemmEx_64)
STAND_IN(cublasGemmStridedBatchedEx_64)
STAND_IN(cublasGemmBatchedEx_64)
STAND_IN(cublasDotEx_64)
STAND_IN(cublasDotcEx_64)
STAND_IN(cublasNrm2Ex_64)
STAND_IN(cublasSasum_v2_64)
STAND_IN(cublasDasum_v2_64)
STAND_IN(cublasScasum_v2_64)
STAND_IN(cublasDzasum_v2_64)
STAND_IN(cublasIamaxEx_64)
STAND_IN(cublasIaminEx_64)
STAND_IN(cublasScalEx_64)
STAND_IN_TYPED(cublas, gemm_v2_64)
STAND_IN_TYPED(cublas, symm_v2_64)
STAND_IN_TYPED(cublas, syrk_v2_64)
STAND_IN_TYPED(cublas, syr2k_v2_64)
STAND_IN_TYPED(cublas, trmm_v2_64)
STAND_IN_TYPED(cublas, trsm_v2_64)
STAND_IN_TYPED(cublas, geam_64)
STAND_IN_TYPED(cublas, gemmStridedBatched_64)
STAND_IN(cublasChemm_v2_64)
STAND_IN(cublasZhemm_v2_64)
STAND_IN(cublasCherk_v2_64)
STAND_IN(cublasZherk_v2_64)
STAND_IN(cublasCher2k_v2_64)
STAND_IN(cublasZher2k_v2_64)
STAND_IN_TYPED(cublas, getrfBatched)
STAND_IN_TYPED(cublas, getrsBatched)
STAND_IN_TYPED(cublas, geqrfBatched)
#endif
