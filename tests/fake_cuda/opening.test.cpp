// How the backend finds the driver and the libraries, and what it says when it does not.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

class FakeOpening : public FakeGpu {};

TEST_F(FakeOpening, lists_what_the_driver_shows) {
  EXPECT_EQ(ask_worker("--devices"),
            "cuda\tGPU-fafafafa-fafa-fafa-fafa-fafafafafa00\t8589934592\t90\tkeeps\tshared\tFake GPU\n");
  page().gpus_less_1 = 1;
  page().loses_memory = 1;
  const std::string two = ask_worker("--devices");
  EXPECT_NE(two.find("fa01\t"), std::string::npos) << two;
  EXPECT_NE(two.find("\tloses\t"), std::string::npos) << two;
}

TEST_F(FakeOpening, lists_nothing_when_the_driver_does_not_start) {
  fail_call(1, 100, "cuInit");
  EXPECT_EQ(ask_worker("--devices"), "");
}

TEST_F(FakeOpening, takes_a_gpu_by_its_uuid) {
  page().gpus_less_1 = 1;
  DeviceInfo info = gpu_info();
  info.id = "GPU-fafafafa-fafa-fafa-fafa-fafafafafa01";
  const Device second = value(Device::open(system, info, in_process()));
  EXPECT_TRUE(is_ramp(second, ramp(second, 10)));
  info.id = "GPU-no-such";
  const Result<Device> none = Device::open(system, info, in_process());
  ASSERT_EQ(kind_of(none), ErrorKind::unsupported);
  EXPECT_NE(none.error().to_string().find("GPU-no-such"), std::string::npos) << none.error().to_string();
}

TEST_F(FakeOpening, leaves_nothing_behind) {
  {
    const Device gpu = open_gpu();
    EXPECT_TRUE(is_ramp(gpu, ramp(gpu, 100)));
    EXPECT_EQ(alive(Kind::context), 1);
  }
  expect_all_gone();
}

TEST_F(FakeOpening, says_that_there_is_no_driver) {
  use_libraries({});
  const Result<Device> none = try_open(in_process());
  ASSERT_EQ(kind_of(none), ErrorKind::unsupported) << (none ? "" : none.error().to_string());
  EXPECT_NE(none.error().to_string().find("libcuda.so.1"), std::string::npos) << none.error().to_string();
}

TEST_F(FakeOpening, says_what_an_old_driver_lacks) {
  page().lacks = fake_cuda::hash_of("cuFuncGetParamInfo");
  const Result<Device> old = try_open(in_process());
  ASSERT_EQ(kind_of(old), ErrorKind::unsupported);
  EXPECT_NE(old.error().to_string().find("it lacks cuFuncGetParamInfo"), std::string::npos) << old.error().to_string();
}

TEST_F(FakeOpening, says_which_library_an_op_has_not_found_and_does_the_others) {
  use_libraries({"libcuda.so.1", "libcublas.so.13"});
  const Device gpu = open_gpu(in_process());
  const Array<float> a = filled(gpu, {4, 4}, 1.0f);
  const Array<float> c = filled(gpu, {4, 4}, 0.0f);
  const auto expect_missing = [](const Result<void>& end, std::string_view library) {
    ASSERT_EQ(kind_of(end), ErrorKind::unsupported) << (end ? "it succeeded" : end.error().to_string());
    EXPECT_NE(end.error().to_string().find(library), std::string::npos) << end.error().to_string();
  };
  const SparseMatrix sparse =
      value(gpu.sparse().from_triplets<float>(4, 4, std::vector<Triplet<float>>{{0, 0, 1.0f}}, DType::i32));
  expect_missing(gpu.sparse().multiply(sparse, a, c).get(), "libcusparse.so");
  expect_missing(gpu.solver().inverse(a, c).get(), "libcusolver.so");
  const Array<std::complex<float>> z = value(gpu.array<std::complex<float>>({4}));
  value(gpu.fill(z, std::complex<float>(1)).get());
  expect_missing(gpu.fft().forward(z, z).get(), "libcufft.so");
  expect_missing(gpu.matmul().multiply(a, a, c).get(), "libcublasLt.so");
  const Result<Program> program = gpu.jit().compile("extern \"C\" __global__ void empty() {}").get();
  ASSERT_EQ(kind_of(program), ErrorKind::unsupported);
  EXPECT_NE(program.error().to_string().find("libnvrtc.so"), std::string::npos) << program.error().to_string();
  EXPECT_TRUE(gpu.blas().gemm(a, a, c).get());
  EXPECT_EQ(gpu.generation(), 1);
}

TEST_F(FakeOpening, answers_every_op_of_a_family_whose_library_is_missing) {
  use_libraries({"libcuda.so.1"});
  const Device gpu = open_gpu(in_process());
  const Array<float> a = filled(gpu, {4, 4}, 1.0f);
  const auto fresh = [&] { return value(gpu.array<float>({4, 4})); };  // what an op has failed to write is tainted
  const Blas blas = gpu.blas();
  EXPECT_EQ(kind_of(blas.gemm(a, a, fresh()).get()), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(blas.scal(2.0, filled(gpu, {4}, 1.0f)).get()), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(blas.dot(a, a).get()), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(blas.nrm2(a).get()), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(blas.geam(a, a, fresh()).get()), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(blas.symm(a, a, fresh()).get()), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(blas.syrk(a, fresh()).get()), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(blas.trmm(a, a, fresh()).get()), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(blas.trsm(a, a, fresh()).get()), ErrorKind::unsupported);
  EXPECT_EQ(kind_of(gpu.solver().inverse(a, fresh()).get()), ErrorKind::unsupported);
  EXPECT_TRUE(gpu.tensor().einsum("ik,kj->ij", a, a, fresh()).get()) << "there is another way";
  EXPECT_EQ(gpu.generation(), 1) << "no worker was lost";
}

TEST_F(FakeOpening, says_what_an_old_library_lacks) {
  use_libraries({"libcuda.so.1", "old/libcublas.so.13"});
  const Device gpu = open_gpu(in_process());
  const Array<float> a = filled(gpu, {4, 4}, 1.0f);
  const Array<float> c = filled(gpu, {4, 4}, 0.0f);
  const Result<void> end = gpu.blas().gemm(a, a, c).get();
  ASSERT_EQ(kind_of(end), ErrorKind::unsupported);
  EXPECT_NE(end.error().to_string().find("cuBLAS lacks "), std::string::npos) << end.error().to_string();
  EXPECT_NE(end.error().to_string().find("cublasSetStream_v2"), std::string::npos) << end.error().to_string();
}

TEST_F(FakeOpening, does_without_what_older_libraries_lack) {
  use_libraries({"libcuda.so.1", "libcublas.so.13", "old/libcusolver.so.12", "old/libcusparse.so.12"});
  const Device gpu = open_gpu(in_process());
  const SparseMatrix sparse = value(
      gpu.sparse().from_triplets<float>(2, 2, std::vector<Triplet<float>>{{0, 0, 1.0f}, {1, 1, 1.0f}}, DType::i32));
  const Array<float> b = filled(gpu, {2}, 1.0f);
  const Array<float> x = filled(gpu, {2}, 0.0f);
  for (int i = 0; i < 3; ++i) {
    value(gpu.sparse().solve(sparse, b, x).get());
    value(gpu.sparse().multiply(sparse, b, x).get());
  }
  EXPECT_EQ(calls("cusparseSpSV_analysis"), 3) << "no plan is kept that could not be told of new values";
  EXPECT_EQ(calls("cusparseSpMV_bufferSize"), 1);
  const Array<float> batch = filled(gpu, {3, 2, 2}, 1.0f);
  const Array<float> w = filled(gpu, {3, 2}, 0.0f);
  value(gpu.solver().eigenvalues(batch, w).get());
  EXPECT_EQ(calls("cusolverDnXsyevd"), 3);
}

TEST_F(FakeOpening, tells_the_doctor_of_every_library) {
  const std::string facts = ask_worker("--doctor");
  for (const char* const file : {"libcuda.so.1", "libcublas.so.13", "libcublasLt.so.13", "libcufft.so.12",
                                 "libcusolver.so.12", "libcusparse.so.12", "libcutensor.so.2", "libnvrtc.so.13"})
    EXPECT_NE(facts.find(beside("fake_cuda/") + file), std::string::npos) << facts;
}

}  // namespace
}  // namespace troupe
