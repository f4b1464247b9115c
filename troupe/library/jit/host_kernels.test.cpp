// The user's own kernels on the CPU: what they can do, and what comes of their mistakes.
#include "troupe/library/jit/host_kernels.test.hpp"

#include <cmath>
#include <numeric>

namespace troupe {
namespace {

TEST_F(HostKernels, run_with_arrays_and_numbers) {
  const Program program = compiled(R"(
    __global__ void saxpy(int n, float a, const float* x, float* y) {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
    })");
  EXPECT_EQ(program.kernels(), std::vector<std::string>{"saxpy(int, float, float const*, float*)"});
  EXPECT_EQ(program.log(), "");
  for (const std::uint32_t blocks : {1U, 3U, 100U}) {
    const Array<float> x = array_of(counted(10000)), y = filled(device, {10000}, 1.0f);
    launch(program, "saxpy", {.blocks = blocks, .threads = 96}, 10000, 0.5f, reads(x), updates(y));
    const std::vector<float> result = values_of(y);
    for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], 1.0f + 0.5f * static_cast<float>(i));
  }
}

TEST_F(HostKernels, have_shared_memory_and_barriers) {
  const Program program = compiled(R"(
    __global__ void sum_of_blocks(const float* x, float* sums) {
      __shared__ float part[256];
      const int t = threadIdx.x;
      part[t] = x[blockIdx.x * blockDim.x + t];
      __syncthreads();
      for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
      }
      if (t == 0) sums[blockIdx.x] = part[0];
    }
    extern __shared__ double outside[];
    __global__ void reversed(const double* x, double* y) {
      extern __shared__ __align__(16) unsigned char bytes[];
      double* const inside = reinterpret_cast<double*>(bytes);
      inside[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      y[threadIdx.x] = outside[blockDim.x - 1 - threadIdx.x];
    })");
  const Array<float> x = array_of(counted(256 * 100)), sums = value(device.array<float>({100}));
  launch(program, "sum_of_blocks", {.blocks = 100, .threads = 256}, reads(x), writes(sums));
  const std::vector<float> all = values_of(sums);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(all[i], 256.0f * (256.0f * static_cast<float>(i) + 127.5f));

  std::vector<double> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  const Array<double> forward = array_of(numbers), backward = value(device.array<double>({1000}));
  launch(program, "reversed", {.threads = 1000, .shared_bytes = 8000}, reads(forward), writes(backward));
  const std::vector<double> result = values_of(backward);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(result[i], numbers[999 - i]);
}

TEST_F(HostKernels, count_and_compare_at_barriers) {
  const Program program = compiled(R"(
    __global__ void f(int* results) {
      const int count = __syncthreads_count(threadIdx.x % 3 == 0);
      const int all = __syncthreads_and(threadIdx.x < 100), any = __syncthreads_or(threadIdx.x == 99);
      const int all_of_one = __syncthreads_and(threadIdx.x < 99);
      if (threadIdx.x == 50) { results[0] = count; results[1] = all; results[2] = any; results[3] = all_of_one; }
    })");
  const Array<std::int32_t> results = value(device.array<std::int32_t>({4}));
  launch(program, "f", {.threads = 100}, writes(results));
  EXPECT_EQ(values_of(results), (std::vector<std::int32_t>{34, 1, 1, 0}));
}

TEST_F(HostKernels, exchange_values_in_warps) {
  const Program program = compiled(R"(
    template <class T> __device__ T sum_of_warp(T v) {
      for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
      return v;
    }
    __global__ void f(const float* x, float* sum, double* product, unsigned* votes, int* lanes) {
      const int t = threadIdx.x, lane = t % 32;
      const float all = sum_of_warp(x[t]);
      if (lane == 0) sum[t / 32] = all;
      double p = 1.0 + lane;
      for (int d = 1; d < 4; d *= 2) p *= __shfl_xor_sync(~0u, p, d, 4);
      product[t] = p;
      const unsigned odd = __ballot_sync(~0u, lane % 2), same = __match_any_sync(~0u, lane / 8);
      const int above = __any_sync(~0u, t == 40), below = __all_sync(~0u, t < 40);
      if (lane % 2) votes[t] = __ballot_sync(odd, lane > 16); else votes[t] = same;
      lanes[t] = __shfl_sync(~0u, t, 3, 8) + 1000 * __shfl_up_sync(~0u, lane, 1) + 100000 * above + 200000 * below +
                 1000000 * (__reduce_max_sync(~0u, -lane) == 0);
    })");
  const Array<float> x = array_of(counted(64)), sum = value(device.array<float>({2}));
  const Array<double> product = value(device.array<double>({64}));
  const Array<std::uint32_t> votes = value(device.array<std::uint32_t>({64}));
  const Array<std::int32_t> lanes = value(device.array<std::int32_t>({64}));
  launch(program, "f", {.threads = 64}, reads(x), writes(sum), writes(product), writes(votes), writes(lanes));
  EXPECT_EQ(values_of(sum), (std::vector<float>{496, 1520}));
  const std::vector<double> products = values_of(product);
  const std::vector<std::uint32_t> all_votes = values_of(votes);
  const std::vector<std::int32_t> all_lanes = values_of(lanes);
  for (std::size_t t = 0; t < 64; ++t) {
    const std::size_t lane = t % 32, four = lane / 4 * 4;
    const auto n = static_cast<double>(four);
    EXPECT_EQ(products[t], (n + 1) * (n + 2) * (n + 3) * (n + 4));
    EXPECT_EQ(all_votes[t], lane % 2 != 0 ? 0xaaaa0000U : 0xffU << lane / 8 * 8) << t;
    EXPECT_EQ(all_lanes[t], static_cast<std::int32_t>(t / 8 * 8 + 3 + 1000 * (lane == 0 ? 0 : lane - 1) +
                                                      (t >= 32 ? 100000 : 200000) + 1000000))
        << t;
  }
}

TEST_F(HostKernels, multiply_matrices_by_tiles) {
  const Program program = compiled(R"(
    #define TILE 16
    __global__ void __launch_bounds__(TILE * TILE) product(int n, const float* __restrict__ a,
                                                           const float* __restrict__ b, float* c) {
      __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
      const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
      float sum = 0;
    #pragma unroll 4
      for (int k = 0; k < n; k += TILE) {
        left[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
        right[threadIdx.y][threadIdx.x] = k + threadIdx.y < n && column < n ? b[(k + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
      }
      if (row < n && column < n) c[row * n + column] = sum;
    })");
  constexpr std::size_t n = 50;
  std::vector<float> a(n * n), b(n * n);
  for (std::size_t i = 0; i < n * n; ++i) a[i] = static_cast<float>(i % 7), b[i] = static_cast<float>(i % 5) - 2;
  const Array<float> left = array_of(a), right = array_of(b), product = value(device.array<float>({n * n}));
  launch(program, "product", {.blocks = {4, 4}, .threads = {16, 16}}, 50, reads(left), reads(right), writes(product));
  const std::vector<float> c = values_of(product);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      ASSERT_EQ(c[i * n + j], sum);
    }
}

TEST_F(HostKernels, have_atomics_across_blocks) {
  const Program program = compiled(R"(
    __device__ unsigned long long calls = 0;
    __global__ void histogram(int n, const int* x, int* bins, float* sum, double* precise, int* most, int* lock,
                              int* counted, unsigned long long* told) {
      __shared__ int here[10];
      if (threadIdx.x < 10) here[threadIdx.x] = 0;
      __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&here[x[i]], 1);
        atomicAdd(sum, 1.0f);
        atomicAdd(precise, 0.5);
        atomicMax(most, i);
      }
      __syncthreads();
      if (threadIdx.x < 10) atomicAdd(&bins[threadIdx.x], here[threadIdx.x]);
      while (atomicCAS(lock, 0, 1) != 0) {}
      *counted += 1;
      __threadfence();
      atomicExch(lock, 0);
      atomicAdd(&calls, 1ull);
      if (atomicAdd(told, 0ull) == 0) atomicMax(told, 7ull);
    })");
  std::vector<std::int32_t> numbers(20000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i * i % 10);
  std::vector<std::int32_t> expected(10);
  for (const std::int32_t number : numbers) ++expected[static_cast<std::size_t>(number)];
  const Array<std::int32_t> x = array_of(numbers), bins = filled(device, {10}, 0), most = filled(device, {1}, -1),
                            lock = filled(device, {1}, 0), count = filled(device, {1}, 0);
  const Array<float> sum = filled(device, {1}, 0.0f);
  const Array<double> precise = filled(device, {1}, 0.0);
  const Array<std::uint64_t> told = filled(device, {1}, std::uint64_t{0});
  launch(program, "histogram", {.blocks = 40, .threads = 64}, 20000, reads(x), updates(bins), updates(sum),
         updates(precise), updates(most), updates(lock), updates(count), updates(told));
  EXPECT_EQ(values_of(bins), expected);
  EXPECT_EQ(values_of(sum)[0], 20000.0f);
  EXPECT_EQ(values_of(precise)[0], 10000.0);
  EXPECT_EQ(values_of(most)[0], 19999);
  EXPECT_EQ(values_of(count)[0], 40 * 64) << "a lock that threads of a block spin on";
  EXPECT_EQ(values_of(told)[0], 7U);
}

TEST_F(HostKernels, have_the_names_and_types_that_the_source_gives_them) {
  const Program program = compiled(R"(
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
    static __global__ void twice(int* a) { a[threadIdx.x] *= 2; }
    extern "C" __global__ void typed(const float* from, long long n, float* to) { to[0] = from[n]; }
    extern "C" { __global__ void untyped(int n, float* to) { to[0] = n; } })",
                                   {.instances = "mine::fill<float, 3>, mine::fill<int,4>"});
  struct Weights {
    float first;
    long long second;
  };
  std::vector<std::string> names = program.kernels();
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"mine::fill<float, 3>(float*, int)", "mine::fill<int, 4>(int*, int)",
                                             "mine::weigh(mine::Weights, int const*, float4*, void*)", "twice(float*)",
                                             "twice(int*)", "typed(float const*, long long, float*)", "untyped"}));
  const Array<std::int32_t> ints = value(device.array<std::int32_t>({64}));
  const Array<float> floats = value(device.array<float>({64}));
  launch(program, "mine::fill<int,4>", {.threads = 64}, writes(ints), 64);
  launch(program, "fill<float, 3>", {.threads = 64}, writes(floats), 64);
  launch(program, "twice(int*)", {.threads = 64}, updates(ints));
  launch(program, "twice(float*)", {.threads = 32}, updates(floats));
  EXPECT_EQ(values_of(ints)[10], 28);
  EXPECT_EQ(values_of(floats)[31], 68.0f);
  EXPECT_EQ(values_of(floats)[32], 35.0f);
  launch(program, "weigh", {.threads = 16}, Weights{0.5f, 9}, reads(ints), writes(floats), nullptr);
  EXPECT_EQ(values_of(floats)[4 * 3], static_cast<float>(4 + 12));
  EXPECT_EQ(values_of(floats)[4 * 3 + 1], 9.0f);
  launch(program, "untyped", {}, 5, updates(floats));
  EXPECT_EQ(values_of(floats)[0], 5.0f);
  const auto said = [&](std::string_view kernel, const auto&... arguments) {
    return std::string(launched(program, kernel, {}, arguments...).error().message());
  };
  EXPECT_NE(said("typed", reads(ints), 8LL, writes(floats)).find("points to another type"), std::string::npos);
  EXPECT_NE(said("untyped", 5LL, updates(floats)).find("takes 4 bytes as argument 1"), std::string::npos);
  EXPECT_NE(said("thrice", updates(floats)).find("the program has no kernel thrice; it has "), std::string::npos);
  EXPECT_EQ(values_of(floats)[0], 5.0f) << "a refused launch leaves arrays good";
}

TEST_F(HostKernels, print_into_the_log) {
  const Program program = compiled(R"(
    __global__ void tell(int n) { if (threadIdx.x == 1) printf("thread %d of %d\nand more\n", threadIdx.x, n); })");
  launch(program, "tell", {.threads = 2}, 2);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!log.has("tell: and more") && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_TRUE(log.has("tell: thread 1 of 2"));
}

TEST_F(HostKernels, say_which_threads_wait_for_what_does_not_come) {
  const Program program = compiled(R"(__global__ void two_barriers(int* a) {
      if (threadIdx.x < 3) {
        __syncthreads();
      } else {
        __syncthreads();
      }
      a[threadIdx.x] = 1;
    }
    __global__ void lane_elsewhere(int* a) {
      if (threadIdx.x == 5) __syncthreads();
      a[threadIdx.x] = __shfl_sync(0xffffffff, 1, 0);
    }
    __global__ void not_in_mask(int* a) { a[threadIdx.x] = __shfl_sync(0x0f, 1, 0); }
    __global__ void ends_early(int* a) {
      if (threadIdx.x % 2) return;
      __syncthreads();
      a[threadIdx.x] = __ballot_sync(~0u, 1) == 0x55555555u;
    })");
  const auto generation = device.generation();
  const auto said = [&](std::string_view kernel) {
    const Array<std::int32_t> a = filled(device, {32}, 0);
    const Result<void> end = launched(program, kernel, {.blocks = 2, .threads = 32}, updates(a));
    if (end) return std::string();
    EXPECT_EQ(end.error().kind(), ErrorKind::invalid_argument);
    return std::string(end.error().message());
  };
  EXPECT_NE(
      said("two_barriers").find("thread (0, 0, 0) waits at __syncthreads in line 3 and thread (3, 0, 0) in line 5"),
      std::string::npos)
      << said("two_barriers");
  EXPECT_NE(said("two_barriers").find("the kernel two_barriers was stopped in block ("), std::string::npos);
  EXPECT_NE(said("lane_elsewhere").find("no thread can go on: "), std::string::npos) << said("lane_elsewhere");
  EXPECT_NE(said("lane_elsewhere").find("thread (5, 0, 0) waits at __syncthreads in line 10"), std::string::npos);
  EXPECT_NE(said("not_in_mask").find("the mask 0x0000000f, which lacks its own lane 4"), std::string::npos);
  EXPECT_EQ(said("ends_early"), "") << "threads that have ended are not waited for";
  EXPECT_EQ(device.generation(), generation);
}

TEST_F(HostKernels, say_what_does_not_hold) {
  const Program program = compiled(R"(
    #include <assert.h>
    #include <cassert>
    __global__ void f(int n) { assert(n == 3); }
    __global__ void g() { if (threadIdx.x == 2) __trap(); })");
  launch(program, "f", {.threads = 4}, 3);
  const Result<void> failed = launched(program, "f", {.threads = 4}, 4),
                     trapped = launched(program, "g", {.threads = 4});
  ASSERT_FALSE(failed || trapped);
  EXPECT_TRUE(says(failed.error(), "thread (0, 0, 0): the assertion n == 3 in line 4 does not hold"))
      << failed.error().to_string();
  EXPECT_TRUE(says(trapped.error(), "thread (2, 0, 0) called __trap")) << trapped.error().to_string();
}

TEST_F(HostKernels, of_several_programs_have_one_name) {
  const Program adds = compiled("__global__ void f(float* a) { a[threadIdx.x] += 1; }");
  const Program doubles = compiled("__global__ void f(float* a) { a[threadIdx.x] *= 2; }");
  const Program fills = compiled("__global__ void f(float* a, float by) { a[threadIdx.x] = by; }");
  const Array<float> a = filled(device, {8}, 1.0f);
  launch(adds, "f", {.threads = 8}, updates(a));
  launch(doubles, "f", {.threads = 8}, updates(a));
  EXPECT_TRUE(all_equal(device, a, 4.0f));
  launch(fills, "f", {.threads = 8}, writes(a), 7.0f);
  launch(adds, "f", {.threads = 8}, updates(a));
  EXPECT_TRUE(all_equal(device, a, 8.0f));
}

TEST_F(HostKernels, that_crash_cost_a_worker_and_nothing_else) {
  const Program program = compiled(R"(
    __global__ void crash(float* a) { *(volatile float*)16 = a[0]; }
    __global__ void deep(int n, volatile int* a) {
      volatile int here[1000]; here[n % 1000] = n;
      if (n > 0) { __syncthreads(); deep(n - 1, a); a[0] += here[n % 1000]; }
    }
    __global__ void add(float* a) { a[threadIdx.x] += 1; })");
  const Array<float> spoiled = filled(device, {8}, 1.0f), good = filled(device, {8}, 1.0f);
  const Array<std::int32_t> ints = filled(device, {8}, 0);
  const auto generation = device.generation();
  const Result<void> crashed = launched(program, "crash", {}, updates(spoiled));
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().kind(), ErrorKind::worker_crashed);
  EXPECT_NE(crashed.error().to_string().find("crash"), std::string::npos) << crashed.error().to_string();
  launch(program, "add", {.threads = 8}, updates(good));
  EXPECT_TRUE(all_equal(device, good, 2.0f));
  EXPECT_GT(device.generation(), generation);
  const Result<void> overflown = launched(program, "deep", {.threads = 4}, 100000, updates(ints));
  ASSERT_FALSE(overflown);
  EXPECT_EQ(overflown.error().kind(), ErrorKind::worker_crashed) << "a stack that overflows hits no other";
  launch(program, "add", {.threads = 8}, updates(good));
  EXPECT_TRUE(all_equal(device, good, 3.0f));
}

TEST_F(HostKernels, that_hang_end_at_their_deadline) {
  const Program program = compiled("__global__ void hang(volatile int* a) { while (a[0] != -1) {} }");
  const Array<std::int32_t> a = filled(device, {1}, 0);
  const Result<void> end =
      device.jit().launch(program, "hang", {.threads = 2}, updates(a)).deadline(std::chrono::milliseconds(200)).get();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind(), ErrorKind::deadline_exceeded);
}

TEST_F(HostKernels, keep_to_the_limits_of_a_gpu) {
  const Program program = compiled("__global__ void f() { extern __shared__ char s[]; s[threadIdx.x] = 1; }");
  launch(program, "f", {.threads = 1024, .shared_bytes = 227 * 1024});
  for (const Grid& grid : {Grid{.threads = 1025}, Grid{.threads = {32, 33}}, Grid{.blocks = 0},
                           Grid{.shared_bytes = 227 * 1024 + 1}, Grid{.blocks = {1, 65536}}}) {
    const Result<void> end = launched(program, "f", grid);
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().kind(), ErrorKind::invalid_argument);
  }
}

TEST_F(HostKernels, of_a_network_compute_what_loops_compute) {
  const Program program = compiled(R"(
    #include <float.h>
    #include <math.h>
    __device__ float sum_of_warp(float v) {
      for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
      return v;
    }
    __device__ float most_of_warp(float v) {
      for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
      return v;
    }
    __global__ void layernorm(float* __restrict__ out, const float* __restrict__ in, const float* weight,
                              const float* bias, int rows, int columns) {
      const int row = blockIdx.x * (blockDim.x / warpSize) + threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
      if (row >= rows) return;
      const float* x = in + row * columns;
      float sum = 0;
      for (int i = lane; i < columns; i += warpSize) sum += x[i];
      const float mean = sum_of_warp(sum) / columns;
      float squares = 0;
      for (int i = lane; i < columns; i += warpSize) squares += (x[i] - mean) * (x[i] - mean);
      const float scale = rsqrtf(sum_of_warp(squares) / columns + 1e-5f);
      for (int i = lane; i < columns; i += warpSize)
        __stcs(out + row * columns + i, scale * (__ldcs(x + i) - mean) * weight[i] + bias[i]);
    }
    __global__ void softmax(float* out, const float* in, int columns) {
      extern __shared__ float part[];
      const int t = threadIdx.x, warps = blockDim.x / 32;
      const float* x = in + blockIdx.x * columns;
      float most = -FLT_MAX;
      for (int i = t; i < columns; i += blockDim.x) most = fmaxf(most, x[i]);
      most = most_of_warp(most);
      if (t % 32 == 0) part[t / 32] = most;
      __syncthreads();
      for (int w = 0; w < warps; ++w) most = fmaxf(most, part[w]);
      __syncthreads();
      float sum = 0;
      for (int i = t; i < columns; i += blockDim.x) sum += expf(x[i] - most);
      sum = sum_of_warp(sum);
      if (t % 32 == 0) part[t / 32] = sum;
      __syncthreads();
      sum = 0;
      for (int w = 0; w < warps; ++w) sum += part[w];
      for (int i = t; i < columns; i += blockDim.x) out[blockIdx.x * columns + i] = expf(x[i] - most) / sum;
    }
    #define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)
    __global__ void gelu(float* out, const float* in, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) {
        const float x = in[i], cube = 0.044715f * x * x * x;
        out[i] = 0.5f * x * (1.0f + tanhf(GELU_SCALING_FACTOR * (x + cube)));
      }
    })");
  constexpr std::size_t rows = 37, columns = 80;
  std::vector<float> numbers(rows * columns), weights = counted(columns, 0.01f), biases = counted(columns, -0.1f);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i)) * 3;
  const Array<float> in = array_of(numbers), weight = array_of(weights), bias = array_of(biases),
                     out = value(device.array<float>({rows * columns}));
  launch(program, "layernorm", {.blocks = 10, .threads = 128}, writes(out), reads(in), reads(weight), reads(bias), 37,
         80);
  const std::vector<float> normed = values_of(out);
  launch(program, "softmax", {.blocks = 37, .threads = 64, .shared_bytes = 8}, writes(out), reads(in), 80);
  const std::vector<float> soft = values_of(out);
  launch(program, "gelu", {.blocks = 12, .threads = 256}, writes(out), reads(in), 37 * 80);
  const std::vector<float> gelus = values_of(out);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const x = &numbers[r * columns];
    double mean = 0, squares = 0, sum = 0;
    for (std::size_t i = 0; i < columns; ++i) mean += static_cast<double>(x[i]) / columns;
    for (std::size_t i = 0; i < columns; ++i) squares += (x[i] - mean) * (x[i] - mean) / columns;
    for (std::size_t i = 0; i < columns; ++i) sum += std::exp(static_cast<double>(x[i]));
    for (std::size_t i = 0; i < columns; ++i) {
      const double v = x[i], scaled = (v - mean) / std::sqrt(squares + 1e-5);
      EXPECT_NEAR(normed[r * columns + i], scaled * static_cast<double>(weights[i]) + static_cast<double>(biases[i]),
                  1e-5);
      EXPECT_NEAR(soft[r * columns + i], std::exp(v) / sum, 1e-7);
      EXPECT_NEAR(gelus[r * columns + i],
                  0.5 * v * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (v + 0.044715 * v * v * v))), 1e-6);
    }
  }
}

}  // namespace
}  // namespace troupe
