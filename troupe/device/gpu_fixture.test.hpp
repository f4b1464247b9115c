// What the GPU's tests share: a device with a GPU, opened as the test (or $TROUPE_TEST_ISOLATION=thread, for tools that
// look into this process) wants it, and kernels that behave well or badly.
#pragma once

#include <cstdlib>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {

class GpuTest : public DeviceTest {
 protected:
  static constexpr const char* kKernels = R"(
extern "C" __global__ void empty() {}
extern "C" __global__ void add(long long n, float value, float* a) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
    a[i] += value;
}
extern "C" __global__ void set(long long n, float value, float* a) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
    a[i] = value;
}
extern "C" __global__ void illegal(float* a) { *(volatile float*)16 = a ? a[0] : 0; }
extern "C" __global__ void misaligned(float* a) { *(volatile int*)((char*)a + 1) = 1; }
extern "C" __global__ void trap(float*) { __trap(); }
extern "C" __global__ void failed_assert(float* a) { assert(a == 0); }
extern "C" __global__ void hang(float* a) { while (*(volatile float*)a != -1) {} }
extern "C" __global__ void write_for_ever(long long n, float* a) {
  for (float round = 0;; round += 1)
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
      ((volatile float*)a)[i] = round;
}
)";

  /// Leaves the device open, or skips the test.
  void open_gpu(DeviceOptions options = patient()) {
    if (system.devices().front().backend != "cuda") GTEST_SKIP() << "no GPU";
    const char* const isolation = std::getenv("TROUPE_TEST_ISOLATION");
    if (isolation && std::string_view(isolation) == "thread") options.isolation = Isolation::thread;
    gpu.emplace(value(system.device("cuda", options)));
    is_thread = options.isolation == Isolation::thread;
  }
  Program program() { return value(gpu->jit().compile(kKernels).get()); }

  std::optional<Device> gpu;
  bool is_thread = false;
};

}  // namespace troupe
