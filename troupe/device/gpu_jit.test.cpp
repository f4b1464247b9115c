// The user's own kernels on a real GPU. Tests that need no GPU are in library/jit/jit.test.cpp.
#include "troupe/device/gpu_fixture.test.hpp"

namespace troupe {
namespace {

class GpuJit : public GpuTest {
 protected:
  void SetUp() override { open_gpu(); }
};

TEST_F(GpuJit, runs_a_kernel_with_arrays_and_numbers) {
  const Program kernels = value(gpu->jit()
                                    .compile(R"(
    struct Pair { float a; double b; };
    extern "C" __global__ void mix(int n, Pair pair, const float* x, double* y, char last) {
      extern __shared__ float shared[];
      shared[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      if (threadIdx.x < n) y[threadIdx.x] = pair.a * shared[n - 1 - threadIdx.x] + pair.b + last;
    })")
                                    .get());
  struct Pair {
    float a;
    double b;
  };
  const HostArray<float> numbers = value(gpu->host_array<float>({64}));
  for (std::int64_t i = 0; i < 64; ++i) const_cast<HostArray<float>&>(numbers)[i] = static_cast<float>(i);
  const Array<float> x = value(gpu->array<float>({64}));
  const Array<double> y = value(gpu->array<double>({64}));
  value(gpu->write(x, numbers).get());
  value(gpu->jit()
            .launch(kernels, "mix", {.threads = 64, .shared_bytes = 64 * 1024}, 64, Pair{2.0f, 0.5}, reads(x),
                    writes(y), char{3})
            .get());
  const HostArray<double> result = value(gpu->read(y).get());
  for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(result[i], 2.0 * static_cast<double>(63 - i) + 3.5);
}

TEST_F(GpuJit, refuses_what_is_not_the_kernels) {
  const Program kernels = program();
  const Array<float> a = filled(*gpu, {8}, 1.0f);
  const auto kind = [&](const auto&... arguments) {
    return kind_of(gpu->jit().launch(kernels, "add", {}, arguments...).get());
  };
  EXPECT_EQ(kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(8LL, 1.0f), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(8, 1.0f, updates(a)), ErrorKind::invalid_argument) << "an int where the kernel takes a long long";
  EXPECT_EQ(kind_of(gpu->jit().launch(kernels, "no_such", {}).get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(gpu->jit().launch(kernels, "empty", {.shared_bytes = 1 << 20}).get()), ErrorKind::invalid_argument);
  EXPECT_TRUE(gpu->jit().launch(kernels, "add", {}, 8LL, 1.0f, updates(a)).get());
  EXPECT_EQ(gpu->generation(), 1);
}

TEST_F(GpuJit, runs_kernels_by_the_names_that_the_source_gives_them) {
  const Program kernels = value(gpu->jit()
                                    .compile(R"(
    namespace mine {
    struct Weights { float first; long long second; };
    template <class T, int N> __global__ void fill(T* a, int n) {
      if (threadIdx.x < n) a[threadIdx.x] = T(N) + T(threadIdx.x);
    }
    __global__ void weigh(Weights by, const int* a, float4* b, void* nothing) {
      const int i = threadIdx.x;
      b[i] = make_float4(by.first * a[4 * i], by.second, nothing ? 1 : 0, a[4 * i + 3]);
    }
    }
    __global__ void twice(float* a) { a[threadIdx.x] *= 2; }
    __global__ void twice(int* a) { a[threadIdx.x] *= 2; })",
                                             {.instances = "mine::fill<float, 3>, mine::fill<int,4>"})
                                    .get());
  struct Weights {
    float first;
    long long second;
  };
  const Array<std::int32_t> ints = value(gpu->array<std::int32_t>({64}));
  const Array<float> floats = value(gpu->array<float>({64}));
  const auto launch = [&](std::string_view kernel, std::uint32_t threads, const auto&... arguments) {
    value(gpu->jit().launch(kernels, kernel, {.threads = threads}, arguments...).get());
  };
  launch("mine::fill<int,4>", 64, writes(ints), 64);
  launch("fill<float, 3>", 64, writes(floats), 64);
  launch("twice(int*)", 64, updates(ints));
  launch("twice(float*)", 32, updates(floats));
  const HostArray<std::int32_t> whole = value(gpu->read(ints).get());
  const HostArray<float> half = value(gpu->read(floats).get());
  for (std::int32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(whole[i], 2 * (4 + i));
    EXPECT_EQ(half[i], static_cast<float>((i < 32 ? 2 : 1) * (3 + i)));
  }
  if (!is_thread) kill_worker(*gpu);
  launch("weigh", 16, Weights{0.5f, 9}, reads(ints), writes(floats), nullptr);
  const HostArray<float> weighed = value(gpu->read(floats).get());
  for (std::int32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(weighed[4 * i], static_cast<float>(4 + 4 * i));
    EXPECT_EQ(weighed[4 * i + 1], 9.0f);
    EXPECT_EQ(weighed[4 * i + 2], 0.0f);
    EXPECT_EQ(weighed[4 * i + 3], static_cast<float>(2 * (4 + 4 * i + 3)));
  }
  const Result<void> wrong = gpu->jit().launch(kernels, "twice(int*)", {}, updates(floats)).get();
  EXPECT_EQ(kind_of(wrong), ErrorKind::invalid_argument);
  EXPECT_EQ(value(gpu->read(floats).get())[1], 9.0f) << "a refused launch leaves arrays good";
}

TEST_F(GpuJit, finds_its_programs_again_in_the_next_worker) {
  if (is_thread) GTEST_SKIP() << "needs worker processes";
  const Program kernels = program();
  const Array<float> a = filled(*gpu, {1000}, 0.0f);
  for (int i = 0; i < 3; ++i) {
    value(gpu->jit().launch(kernels, "add", {.blocks = 2, .threads = 128}, 1000LL, 1.0f, updates(a)).get());
    kill_worker(*gpu);
  }
  EXPECT_TRUE(all_equal(*gpu, a, 3.0f));
}

TEST_F(GpuJit, gives_what_the_same_source_gives_on_the_cpu) {
  constexpr const char* kSource = R"(
    template <class T> __device__ T sum_of_warp(T v) {
      for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
      return v;
    }
    template <class T> __global__ void sum_of_blocks(int n, const T* x, T* sums, unsigned* bins, int* most) {
      extern __shared__ __align__(8) unsigned char bytes[];
      T* const part = reinterpret_cast<T*>(bytes);
      __shared__ unsigned here[16];
      const int t = threadIdx.y * blockDim.x + threadIdx.x, i = blockIdx.x * blockDim.x * blockDim.y + t;
      if (t < 16) here[t] = 0;
      __syncthreads();
      const T v = i < n ? x[i] : T(0);
      if (i < n) atomicAdd(&here[unsigned(v * T(7)) % 16], 1u);
      const unsigned positive = __ballot_sync(0xffffffffu, v > T(3));
      const T sum = sum_of_warp(v * v + T(1) / (T(1) + v));
      if (t % 32 == 0) part[t / 32] = sum + T(__popc(positive));
      __syncthreads();
      if (t < 16) atomicAdd(&bins[t], here[t]);
      if (t == 0) {
        T all = 0;
        for (int w = 0; w < blockDim.x * blockDim.y / 32; ++w) all += part[w];
        sums[blockIdx.x] = sqrt(all);
        atomicMax(most, int(all));
      }
    })";
  constexpr std::int64_t n = 100'000, blocks = (n + 255) / 256;
  const auto results_on = [&](const Device& device) {
    const Program program = value(
        device.jit()
            .compile(kSource, {.flags = "--fmad=false", .instances = "sum_of_blocks<float>, sum_of_blocks<double>"})
            .get());
    std::vector<double> all;
    const auto of_type = [&]<class T>(const char* kernel, T) {
      std::vector<T> numbers(n);
      for (std::int64_t i = 0; i < n; ++i)
        numbers[static_cast<std::size_t>(i)] = static_cast<T>(i * 7919 % 10007) / static_cast<T>(1000);
      const Array<T> x = value(device.array<T>({n})), sums = value(device.array<T>({blocks}));
      const Array<std::uint32_t> bins = filled(device, {16}, std::uint32_t{0});
      const Array<std::int32_t> most = filled(device, {1}, 0);
      value(device.write(x, numbers).get());
      value(
          device.jit()
              .launch(program, kernel,
                      {.blocks = static_cast<std::uint32_t>(blocks), .threads = {64, 4}, .shared_bytes = 8 * sizeof(T)},
                      static_cast<int>(n), reads(x), writes(sums), updates(bins), updates(most))
              .get());
      for (const T sum : value(device.read(sums).get())) all.push_back(static_cast<double>(sum));
      for (const std::uint32_t bin : value(device.read(bins).get())) all.push_back(bin);
      all.push_back(value(device.read(most).get())[0]);
    };
    of_type("sum_of_blocks<float>", 0.0f);
    of_type("sum_of_blocks<double>", 0.0);
    return all;
  };
  const std::vector<double> on_cpu = results_on(value(system.device("host", patient())));
  EXPECT_EQ(results_on(*gpu), on_cpu);
}

}  // namespace
}  // namespace troupe
