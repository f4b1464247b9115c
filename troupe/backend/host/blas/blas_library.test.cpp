#include "troupe/backend/host/blas/blas_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "troupe/backend/host/blas/known_answers.hpp"
#include "troupe/backend/host/vectors/vector_level.hpp"

namespace troupe::host {
namespace {

ErrorKind kind_of(const Result<BlasLibrary>& result) { return result ? ErrorKind::internal : result.error().kind(); }
std::string message_of(const Result<BlasLibrary>& result) {
  return result ? "" : std::string(result.error().message());
}

TEST(BlasLibrary, can_be_switched_off) {
  const Result<BlasLibrary> blas = load_blas("none");
  EXPECT_EQ(kind_of(blas), ErrorKind::unsupported);
  EXPECT_TRUE(message_of(blas).contains("TROUPE_BLAS=none")) << message_of(blas);
}

TEST(BlasLibrary, says_which_words_there_are) {
  const Result<BlasLibrary> blas = load_blas("atlas");
  EXPECT_EQ(kind_of(blas), ErrorKind::unsupported);
  EXPECT_EQ(message_of(blas), "TROUPE_BLAS=atlas: it must be openblas, mkl, armpl, blis, a file, or none");
}

TEST(BlasLibrary, says_which_file_is_missing) {
  const Result<BlasLibrary> blas = load_blas("/nowhere/libopenblas.so.0");
  EXPECT_EQ(kind_of(blas), ErrorKind::unsupported);
  EXPECT_EQ(message_of(blas), "TROUPE_BLAS=/nowhere/libopenblas.so.0: /nowhere/libopenblas.so.0: not found");
}

TEST(BlasLibrary, says_which_function_another_library_lacks) {
  const Result<BlasLibrary> blas = load_blas("libc.so.6");
  EXPECT_EQ(kind_of(blas), ErrorKind::unsupported);
  EXPECT_TRUE(message_of(blas).contains("it lacks cblas_sgemm")) << message_of(blas);
}

TEST(BlasLibrary, is_not_given_up_for_want_of_descriptors) {
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Result<BlasLibrary> blas = load_blas("libthread_db.so.1");  // a library that is there, and not open yet
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_EQ(kind_of(blas), ErrorKind::out_of_memory) << message_of(blas);
}

TEST(BlasLibrary, is_opened_once_for_all_threads) {
  std::vector<const BlasLibrary*> seen(4);
  {
    std::vector<std::jthread> threads;
    for (const BlasLibrary*& here : seen) threads.emplace_back([&here] { here = open_blas(); });
  }
  for (const BlasLibrary* here : seen) EXPECT_EQ(here, open_blas());
}

/// Each library that we know, where it is installed.
class EachBlas : public ::testing::TestWithParam<const char*> {};

TEST_P(EachBlas, is_found_with_its_version_and_a_lapack) {
  std::vector<PassedOver> passed;
  const Result<BlasLibrary> blas = load_blas(GetParam(), &passed);
  if (!blas && passed.size() == 1 && passed[0].reason == "not found") GTEST_SKIP() << passed[0].name << ": not found";
  ASSERT_TRUE(blas) << message_of(blas);
  EXPECT_EQ(blas->library->kind->word, GetParam());
  EXPECT_FALSE(blas->library->version.empty());
  EXPECT_TRUE(blas->library->file.starts_with("/")) << blas->library->file;
  EXPECT_TRUE(blas->lapack || blas->lapack_problem.contains("it has no LAPACK")) << blas->lapack_problem;
}
INSTANTIATE_TEST_SUITE_P(All, EachBlas, ::testing::Values("openblas", "mkl", "armpl", "blis"),
                         [](const auto& test) { return std::string(test.param); });

TEST(BlasLibrary, takes_a_cpu_with_avx2_for_no_older_one) {
  if (!has(VectorLevel::avx2)) GTEST_SKIP() << "this CPU has no AVX2";
  const BlasLibrary* const blas = open_blas();
  if (blas == nullptr || blas->library->kind == nullptr || blas->library->kind->word != "openblas")
    GTEST_SKIP() << "OpenBLAS is not used here";
  auto* const core = reinterpret_cast<char* (*)()>(dlsym(blas->library->handle, "openblas_get_corename"));
  ASSERT_NE(core, nullptr);
  for (const std::string_view old : {"Prescott", "Core2", "Nehalem", "Sandybridge", "Barcelona"})
    EXPECT_NE(std::string_view(core()), old);
}

TEST(BlasLibrary, with_64_bit_integers_is_passed_over) {
  std::vector<PassedOver> passed;
  const Result<BlasLibrary> blas = load_blas("libopenblas64.so.0", &passed);
  ASSERT_FALSE(blas);
  ASSERT_EQ(passed.size(), 1u);
  if (passed[0].reason == "not found") GTEST_SKIP() << "libopenblas64.so.0: not found";
  EXPECT_TRUE(passed[0].reason.contains("it takes 64-bit integers")) << passed[0].reason;
}

template <class Int>
double dot(Int n, const double* x, Int x_by, const double* y, Int y_by) {
  double sum = 0;
  for (Int i = 0; i < n; ++i) sum += x[i * x_by] * y[i * y_by];
  return sum;
}

TEST(KnownAnswers, tell_32_bit_from_64_bit_integers) {
  EXPECT_TRUE(takes_32_bit_integers(reinterpret_cast<void*>(&dot<int>)));
  EXPECT_FALSE(takes_32_bit_integers(reinterpret_cast<void*>(&dot<std::int64_t>)));
}

TEST(KnownAnswers, find_a_product_that_is_wrong) {
  const BlasLibrary* const good = open_blas();
  if (good == nullptr) GTEST_SKIP() << "there is no BLAS, or TROUPE_BLAS says not to use one";
  EXPECT_TRUE(check_blas_answers(*good));
  BlasLibrary bad = *good;
  bad.c.gemm = [](int, int, int, int, int, int, const std::complex<float>*, const std::complex<float>*, int,
                  const std::complex<float>*, int, const std::complex<float>*, std::complex<float>*, int) {};
  const Result<void> answer = check_blas_answers(bad);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message(), "cblas_cgemm gives a wrong answer");
}

/// What a library is told, one after the other.
std::vector<int> told;
void tell(int threads) { told.push_back(threads); }

TEST(LibraryThreads, are_many_only_while_nobody_wants_one) {
  told.clear();
  LibraryThreads threads(LibraryThreads::Scope::of_process, tell);
  {
    const LibraryThreads::One one(threads);
  }
  EXPECT_EQ(told, std::vector<int>{});
  {
    const LibraryThreads::Many many(threads, 8);
    EXPECT_EQ(told, (std::vector<int>{8}));
    {
      const LibraryThreads::One one(threads);
      const LibraryThreads::One another(threads);
      EXPECT_EQ(told, (std::vector<int>{8, 1}));
    }
    EXPECT_EQ(told, (std::vector<int>{8, 1, 8}));
  }
  EXPECT_EQ(told, (std::vector<int>{8, 1, 8, 1}));
}

}  // namespace
}  // namespace troupe::host
