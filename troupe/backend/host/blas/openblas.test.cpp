#include "troupe/backend/host/blas/openblas.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>
#include <vector>

namespace troupe::host {
namespace {

ErrorKind kind_of(const Result<OpenBlas>& result) { return result ? ErrorKind::internal : result.error().kind(); }

TEST(OpenBlas, can_be_switched_off) {
  const Result<OpenBlas> blas = load_open_blas("none");
  EXPECT_EQ(kind_of(blas), ErrorKind::unsupported);
  EXPECT_NE(blas.error().message().find("TROUPE_OPENBLAS=none"), std::string::npos);
}

TEST(OpenBlas, says_which_file_is_missing) {
  const Result<OpenBlas> blas = load_open_blas("/nowhere/libopenblas.so.0");
  EXPECT_EQ(kind_of(blas), ErrorKind::unsupported);
  EXPECT_NE(blas.error().message().find("/nowhere/libopenblas.so.0"), std::string::npos);
}

TEST(OpenBlas, says_which_function_another_library_lacks) {
  const Result<OpenBlas> blas = load_open_blas("libc.so.6");
  EXPECT_EQ(kind_of(blas), ErrorKind::unsupported);
  EXPECT_NE(blas.error().message().find("cblas_sgemm"), std::string::npos);
}

TEST(OpenBlas, is_not_given_up_for_want_of_descriptors) {
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Result<OpenBlas> blas = load_open_blas("libthread_db.so.1");  // a library that is there, and not open yet
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_EQ(kind_of(blas), ErrorKind::out_of_memory) << (blas ? "" : blas.error().message());
}

TEST(OpenBlas, is_opened_once_for_all_threads) {
  std::vector<const OpenBlas*> seen(4);
  {
    std::vector<std::jthread> threads;
    for (const OpenBlas*& here : seen) threads.emplace_back([&here] { here = open_blas(); });
  }
  for (const OpenBlas* here : seen) EXPECT_EQ(here, open_blas());
}

TEST(OpenBlas, multiplies) {
  const OpenBlas* const blas = open_blas();
  if (blas == nullptr) GTEST_SKIP() << "OpenBLAS cannot be opened, or TROUPE_OPENBLAS says not to";
  EXPECT_FALSE(blas->config.empty());
  EXPECT_GE(blas->get_num_threads(), 1);
  const float a = 2.0f;
  const float b = 3.0f;
  float c = 0.0f;
  blas->s.gemm(OpenBlas::kRowMajor, OpenBlas::kNoTranspose, OpenBlas::kTranspose, 1, 1, 1, 1.0f, &a, 1, &b, 1, 0.0f, &c,
               1);
  EXPECT_EQ(c, 6.0f);
}

}  // namespace
}  // namespace troupe::host
