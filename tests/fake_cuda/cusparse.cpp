// libcusparse.so.12, the fake. Every product of two matrices has as many elements as `kProductElements`.
#include "tests/fake_cuda/stand_in.hpp"

namespace {
constexpr fake_cuda::Statuses kStatuses{.no_memory = 2, .invalid = 3, .failed = 6, .internal = 7};
constexpr std::int64_t kProductElements = 3;
}  // namespace

STAND_IN_PROPERTY(cusparseGetProperty, 12)
STAND_IN_CREATE(cusparseCreate)
STAND_IN_DESTROY(cusparseDestroy)
STAND_IN(cusparseSetStream)
STAND_IN_CREATE(cusparseCreateCsr)
STAND_IN(cusparseCsrSetPointers)
STAND_IN(cusparseSpMatSetValues)
STAND_IN(cusparseSpMatSetAttribute)
STAND_IN_DESTROY(cusparseDestroySpMat)
STAND_IN_CREATE(cusparseCreateDnVec)
STAND_IN(cusparseDnVecSetValues)
STAND_IN_DESTROY(cusparseDestroyDnVec)
STAND_IN_CREATE(cusparseCreateDnMat)
STAND_IN(cusparseDnMatSetValues)
STAND_IN_DESTROY(cusparseDestroyDnMat)
STAND_IN(cusparseSpMV_bufferSize)
STAND_IN(cusparseSpMV)
STAND_IN(cusparseSpMM_bufferSize)
STAND_IN(cusparseSpMM)
STAND_IN_CREATE(cusparseSpSV_createDescr)
STAND_IN_DESTROY(cusparseSpSV_destroyDescr)
STAND_IN(cusparseSpSV_bufferSize)
STAND_IN(cusparseSpSV_analysis)
STAND_IN(cusparseSpSV_solve)
STAND_IN_CREATE(cusparseSpSM_createDescr)
STAND_IN_DESTROY(cusparseSpSM_destroyDescr)
STAND_IN(cusparseSpSM_bufferSize)
STAND_IN(cusparseSpSM_analysis)
STAND_IN(cusparseSpSM_solve)
STAND_IN(cusparseSDDMM_bufferSize)
STAND_IN(cusparseSDDMM)
STAND_IN(cusparseCsr2cscEx2_bufferSize)
STAND_IN(cusparseCsr2cscEx2)
STAND_IN_CREATE(cusparseSpGEMM_createDescr)
STAND_IN_DESTROY(cusparseSpGEMM_destroyDescr)
STAND_IN(cusparseSpGEMM_workEstimation)
STAND_IN(cusparseSpGEMM_compute)
STAND_IN(cusparseSpGEMM_copy)
#if !FAKE_CUDA_OLD
STAND_IN(cusparseSpMV_preprocess)
STAND_IN(cusparseSpSV_updateMatrix)
STAND_IN(cusparseSpSM_updateMatrix)
#endif

FAKE_EXPORT int cusparseSpMatGetSize(const void*, std::int64_t*, std::int64_t*, std::int64_t* stored) {
  *stored = kProductElements;
  return fake_cuda::status_of(fake_cuda_enter("cusparseSpMatGetSize"), kStatuses);
}
