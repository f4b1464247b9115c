// How kernels for the CPU are compiled: what is refused and in which words, flags, the cache, and what is left behind.
#include <stdlib.h>

#include <filesystem>

#include "troupe/library/jit/host_kernels.test.hpp"

namespace troupe {
namespace {

/// A variable of the environment while a test runs.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    const char* const before = ::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
    if (before) before_ = before;
    ::setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  }
  ~Variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
    else
      ::unsetenv(name_);  // NOLINT(concurrency-mt-unsafe): one thread
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

using HostCompiler = HostKernels;

TEST_F(HostCompiler, gives_its_words_for_what_does_not_compile) {
  const Error error = refused("__global__ void f(int* a) {\n  *a = nonsense;\n}");
  EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
  EXPECT_TRUE(says(error, "kernels.cu:2:8: error: ")) << error.to_string();
  EXPECT_TRUE(says(error, "nonsense"));
  EXPECT_EQ(error.origin().library, "c++");
  EXPECT_EQ(refused("__global__ int f(int* a) { return 0; }").kind(), ErrorKind::invalid_argument);
  const Error wrong = refused("template <class T> __global__ void f(T*) {}", {.instances = "g<int>"});
  EXPECT_EQ(wrong.kind(), ErrorKind::invalid_argument);
  EXPECT_TRUE(says(wrong, "instances:1:")) << wrong.to_string();
  EXPECT_NE(compiled("__global__ void f() { int unused; }").log().find("unused"), std::string::npos);
}

TEST_F(HostCompiler, refuses_by_name_what_a_cpu_has_not) {
  const std::vector<std::pair<const char*, const char*>> sources{
      {"__global__ void f() {\n asm volatile(\"bar.sync 0;\"); }", "inline PTX, which line 2 needs"},
      {"#include <cooperative_groups.h>\n", "cooperative groups, which line 1 needs"},
      {"__global__ void f() {}\n__global__ void g() { f<<<1, 1>>>(); }",
       "kernels that launch kernels (<<<), which line 2"},
      {"#include <mma.h>\nusing namespace nvcuda;", "tensor cores by wmma, which line 1"},
      {"texture<float, 2> t;", "textures, which line 1"},
      {"#include <cuda_fp16.h>\n", "half precision (cuda_fp16.h), which line 1"},
      {"#include <cub/cub.cuh>\n", "CUB, which line 1"}};
  for (const auto& [source, what] : sources) {
    const Error error = refused(source);
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << source;
    EXPECT_TRUE(says(error, what)) << error.to_string();
  }
  EXPECT_TRUE(
      compiled("// asm(\"\") <<<\n__global__ void f() { printf(\"<<< asm texture\"); int surface = 1; (void)surface; }")
          .size_bytes() > 0)
      << "comments, texts and names of one's own are no such thing";
}

TEST_F(HostCompiler, takes_the_flags_of_nvrtc) {
  const Program program = compiled(
      "#ifndef TROUPE_CPU_KERNEL\n#error\n#endif\n__global__ void f(TYPE* a) { a[0] = WIDTH; static_assert(__cplusplus "
      ">= 202002L); }",
      {.flags =
           "\"-DTYPE=unsigned long\" -D WIDTH=4 --use_fast_math --fmad=false -std=c++20 --define-macro=A -lineinfo"});
  EXPECT_EQ(program.kernels(), std::vector<std::string>{"f(unsigned long*)"});
  const Array<std::uint64_t> a = filled(device, {1}, std::uint64_t{0});
  launch(program, "f", {}, updates(a));
  EXPECT_EQ(values_of(a)[0], 4U);
  for (const char* const flags : {"--no-such-flag", "-dlto", "-std=c++99", "-DA=1\n-DB=2"})
    EXPECT_EQ(refused("__global__ void f() {}", {.flags = flags}).kind(), ErrorKind::invalid_argument) << flags;
}

TEST_F(HostCompiler, is_named_where_there_is_none) {
  {
    const Variable no_path("PATH", "/nonexistent");
    const Error error = refused("__global__ void f() {}", {.cached = false});
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_TRUE(says(error, "install g++ or clang++, or name one in TROUPE_CXX")) << error.to_string();
  }
  const Variable other("TROUPE_CXX", "no-such-compiler");
  const Error error = refused("__global__ void f() {}", {.cached = false});
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_TRUE(says(error, "there is no compiler no-such-compiler, which TROUPE_CXX names")) << error.to_string();
}

TEST_F(HostCompiler, leaves_no_files_behind) {
  std::string folder = (std::filesystem::temp_directory_path() / "troupe-kernels-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  {
    const Variable files("TMPDIR", folder);
    compiled("__global__ void f() {}", {.cached = false});
    EXPECT_EQ(refused("__global__ void f() {}", {.timeout = std::chrono::milliseconds(30), .cached = false}).kind(),
              ErrorKind::timeout);
    EXPECT_EQ(refused("nonsense", {.cached = false}).kind(), ErrorKind::invalid_argument);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST_F(HostCompiler, is_not_asked_for_what_is_on_the_disk) {
  std::string folder = (std::filesystem::temp_directory_path() / "troupe-programs-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  {
    const Variable programs("TROUPE_PROGRAMS", folder);
    const std::string source = "__global__ void f(int* a) { a[0] = 7; }";
    compiled(source);
    const Program again = compiled(source, {.timeout = std::chrono::milliseconds(1)});
    const Array<std::int32_t> a = filled(device, {1}, 0);
    launch(again, "f", {}, updates(a));
    EXPECT_EQ(values_of(a)[0], 7);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace troupe
