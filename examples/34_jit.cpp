// Kernels of one's own: CUDA C++ compiled at run time, launched as an op. NVRTC compiles it for a GPU, the system's C++
// compiler for the CPU.
#include <cstdio>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr const char* kSource = R"(
template <class T>
__global__ void square(long long n, const T* in, T* out) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
    out[i] = in[i] * in[i];
})";

Task<Result<float>> sum_of_squares(Device device, const std::vector<float>* numbers) {
  const auto n = static_cast<std::int64_t>(numbers->size());
  const Program program = CO_TRY(co_await device.jit().compile(kSource, {.instances = "square<float>"}));
  for (const std::string& kernel : program.kernels()) std::printf("compiled: %s\n", kernel.c_str());
  Array<float> in = CO_TRY(device.array<float>({n}));
  Array<float> out = CO_TRY(device.array<float>({n}));
  CO_TRY(co_await device.write(in, *numbers));
  // Looked up once, by the signature that it has in the source: `in` is read, and the compiler checks what is given.
  const auto to_squares = CO_TRY(program.kernel<void(long long, const float*, float*)>("square<float>"));
  CO_TRY(co_await device.jit().launch(to_squares, {.blocks = 4, .threads = 256}, n, in, writes(out)));
  const HostArray<float> squares = CO_TRY(co_await device.read(out));
  float sum = 0;
  for (const float one : squares) sum += one;
  co_return sum;
}

int main() {
  System system({.log = log_nothing()});
  Device device = value(system.device(0));
  const std::vector<float> numbers{1, 2, 3, 4};
  const Result<float> sum = system.run(sum_of_squares(device, &numbers));
  if (sum)
    std::printf("1 + 4 + 9 + 16 = %g, on %s\n", static_cast<double>(*sum), device.info().name.c_str());
  else
    std::printf("%s\n", sum.error().to_string().c_str());
  return sum ? *sum != 30.0f : sum.error().kind() != ErrorKind::unsupported;
}
