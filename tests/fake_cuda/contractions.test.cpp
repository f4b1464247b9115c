// Contractions by cuTENSOR: when it is taken, what is kept, and what happens when it is not there or fails.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

constexpr EinsumOptions kCutensor{.engine = TensorEngine::cutensor};

class FakeContractions : public FakeGpu {
 protected:
  void TearDown() override {
    gpu.close();
    expect_all_gone();
    FakeGpu::TearDown();
  }
  Array<float> some(const Shape& shape) const { return filled(gpu, shape, 1.0f); }
  Result<void> multiply(const EinsumOptions& options, std::int64_t n = 16) const {
    return gpu.tensor().einsum("ik,kj->ij", some({n, n}), some({n, n}), some({n, n}), options).get();
  }
  /// Of which permuting is a large part, and which takes a while.
  Result<void> contract_long(const EinsumOptions& options = {}) const {
    const Array<float> a = filled(gpu, {512, 64, 512}, 1.0f);
    return gpu.tensor().einsum("kil,ljk->ij", a, a, value(gpu.array<float>({64, 64})), options).get();
  }
  Device gpu = open_gpu();
};

TEST_F(FakeContractions, are_planned_once_for_each_shape) {
  for (int i = 0; i < 3; ++i) value(multiply(kCutensor));
  EXPECT_EQ(calls("cutensorCreatePlan"), 1);
  EXPECT_EQ(calls("cutensorContract"), 3);
  value(multiply(kCutensor, 17));
  EXPECT_EQ(calls("cutensorCreatePlan"), 2);
  EXPECT_EQ(calls("cutensorCreate"), 1);
}

TEST_F(FakeContractions, of_too_many_shapes_the_plans_that_were_not_used_for_long_go_first) {
  constexpr std::int64_t kMore = 130;  // than Cutensor::kMaxPlans
  const Array<float> a = some({kMore, 4});
  const Array<float> b = some({4, 4});
  const Array<float> c = some({kMore, 4});
  const auto multiply_rows = [&](std::int64_t rows) {
    value(gpu.tensor().einsum("ik,kj->ij", value(a.slice(0, 0, rows)), b, value(c.slice(0, 0, rows)), kCutensor).get());
  };
  for (std::int64_t rows = 1; rows <= kMore; ++rows) multiply_rows(rows);
  EXPECT_EQ(calls("cutensorDestroyPlan"), kMore - 128);
  multiply_rows(kMore);
  EXPECT_EQ(calls("cutensorCreatePlan"), kMore) << "the last one is there";
  multiply_rows(1);
  EXPECT_EQ(calls("cutensorCreatePlan"), kMore + 1) << "the first one is gone";
}

TEST_F(FakeContractions, are_left_to_cutensor_where_permuting_takes_long) {
  value(multiply({}));
  value(multiply({}, 2048));
  EXPECT_EQ(calls("cutensorContract"), 0) << "products of matrices";
  value(contract_long());
  EXPECT_EQ(calls("cutensorContract"), 1);
  value(contract_long({.engine = TensorEngine::gemm}));
  EXPECT_EQ(calls("cutensorContract"), 1);
}

TEST_F(FakeContractions, with_a_factor_of_0_are_computed_by_us) {
  value(multiply({.alpha = 0.0, .engine = TensorEngine::cutensor}));
  EXPECT_EQ(calls("cutensorContract"), 0) << "a NaN must not be lost";
}

TEST_F(FakeContractions, pack_what_cutensor_does_not_take) {
  const Array<float> a = some({8, 8});
  const Array<float> c = some({8, 8});
  const Array<float> row = value(some({8}).broadcast({8, 8}));
  const auto kernels_of = [&](const Array<float>& left, const Array<float>& out, double beta) {
    const std::uint64_t before = calls("cuLaunchKernel");
    value(gpu.tensor().einsum("ik,kj->ij", left, a, out, {.beta = beta, .engine = TensorEngine::cutensor}).get());
    return calls("cuLaunchKernel") - before;
  };
  EXPECT_EQ(kernels_of(a.transpose(), c, 0.0), 0) << "any order of axes is good";
  EXPECT_EQ(kernels_of(row, c, 0.0), 1) << "repeated";
  const Array<float> backwards = value(c.slice(0, 7, -1, -1));
  EXPECT_EQ(kernels_of(a, backwards, 0.0), 1) << "unpacked";
  EXPECT_EQ(kernels_of(a, backwards, 1.0), 2) << "packed and unpacked";
}

TEST_F(FakeContractions, are_measured_once_when_asked) {
  for (int i = 0; i < 3; ++i) value(multiply({.autotune = true}));
  EXPECT_EQ(calls("cuEventElapsedTime"), 5 + 2 * 3) << "the best kernels, then the winner and the other way in turns";
  const std::uint64_t before = calls("cuEventElapsedTime");
  value(multiply({.beta = 1.0, .autotune = true}, 32));
  EXPECT_EQ(calls("cuEventElapsedTime"), before) << "what is added to would be added to many times";
  value(multiply({.engine = TensorEngine::gemm, .autotune = true}, 33));
  EXPECT_EQ(calls("cuEventElapsedTime"), before) << "there is nothing to choose";
}

TEST_F(FakeContractions, go_the_other_way_when_cutensor_fails_before_it_begins) {
  for (const char* const function : {"cutensorCreate", "cutensorCreateContraction", "cutensorCreatePlan"}) {
    SCOPED_TRACE(function);
    fail_call(1, 999, function);
    const std::uint64_t contracted = calls("cutensorContract");
    value(contract_long());
    EXPECT_TRUE(has_failed());
    EXPECT_EQ(calls("cutensorContract"), contracted);
    value(contract_long());
    EXPECT_EQ(calls("cutensorContract"), contracted + 1);
    gpu.close();  // the next one has no plan
    gpu = open_gpu();
  }
  value(contract_long());
  fail_call(1, 2, "cuMemAllocAsync");
  EXPECT_TRUE(contract_long()) << "without memory for a workspace";
  EXPECT_TRUE(has_failed());
}

TEST_F(FakeGpu, what_was_measured_of_contractions_is_there_for_the_next_worker) {
  const TestFolder folder;
  setenv("TROUPE_TENSOR_TUNING", (folder / "tuning").c_str(), 1);
  const auto multiply = [&] {
    const Device gpu = open_gpu();
    const Array<float> a = filled(gpu, {16, 16}, 1.0f);
    const Array<float> c = filled(gpu, {16, 16}, 1.0f);
    for (int i = 0; i < 2; ++i) value(gpu.tensor().einsum("ik,kj->ij", a, a, c, {.autotune = true}).get());
  };
  multiply();
  const std::uint64_t measured = calls("cuEventElapsedTime");
  EXPECT_GT(measured, 0);
  multiply();
  EXPECT_EQ(calls("cuEventElapsedTime"), measured);
  unsetenv("TROUPE_TENSOR_TUNING");
  expect_all_gone();
}

TEST_F(FakeGpu, without_cutensor_contractions_go_the_other_way_unless_it_is_asked_for) {
  for (const char* const old : {"", "old/libcutensor.so.2"}) {
    SCOPED_TRACE(old);
    if (*old == '\0')
      use_libraries({"libcuda.so.1", "libcublas.so.13"});
    else
      use_libraries({"libcuda.so.1", "libcublas.so.13", old});
    const Device gpu = open_gpu(in_process());
    const Array<float> a = filled(gpu, {512, 64, 512}, 1.0f);
    const Array<float> c = value(gpu.array<float>({64, 64}));
    for (const bool autotune : {false, true})
      EXPECT_TRUE(gpu.tensor().einsum("kil,ljk->ij", a, a, c, {.autotune = autotune}).get());
    const Result<void> end = gpu.tensor().einsum("kil,ljk->ij", a, a, c, kCutensor).get();
    ASSERT_EQ(kind_of(end), ErrorKind::unsupported) << (end ? "it succeeded" : end.error().to_string());
    EXPECT_NE(end.error().to_string().find("cuTENSOR"), std::string::npos) << end.error().to_string();
    EXPECT_NE(end.error().to_string().find(*old == '\0' ? "libcutensor.so.2" : "too old"), std::string::npos)
        << end.error().to_string();
    EXPECT_EQ(gpu.generation(), 1) << "no worker was lost";
  }
}

TEST_F(FakeGpu, a_sticky_error_of_cutensor_makes_the_standby_take_over) {
  const Device gpu = open_gpu(in_process(Standby::warm));
  const Array<float> kept = ramp(gpu, 5000);
  const Array<float> a = filled(gpu, {16, 16}, 1.0f);
  const Array<float> c = filled(gpu, {16, 16}, 1.0f);
  value(gpu.tensor().einsum("ik,kj->ij", a, a, c, kCutensor).get());
  page().fail_process = gpu.worker_pid();
  fail_call(1, 700, "cutensorContract");
  (void)gpu.tensor().einsum("ik,kj->ij", a, a, c, kCutensor).get();
  eventually([&] { return gpu.generation() == 2; });
  EXPECT_TRUE(is_ramp(gpu, kept));
  EXPECT_TRUE(gpu.tensor().einsum("ik,kj->ij", a, a, c, kCutensor).get());
}

}  // namespace
}  // namespace troupe
