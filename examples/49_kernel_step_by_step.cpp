// A kernel of one's own from its first error to speed, on whatever device there is: without a GPU the CPU runs it, so
// one can write and debug it on a laptop.
#include <chrono>
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

// Step 1: a word is wrong. The compiler says where.
constexpr const char* kDoesNotCompile = R"(
__global__ void row_sums(int columns, const float* x, float* sums) {
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += x[blockIdx.x * column + i];
  sums[blockIdx.x] = sum;
})";

// Step 2: it compiles, and threads wait at two different barriers. Step 3: one number too many is read; an assertion
// about the index finds it. Then it is right, by one thread for each row.
constexpr const char* kSteps = R"(
#include <assert.h>
__global__ void barrier_for_some(int columns, const float* x, float* sums) {
  __shared__ float part[64];
  part[threadIdx.x] = x[blockIdx.x * columns + threadIdx.x];
  if (threadIdx.x < 32) {
    __syncthreads();
    part[threadIdx.x] += part[threadIdx.x + 32];
  } else {
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
__global__ void wrong_index(int columns, const float* x, float* sums) {
  float sum = 0;
  for (int i = 0; i <= columns; ++i) {
    assert(i < columns);
    sum += x[blockIdx.x * columns + i];
  }
  sums[blockIdx.x] = sum;
}
__global__ void right(int columns, const float* x, float* sums) {
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += x[blockIdx.x * columns + i];
  sums[blockIdx.x] = sum;
})";

// Step 4: many threads for each row, which join their sums in shared memory.
constexpr const char* kFast = R"(
__global__ void fast(int columns, const float* x, float* sums) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += x[blockIdx.x * columns + i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
})";

constexpr std::int32_t kRows = 200, kColumns = 5000;

Task<Result<float>> last_sum(Device device, Program program, std::string kernel, std::uint32_t threads,
                             Array<float> x) {
  const Array<float> sums = CO_TRY(device.array<float>({kRows}));
  const auto begin = std::chrono::steady_clock::now();
  CO_TRY(co_await device.jit().launch(program, kernel, {.blocks = kRows, .threads = threads}, kColumns, reads(x),
                                      writes(sums)));
  const auto took = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin);
  const HostArray<float> result = CO_TRY(co_await device.read(sums));
  std::printf("%s: %g, in %.2f ms\n", kernel.c_str(), static_cast<double>(result[kRows - 1]), took.count());
  co_return result[kRows - 1];
}

Task<Result<bool>> all_steps(Device device) {
  const Result<Program> none = co_await device.jit().compile(kDoesNotCompile);
  if (!none && none.error().kind() == ErrorKind::unsupported) co_return fail(none.error());
  std::printf("1. %s\n\n", none ? "it compiled" : none.error().to_string().c_str());

  const Array<float> x = CO_TRY(device.array<float>({kRows, kColumns}));
  CO_TRY(co_await device.fill(x, 0.5f));
  const Program steps = CO_TRY(co_await device.jit().compile(kSteps));
  // A GPU does not tell of these: it gives wrong numbers, stands still, or takes its worker with it.
  if (device.info().capability == 0) {
    const Result<float> waits = co_await last_sum(device, steps, "barrier_for_some", 64, x);
    std::printf("2. %s\n\n", waits ? "nobody has noticed" : waits.error().to_string().c_str());
    const Result<float> wrong = co_await last_sum(device, steps, "wrong_index", 1, x);
    std::printf("3. %s\n\n", wrong ? "nobody has noticed" : wrong.error().to_string().c_str());
    if (waits || wrong) co_return false;
  }
  const Program faster = CO_TRY(co_await device.jit().compile(kFast));
  std::printf("4. ");
  const float right = CO_TRY(co_await last_sum(device, steps, "right", 1, x));
  std::printf("5. ");
  const float fast = CO_TRY(co_await last_sum(device, faster, "fast", 256, x));
  co_return !none && right == 2500.0f && fast == 2500.0f;
}

int main() {
  System system({.log = log_nothing()});
  const Device device = value(system.device(0));
  std::printf("on %s\n", device.info().name.c_str());
  const Result<bool> right = system.run(all_steps(device));
  if (right) return *right ? 0 : 1;
  std::printf("%s\n", right.error().to_string().c_str());
  return right.error().kind() == ErrorKind::unsupported ? 0 : 1;
}
