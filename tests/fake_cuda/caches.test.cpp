// What a worker keeps has limits: programs, sparse plans, matmul's plans and what was measured for them.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

class FakeCaches : public FakeGpu {
 protected:
  void TearDown() override {
    gpu.close();
    expect_all_gone();
    FakeGpu::TearDown();
  }
  Device gpu = open_gpu();
};

constexpr const char* kAdd = R"(extern "C" __global__ void add(long long n, float value, float* a) {})";

TEST_F(FakeCaches, a_program_is_loaded_once) {
  const Program program = value(gpu.jit().compile(kAdd).get());
  EXPECT_EQ(program.log(), "what the compiler has to say");
  const Array<float> a = filled(gpu, {8}, 1.0f);
  const std::uint64_t before = calls("cuModuleLoadData");
  for (int i = 0; i < 5; ++i) value(gpu.jit().launch(program, "add", {}, 8LL, 1.0f, updates(a)).get());
  EXPECT_EQ(calls("cuModuleLoadData") - before, 1);
}

TEST_F(FakeCaches, of_more_programs_than_it_keeps_a_worker_lets_go) {
  if (kSanitized) GTEST_SKIP() << "each program takes a compiler, and those take long to start with a sanitizer";
  const Array<float> a = filled(gpu, {8}, 1.0f);
  constexpr int kMore = 520;  // than cuda::kMaxPrograms
  for (int i = 0; i < kMore; ++i) {
    const Program program = value(gpu.jit().compile(std::string(kAdd) + " // " + std::to_string(i)).get());
    ASSERT_TRUE(gpu.jit().launch(program, "add", {}, 8LL, 1.0f, updates(a)).get());
  }
  EXPECT_EQ(calls("cuModuleUnload"), 512);
}

TEST_F(FakeCaches, kernels_are_launched_with_what_they_take) {
  const Program program = value(gpu.jit().compile(kAdd).get());
  const Array<float> a = filled(gpu, {8}, 1.0f);
  const auto kind = [&](const Grid& grid, const auto&... arguments) {
    return kind_of(gpu.jit().launch(program, "add", grid, arguments...).get());
  };
  EXPECT_EQ(kind({}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({}, 8, 1.0f, updates(a)), ErrorKind::invalid_argument) << "an int for a long long";
  EXPECT_EQ(kind({.shared_bytes = 1 << 20}, 8LL, 1.0f, updates(a)), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(gpu.jit().launch(program, "no_such", {}).get()), ErrorKind::invalid_argument);
  EXPECT_TRUE(gpu.jit().launch(program, "add", {.shared_bytes = 64 << 10}, 8LL, 1.0f, updates(a)).get());
  EXPECT_EQ(kind_of(gpu.jit().compile("#error nothing to compile").get()), ErrorKind::invalid_argument);
}

TEST_F(FakeCaches, a_kernel_takes_a_list_of_arguments_that_was_made_at_run_time) {
  const Program program = value(gpu.jit().compile(kAdd).get());
  const Array<float> a = filled(gpu, {8}, 1.0f);
  KernelArguments arguments;
  arguments.add(8LL);
  arguments.add(1.0f);
  EXPECT_EQ(kind_of(gpu.jit().launch(program, "add", {}, arguments).get()), ErrorKind::invalid_argument) << "too few";
  arguments.add(updates(a));
  EXPECT_TRUE(gpu.jit().launch(program, "add", {}, arguments).get());
}

TEST_F(FakeCaches, sparse_plans_that_were_not_used_for_long_go_first) {
  const Array<float> x = filled(gpu, {4}, 1.0f);
  const Array<float> y = filled(gpu, {4}, 1.0f);
  std::vector<SparseMatrix> matrices;
  constexpr int kMore = 40;  // than backend::PlanLimits::plans
  for (int i = 0; i < kMore; ++i)
    matrices.push_back(value(
        gpu.sparse().from_triplets<float>(4, 4, std::vector<Triplet<float>>{{0, 0, 1.0f}, {1, 1, 1.0f}}, DType::i32)));
  const auto multiply_all = [&] {
    for (const SparseMatrix& matrix : matrices) value(gpu.sparse().multiply(matrix, x, y).get());
  };
  multiply_all();
  EXPECT_EQ(calls("cusparseSpMV_bufferSize"), kMore);
  EXPECT_EQ(calls("cusparseDestroySpMat"), kMore - 32);
  value(gpu.sparse().multiply(matrices.back(), x, y).get());
  EXPECT_EQ(calls("cusparseSpMV_bufferSize"), kMore) << "the last one is there";
  value(gpu.sparse().multiply(matrices.front(), x, y).get());
  EXPECT_EQ(calls("cusparseSpMV_bufferSize"), kMore + 1) << "the first one is gone";
}

TEST_F(FakeCaches, sparse_plans_are_given_up_when_memory_runs_out) {
  const Array<float> x = filled(gpu, {4}, 1.0f);
  const Array<float> y = filled(gpu, {4}, 1.0f);
  const auto make = [&] {
    return value(gpu.sparse().from_triplets<float>(4, 4, std::vector<Triplet<float>>{{0, 0, 1.0f}}, DType::i32));
  };
  const SparseMatrix first = make();
  const SparseMatrix second = make();
  value(gpu.sparse().multiply(first, x, y).get());
  fail_call(1, 2, "cuMemAllocAsync");
  value(gpu.sparse().multiply(second, x, y).get());
  EXPECT_TRUE(has_failed());
  EXPECT_EQ(calls("cusparseDestroySpMat"), 1);
}

TEST_F(FakeCaches, matmul_asks_once_for_each_shape) {
  const Array<float> a = filled(gpu, {16, 16}, 1.0f);
  const Array<float> d = filled(gpu, {16, 16}, 1.0f);
  for (int i = 0; i < 3; ++i) value(gpu.matmul().multiply(a, a, d).get());
  EXPECT_EQ(calls("cublasLtMatmulAlgoGetHeuristic"), 1);
  EXPECT_EQ(calls("cublasLtMatmul"), 3);
}

TEST_F(FakeCaches, matmul_lets_go_of_plans_for_too_many_shapes) {
  constexpr std::int64_t kMore = 520;  // than CublasLt::kMaxPlans
  const Array<float> a = filled(gpu, {kMore, 4}, 1.0f);
  const Array<float> b = filled(gpu, {4, 4}, 1.0f);
  const Array<float> d = filled(gpu, {kMore, 4}, 1.0f);
  for (std::int64_t rows = 1; rows <= kMore; ++rows)
    value(gpu.matmul().multiply(value(a.slice(0, 0, rows)), b, value(d.slice(0, 0, rows))).submit());
  value(gpu.nop().get());
  eventually([&] { return calls("cublasLtMatmul") == kMore; });
  EXPECT_EQ(calls("cublasLtMatmulDescDestroy"), 512);
}

TEST_F(FakeGpu, what_matmul_has_measured_is_there_for_the_next_worker) {
  const TestFolder folder;
  setenv("TROUPE_MATMUL_TUNING", (folder / "tuning").c_str(), 1);
  const auto multiply = [&] {
    const Device gpu = open_gpu();
    const Array<float> a = filled(gpu, {16, 16}, 1.0f);
    const Array<float> d = filled(gpu, {16, 16}, 1.0f);
    for (int i = 0; i < 2; ++i) value(gpu.matmul().multiply(a, a, d, {.autotune = true}).get());
  };
  multiply();
  EXPECT_EQ(calls("cuEventElapsedTime"), 8) << "each candidate is measured once";
  multiply();
  EXPECT_EQ(calls("cuEventElapsedTime"), 8);
  EXPECT_EQ(calls("cublasLtMatmulAlgoCheck"), 1);
  unsetenv("TROUPE_MATMUL_TUNING");
  expect_all_gone();
}

}  // namespace
}  // namespace troupe
