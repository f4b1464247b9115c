// What an error of the driver or of a library is to its caller, to the others, and to the device.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

class FakeErrors : public FakeGpu {};

TEST_F(FakeErrors, a_gpu_without_memory_says_what_it_has) {
  const Device gpu = open_gpu(in_process());
  page().memory_bytes = 1 << 20;
  const Result<Array<float>> none = gpu.array<float>({64 << 20});
  ASSERT_EQ(kind_of(none), ErrorKind::out_of_memory);
  EXPECT_NE(none.error().to_string().find("of 1 MiB free"), std::string::npos) << none.error().to_string();
  page().memory_bytes = 0;
  EXPECT_TRUE(is_ramp(gpu, ramp(gpu, 1000))) << "the device goes on";
  EXPECT_EQ(gpu.generation(), 1);
}

TEST_F(FakeErrors, scratch_memory_that_is_not_there_costs_one_op) {
  const Device gpu = open_gpu(in_process());
  const Array<float> a = filled(gpu, {8, 8}, 1.0f);
  const Array<float> x = filled(gpu, {8, 8}, 1.0f);
  fail_call(1, 2, "cuMemAllocAsync");
  EXPECT_EQ(kind_of(gpu.solver().inverse(a, x).get()), ErrorKind::out_of_memory);
  EXPECT_TRUE(gpu.solver().inverse(a, x).get());
  EXPECT_EQ(gpu.generation(), 1);
}

struct LibraryFault {
  const char* function;
  int code;
  ErrorKind kind;
};
class FakeLibraryErrors : public FakeErrors, public ::testing::WithParamInterface<LibraryFault> {};
std::string name_of(const ::testing::TestParamInfo<LibraryFault>& fault) {
  return std::string(fault.param.function) + "_" + std::to_string(fault.param.code);
}
INSTANTIATE_TEST_SUITE_P(Fake, FakeLibraryErrors,
                         ::testing::Values(LibraryFault{"cublasCreate_v2", 2, ErrorKind::out_of_memory},
                                           LibraryFault{"cublasSgemm_v2_64", 2, ErrorKind::out_of_memory},
                                           LibraryFault{"cublasSgemm_v2_64", 999, ErrorKind::library_error},
                                           LibraryFault{"cublasSgemm_v2_64", 1, ErrorKind::library_error},
                                           LibraryFault{"cusolverDnCreate", 2, ErrorKind::out_of_memory},
                                           LibraryFault{"cusolverDnXgetrf", 2, ErrorKind::out_of_memory},
                                           LibraryFault{"cusolverDnXgetrf", 999, ErrorKind::library_error},
                                           LibraryFault{"cusparseCreate", 2, ErrorKind::out_of_memory},
                                           LibraryFault{"cusparseSpMV", 999, ErrorKind::library_error},
                                           LibraryFault{"cutensorCreate", 2, ErrorKind::out_of_memory},
                                           LibraryFault{"cutensorCreatePlan", 999, ErrorKind::library_error},
                                           LibraryFault{"cutensorContract", 1, ErrorKind::library_error},
                                           LibraryFault{"cutensorContract", 2, ErrorKind::out_of_memory},
                                           LibraryFault{"cublasLtCreate", 2, ErrorKind::out_of_memory},
                                           LibraryFault{"cublasLtMatmul", 2, ErrorKind::out_of_memory},
                                           LibraryFault{"cuModuleLoadData", 2, ErrorKind::out_of_memory},
                                           LibraryFault{"cuModuleGetFunction", 999, ErrorKind::library_error},
                                           LibraryFault{"cuLaunchKernel", 1, ErrorKind::library_error}),
                         name_of);

TEST_P(FakeLibraryErrors, cost_one_op_and_the_next_one_goes_well) {
  const LibraryFault& fault = GetParam();
  {
    DeviceOptions options = in_thread();
    options.lanes = Lanes::per_family();  // with handles that are not made ready
    const Device gpu = open_gpu(options);
    eventually([&] { return calls("cublasZgemm_v2_64") >= 2; });  // it was made ready for the usual products
    const Array<float> a = filled(gpu, {8, 8}, 1.0f);
    const Array<float> c = filled(gpu, {8, 8}, 1.0f);
    const Array<float> x = filled(gpu, {8}, 1.0f);
    const Array<float> y = filled(gpu, {8}, 1.0f);
    const SparseMatrix sparse =
        value(gpu.sparse().from_triplets<float>(8, 8, std::vector<Triplet<float>>{{0, 0, 1.0f}}, DType::i32));
    const auto run_all = [&] {
      std::vector<Result<void>> ends;
      ends.push_back(gpu.tensor().einsum("ik,kj->ij", a, a, c, {.engine = TensorEngine::gemm}).get());
      ends.push_back(gpu.tensor().einsum("ik,kj->ij", a, a, c, {.engine = TensorEngine::cutensor}).get());
      ends.push_back(gpu.solver().inverse(a, c).get());
      ends.push_back(gpu.sparse().multiply(sparse, x, y).get());
      ends.push_back(gpu.matmul().multiply(a, a, c).get());
      ends.push_back(gpu.tensor().unary(Unary::neg, a, c).get());
      std::erase_if(ends, [](const Result<void>& end) { return end.has_value(); });
      return ends;
    };
    fail_call(1, fault.code, fault.function);
    const std::vector<Result<void>> failed = run_all();
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(kind_of(failed[0]), fault.kind) << failed[0].error().to_string();
    const std::vector<Result<void>> again = run_all();
    EXPECT_TRUE(again.empty()) << again[0].error().to_string();
  }
  expect_all_gone();
}

class FakeStickyErrors : public FakeErrors, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Fake, FakeStickyErrors,
                         ::testing::Values("cuMemcpyAsync", "cuStreamWriteValue64", "cublasSgemm_v2_64",
                                           "cuLaunchKernel"),
                         [](const auto& function) { return std::string(function.param); });

TEST_P(FakeStickyErrors, make_the_standby_take_over_with_all_memory) {
  const Device gpu = open_gpu(in_process(Standby::warm));
  const Array<float> kept = ramp(gpu, 5000);
  const Array<float> a = filled(gpu, {16, 16}, 1.0f);
  const Array<float> c = filled(gpu, {16, 16}, 1.0f);
  const Array<float> copied = value(gpu.array<float>({5000}));
  value(gpu.blas().gemm(a, a, c).get());
  page().fail_process = gpu.worker_pid();  // and not in the standby, which may still be made ready
  fail_call(1, 700, GetParam());
  (void)gpu.copy(kept, copied).get();
  (void)gpu.blas().gemm(a, a, c).get();
  (void)gpu.blas().axpy(1.0, a, c).get();
  eventually([&] { return gpu.generation() == 2; });
  EXPECT_TRUE(is_ramp(gpu, kept)) << "what was written is there in the next worker";
  EXPECT_TRUE(gpu.copy(kept, copied).get());
  EXPECT_TRUE(is_ramp(gpu, copied));
}

TEST_F(FakeErrors, a_worker_that_is_poisoned_while_it_is_made_ready_is_replaced) {
  fail_call(1, 700, "cublasZgemm_v2_64");  // nobody asked for one: the worker loads the usual kernels
  const Device gpu = open_gpu(in_process());
  eventually([&] { return gpu.generation() == 2; });
  EXPECT_TRUE(is_ramp(gpu, ramp(gpu, 1000)));
}

TEST_F(FakeErrors, a_device_in_a_thread_is_lost_when_its_stream_cannot_say_that_it_is_done) {
  {
    const Device gpu = open_gpu();
    const Array<float> a = filled(gpu, {8}, 1.0f);
    fail_call(1, 999, "cuStreamWriteValue64");
    EXPECT_EQ(kind_of(gpu.fill(a, 2.0f).get()), ErrorKind::device_lost);
  }
  expect_all_gone();
}

TEST_F(FakeErrors, without_memory_that_outlives_a_worker_arrays_are_stale_after_a_take_over) {
  DeviceInfo info = gpu_info();
  info.keeps_memory = false;
  const Device gpu = value(Device::open(system, info, in_process(Standby::warm)));
  const Array<float> kept = ramp(gpu, 100);
  EXPECT_TRUE(is_ramp(gpu, kept));
  kill_worker(gpu);
  EXPECT_EQ(kind_of(gpu.read(kept).get()), ErrorKind::buffer_stale);
}

}  // namespace
}  // namespace troupe
