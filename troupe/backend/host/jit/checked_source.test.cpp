// What checked mode writes anew, and what it leaves alone. That it compiles and runs is in
// library/jit/checked_kernels.test.cpp.
#include "troupe/backend/host/jit/checked_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace troupe::host {
namespace {

/// Without blanks at both ends.
std::string checked(std::string_view source) {
  const Result<std::string> text = checked_source(source);
  if (!text) return text.error().to_string();
  const std::size_t begin = text->find_first_not_of(" \n");
  return begin == std::string::npos ? "" : text->substr(begin, text->find_last_not_of(" \n") + 1 - begin);
}
/// What stands in a function.
std::string in_function(const std::string& statement) {
  const std::string text = checked("__device__ void f() { " + statement + " }");
  return text.substr(std::string_view("__device__ void f() { ").size(),
                     text.size() - std::string_view("__device__ void f() {  }").size());
}

TEST(CheckedSource, tells_a_kernel_how_large_its_arrays_are) {
  EXPECT_EQ(checked("__global__ void f(int n, const float* __restrict__ x) { }"),
            "__global__ void f(int n, const float* __restrict__ troupe_1, ::troupe_bounds<2> troupe_sizes, "
            "::troupe_report* troupe_told) { [[maybe_unused]] ::troupe_pointer<const float> x = "
            "::troupe_parameter(troupe_1, troupe_sizes.bytes[1], \"x\", troupe_told); }");
  for (const char* const source : {"__global__ void f() { }", "__global__ void f(int n, Pair<int*, float> p) { }",
                                   "__global__ void __launch_bounds__(A * B) f(int n);"})
    EXPECT_EQ(checked(source), source);
}

TEST(CheckedSource, makes_pointers_of_functions_that_know_their_array) {
  EXPECT_EQ(checked("__device__ float* at(float *x, std::complex<float> const* y, int z[]);"),
            "__device__ ::troupe_pointer<float>  at(::troupe_pointer<float> x, "
            "::troupe_pointer<std :: complex < float > const>  y, ::troupe_pointer<int> z);");
  EXPECT_EQ(checked("template <class T> __device__ T f(const T* x) { return *x; }"),
            "template <class T> __device__ T f(::troupe_pointer<const T>  x) { return *x; } TROUPE_TAKES_PLAIN(f)");
}

TEST(CheckedSource, knows_a_pointer_from_a_product) {
  EXPECT_EQ(in_function("float* p = x;"), "::troupe_pointer<float>  p = x;");
  EXPECT_EQ(in_function("auto* const p = x, *q = y;"), "const auto  p = x, q = y;");
  EXPECT_EQ(in_function("Unknown* p = x;"), "::troupe_pointer<Unknown>  p = x;");
  for (const char* const statement :
       {"a = b * c;", "f(a * b, c * d);", "const int n = a * b, m = n * 2;", "x[a * b] = sizeof(float*);",
        "if (a * b) return a * b;", "int v = a & b;", "f<float*>(x);", "auto g = [&](int n) { return n * a; };"})
    EXPECT_EQ(in_function(statement), statement);
  EXPECT_EQ(checked("constexpr int kN = max(A * B, 3);\n__device__ float* table;"),
            "constexpr int kN = max(A * B, 3);\n__device__ float* table;");
}

TEST(CheckedSource, keeps_the_array_in_addresses_and_casts) {
  EXPECT_EQ(in_function("p = &x[i + 1];"), "p = ::troupe_address(x, (i + 1));");
  EXPECT_EQ(in_function("p = &(s.x[i][j]);"), "p = (::troupe_address(s.x[i], (j)));");
  EXPECT_EQ(in_function("p = &x;"), "p = &x;");
  EXPECT_EQ(in_function("v = *(int4*)&x[i] + 1;"), "v = *::troupe_cast<int4 *>(::troupe_address(x, (i))) + 1;");
  EXPECT_EQ(in_function("v = reinterpret_cast<int4*>(x)[i];"), "v = ::troupe_cast<int4*>(x)[i];");
  EXPECT_EQ(in_function("(int4&)x[i] = v;"), "(*::troupe_cast<int4*>(::troupe_address(x, (i)))) = v;");
}

TEST(CheckedSource, leaves_structs_alone_that_a_launch_passes) {
  EXPECT_EQ(checked("struct A { float* p; };"), "struct A { ::troupe_pointer<float>  p; };");
  EXPECT_EQ(checked("struct A { float* p; };\n__global__ void f(A a);"),
            "struct A { float* p; };\n__global__ void f(A a);");
}

TEST(CheckedSource, keeps_lines_where_they_are) {
  const std::string source = "__global__ void f(\n    float*\n x) {\n  float*\n p\n = &x\n[\n1];\n}\n";
  EXPECT_EQ(std::ranges::count(checked(source), '\n') + 1, std::ranges::count(source, '\n'));
}

TEST(CheckedSource, takes_what_is_no_source_at_all) {
  for (const char* const source :
       {"", "(", "__global__", "__global__ void f(", "float*", "&", "(float*)", "reinterpret_cast<", "template <",
        "{{{", "__device__ void f(float* x", "#define A __device__", "operator*", "using A", "&x[", "p = (float*)&(x["})
    (void)checked_source(source);
}

}  // namespace
}  // namespace troupe::host
