#include "troupe/backend/host/blas/known_answers.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>

#include "troupe/backend/host/blas/blas_library.hpp"

namespace troupe::host {
namespace {

static_assert(std::endian::native == std::endian::little, "the low half of an integer comes first");

Unexpected wrong(const std::string& function) {
  return fail(ErrorKind::unsupported, function + " gives a wrong answer");
}

/// Small whole numbers, whose products are exact in every type.
template <class T>
Result<void> check_products(const Cblas<T>& f, const std::string& letter) {
  constexpr int kRows = 3, kColumns = 2, kDepth = 2, kApart = 5;  // rows of 5 elements, of which some count
  const auto number = [](int i, int j) { return T(static_cast<float>(2 * i - 3 * j + 1)); };
  std::array<T, kApart * kRows> a{};
  std::array<T, kApart * kDepth> b_transposed{};
  std::array<T, kApart * kRows> c;
  c.fill(T(std::numeric_limits<float>::quiet_NaN()));  // a factor of 0 means that it is not read
  for (int i = 0; i < kRows; ++i)
    for (int p = 0; p < kDepth; ++p) a[static_cast<std::size_t>(i * kApart + p)] = number(i, p);
  for (int j = 0; j < kColumns; ++j)
    for (int p = 0; p < kDepth; ++p) b_transposed[static_cast<std::size_t>(j * kApart + p)] = number(p, j);
  const T one(1), zero(0), two(2);
  f.gemm(BlasLibrary::kRowMajor, BlasLibrary::kNoTranspose, BlasLibrary::kTranspose, kRows, kColumns, kDepth,
         BlasLibrary::factor(two), a.data(), kApart, b_transposed.data(), kApart, BlasLibrary::factor(zero), c.data(),
         kApart);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      T sum(0);
      for (int p = 0; p < kDepth; ++p) sum += number(i, p) * number(p, j);
      if (c[static_cast<std::size_t>(i * kApart + j)] != two * sum) return wrong("cblas_" + letter + "gemm");
    }
  if (c[kColumns] == c[kColumns]) return wrong("cblas_" + letter + "gemm");  // it wrote beside the result

  std::array<T, kRows> y{one, one, one};
  f.gemv(BlasLibrary::kRowMajor, BlasLibrary::kNoTranspose, kRows, kDepth, BlasLibrary::factor(one), a.data(), kApart,
         b_transposed.data(), 1, BlasLibrary::factor(two), y.data(), 1);
  for (int i = 0; i < kRows; ++i)
    if (y[static_cast<std::size_t>(i)] != number(i, 0) * number(0, 0) + number(i, 1) * number(1, 0) + two)
      return wrong("cblas_" + letter + "gemv");

  const std::array<T, 4> lower{two, T(std::numeric_limits<float>::quiet_NaN()), one, T(4)};
  std::array<T, 2> x{T(4), T(6)};
  f.trsm(BlasLibrary::kRowMajor, BlasLibrary::kLeft, BlasLibrary::kLower, BlasLibrary::kNoTranspose,
         BlasLibrary::kNonUnit, 2, 1, BlasLibrary::factor(one), lower.data(), 2, x.data(), 1);
  if (x != std::array<T, 2>{two, one}) return wrong("cblas_" + letter + "trsm");
  return {};
}

}  // namespace

bool takes_32_bit_integers(void* ddot) noexcept {
  using Dot = double(std::int64_t n, const double* x, std::int64_t x_by, const double* y, std::int64_t y_by);
  const std::array<double, 2> x{1, 2};
  const std::array<double, 2> y{3, 4};
  return reinterpret_cast<Dot*>(ddot)(kTwoOrNegative, x.data(), 1, y.data(), 1) == 11;
}

Result<void> check_blas_answers(const BlasLibrary& blas) {
  if (!takes_32_bit_integers(reinterpret_cast<void*>(blas.d.dot)))
    return fail(ErrorKind::unsupported, "it takes 64-bit integers; the 32-bit build (LP64) is needed");
  TROUPE_TRY(check_products(blas.s, "s"));
  TROUPE_TRY(check_products(blas.d, "d"));
  TROUPE_TRY(check_products(blas.c, "c"));
  return check_products(blas.z, "z");
}

Result<void> check_lapack_answers(void* library) {
  using Set = void(const char* part, const std::int64_t* m, const std::int64_t* n, const double* off_diagonal,
                   const double* diagonal, double* a, const std::int64_t* lda, std::size_t);
  using Factor = void(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info);
  auto* const set = reinterpret_cast<Set*>(dlsym(library, "dlaset_"));
  auto* const factor = reinterpret_cast<Factor*>(dlsym(library, "dgetrf_"));
  if (!set || !factor || !dlsym(library, "zgejsv_")) return fail(ErrorKind::unsupported, "it has no LAPACK");

  const double zero = 0, one = 1;
  std::array<double, 4> a{7, 7, 7, 7};
  set("A", &kTwoOrNegative, &kTwoOrNegative, &zero, &one, a.data(), &kTwoOrNegative, 1);
  if (a != std::array<double, 4>{1, 0, 0, 1})
    return fail(ErrorKind::unsupported, "its LAPACK takes 64-bit integers; the 32-bit build (LP64) is needed");

  const int n = 2;
  int info = -1;
  std::array<int, 2> pivots{};
  a = {1, 4, 3, 8};  // in columns
  factor(&n, &n, a.data(), &n, pivots.data(), &info);
  if (info == 0 && pivots == std::array<int, 2>{2, 2} && a == std::array<double, 4>{4, 0.25, 8, 1}) return {};
  return wrong("dgetrf_");
}

}  // namespace troupe::host
