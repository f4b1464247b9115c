// The parts of `jit()` that need no GPU: NVRTC compiles or refuses with its log, and launches are checked before they
// are made. Kernels that run on the CPU are in host_kernels.test.cpp.
#include "troupe/library/jit/jit.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <thread>

#include "troupe/core/seed.test.hpp"
#include "troupe/device/find_worker.hpp"
#include "troupe/library/jit/compile_in_worker.hpp"
#include "troupe/library/jit/program_kernels.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

constexpr const char* kGood = R"(
__global__ void scale(int n, float factor, float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= factor;
})";

/// For a GPU, which need not be there.
constexpr const char* kForGpu = "-arch=sm_90";

template <class R>
ErrorKind kind_of(const Result<R>& result) {
  return result ? static_cast<ErrorKind>(255) : result.error().kind();
}

class JitOnHost : public ::testing::Test {
 protected:
  void SetUp() override {
    // Where there is no compiler, that is what it says.
    const Result<Program> compiled = device.jit().compile(kGood, {.flags = kForGpu}).get();
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
    co_return co_await on.jit().compile(kGood, {.flags = "-DWIDTH=4 -arch=sm_90 --use_fast_math"});
  }(device)));
  EXPECT_GT(compiled.size_bytes(), 0);
}

TEST_F(JitOnHost, gives_the_compilers_words_for_code_that_is_none) {
  const Result<Program> bad =
      device.jit().compile("extern \"C\" __global__ void f(int* a) { *a = nonsense; }", {.flags = kForGpu}).get();
  ASSERT_EQ(kind_of(bad), ErrorKind::invalid_argument);
  EXPECT_NE(bad.error().message().find("identifier \"nonsense\" is undefined"), std::string_view::npos);
  EXPECT_EQ(bad.error().origin().library, "nvrtc");
}

TEST_F(JitOnHost, keeps_the_compilers_warnings) {
  const Program warned =
      value(device.jit().compile("extern \"C\" __global__ void f() { int unused; }", {.flags = kForGpu}).get());
  EXPECT_NE(warned.log().find("unused"), std::string::npos) << warned.log();
}

TEST_F(JitOnHost, refuses_a_source_that_cannot_be) {
  EXPECT_EQ(kind_of(device.jit().compile("").get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.jit().compile(kGood, {.flags = "--no-such-flag -arch=sm_90"}).get()),
            ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.jit().compile(kGood, {.flags = "-DA=1\n-DB=2"}).get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.jit().compile(kGood, {.flags = "-arch=sm_90 -dlto"}).get()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(device.jit()
                        .compile(kGood, {.flags = kForGpu, .timeout = std::chrono::milliseconds(1), .cached = false})
                        .get()),
            ErrorKind::timeout);
}

TEST_F(JitOnHost, finds_the_toolkits_headers) {
  EXPECT_TRUE(
      device.jit()
          .compile("#include <cuda_fp16.h>\nextern \"C\" __global__ void f(__half* a) { *a = __float2half(1.0f); }",
                   {.flags = kForGpu})
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
    })",
                                              {.flags = kForGpu})
                                     .get());
  EXPECT_EQ(compiled.log(), "");
}

TEST_F(JitOnHost, leaves_constants_alone_that_the_kernel_has_defined_itself) {
  const Result<Program> compiled = device.jit()
                                       .compile(R"(
    #define M_PI 3.14159265358979323846
    #define FLT_MAX 3.402823466e+38f
    #define DBL_MAX 1.7976931348623158e+308
    #include <float.h>
    #include <math.h>
    #include <limits>
    extern "C" __global__ void f(float* a, double* b) {
      a[0] = INFINITY + NAN + FLT_EPSILON + FLT_MIN + FLT_MAX + std::numeric_limits<float>::max();
      b[0] = M_PI + M_E + HUGE_VAL + DBL_EPSILON + DBL_MIN + std::numeric_limits<double>::max();
    })",
                                                {.flags = kForGpu})
                                       .get();
  EXPECT_TRUE(compiled) << compiled.error().to_string();
}

Task<Result<void>> compiled_anew(Device on) {
  const Result<Program> compiled = co_await on.jit().compile(kGood, {.flags = kForGpu, .cached = false});
  if (!compiled) co_return fail(compiled.error());
  co_return {};
}
Task<Result<void>> nothing() { co_return Result<void>(); }
Task<Result<void>> cut_off(Device on) { co_return (co_await when_any(compiled_anew(on), nothing())).value; }

TEST_F(JitOnHost, leaves_nothing_behind_of_what_is_cut_off_before_it_is_compiled) {
  const auto actors = [&] { return system.stats().actors; };
  const std::size_t before = actors();
  std::jthread busy([&] { EXPECT_TRUE(system.run(compiled_anew(device))); });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(system.run(cut_off(device)));
  busy.join();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (actors() > before && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_LE(actors(), before);
}

TEST_F(JitOnHost, takes_what_was_compiled_before_from_the_disk) {
  std::string folder = (std::filesystem::temp_directory_path() / "troupe-programs-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  setenv("TROUPE_PROGRAMS", folder.c_str(), 1);
  EXPECT_TRUE(device.jit().compile(kGood, {.flags = kForGpu}).get());
  System next({.threads = 1, .log = log_nothing()});
  const Device other = value(next.device("host", {.standby = Standby::none}));
  constexpr auto kTooShortToCompile = std::chrono::milliseconds(1);
  const Result<Program> again = other.jit().compile(kGood, {.flags = kForGpu, .timeout = kTooShortToCompile}).get();
  EXPECT_EQ(
      kind_of(other.jit().compile(kGood, {.flags = kForGpu, .timeout = kTooShortToCompile, .cached = false}).get()),
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
    })",
                                                {.flags = kForGpu})
                                       .get();
  if (!compiled &&
      compiled.error().message().find("cannot open source file \"cooperative_groups.h\"") != std::string_view::npos)
    GTEST_SKIP() << "no headers of the toolkit beside NVRTC";
  EXPECT_TRUE(compiled) << compiled.error().to_string();
}

constexpr const char* kMany = R"(
namespace mine {
struct Pair { float* first; int second; };
template <class T, int N> __global__ void scale(T* a, T factor) { a[0] *= factor * N; }
__global__ void take(Pair pair, const double* a, float4* b, void* c, unsigned char d) { b->x = pair.second; }
}
__global__ void twice(float* a) { a[0] *= 2; }
__global__ void twice(double* a) { a[0] *= 2; }
extern "C" {
__global__ void untyped(const float* a, int n) {}
}
extern "C" __global__ void typed(const float* from, long long n, float* to) { to[0] = from[n]; }
)";

class JitKernels : public JitOnHost {
 protected:
  void SetUp() override {
    JitOnHost::SetUp();
    if (!IsSkipped())
      program = value(device.jit()
                          .compile(kMany, {.flags = kForGpu, .instances = "mine::scale<float, 2>, mine::scale<int,3>"})
                          .get());
  }
  /// What is said of a launch; "unsupported" of one that only the CPU cannot run.
  std::string said(std::string_view kernel, const auto&... arguments) {
    // One that the CPU cannot run leaves what it would have written without content.
    value(device.fill(floats, 1.0f).get());
    value(device.fill(doubles, 1.0).get());
    value(device.fill(ints, 1).get());
    const Result<void> end = device.jit().launch(program, kernel, {}, arguments...).get();
    return end.error().kind() == ErrorKind::unsupported ? "unsupported" : std::string(end.error().message());
  }
  Array<float> floats = value(device.array<float>({8}));
  Array<double> doubles = value(device.array<double>({8}));
  Array<std::int32_t> ints = value(device.array<std::int32_t>({8}));
};

TEST_F(JitKernels, have_the_names_and_types_that_the_source_gives_them) {
  std::vector<std::string> names = program.kernels();
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"mine::scale<float, 2>(float*, float)", "mine::scale<int, 3>(int*, int)",
                                             "mine::take(mine::Pair, double const*, float4*, void*, unsigned char)",
                                             "twice(double*)", "twice(float*)",
                                             "typed(float const*, long long, float*)", "untyped"}));
  EXPECT_TRUE(Program().kernels().empty());
}

TEST_F(JitKernels, are_found_by_any_name_that_means_one_of_them) {
  for (const char* const name : {"mine::scale<float, 2>", "scale<float, 2>", "mine::scale<float, 2>(float*, float)",
                                 "_ZN4mine5scaleIfLi2EEEvPT_S1_"})
    EXPECT_EQ(said(name, updates(floats), 2.0f), "unsupported") << name;
  EXPECT_EQ(said("mine::scale<int,3>", updates(ints), 2), "unsupported") << "as it was written";
  EXPECT_EQ(said("twice(float*)", updates(floats)), "unsupported");
  const std::string ambiguous = said("twice", updates(floats));
  EXPECT_NE(ambiguous.find("several kernels twice; say which one: it has "), std::string::npos) << ambiguous;
  EXPECT_NE(ambiguous.find("twice(double*)"), std::string::npos) << ambiguous;
  EXPECT_NE(said("scale", updates(floats), 2.0f).find("several kernels scale"), std::string::npos);
  const std::string missing = said("scale<double>", updates(doubles), 2.0);
  EXPECT_NE(missing.find("the program has no kernel scale<double>; it has "), std::string::npos) << missing;
  EXPECT_NE(missing.find("typed(float const*, long long, float*)"), std::string::npos) << missing;
}

TEST_F(JitKernels, take_arguments_of_their_own_types_only) {
  const std::string of_typed = " of typed(float const*, long long, float*) ";
  EXPECT_EQ(said("typed", reads(floats), 8LL, writes(floats)), "unsupported");
  EXPECT_EQ(said("typed", reads(floats), std::int64_t{8}, writes(floats)), "unsupported") << "a long of eight bytes";
  EXPECT_EQ(said("typed", nullptr, 8ULL, updates(floats)), "unsupported");
  EXPECT_EQ(said("typed", reads(floats), 8LL),
            "launch: typed(float const*, long long, float*) takes 3 arguments and was given 2");
  EXPECT_EQ(said("typed", reads(ints), 8LL, writes(floats)),
            "launch: argument 1" + of_typed + "points to another type; an array of i32 was given");
  EXPECT_EQ(said("typed", reads(floats), 8, writes(floats)),
            "launch: argument 2" + of_typed + "has 8 bytes; an integer of 4 bytes was given");
  EXPECT_EQ(said("typed", reads(floats), 8.0, writes(floats)),
            "launch: argument 2" + of_typed + "is an integer; a double was given");
  EXPECT_EQ(said("typed", reads(floats), reads(floats), writes(floats)),
            "launch: argument 2" + of_typed + "is passed by value; an array of f32 was given");
  EXPECT_EQ(said("typed", reads(floats), 8LL, 8LL),
            "launch: argument 3" + of_typed +
                "is a pointer; it takes reads(array), writes(array), updates(array) or nullptr; an integer of 8 bytes "
                "was given");
  EXPECT_EQ(said("typed", writes(floats), 8LL, reads(floats)),
            "launch: argument 1" + of_typed +
                "is only read; say reads(array), or change the order of the arguments; an array of f32 was given");
}

TEST_F(JitKernels, take_what_they_cannot_name) {
  struct Pair {
    void* first;
    int second;
  };
  EXPECT_EQ(said("take", Pair{}, reads(doubles), updates(floats), updates(ints), std::uint8_t{3}), "unsupported");
  EXPECT_EQ(said("untyped", reads(ints), 8LL), "unsupported") << "a worker checks the sizes";
}

TEST_F(JitKernels, get_no_views_with_gaps) {
  const Array<float> first = value(floats.slice(0, 0, 2)), last = value(floats.slice(0, 2, 6));
  const Array<float> with_gaps = value(floats.slice(0, 0, 8, 2));
  EXPECT_EQ(said("typed", reads(last), 8LL, writes(first)), "unsupported");
  for (const char* const kernel : {"typed", "untyped"})
    EXPECT_NE(said(kernel, reads(with_gaps), 8LL, updates(floats))
                  .find("argument 1 is a view whose elements do not lie side by side"),
              std::string::npos);
}

TEST_F(JitKernels, of_an_image_that_is_damaged_are_none_or_some) {
  std::mt19937_64 random(test_seed());
  const wire::CompiledImage whole = value(compile_in_worker({.executable = value(find_worker_executable({})),
                                                             .source = kMany,
                                                             .flags = {},
                                                             .instances = {},
                                                             .capability = 90},
                                                            std::chrono::minutes(1)));
  ASSERT_EQ(detail::ProgramKernels(std::as_bytes(std::span(whole.bytes)), {}).all().size(), 5);
  for (int round = 0; round < 300; ++round) {
    wire::CompiledImage damaged = whole;
    if (round % 3 == 0) damaged.bytes.resize(random() % damaged.bytes.size());
    for (int i = 0; i < 40 && !damaged.bytes.empty(); ++i) {
      const std::size_t at = random() % std::min<std::size_t>(damaged.bytes.size(), i % 2 == 0 ? 64 : ~std::size_t{0});
      damaged.bytes[at] = static_cast<char>(random());
    }
    const detail::ProgramKernels kernels(std::as_bytes(std::span(damaged.bytes)), "scale\n_Z5scale\nodd");
    for (const detail::ProgramKernel& kernel : kernels.all()) (void)kernels.find("launch", kernel.name);
    for (const detail::ProgramVariable& variable : kernels.variables())
      (void)kernels.find_variable("set", variable.name);
  }
}

TEST_F(JitOnHost, knows_the_variables_of_programs_for_gpus) {
  const Program compiled = value(device.jit()
                                     .compile(R"(
    namespace mine { __constant__ float weights[64]; __device__ float table[4] = {1, 2, 3, 4}; }
    __device__ int hits;
    __global__ void f(float* x) {
      x[threadIdx.x] = mine::weights[threadIdx.x] + mine::table[hits % 4];
      atomicAdd(&hits, 1);
      printf("%d", hits);
    })",
                                              {.flags = kForGpu})
                                     .get());
  std::vector<std::string> names = compiled.variables();
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"hits", "mine::table", "mine::weights"}));
  const Result<void> wrong = device.jit().set(compiled, "weights", 1.0f).get();
  EXPECT_EQ(wrong.error().message(), "set: mine::weights has 256 bytes, and the array has 4");
  EXPECT_EQ(kind_of(device.jit().load(compiled.image())), ErrorKind::unsupported) << "this device is a CPU";
}

TEST_F(JitOnHost, gives_nvrtc_headers_and_flags_that_are_texts) {
  KernelSource source(R"(
    #include "tiles/tile.cuh"
    #include <float.h>
    __global__ void f(float* x) { *x = WIDTH + kWidth + FLT_MAX; const char* text = TITLE; (void)text; })");
  source.add_header("tiles/tile.cuh", "#pragma once\n#include \"names.h\"\n__global__ void of_header(int*) {}");
  source.add_header("names.h", "constexpr int kWidth = 9;\n");
  source.add_header("float.h", "#define FLT_MAX 1\n");
  source.add_flag("-DTITLE=\"two 'words\"").add_flag("-DWIDTH=(1 + 1)");
  const Program compiled = value(device.jit().compile(source, {.flags = kForGpu}).get());
  std::vector<std::string> kernels = compiled.kernels();
  std::ranges::sort(kernels);
  EXPECT_EQ(kernels, (std::vector<std::string>{"f(float*)", "of_header(int*)"}));
  EXPECT_EQ(kind_of(device.jit().compile(KernelSource("#include \"none.h\"\n"), {.flags = kForGpu}).get()),
            ErrorKind::invalid_argument);
}

TEST_F(JitOnHost, makes_kernels_of_templates_only_when_they_are_wanted) {
  EXPECT_TRUE(value(device.jit().compile("template <class T> __global__ void f(T*) {}", {.flags = kForGpu}).get())
                  .kernels()
                  .empty());
  const Result<Program> wrong =
      device.jit()
          .compile("template <class T> __global__ void f(T*) {}", {.flags = kForGpu, .instances = "g<int>"})
          .get();
  ASSERT_EQ(kind_of(wrong), ErrorKind::invalid_argument);
  EXPECT_NE(wrong.error().message().find("g<int>"), std::string_view::npos) << wrong.error().to_string();
}

TEST_F(JitOnHost, leaves_kernels_their_c_names_where_the_source_needs_them) {
  const char* const declared_before = R"(
    extern "C" __global__ void f(float* a);
    extern "C" {
    __global__ void f(float* a) { a[0] = 1; }
    })";
  const Result<Program> compiled = device.jit().compile(declared_before, {.flags = kForGpu}).get();
  ASSERT_TRUE(compiled) << compiled.error().to_string();
  EXPECT_EQ(compiled->kernels(), std::vector<std::string>{"f"});
}

TEST_F(JitOnHost, gives_flags_with_spaces_as_one) {
  EXPECT_EQ(value(device.jit()
                      .compile("__global__ void f(TYPE* a) {}",
                               {.flags = "\"-DTYPE=unsigned long\" --gpu-architecture=sm_90 -DB"})
                      .get())
                .kernels(),
            std::vector<std::string>{"f(unsigned long*)"});
}

TEST(KernelParameters, are_told_from_how_the_compiler_writes_them) {
  const auto takes = [](std::string_view type, DType dtype) {
    const detail::KernelParameter parameter = detail::parameter_of(type);
    return parameter.is_pointer && (parameter.elements >> static_cast<unsigned>(dtype) & 1) != 0;
  };
  EXPECT_TRUE(takes("float*", DType::f32) && takes("float4 const*", DType::f32) && takes("float2*", DType::c64));
  EXPECT_TRUE(takes("__half2*", DType::f16) && takes("unsigned short*", DType::bf16) && takes("uint4*", DType::i32));
  EXPECT_TRUE(takes("longlong2*", DType::i64) && takes("void*", DType::c128) && takes("mine::Pair*", DType::u8));
  EXPECT_TRUE(takes("float const (*) [4]", DType::f32) && takes("unsigned char*", DType::f8e4m3));
  EXPECT_FALSE(takes("float*", DType::i32) || takes("float*", DType::f64) || takes("int const*", DType::i64));
  EXPECT_FALSE(takes("__nv_bfloat16*", DType::f16) || takes("double2*", DType::f32) || takes("float", DType::f32));
  EXPECT_TRUE(detail::parameter_of("int const*").is_const);
  EXPECT_FALSE(detail::parameter_of("int*").is_const);
  EXPECT_EQ(detail::parameter_of("unsigned long long").size, 8);
  EXPECT_EQ(detail::parameter_of("mine::Pair").size, 0);
  EXPECT_TRUE(detail::parameter_of("mine::Op<int> (*)(float)").is_pointer);
  EXPECT_FALSE(detail::parameter_of("mine::Apply<float (*)(float)>").is_pointer) << "a struct, by value";
}

TEST(KernelParameters, are_split_at_commas_outside_of_brackets) {
  EXPECT_EQ(detail::split_at_commas(" a<1, 2>, void (*)(int, int),, b "),
            (std::vector<std::string_view>{"a<1, 2>", "void (*)(int, int)", "b"}));
  EXPECT_TRUE(detail::split_at_commas("").empty());
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

TEST_F(JitOnHost, says_that_a_cpu_runs_no_kernels_of_gpus) {
  const Array<float> a = value(device.array<float>({8}));
  EXPECT_EQ(kind_of(device.jit().launch(program, "scale", {}, 8, 2.0f, updates(a)).get()), ErrorKind::unsupported);
}

}  // namespace
}  // namespace troupe
