// What programs are on a real GPU beside their kernels: variables, handles, headers, images, what is printed, and grids
// whose blocks know of each other. The same without a GPU: library/jit/host_variables.test.cpp,
// kernel_handles.test.cpp.
#include "troupe/device/gpu_fixture.test.hpp"

namespace troupe {
namespace {

class GpuJitPrograms : public GpuTest {
 protected:
  void SetUp() override { open_gpu(); }
  Program compiled(std::string source, CompileOptions options = {}) {
    return value(gpu->jit().compile(std::move(source), options).get());
  }
  template <Element T>
  std::vector<T> values_of(const Array<T>& array) {
    const HostArray<T> values = value(gpu->read(array).get());
    return {values.begin(), values.end()};
  }
  Array<float> counted(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const Array<float> array = value(gpu->array<float>({count}));
    value(gpu->write(array, values).get());
    return array;
  }
};

constexpr const char* kFilter = R"(
  namespace mine { __constant__ float weights[3]; }
  struct Settings { int first; double scale; };
  __constant__ Settings settings;
  __device__ unsigned long long hits = 7;
  __global__ void filter(const float* x, float* y) {
    const int i = threadIdx.x;
    y[i] = x[i] * mine::weights[i % 3] + settings.first + static_cast<float>(settings.scale);
    atomicAdd(&hits, 1ull);
  })";
struct Settings {
  int first;
  double scale;
};

TEST_F(GpuJitPrograms, keep_what_their_variables_were_set_to) {
  const Program program = compiled(kFilter), other = compiled(kFilter);
  std::vector<std::string> names = program.variables();
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"hits", "mine::weights", "settings"}));
  value(gpu->jit().set(program, "weights", std::vector<float>{1, 10, 100}).get());
  value(gpu->jit().set(other, "weights", std::vector<float>{0, 0, 0}).get());
  value(gpu->jit().set(program, "settings", Settings{2, 4.0}).get());
  value(gpu->jit().set(program, "hits", std::uint64_t{100}).get());
  const Array<float> x = counted(6), y = filled(*gpu, {6}, 0.0f);
  const Array<std::uint64_t> hits = value(gpu->array<std::uint64_t>({1}));
  for (std::uint64_t round = 1; round <= 3; ++round) {
    value(gpu->jit().launch(program, "filter", {.threads = 6}, reads(x), writes(y)).get());
    EXPECT_EQ(values_of(y), (std::vector<float>{6, 16, 206, 9, 46, 506}));
    value(gpu->jit().launch(other, "filter", {.threads = 6}, reads(x), writes(y)).get());
    EXPECT_EQ(values_of(y), std::vector<float>(6, 0.0f));
    if (!is_thread) kill_worker(*gpu);
    value(gpu->jit().get(program, "hits", hits).get());
    EXPECT_EQ(values_of(hits)[0], 100 + 6 * round);
  }
  EXPECT_EQ(kind_of(gpu->jit().set(program, "weights", 1.0f).get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(gpu->jit().set(program, "biases", 1.0f).get()), ErrorKind::invalid_argument);
}

TEST_F(GpuJitPrograms, are_launched_by_handle_with_structs_that_have_pointers) {
  struct Layer {
    const float* weights;
    float* out[2];
    int n;
  };
  KernelSource source("#include \"layer.cuh\"\n__global__ void forward(Layer layer, float by) { run(layer, by); }");
  source.add_header("layer.cuh", R"(
    #include "names.h"
    struct Layer { const float* weights; float* out[2]; int n; };
    __device__ void run(Layer layer, float by) {
      for (int i = threadIdx.x; i < layer.n; i += blockDim.x)
        for (int k = 0; k < kOutputs; ++k) layer.out[k][i] = by * layer.weights[i] + k * STEP;
    })");
  source.add_header("names.h", "constexpr int kOutputs = 2;\n");
  source.add_flag("-DSTEP=(1 + 1)");
  const Program program = value(gpu->jit().compile(source).get());
  const auto forward = value(program.kernel<void(Layer, float)>("forward"));
  const Array<float> weights = counted(100), first = filled(*gpu, {100}, 0.0f), second = filled(*gpu, {100}, 0.0f);
  KernelStruct<Layer> layer({.weights = nullptr, .out = {}, .n = 100});
  layer.point(&Layer::weights, reads(weights))
      .point(&Layer::out, 0, writes(first))
      .point(&Layer::out, 1, writes(second));
  value(gpu->jit().launch(forward, {.threads = 32}, layer, 3).get());
  const std::vector<float> ones = values_of(first), twos = values_of(second);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(ones[i], 3.0f * static_cast<float>(i));
    EXPECT_EQ(twos[i], 3.0f * static_cast<float>(i) + 2.0f);
  }
  const Program again = value(gpu->jit().load(program.image()));
  value(gpu->jit().launch(again, "forward", {.threads = 32}, layer, 5.0f).get());
  EXPECT_EQ(values_of(first)[7], 35.0f);
}

TEST_F(GpuJitPrograms, print_into_the_log) {
  if (is_thread) GTEST_SKIP() << "a worker in a thread has this program's standard output";
  const Program program = compiled(R"(
    __global__ void tell(int n) { if (threadIdx.x == 1) printf("thread %d of %d\nand more\n", threadIdx.x, n); })");
  for (int round = 0; round < 2; ++round) {
    value(gpu->jit().launch(program, "tell", {.threads = 2}, 2 + round).get());
    eventually([&] { return log.has("tell: thread 1 of " + std::to_string(2 + round)); });
  }
  EXPECT_TRUE(log.has("tell: and more"));
  EXPECT_EQ(gpu->generation(), 1);
}

TEST_F(GpuJitPrograms, run_on_as_many_blocks_as_the_gpu_has_room_for) {
  const Program program = compiled(R"(
    __global__ void count(unsigned* blocks) {
      if (threadIdx.x == 0) atomicAdd(blocks, 1u);
      if (blockIdx.x == 0) blocks[1] = gridDim.x;
    })");
  const Array<std::uint32_t> blocks = filled(*gpu, {2}, 0U);
  value(gpu->jit().launch(program, "count", {.threads = 1024, .fills_device = true}, updates(blocks)).get());
  EXPECT_GE(values_of(blocks)[0], 2U);
  EXPECT_EQ(values_of(blocks)[0], values_of(blocks)[1]);
}

TEST_F(GpuJitPrograms, wait_for_all_blocks_of_a_cooperative_grid) {
  const Result<Program> program = gpu->jit()
                                      .compile(R"(
    #include <cooperative_groups.h>
    __global__ void in_turns(int* sums, int* total) {
      sums[blockIdx.x] = blockIdx.x + 1;
      cooperative_groups::this_grid().sync();
      if (blockIdx.x == 0 && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x; ++i) sum += sums[i];
        *total = sum;
      }
    })")
                                      .get();
  if (!program && program.error().message().find("cannot open source file") != std::string_view::npos)
    GTEST_SKIP() << "no headers of the toolkit beside NVRTC";
  const Array<std::int32_t> sums = filled(*gpu, {64}, 0), total = filled(*gpu, {1}, 0);
  const auto launched = [&](const Grid& grid) {
    return gpu->jit().launch(value(Result<Program>(program)), "in_turns", grid, updates(sums), writes(total)).get();
  };
  value(launched({.blocks = 64, .threads = 32, .cooperative = true}));
  EXPECT_EQ(values_of(total)[0], 64 * 65 / 2);
  const Result<void> too_many = launched({.blocks = 1 << 20, .threads = 1024, .cooperative = true});
  ASSERT_EQ(kind_of(too_many), ErrorKind::invalid_argument);
  EXPECT_NE(too_many.error().message().find("of a cooperative one all blocks must fit at once, and "),
            std::string_view::npos)
      << too_many.error().to_string();
  EXPECT_EQ(gpu->generation(), 1);
}

TEST_F(GpuJitPrograms, have_clusters_of_blocks) {
  if (gpu->info().capability < 90) GTEST_SKIP() << "clusters of blocks need compute capability 9.0";
  const Program program = compiled(R"(
    __global__ void rank(unsigned* ranks) {
      unsigned rank, size;
      asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
      asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
      if (threadIdx.x == 0) ranks[blockIdx.x] = rank + 100 * size;
    })");
  const Array<std::uint32_t> ranks = filled(*gpu, {16}, 0U);
  for (const std::uint32_t size : {2U, 8U, 16U}) {
    value(gpu->jit().launch(program, "rank", {.blocks = 16, .threads = 32, .cluster = size}, writes(ranks)).get());
    const std::vector<std::uint32_t> all = values_of(ranks);
    for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(all[i], i % size + 100 * size);
  }
}

}  // namespace
}  // namespace troupe
