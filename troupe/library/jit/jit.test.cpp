// The parts of `jit()` that need no GPU: NVRTC compiles or refuses with its log, and launches are checked before they
// are made.
#include "troupe/library/jit/jit.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "troupe/troupe.hpp"

namespace troupe {
namespace {

constexpr const char* kGood = R"(
extern "C" __global__ void scale(int n, float factor, float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= factor;
})";

template <class R>
ErrorKind kind_of(const Result<R>& result) {
  return result ? static_cast<ErrorKind>(255) : result.error().kind();
}

class JitOnHost : public ::testing::Test {
 protected:
  void SetUp() override {
    // Where there is no compiler, that is what it says.
    const Result<Program> compiled = device.jit().compile(kGood).get();
    if (!compiled && compiled.error().kind() == ErrorKind::unsupported)
      GTEST_SKIP() << "no NVRTC: " << compiled.error().to_string();
    program = value(Result<Program>(compiled));
  }
  System system{{.threads = 1, .log = log_nothing()}};
  Device device = value(system.device("host", {.standby = Standby::none}));
  Program program;
};

TEST_F(JitOnHost, compiles_without_a_gpu) {
  EXPECT_GT(program.size_bytes(), 0);
  EXPECT_EQ(program.log(), "");
}

TEST_F(JitOnHost, compiles_for_those_who_await_it) {
  const Program compiled = value(system.run([](Device on) -> Task<Result<Program>> {
    co_return co_await on.jit().compile(kGood, {.flags = "-DWIDTH=4 --use_fast_math"});
  }(device)));
  EXPECT_GT(compiled.size_bytes(), 0);
}

TEST_F(JitOnHost, gives_the_compilers_words_for_code_that_is_none) {
  const Result<Program> bad = device.jit().compile("extern \"C\" __global__ void f(int* a) { *a = nonsense; }").get();
  ASSERT_EQ(kind_of(bad), ErrorKind::invalid_argument);
  EXPECT_NE(bad.error().message().find("identifier \"nonsense\" is undefined"), std::string_view::npos);
  EXPECT_EQ(bad.error().origin().library, "nvrtc");
}

TEST_F(JitOnHost, keeps_the_compilers_warnings) {
  const Program warned = value(device.jit().compile("extern \"C\" __global__ void f() { int unused; }").get());
  EXPECT_NE(warned.log().find("unused"), std::string::npos) << warned.log();
}

TEST_F(JitOnHost, refuses_a_source_that_cannot_be) {
  EXPECT_EQ(kind_of(device.jit().compile("").get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.jit().compile(kGood, {.flags = "--no-such-flag"}).get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.jit().compile(kGood, {.flags = "-DA=1\n-DB=2"}).get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.jit().compile(kGood, {.timeout = std::chrono::milliseconds(1), .cached = false}).get()),
            ErrorKind::timeout);
}

TEST_F(JitOnHost, finds_the_toolkits_headers) {
  EXPECT_TRUE(
      device.jit()
          .compile("#include <cuda_fp16.h>\nextern \"C\" __global__ void f(__half* a) { *a = __float2half(1.0f); }")
          .get());
}

TEST_F(JitOnHost, has_the_headers_that_kernels_include_everywhere) {
  const Program compiled = value(device.jit()
                                     .compile(R"(
    #include <assert.h>
    #include <float.h>
    #include <limits.h>
    #include <math.h>
    #include <stddef.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <cassert>
    #include <cfloat>
    #include <climits>
    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <cstdio>
    #include <limits>
    static_assert(std::numeric_limits<int8_t>::min() == -128);
    static_assert(std::numeric_limits<std::uint64_t>::max() == UINT64_MAX);
    static_assert(std::numeric_limits<float>::max() == FLT_MAX && sizeof(size_t) == sizeof(ptrdiff_t) && INT_MAX > 0);
    extern "C" __global__ void f(float* a, int32_t* b) {
      assert(a != NULL);
      a[0] = std::sqrt(M_PI) < DBL_MAX ? -INFINITY : NAN;
      b[0] = std::isnan(a[0]);
      if (b[0] == INT32_MIN) printf("%d", CHAR_BIT);
    })")
                                     .get());
  EXPECT_EQ(compiled.log(), "");
}

TEST_F(JitOnHost, takes_what_was_compiled_before_from_the_disk) {
  std::string folder = (std::filesystem::temp_directory_path() / "troupe-programs-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  setenv("TROUPE_PROGRAMS", folder.c_str(), 1);
  EXPECT_TRUE(device.jit().compile(kGood).get());
  System next({.threads = 1, .log = log_nothing()});
  const Device other = value(next.device("host", {.standby = Standby::none}));
  constexpr auto kTooShortToCompile = std::chrono::milliseconds(1);
  const Result<Program> again = other.jit().compile(kGood, {.timeout = kTooShortToCompile}).get();
  EXPECT_EQ(kind_of(other.jit().compile(kGood, {.timeout = kTooShortToCompile, .cached = false}).get()),
            ErrorKind::timeout);
  setenv("TROUPE_PROGRAMS", "", 1);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(value(Result<Program>(again)).size_bytes(), program.size_bytes());
}

TEST_F(JitOnHost, compiles_cooperative_groups) {
  const Result<Program> compiled = device.jit()
                                       .compile(R"(
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    #include <float.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void f(float* a) {
      const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
      a[0] = cg::reduce(warp, a[threadIdx.x], cg::greater<float>{});
    })")
                                       .get();
  if (!compiled &&
      compiled.error().message().find("cannot open source file \"cooperative_groups.h\"") != std::string_view::npos)
    GTEST_SKIP() << "no headers of the toolkit beside NVRTC";
  EXPECT_TRUE(compiled) << compiled.error().to_string();
}

TEST_F(JitOnHost, refuses_launches_before_they_are_made) {
  const Array<float> a = value(device.array<float>({8}));
  const auto kind = [&](const Grid& grid) {
    return kind_of(device.jit().launch(program, "scale", grid, 8, 2.0f, updates(a)).get());
  };
  EXPECT_EQ(kind({.blocks = 0}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({.threads = 1025}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({.threads = {32, 33}}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({.threads = {1, 1, 65}}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({.blocks = {1, 65536}}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.jit().launch(Program(), "scale", {}).get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.jit().launch(program, "", {}).get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.jit().launch(program, "scale", {}, updates(AnyArray())).get()), ErrorKind::invalid_argument);
}

TEST_F(JitOnHost, says_that_the_host_runs_no_kernels) {
  const Array<float> a = value(device.array<float>({8}));
  EXPECT_EQ(kind_of(device.jit().launch(program, "scale", {}, 8, 2.0f, updates(a)).get()), ErrorKind::unsupported);
}

}  // namespace
}  // namespace troupe
