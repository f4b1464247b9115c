// Transforms on their way to a GPU, without one: what cuFFT is told of, what is packed before and after, and how many
// plans a lane keeps. That numbers are right, only a GPU can show.
#include "tests/fake_cuda/fake_gpu.test.hpp"

namespace troupe {
namespace {

using C64 = std::complex<float>;
using C128 = std::complex<double>;

class FakeFft : public FakeGpu {
 protected:
  void TearDown() override {
    gpu.close();
    expect_all_gone();
    FakeGpu::TearDown();
  }
  template <Element T>
  Array<T> full(const Shape& shape) {
    Array<T> made = value(gpu.array<T>(shape));
    value(gpu.fill(made, T(1)).get());
    return made;
  }
  void expect_well(Call<void> call) {
    const Result<void> end = std::move(call).get();
    EXPECT_TRUE(end) << end.error().to_string();
  }
  Device gpu = open_gpu();
};

TEST_F(FakeFft, arrays_that_cufft_can_be_told_of_are_not_copied) {
  const Array<C64> x = full<C64>({5, 3, 8}), y = full<C64>({5, 3, 8});
  const std::uint64_t launches = calls("cuLaunchKernel"), copies = calls("cuMemcpyAsync");
  expect_well(gpu.fft().forward(x, y));
  EXPECT_EQ(calls("cufft of rank 1, strides 1 and 1, distances 8 and 8, batch 15"), 1);
  expect_well(gpu.fft().forward(x, y, {.axes = {2, 1}}));
  EXPECT_EQ(calls("cufft of rank 2, strides 1 and 1, distances 24 and 24, batch 5"), 1);
  expect_well(gpu.fft().forward(x, x, {.axes = {0, 1, 2}}));
  EXPECT_EQ(calls("cufft of rank 3, strides 1 and 1, distances 1 and 1, batch 1"), 1);
  expect_well(gpu.fft().forward(x, y, {.axes = 0}));
  EXPECT_EQ(calls("cufft of rank 1, strides 24 and 24, distances 1 and 1, batch 24"), 1);
  const Array<C64> columns = value(y.slice(2, 0, 8, 2));
  expect_well(gpu.fft().inverse(columns, columns, {.norm = FftNorm::forward}));
  EXPECT_EQ(calls("cufft of rank 1, strides 2 and 2, distances 8 and 8, batch 15"), 1);
  EXPECT_EQ(calls("cufftExecC2C"), 5);
  EXPECT_EQ(calls("cufftSetAutoAllocation"), 5);
  EXPECT_EQ(calls("cufftSetWorkArea"), 5);
  EXPECT_EQ(calls("cuLaunchKernel"), launches);
  EXPECT_EQ(calls("cuMemcpyAsync"), copies);
}

TEST_F(FakeFft, others_are_packed_before_or_after) {
  const Array<C128> x = full<C128>({4, 3, 6}), y = full<C128>({4, 3, 6});
  const std::uint64_t launches = calls("cuLaunchKernel");
  expect_well(gpu.fft().forward(x, y, {.axes = 1}));  // a batch of two loops
  EXPECT_EQ(calls("cufft of rank 1, strides 1 and 1, distances 3 and 3, batch 24"), 1);
  EXPECT_EQ(calls("cuLaunchKernel"), launches + 2) << "x into scratch memory, and the result out of it";
  const Array<C128> reversed = value(x.slice(2, 5, -1, -1));
  expect_well(gpu.fft().forward(reversed, y));
  EXPECT_EQ(calls("cuLaunchKernel"), launches + 3);
  EXPECT_EQ(calls("cufftExecZ2Z"), 2);
}

TEST_F(FakeFft, a_factor_is_one_launch) {
  const Array<C64> x = full<C64>({7});
  const std::uint64_t launches = calls("cuLaunchKernel");
  expect_well(gpu.fft().forward(x, x));
  EXPECT_EQ(calls("cuLaunchKernel"), launches);
  expect_well(gpu.fft().inverse(x, x));
  EXPECT_EQ(calls("cuLaunchKernel"), launches + 1);
  expect_well(gpu.fft().forward(x, x, {.norm = FftNorm::ortho}));
  EXPECT_EQ(calls("cuLaunchKernel"), launches + 2);
}

TEST_F(FakeFft, numbers_of_f16_are_pairs) {
  const Array<f16> x = full<f16>({3, 8, 2}), y = full<f16>({3, 8, 2});
  const std::uint64_t launches = calls("cuLaunchKernel");
  expect_well(gpu.fft().forward(x, y));
  EXPECT_EQ(calls("cufft of f16, rank 1, strides 1 and 1, distances 8 and 8, batch 3"), 1);
  expect_well(gpu.fft().forward(x, x));
  EXPECT_EQ(calls("cuLaunchKernel"), launches);
  expect_well(gpu.fft().inverse(x, y));
  EXPECT_EQ(calls("cuLaunchKernel"), launches + 1) << "the factor";
  const Array<f16> real = full<f16>({4, 8}), half = full<f16>({4, 5, 2});
  expect_well(gpu.fft().forward(real, half));
  EXPECT_EQ(calls("cufft of f16, rank 1, strides 1 and 1, distances 8 and 5, batch 4"), 1);
  const std::uint64_t copies = calls("cuMemcpyAsync");
  expect_well(gpu.fft().inverse(half, real, {.norm = FftNorm::forward}));
  EXPECT_EQ(calls("cuMemcpyAsync"), copies + 1) << "cuFFT may write what it reads";
  expect_well(gpu.fft().forward(real, full<f16>({3, 8, 2}), {.axes = 0}));
  EXPECT_EQ(calls("cufft of f16, rank 1, strides 1 and 1, distances 4 and 3, batch 8"), 1) << "packed before and after";
  EXPECT_EQ(calls("cufftXtExec"), 6);
  const Result<void> end = gpu.fft().forward(full<f16>({6, 2}), full<f16>({6, 2})).get();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind(), ErrorKind::unsupported);
}

TEST_F(FakeFft, real_transforms_have_half_a_spectrum_and_keep_their_input) {
  const Array<float> x = full<float>({3, 10});
  const Array<C64> y = full<C64>({3, 6});
  expect_well(gpu.fft().forward(x, y));
  EXPECT_EQ(calls("cufft of rank 1, strides 1 and 1, distances 10 and 6, batch 3"), 1);
  const std::uint64_t copies = calls("cuMemcpyAsync");
  expect_well(gpu.fft().inverse(y, x));
  EXPECT_EQ(calls("cufft of rank 1, strides 1 and 1, distances 6 and 10, batch 3"), 1);
  EXPECT_EQ(calls("cuMemcpyAsync"), copies + 1) << "cuFFT may write what it reads; an op does not";
  const Array<double> z = full<double>({3, 10});
  const Array<C128> w = full<C128>({3, 6});
  expect_well(gpu.fft().forward(z, w));
  expect_well(gpu.fft().inverse(w, z));
  for (const char* const function : {"cufftExecR2C", "cufftExecC2R", "cufftExecD2Z", "cufftExecZ2D"})
    EXPECT_EQ(calls(function), 1) << function;
}

TEST_F(FakeFft, a_lane_keeps_64_plans_and_lets_the_least_recently_used_go) {
  const auto transform = [&](std::int64_t length) {
    const Array<C64> x = full<C64>({length});
    expect_well(gpu.fft().forward(x, x));
  };
  for (std::int64_t length = 1; length <= 64; ++length) transform(length);
  EXPECT_EQ(calls("cufftMakePlanMany64"), 64);
  EXPECT_EQ(calls("cufftDestroy"), 0);
  transform(1);  // so that 2 is the one that was not used for longest
  transform(65);
  EXPECT_EQ(calls("cufftMakePlanMany64"), 65);
  EXPECT_EQ(calls("cufftDestroy"), 1);
  transform(1);
  EXPECT_EQ(calls("cufftMakePlanMany64"), 65);
  transform(2);
  EXPECT_EQ(calls("cufftMakePlanMany64"), 66);
}

TEST_F(FakeFft, nothing_is_nothing) {
  const Array<C64> x = value(gpu.array<C64>({3, 0}));
  expect_well(gpu.fft().forward(x, x));
  EXPECT_EQ(calls("cufftCreate"), 0);
}

TEST_F(FakeFft, a_plan_that_cannot_be_made_is_an_error_of_the_library) {
  const Array<C64> x = full<C64>({8});
  fail_call(1, 2, "cufftMakePlanMany64");
  const Result<void> end = gpu.fft().forward(x, x).get();
  fail_nothing();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind(), ErrorKind::out_of_memory);
}

}  // namespace
}  // namespace troupe
