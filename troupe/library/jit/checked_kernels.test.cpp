// Kernels in checked mode, on the CPU and on a GPU: the same sources, and the same words for what they do wrong.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "troupe/device/gpu_fixture.test.hpp"

namespace troupe {
namespace {

constexpr const char* kSaxpy = R"(
__global__ void saxpy(int n, float a, const float* __restrict__ x, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
})";

constexpr const char* kShift = R"(
__global__ void shift(int by, const float* from, float* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i + by];
})";

constexpr const char* kScribble = R"(
__global__ void scribble(long long n, int* a) {
  const long long i = blockIdx.x * 64 + threadIdx.x;
  a[i - n] = -1;
})";

constexpr const char* kRows = R"(
#define WIDTH 4
namespace mine {
struct Row { const float* begin; int length; };
__device__ float* row_of(float* a, int row, int columns) { return a + row * columns; }
__device__ float sum(const float *x, int n) {
  float all = 0;
  for (const float* p = x, *const end = x + n; p != end; ++p) all += *p;
  return all;
}
template <class T> __device__ T sum_of(const T* x, int n) {
  T all = T();
  while (n-- > 0) all += *x++;
  return all;
}
}
__global__ void rows(int columns, float* a, float* out, int wrong) {
  const int row = blockIdx.x;
  float* mine_row = a + row * columns;
  const float* again = &a[row * columns];
  auto third = mine::row_of(a, row, columns);
  float *p = mine_row, *q = p;
  const mine::Row of{a + row * columns, columns};
  __shared__ float here[WIDTH];
  here[threadIdx.x % WIDTH] = threadIdx.x % WIDTH;
  __syncthreads();
  float* const shared = here;
  const int too_many = row == 2 ? wrong : 0;
  float v = mine::sum(again, columns) + mine::sum_of(third, columns) + mine::sum_of(here, WIDTH) + shared[1];
  const int product = row * columns, scaled = product * WIDTH;
  v += *(p + 1) + q[0] + of.begin[of.length - 1 + too_many] + (again - mine_row) + scaled * (out == nullptr);
  if (threadIdx.x == 0 && out) out[row] = v;
})";

constexpr const char* kVectors = R"(
__global__ void vectors(int at, const float* x, float* y) {
  const float4 a = reinterpret_cast<const float4*>(x)[at];
  const float4 b = *(const float4*)&x[4 * at];
  const float4 c = ((const float4*)x)[at];
  float4& d = reinterpret_cast<float4&>(y[4 * at]);
  d = make_float4(a.x + b.x, a.y + c.y, a.z, a.w);
  const unsigned char* bytes = (const unsigned char*)(x + 4 * at);
  if (bytes[3] == 77) y[0] = (unsigned long long)x % 16;
})";

constexpr const char* kCount = R"(
__device__ void most_of(float* address, float v) {
  int* as_int = (int*)address;
  int old = *as_int;
  while (__int_as_float(old) < v) {
    const int assumed = old;
    old = atomicCAS(as_int, assumed, __float_as_int(v));
    if (old == assumed) break;
  }
}
__global__ void count(int n, const int* x, unsigned* bins, float* sum, float* most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int v = __ldg(&x[i]);
  atomicAdd(&bins[v], 1);
  atomicAdd(sum, float(__ldg(x + i)));
  most_of(most, v);
})";

constexpr const char* kSums = R"(
__device__ float sum_of_warp(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
template <class T, int kThreads>
__global__ void sums(int n, const T* __restrict__ x, T* sums) {
  __shared__ T part[kThreads / 32];
  T v = x[blockIdx.x * kThreads + threadIdx.x];
  __syncthreads();
  v = sum_of_warp(v);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kThreads / 32; ++i) v += part[i];
  sums[blockIdx.x] = v;
})";

constexpr const char* kBiased = R"(
__global__ void biased(int n, const float* bias, float a[], const float* const x) {
  const int i = threadIdx.x;
  if (i >= n) return;
  float sine, cosine;
  sincosf(0.0f, &sine, &cosine);
  float v = x[i] + sine;
  float* at = &v;
  *at += bias != NULL ? bias[i] : 0.0f;
  a[i] = bias == nullptr ? v : -v;
})";

class CheckedKernels : public GpuTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      open_gpu();
      if (gpu) device.emplace(*gpu);
      return;
    }
    device.emplace(open());
    const Result<Program> compiled = device->jit().compile("__global__ void f() {}").get();
    if (!compiled && compiled.error().kind() == ErrorKind::unsupported) GTEST_SKIP() << compiled.error().to_string();
  }
  Program compiled(std::string source, std::string_view instances = {}) {
    return value(device->jit().compile(std::move(source), {.instances = instances, .checked = true}).get());
  }
  Error refused(std::string source) {
    const Result<Program> program = device->jit().compile(std::move(source), {.checked = true}).get();
    return program ? Error(ErrorKind::internal, "it compiled") : program.error();
  }
  template <class... Arguments>
  Result<void> launched(const Program& program, std::string_view kernel, const Grid& grid,
                        const Arguments&... arguments) {
    return device->jit().launch(program, kernel, grid, arguments...).get();
  }
  /// What is said of a launch, which no worker must notice.
  template <class... Arguments>
  std::string said(const Program& program, std::string_view kernel, const Grid& grid, const Arguments&... arguments) {
    const auto generation = device->generation();
    const Result<void> end = launched(program, kernel, grid, arguments...);
    EXPECT_EQ(device->generation(), generation);
    if (end) return "all is well";
    EXPECT_EQ(end.error().kind(), ErrorKind::invalid_argument) << end.error().to_string();
    return std::string(end.error().message());
  }
  template <Element T>
  Array<T> array_of(const std::vector<T>& values) {
    Array<T> array = value(device->array<T>({static_cast<std::int64_t>(values.size())}));
    value(device->write(array, values).get());
    return array;
  }
  Array<float> counted(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    return array_of(values);
  }
  template <Element T>
  std::vector<T> values_of(const Array<T>& array) {
    const HostArray<T> values = value(device->read(array).get());
    return {values.begin(), values.end()};
  }

  std::optional<Device> device;
};
INSTANTIATE_TEST_SUITE_P(On, CheckedKernels, ::testing::Values(false, true),
                         [](const auto& param) { return param.param ? "Gpu" : "Host"; });

TEST_P(CheckedKernels, compute_what_others_compute) {
  const Program program = compiled(kSaxpy);
  EXPECT_EQ(program.kernels(), std::vector<std::string>{"saxpy(int, float, float const*, float*)"});
  EXPECT_EQ(program.log(), "");
  const Array<float> x = counted(10000), y = filled(*device, {10000}, 1.0f);
  EXPECT_EQ(said(program, "saxpy", {.blocks = 10, .threads = 128}, 10000, 0.5f, reads(x), updates(y)), "all is well");
  const std::vector<float> result = values_of(y);
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], 1.0f + 0.5f * static_cast<float>(i));
}

TEST_P(CheckedKernels, are_stopped_where_they_read_or_write_outside) {
  const Program program = compiled(kShift);
  const Array<float> from = counted(256), neighbour = filled(*device, {256}, 7.0f), to = filled(*device, {256}, 0.0f);
  const Grid grid{.blocks = 4, .threads = {64}};
  EXPECT_EQ(said(program, "shift", grid, 0, reads(from), writes(to)), "all is well");
  EXPECT_EQ(said(program, "shift", grid, 1, reads(from), writes(to)),
            "the kernel shift was stopped in block (3, 0, 0): thread (63, 0, 0) touches from[256], and from has 256 "
            "elements of 4 bytes");
  EXPECT_EQ(said(program, "shift", grid, -1, reads(from), writes(to)),
            "the kernel shift was stopped in block (0, 0, 0): thread (0, 0, 0) touches from[-1], and from has 256 "
            "elements of 4 bytes");
  const Array<float> most = value(to.slice(0, 0, 255)), last = value(to.slice(0, 255, 256));
  value(device->fill(to, 5.0f).get());
  EXPECT_EQ(said(program, "shift", grid, 0, reads(from), writes(most)),
            "the kernel shift was stopped in block (3, 0, 0): thread (63, 0, 0) touches to[255], and to has 255 "
            "elements of 4 bytes");
  EXPECT_TRUE(all_equal(*device, last, 5.0f)) << "it is not tainted either";
  EXPECT_EQ(kind_of(device->read(most).get()), ErrorKind::buffer_tainted);
  EXPECT_TRUE(all_equal(*device, neighbour, 7.0f));
  EXPECT_EQ(said(program, "shift", {}, 5, nullptr, writes(to)),
            "the kernel shift was stopped in block (0, 0, 0): thread (0, 0, 0) touches from[5], and from has 0 "
            "elements of 4 bytes");
}

TEST_P(CheckedKernels, touch_nothing_outside) {
  const Program program = compiled(kScribble);
  const Array<std::int32_t> all = filled(*device, {1 << 20}, 3);
  const Array<std::int32_t> middle = value(all.slice(0, 1 << 19, (1 << 19) + 64));
  for (const long long n : {64LL, -64LL, 1000LL, -100'000'000'000LL, 1LL << 45})
    EXPECT_NE(said(program, "scribble", {.threads = 64}, n, writes(middle)), "all is well") << n;
  value(device->fill(middle, 3).get());
  EXPECT_TRUE(all_equal(*device, all, 3));
}

TEST_P(CheckedKernels, know_their_arrays_in_pointers_of_their_own) {
  const Program program = compiled(kRows);
  const Array<float> a = counted(12), out = filled(*device, {3}, 0.0f);
  EXPECT_EQ(said(program, "rows", {.blocks = 3, .threads = 32}, 4, updates(a), writes(out), 0), "all is well");
  EXPECT_EQ(values_of(out), (std::vector<float>{12 + 7 + 1 + 0 + 3, 44 + 7 + 5 + 4 + 7, 76 + 7 + 9 + 8 + 11}));
  EXPECT_EQ(said(program, "rows", {.blocks = 3, .threads = 1}, 4, updates(a), writes(out), 1),
            "the kernel rows was stopped in block (2, 0, 0): thread (0, 0, 0) touches a[12], and a has 12 elements of "
            "4 bytes");
}

TEST_P(CheckedKernels, know_them_behind_casts_and_in_vectors) {
  const Program program = compiled(kVectors);
  const Array<float> x = counted(18), y = filled(*device, {18}, 0.0f);
  EXPECT_EQ(said(program, "vectors", {}, 1, reads(x), updates(y)), "all is well");
  const std::vector<float> four = values_of(value(y.slice(0, 4, 8)));
  EXPECT_EQ(four, (std::vector<float>{8, 10, 6, 7}));
  EXPECT_EQ(said(program, "vectors", {}, 4, reads(x), updates(y)),
            "the kernel vectors was stopped in block (0, 0, 0): thread (0, 0, 0) touches x[4], and x has 4 elements of "
            "16 bytes");
  const Array<float> enough = counted(20);
  value(device->fill(y, 0.0f).get());
  EXPECT_EQ(said(program, "vectors", {}, 4, reads(enough), updates(y)),
            "the kernel vectors was stopped in block (0, 0, 0): thread (0, 0, 0) touches y[4], and y has 4 elements of "
            "16 bytes");
}

TEST_P(CheckedKernels, have_atomics_and_loads_that_are_checked) {
  const Program program = compiled(kCount);
  std::vector<std::int32_t> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i % 10);
  const Array<std::int32_t> x = array_of(numbers);
  const Array<std::uint32_t> bins = filled(*device, {10}, 0U);
  const Array<float> sum = filled(*device, {1}, 0.0f), most = filled(*device, {1}, 0.0f);
  const Grid grid{.blocks = 8, .threads = 128};
  EXPECT_EQ(said(program, "count", grid, 1000, reads(x), updates(bins), updates(sum), updates(most)), "all is well");
  EXPECT_EQ(values_of(bins), std::vector<std::uint32_t>(10, 100));
  EXPECT_EQ(values_of(sum)[0], 4500.0f);
  EXPECT_EQ(values_of(most)[0], 9.0f);
  numbers[700] = 10;
  EXPECT_EQ(said(program, "count", grid, 1000, reads(array_of(numbers)), updates(bins), updates(sum), updates(most)),
            "the kernel count was stopped in block (5, 0, 0): thread (60, 0, 0) touches bins[10], and bins has 10 "
            "elements of 4 bytes");
}

TEST_P(CheckedKernels, come_to_their_barriers_although_threads_were_stopped) {
  const Program program = compiled(kSums, "sums<float, 128>");
  EXPECT_EQ(program.kernels(), std::vector<std::string>{"sums<float, 128>(int, float const*, float*)"});
  const Array<float> x = filled(*device, {1024}, 1.0f), out = filled(*device, {8}, 0.0f);
  EXPECT_EQ(said(program, "sums<float, 128>", {.blocks = 8, .threads = 128}, 1024, reads(x), writes(out)),
            "all is well");
  EXPECT_TRUE(all_equal(*device, out, 128.0f));
  const Array<float> less = value(x.slice(0, 0, 1023));
  EXPECT_EQ(said(program, "sums<float, 128>", {.blocks = 8, .threads = 128}, 1024, reads(less), writes(out)),
            "the kernel sums<float, 128> was stopped in block (7, 0, 0): thread (127, 0, 0) touches x[1023], and x has "
            "1023 elements of 4 bytes");
}

TEST_P(CheckedKernels, take_null_pointers_and_pointers_to_one) {
  const Program program = compiled(kBiased);
  const Array<float> x = counted(8), a = filled(*device, {8}, 0.0f), bias = filled(*device, {8}, 1.0f);
  EXPECT_EQ(said(program, "biased", {.threads = 32}, 8, nullptr, writes(a), reads(x)), "all is well");
  EXPECT_EQ(values_of(a)[7], 7.0f);
  EXPECT_EQ(said(program, "biased", {.threads = 32}, 8, reads(bias), writes(a), reads(x)), "all is well");
  EXPECT_EQ(values_of(a)[7], -8.0f);
  EXPECT_EQ(said(program, "biased", {.threads = 1}, 1, nullptr, writes(a), nullptr),
            "the kernel biased was stopped in block (0, 0, 0): thread (0, 0, 0) touches x[0], and x has 0 elements of "
            "4 bytes");
}

TEST_P(CheckedKernels, say_what_cannot_be_checked) {
  const std::vector<std::pair<const char*, const char*>> sources{
      {"extern \"C\" {\n__global__ void f(float* a) { a[0] = 1; }\n}", "line 2 has a kernel in an extern \"C\" block"},
      {"__global__ void f(float** rows) { rows[0][0] = 1; }", "takes the pointer rows, which is not to elements"},
      {"#define KERNEL(name) __global__ void name(float* a) { a[0] = 1; }\nKERNEL(f)",
       "line 1 makes a kernel by a macro"},
      {"__global__ void f(float* a) {\n\n  float *b = a, c = 1;\n  b[0] = c;\n}",
       "line 3 declares a pointer and something"},
      {"#define FOUR(v) (reinterpret_cast<float4*>(&(v))[0])\n__global__ void f(float* a) { FOUR(a[0]).x = 1; }",
       "line 1 casts the address of what a macro is given"}};
  for (const auto& [source, what] : sources) {
    const Error error = refused(source);
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.to_string();
    EXPECT_NE(error.message().find(what), std::string::npos) << error.to_string();
  }
  const Error plain =
      refused("__global__ void f(float* a) {\n  float whole;\n  a[0] = modff(a[1], a);\n  (void)whole;\n}");
  EXPECT_EQ(plain.kind(), ErrorKind::invalid_argument);
  EXPECT_NE(plain.message().find("checked mode: the kernels compile, but not with pointers that know their arrays"),
            std::string::npos)
      << plain.to_string();
  EXPECT_NE(plain.message().find("is given to what takes a plain pointer"), std::string::npos) << plain.to_string();
  const Error wrong = refused("__global__ void f(float* a) {\n  *a = nonsense;\n}");
  EXPECT_EQ(wrong.kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(wrong.message().find("checked mode"), std::string::npos) << wrong.to_string();
}

/// What needs no GPU of it: NVRTC takes the same texts.
TEST(CheckedKernelsOfAGpu, compile_without_one) {
  System system({.threads = 1, .log = log_nothing()});
  const Device device = value(system.device("host", {.standby = Standby::none}));
  const auto compile = [&](const char* source, std::string_view instances) {
    return device.jit().compile(source, {.flags = "-arch=sm_90", .instances = instances, .checked = true}).get();
  };
  const Result<Program> first = compile(kSaxpy, {});
  if (!first && first.error().kind() == ErrorKind::unsupported) GTEST_SKIP() << first.error().to_string();
  EXPECT_EQ(value(Result<Program>(first)).kernels(),
            std::vector<std::string>{"saxpy(int, float, float const*, float*)"});
  for (const char* const source : {kShift, kScribble, kRows, kVectors, kCount, kBiased}) {
    const Result<Program> compiled = compile(source, {});
    EXPECT_TRUE(compiled) << compiled.error().to_string();
    if (compiled) {
      EXPECT_EQ(compiled->log(), "") << source;
    }
  }
  EXPECT_EQ(value(compile(kSums, "sums<float, 128>")).kernels(),
            std::vector<std::string>{"sums<float, 128>(int, float const*, float*)"});
  const Result<Program> plain = compile("__global__ void f(float* a) { a[0] = modff(a[1], a); }", {});
  ASSERT_FALSE(plain);
  EXPECT_NE(plain.error().message().find("is given to what takes a plain pointer"), std::string::npos)
      << plain.error().to_string();
}

TEST_P(CheckedKernels, go_on_after_a_worker_was_replaced) {
  if (is_thread) GTEST_SKIP() << "needs worker processes";
  const Program program = compiled("__global__ void one(int i, float* a) { a[i] = 1; }");
  const Array<float> a = filled(*device, {4}, 0.0f);
  EXPECT_NE(said(program, "one", {}, 4, updates(a)), "all is well");
  value(device->fill(a, 0.0f).get());
  kill_worker(*device);
  EXPECT_EQ(said(program, "one", {}, 3, updates(a)), "all is well");
  EXPECT_NE(said(program, "one", {}, 4, updates(a)), "all is well");
}

/// Prints what checked mode costs: this is where the table in docs/gpu.md comes from.
TEST_P(CheckedKernels, print_what_checks_cost) {
  constexpr const char* kSource = R"(
    __global__ void saxpy(long long n, float a, const float* x, float* y) {
      for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] += a * x[i];
    }
    __global__ void layernorm(float* out, const float* in, const float* weight, const float* bias, int rows,
                              int columns) {
      const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
      if (row >= rows) return;
      const float* x = in + row * columns;
      float sum = 0, squares = 0;
      for (int i = lane; i < columns; i += 32) sum += x[i];
      for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
      const float mean = sum / columns;
      for (int i = lane; i < columns; i += 32) squares += (x[i] - mean) * (x[i] - mean);
      for (int d = 16; d > 0; d /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, d);
      const float scale = rsqrtf(squares / columns + 1e-5f);
      float* y = out + row * columns;
      for (int i = lane; i < columns; i += 32) y[i] = scale * (x[i] - mean) * weight[i] + bias[i];
    }
    __global__ void product(int n, const float* a, const float* b, float* c) {
      __shared__ float left[16][17], right[16][17];
      const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
      float sum = 0;
      for (int k = 0; k < n; k += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
      }
      c[row * n + column] = sum;
    })";
  const Program plain = value(device->jit().compile(kSource).get()), checked = compiled(kSource);
  const std::int64_t n = GetParam() ? 1 << 26 : 1 << 20;
  const std::int32_t rows = GetParam() ? 32768 : 512, columns = 1024, size = GetParam() ? 2048 : 128;
  const Array<float> x = filled(*device, {n}, 1.0f), y = filled(*device, {n}, 1.0f);
  const auto compare = [&](const char* kernel, const Grid& grid, const auto&... arguments) {
    const auto time_of = [&](const Program& program) {
      std::vector<double> times;
      for (int i = 0; i < (GetParam() ? 12 : 5); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        value(launched(program, kernel, grid, arguments...));
        times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
      }
      std::ranges::sort(times);
      return times[times.size() / 2];
    };
    const double without = time_of(plain), with = time_of(checked);
    std::printf("%-10s %10.1f us, checked %10.1f us: %.2fx\n", kernel, without, with, with / without);
  };
  compare("saxpy", {.blocks = 4096, .threads = 256}, static_cast<long long>(n), 0.5f, reads(x), updates(y));
  const auto blocks = static_cast<std::uint32_t>(rows / 8), tiles = static_cast<std::uint32_t>(size / 16);
  compare("layernorm", {.blocks = blocks, .threads = 256}, updates(y), reads(x), reads(value(x.slice(0, 0, columns))),
          reads(value(x.slice(0, columns, 2 * columns))), rows, columns);
  compare("product", {.blocks = {tiles, tiles}, .threads = {16, 16}}, size, reads(x), reads(x), updates(y));
  EXPECT_GT(values_of(value(y.slice(0, 0, 4)))[0], 0.0f);
}

}  // namespace
}  // namespace troupe
