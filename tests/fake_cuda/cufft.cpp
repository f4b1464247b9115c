// libcufft.so.12, the fake. Every plan wants a work area. What a plan was made of is counted like a call, so that tests
// see it: "cufft of rank 2, strides 3 and 1, distances 24 and 8, batch 5".
#include <string>

#include "tests/fake_cuda/stand_in.hpp"

namespace {
constexpr fake_cuda::Statuses kStatuses{.no_memory = 2, .invalid = 4, .failed = 6, .internal = 5};
constexpr std::size_t kWorkBytes = 4096;

int answer(const char* function) { return fake_cuda::status_of(fake_cuda_enter(function), kStatuses); }

void tell_plan(const char* what, int rank, long long stride, long long out_stride, long long distance,
               long long out_distance, long long batch) {
  const auto text = [](long long number) { return std::to_string(number); };
  fake_cuda_ask((what + text(rank) + ", strides " + text(stride) + " and " + text(out_stride) + ", distances " +
                 text(distance) + " and " + text(out_distance) + ", batch " + text(batch))
                    .c_str());
}
}  // namespace

STAND_IN_PROPERTY(cufftGetProperty, 12)
STAND_IN(cufftSetAutoAllocation)
STAND_IN(cufftSetStream)
STAND_IN(cufftSetWorkArea)
STAND_IN(cufftExecC2C)
STAND_IN(cufftExecR2C)
STAND_IN(cufftExecC2R)
STAND_IN(cufftExecZ2Z)
STAND_IN(cufftExecD2Z)
STAND_IN(cufftExecZ2D)
STAND_IN(cufftXtExec)

FAKE_EXPORT int cufftCreate(int* plan) {
  const int status = answer("cufftCreate");
  if (status != 0) return status;
  *plan = 1;
  fake_cuda_alive(fake_cuda::Kind::handle, 1);
  return 0;
}
FAKE_EXPORT int cufftDestroy(int) {
  const int status = answer("cufftDestroy");
  fake_cuda_alive(fake_cuda::Kind::handle, -1);
  return status;
}
FAKE_EXPORT int cufftMakePlanMany64(int, int rank, long long*, long long*, long long stride, long long distance,
                                    long long*, long long out_stride, long long out_distance, int, long long batch,
                                    std::size_t* work_bytes) {
  *work_bytes = kWorkBytes;
  tell_plan("cufft of rank ", rank, stride, out_stride, distance, out_distance, batch);
  return answer("cufftMakePlanMany64");
}
FAKE_EXPORT int cufftXtMakePlanMany(int, int rank, long long*, long long*, long long stride, long long distance, int,
                                    long long*, long long out_stride, long long out_distance, int, long long batch,
                                    std::size_t* work_bytes, int) {
  *work_bytes = kWorkBytes;
  tell_plan("cufft of f16, rank ", rank, stride, out_stride, distance, out_distance, batch);
  return answer("cufftXtMakePlanMany");
}
