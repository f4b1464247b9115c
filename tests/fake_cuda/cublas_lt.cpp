// libcublasLt.so.13, the fake. It has as many algorithms for a problem as it is asked for.
#include <algorithm>

#include "tests/fake_cuda/stand_in.hpp"

namespace {

constexpr fake_cuda::Statuses kStatuses{.no_memory = 3, .invalid = 7, .failed = 13, .internal = 14};

/// As cublasLt.h has it.
struct Guess {
  std::array<std::uint64_t, 8> algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  std::array<int, 4> reserved;
};
static_assert(sizeof(Guess) == 96);

}  // namespace

STAND_IN_CREATE(cublasLtCreate)
STAND_IN_DESTROY(cublasLtDestroy)
STAND_IN_CREATE(cublasLtMatmulDescCreate)
STAND_IN_DESTROY(cublasLtMatmulDescDestroy)
STAND_IN(cublasLtMatmulDescSetAttribute)
STAND_IN_CREATE(cublasLtMatrixLayoutCreate)
STAND_IN_DESTROY(cublasLtMatrixLayoutDestroy)
STAND_IN_CREATE(cublasLtMatmulPreferenceCreate)
STAND_IN_DESTROY(cublasLtMatmulPreferenceDestroy)
STAND_IN(cublasLtMatmulPreferenceSetAttribute)
STAND_IN(cublasLtMatrixLayoutSetAttribute)
STAND_IN(cublasLtMatmul)

FAKE_EXPORT std::size_t cublasLtGetVersion() { return 130000; }

FAKE_EXPORT int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int wanted,
                                               Guess* guesses, int* found) {
  *found = 0;
  if (const int code = fake_cuda_enter("cublasLtMatmulAlgoGetHeuristic")) return fake_cuda::status_of(code, kStatuses);
  for (; *found < wanted; ++*found) {
    guesses[*found] = Guess{};
    guesses[*found].algorithm[0] = static_cast<std::uint64_t>(*found) + 1;
    guesses[*found].workspace_bytes = 1024;
  }
  return 0;
}

FAKE_EXPORT int cublasLtMatmulAlgoCheck(void*, void*, void*, void*, void*, void*, const void*, Guess* answer) {
  *answer = Guess{};
  return fake_cuda::status_of(fake_cuda_enter("cublasLtMatmulAlgoCheck"), kStatuses);
}
