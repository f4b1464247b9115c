// Variables of programs on the CPU: what they are set to belongs to the program, whatever becomes of its workers.
#include "troupe/library/jit/host_kernels.test.hpp"

namespace troupe {
namespace {

class HostVariables : public HostKernels {
 protected:
  template <class From>
  Result<void> set(const Program& program, std::string_view variable, const From& from) {
    return device.jit().set(program, variable, from).get();
  }
  template <Element T>
  std::vector<T> get(const Program& program, std::string_view variable, std::int64_t count) {
    const Array<T> into = value(device.array<T>({count}));
    value(device.jit().get(program, variable, into).get());
    return values_of(into);
  }
};

constexpr const char* kFilter = R"(
  namespace mine {
  __constant__ float weights[3], bias = 0.5f;
  }
  struct Settings { int first; double scale; };
  __constant__ Settings settings;
  static __constant__ int never_written = 1;
  static __device__ __align__(16) unsigned long long hits = 7;
  __device__ const float kTable[2] = {1, 2};
  namespace { __device__ int quiet[2] = {3, 4}; }
  __device__ inline float twice(float x) { return 2 * x; }
  struct Holder { __device__ float member(float x) const { return x; } };
  __global__ void filter(const float* x, float* y) {
    const int i = threadIdx.x;
    y[i] = x[i] * mine::weights[i % 3] + mine::bias + settings.first + static_cast<float>(settings.scale) +
           never_written - 1;
    atomicAdd(&hits, 1ull);
    if (i == 0) quiet[1] += static_cast<int>(kTable[1]);
  })";

TEST_F(HostVariables, are_those_of_the_source) {
  std::vector<std::string> names = compiled(kFilter).variables();
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"(anonymous namespace)::quiet", "hits", "mine::bias", "mine::weights",
                                             "never_written", "settings"}));
  EXPECT_TRUE(compiled("__global__ void f() {}").variables().empty());
}

TEST_F(HostVariables, are_set_from_arrays_numbers_and_structs) {
  const Program program = compiled(kFilter);
  const Array<float> x = array_of(counted(6)), y = filled(device, {6}, 0.0f);
  launch(program, "filter", {.threads = 6}, reads(x), writes(y));
  EXPECT_EQ(values_of(y), std::vector<float>(6, 0.5f)) << "as the source has them";

  struct Settings {
    int first;
    double scale;
  };
  value(set(program, "mine::weights", array_of<float>({1, 10, 100})));
  value(set(program, "bias", 1.25f));
  value(set(program, "never_written", 0));
  value(set(program, "settings", Settings{2, 4.0}));
  launch(program, "filter", {.threads = 6}, reads(x), writes(y));
  EXPECT_EQ(values_of(y), (std::vector<float>{6.25, 16.25, 206.25, 9.25, 46.25, 506.25}));
  value(set(program, "weights", std::vector<float>{1, 1, 1}));
  launch(program, "filter", {.threads = 6}, reads(x), writes(y));
  EXPECT_EQ(values_of(y), (std::vector<float>{6.25, 7.25, 8.25, 9.25, 10.25, 11.25}));
  EXPECT_EQ(get<float>(program, "weights", 3), (std::vector<float>{1, 1, 1}));
}

TEST_F(HostVariables, are_set_again_in_the_next_worker) {
  const Program program = compiled(kFilter);
  const Array<float> x = array_of(counted(3)), y = filled(device, {3}, 0.0f);
  value(set(program, "weights", std::vector<float>{2, 4, 8}));
  value(set(program, "hits", std::uint64_t{100}));
  for (std::uint64_t round = 0; round < 3; ++round) {
    launch(program, "filter", {.threads = 3}, reads(x), writes(y));
    EXPECT_EQ(values_of(y), (std::vector<float>{0.5, 4.5, 16.5}));
    kill_worker(device);
    EXPECT_EQ(get<std::uint64_t>(program, "hits", 1)[0], 103 + 3 * round) << "what kernels make of it stays, too";
  }
}

TEST_F(HostVariables, of_two_programs_are_not_the_same) {
  const Program one = compiled(kFilter), other = compiled(kFilter), copy = one;
  const Array<float> x = array_of(counted(3)), y = filled(device, {3}, 0.0f);
  value(set(one, "weights", std::vector<float>{1, 1, 1}));
  value(set(other, "weights", std::vector<float>{2, 2, 2}));
  for (int round = 0; round < 2; ++round) {
    launch(copy, "filter", {.threads = 3}, reads(x), writes(y));
    EXPECT_EQ(values_of(y), (std::vector<float>{0.5, 1.5, 2.5}));
    launch(other, "filter", {.threads = 3}, reads(x), writes(y));
    EXPECT_EQ(values_of(y), (std::vector<float>{0.5, 2.5, 4.5}));
    kill_worker(device);
  }
}

TEST_F(HostVariables, are_unknown_after_a_kernel_that_failed_until_they_are_set_again) {
  const Program program = compiled(R"(
    __device__ int hits;
    __global__ void count(int fails) { atomicAdd(&hits, 1); if (fails) __trap(); })");
  value(set(program, "hits", 1));
  EXPECT_EQ(launched(program, "count", {}, 1).error().kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(launched(program, "count", {}, 0).error().kind(), ErrorKind::buffer_tainted);
  value(set(program, "hits", 5));
  launch(program, "count", {}, 0);
  EXPECT_EQ(get<std::int32_t>(program, "hits", 1)[0], 6);
}

TEST_F(HostVariables, have_their_size_and_their_name) {
  const Program program = compiled(kFilter);
  const auto said = [](const Result<void>& result) { return std::string(result.error().message()); };
  EXPECT_EQ(said(set(program, "weights", std::vector<float>{1, 2})),
            "set: mine::weights has 12 bytes, and the array has 8");
  const std::string missing = said(set(program, "kTable", 1.0f));
  EXPECT_NE(missing.find("set: the program has no variable kTable; it has "), std::string::npos) << missing;
  EXPECT_NE(missing.find("mine::weights (12 bytes)"), std::string::npos) << missing;
  EXPECT_EQ(said(set(compiled("__global__ void f() {}"), "weights", 1.0f)),
            "set: the program has no variable weights; no kernel of it uses a __constant__ or __device__ variable");
  EXPECT_EQ(said(set(Program(), "weights", 1.0f)), "set: the program is empty; compile it first");
  EXPECT_EQ(said(set(program, "weights", Array<float>())),
            "set: the array is an empty handle: default-constructed or moved from");
  const Array<float> six = array_of(counted(6));
  EXPECT_EQ(said(set(program, "weights", value(six.slice(0, 0, 6, 2)))),
            "set: the elements of the array do not lie side by side; give it a copy");
  EXPECT_EQ(said(device.jit().get(program, "hits", value(device.array<std::uint64_t>({1}))).get()),
            "get: hits was never set; set it first, so that what kernels make of it is kept when a worker is lost");
}

TEST_F(HostVariables, that_were_never_submitted_are_not_set) {
  const Program program = compiled(kFilter);
  const Array<float> x = array_of(counted(3)), y = filled(device, {3}, 0.0f);
  {
    const Call<void> dropped = device.jit().set(program, "weights", std::vector<float>{9, 9, 9});
  }
  launch(program, "filter", {.threads = 3}, reads(x), writes(y));
  EXPECT_EQ(values_of(y), std::vector<float>(3, 0.5f));
}

}  // namespace
}  // namespace troupe
