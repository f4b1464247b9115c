// libcusolver.so.12, the fake. Buffers of all sizes have none: the callers begin with 0.
#include "tests/fake_cuda/stand_in.hpp"

namespace {
constexpr fake_cuda::Statuses kStatuses{.no_memory = 2, .invalid = 3, .failed = 6, .internal = 7};
}

STAND_IN_PROPERTY(cusolverGetProperty, 12)
STAND_IN_CREATE(cusolverDnCreate)
STAND_IN_DESTROY(cusolverDnDestroy)
STAND_IN_CREATE(cusolverDnCreateParams)
STAND_IN_DESTROY(cusolverDnDestroyParams)
STAND_IN_CREATE(cusolverDnCreateGesvdjInfo)
STAND_IN_DESTROY(cusolverDnDestroyGesvdjInfo)
STAND_IN(cusolverDnSetStream)
STAND_IN(cusolverDnXgesvdjSetTolerance)
STAND_IN(cusolverDnXgetrf_bufferSize)
STAND_IN(cusolverDnXgetrf)
STAND_IN(cusolverDnXgetrs)
STAND_IN(cusolverDnXpotrf_bufferSize)
STAND_IN(cusolverDnXpotrf)
STAND_IN(cusolverDnXpotrs)
STAND_IN(cusolverDnXgeqrf_bufferSize)
STAND_IN(cusolverDnXgeqrf)
STAND_IN(cusolverDnXgesvd_bufferSize)
STAND_IN(cusolverDnXgesvd)
STAND_IN(cusolverDnXsyevd_bufferSize)
STAND_IN(cusolverDnXsyevd)
#if !FAKE_CUDA_OLD
STAND_IN(cusolverDnXsyevBatched_bufferSize)
STAND_IN(cusolverDnXsyevBatched)
#endif
STAND_IN_TYPED(cusolverDn, potrfBatched)
STAND_IN_TYPED(cusolverDn, gesvdj_bufferSize)
STAND_IN_TYPED(cusolverDn, gesvdj)
STAND_IN_TYPED(cusolverDn, gesvdjBatched_bufferSize)
STAND_IN_TYPED(cusolverDn, gesvdjBatched)

#define STAND_IN_REAL_AND_COMPLEX(real, complex) \
  STAND_IN(cusolverDnS##real)                    \
  STAND_IN(cusolverDnD##real)                    \
  STAND_IN(cusolverDnC##complex)                 \
  STAND_IN(cusolverDnZ##complex)
STAND_IN_REAL_AND_COMPLEX(orgqr_bufferSize, ungqr_bufferSize)
STAND_IN_REAL_AND_COMPLEX(orgqr, ungqr)
STAND_IN_REAL_AND_COMPLEX(ormqr_bufferSize, unmqr_bufferSize)
STAND_IN_REAL_AND_COMPLEX(ormqr, unmqr)
STAND_IN_REAL_AND_COMPLEX(sygvd_bufferSize, hegvd_bufferSize)
STAND_IN_REAL_AND_COMPLEX(sygvd, hegvd)
