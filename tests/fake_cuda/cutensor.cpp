// libcutensor.so.2, the fake. Every plan wants a workspace. The old one is of version 1, which had other functions.
#include "tests/fake_cuda/stand_in.hpp"

#if FAKE_CUDA_OLD

FAKE_EXPORT std::size_t cutensorGetVersion() { return 10700; }

#else

namespace {
constexpr fake_cuda::Statuses kStatuses{.no_memory = 3, .invalid = 7, .failed = 13, .internal = 14};
constexpr std::uint64_t kWorkspaceBytes = 4096;

int answer(const char* function) { return fake_cuda::status_of(fake_cuda_enter(function), kStatuses); }
}  // namespace

FAKE_EXPORT std::size_t cutensorGetVersion() { return 20800; }

extern "C" {
[[gnu::visibility("default")]] extern const void* const CUTENSOR_COMPUTE_DESC_32F = "f32";
[[gnu::visibility("default")]] extern const void* const CUTENSOR_COMPUTE_DESC_64F = "f64";
}

STAND_IN_CREATE(cutensorCreate)
STAND_IN_DESTROY(cutensorDestroy)
STAND_IN_CREATE_BY(cutensorCreateTensorDescriptor)
STAND_IN_DESTROY(cutensorDestroyTensorDescriptor)
STAND_IN_CREATE_BY(cutensorCreateContraction)
STAND_IN_DESTROY(cutensorDestroyOperationDescriptor)
STAND_IN_CREATE_BY(cutensorCreatePlanPreference)
STAND_IN_DESTROY(cutensorDestroyPlanPreference)
STAND_IN_CREATE_BY(cutensorCreatePlan)
STAND_IN_DESTROY(cutensorDestroyPlan)
STAND_IN(cutensorContract)

FAKE_EXPORT int cutensorEstimateWorkspaceSize(void*, void*, void*, int, std::uint64_t* size_bytes) {
  *size_bytes = 2 * kWorkspaceBytes;
  return answer("cutensorEstimateWorkspaceSize");
}
FAKE_EXPORT int cutensorPlanGetAttribute(void*, void*, int, std::uint64_t* size_bytes, std::size_t) {
  *size_bytes = kWorkspaceBytes;
  return answer("cutensorPlanGetAttribute");
}
#endif
