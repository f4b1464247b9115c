#include "troupe/library/sparse/sparse_fixture.test.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class IterativeConformance : public SparseConformance<T> {
 protected:
  using Number = T;
  using Real = decltype(std::abs(T{}));

  /// GPUs have no such ops yet, and say so.
  bool is_missing() {
    if (this->device().info().backend == "host") return false;
    const SparseMatrix one =
        value(this->device().sparse().template from_triplets<T>(1, 1, std::vector<Triplet<T>>{{0, 0, T(1)}}));
    const auto refused = this->device().sparse().jacobi(one).get();
    EXPECT_FALSE(refused);
    EXPECT_TRUE(refused || refused.error().kind() == ErrorKind::unsupported);
    return true;
  }
  /// Diagonally dominant; Hermitian and positive definite if asked for.
  Plain<T> random_system(std::int64_t n, bool is_hermitian) {
    Plain<T> plain{{n, n, {}}};
    for (std::int64_t row = 0; row < n; ++row) {
      for (const std::int64_t step : {1, 3, 7}) {
        if (row + step >= n) continue;
        const T number = random_element<T>(this->random_numbers()) * T(Real(0.25));
        plain.triplets.elements.push_back({row, row + step, number});
        plain.triplets.elements.push_back(
            {row + step, row,
             is_hermitian ? conjugated(number) : random_element<T>(this->random_numbers()) * T(Real(0.25))});
      }
      plain.triplets.elements.push_back({row, row, T(Real(8))});
    }
    return plain;
  }
  static T conjugated(T number) {
    if constexpr (detail::kIsComplex<T>)
      return std::conj(number);
    else
      return number;
  }
  Array<T> filled_randomly(std::int64_t n) {
    std::vector<T> numbers;
    for (std::int64_t i = 0; i < n; ++i) numbers.push_back(random_element<T>(this->random_numbers()));
    const Array<T> made = value(this->device().template array<T>({n}));
    value(this->device().write(made, numbers).get());
    return made;
  }
  /// The norm of b - A x over that of b, in higher precision.
  static double error_of(const Plain<T>& plain, const std::vector<T>& b, const std::vector<T>& x) {
    std::vector<Wide<T>> left;
    double size = 0, off = 0;
    for (const T& number : b) {
      left.push_back(widen(number));
      size += static_cast<double>(std::norm(number));
    }
    for (const Triplet<T>& e : plain.triplets.elements)
      left[static_cast<std::size_t>(e.row)] -= widen(e.value) * widen(x[static_cast<std::size_t>(e.column)]);
    for (const Wide<T>& number : left) off += static_cast<double>(std::norm(number));
    return std::sqrt(off / size);
  }
  std::vector<T> read(const AnyArray& array) {
    const HostArray<T> got = value(this->device().read(value(array.as<T>())).get());
    return {got.begin(), got.end()};
  }
  static constexpr double kTolerance = sizeof(Real) == 4 ? 1e-5 : 1e-12;

  /// `solve(matrix, b, x, tolerance, from_x, preconditioner)` for both types of indices and each preconditioner.
  template <class F>
  void try_all(bool is_hermitian, std::initializer_list<Preconditioning> kinds, const F& solve) {
    const Sparse sparse = this->device().sparse();
    for (const DType index_type : kIndexTypes)
      for (const Preconditioning kind : kinds) {
        SCOPED_TRACE(std::string(troupe::name(index_type)) + " " + std::to_string(static_cast<int>(kind)));
        const Plain<T> plain = random_system(61, is_hermitian);
        const SparseMatrix matrix = value(sparse.from_triplets(plain.triplets, index_type));
        const Preconditioner by = kind == Preconditioning::none     ? Preconditioner()
                                  : kind == Preconditioning::jacobi ? value(sparse.jacobi(matrix).get())
                                  : kind == Preconditioning::ilu0   ? value(sparse.ilu0(matrix).get())
                                                                    : value(sparse.ic0(matrix).get());
        // b and x are every second element of other arrays.
        const Array<T> b = value(filled_randomly(122).slice(0, 0, 122, 2));
        const Array<T> x = value(filled_randomly(122).slice(0, 1, 122, 2));
        for (const bool from_x : {false, true}) {
          const Solved end = solve(matrix, b, x, from_x, by);
          EXPECT_TRUE(end.converged()) << name(end.stopped) << " after " << end.rounds;
          EXPECT_EQ(static_cast<std::int64_t>(end.history.size()), end.rounds + 1);
          EXPECT_LE(error_of(plain, read(b), read(x)), 4 * kTolerance);
          this->count_case();
          EXPECT_TRUE(!from_x || end.rounds <= 1) << "it began with the solution";
        }
      }
  }
  /// Nothing is left out of the factors of a tridiagonal matrix: they solve it at once.
  template <class F>
  void try_whole_factors(const F& make) {
    Plain<T> plain{{40, 40, {}}};
    for (std::int64_t i = 0; i < 40; ++i) {
      plain.triplets.elements.push_back({i, i, T(4)});
      if (i + 1 == 40) continue;
      const T number = random_element<T>(this->random_numbers()) * T(Real(0.5));
      plain.triplets.elements.push_back({i, i + 1, number});
      plain.triplets.elements.push_back({i + 1, i, conjugated(number)});
    }
    const SparseMatrix matrix = value(this->device().sparse().from_triplets(plain.triplets));
    const Array<T> b = filled_randomly(40), x = filled_randomly(40);
    const Solved end =
        value(this->device().sparse().cg(matrix, b, x, {.tolerance = kTolerance}, value(make(matrix))).get());
    EXPECT_TRUE(end.converged()) << name(end.stopped);
    EXPECT_LE(end.rounds, 2);
    EXPECT_LE(error_of(plain, read(b), read(x)), 4 * kTolerance);
    this->count_case();
  }
};

CONFORMANCE_SUITE(IterativeConformance, FourTypes);

CONFORMANCE_TEST(IterativeConformance, cg) {
  if (this->is_missing()) return;
  this->covers("sparse", "cg");
  using enum Preconditioning;
  this->try_all(true, {none, jacobi, ic0},
                [&](const auto& a, const auto& b, const auto& x, bool from_x, const auto& by) {
                  const SolveOptions options{.tolerance = this->kTolerance, .rounds_per_op = 5, .starts_at_x = from_x};
                  return value(this->device().sparse().cg(a, b, x, options, by).get());
                });
}

CONFORMANCE_TEST(IterativeConformance, bicgstab) {
  if (this->is_missing()) return;
  this->covers("sparse", "bicgstab");
  using enum Preconditioning;
  this->try_all(false, {none, jacobi, ilu0},
                [&](const auto& a, const auto& b, const auto& x, bool from_x, const auto& by) {
                  const SolveOptions options{.tolerance = this->kTolerance, .rounds_per_op = 3, .starts_at_x = from_x};
                  return value(this->device().sparse().bicgstab(a, b, x, options, by).get());
                });
}

CONFORMANCE_TEST(IterativeConformance, gmres) {
  if (this->is_missing()) return;
  this->covers("sparse", "gmres");
  using enum Preconditioning;
  for (const std::int64_t restart : {4, 30})
    this->try_all(
        false, {none, jacobi, ilu0}, [&](const auto& a, const auto& b, const auto& x, bool from_x, const auto& by) {
          const GmresOptions options{.tolerance = this->kTolerance, .restart = restart, .starts_at_x = from_x};
          const Solved end = value(this->device().sparse().gmres(a, b, x, options, by).get());
          for (std::size_t i = 1; i < end.history.size(); ++i)
            EXPECT_LE(end.history[i], end.history[i - 1] * 1.01) << "residuals of gmres do not grow";
          return end;
        });
}

CONFORMANCE_TEST(IterativeConformance, jacobi) {
  if (this->is_missing()) return;
  this->covers("sparse", "jacobi");
  const Plain<T> plain = this->random_system(20, false);
  const SparseMatrix matrix = value(this->device().sparse().from_triplets(plain.triplets));
  const Preconditioner by = value(this->device().sparse().jacobi(matrix).get());
  this->expect_equal(this->read(by.numbers()), std::vector<T>(20, T(1) / T(8)));
}
CONFORMANCE_TEST(IterativeConformance, ilu0) {
  if (this->is_missing()) return;
  this->covers("sparse", "ilu0");
  this->try_whole_factors([&](const SparseMatrix& matrix) { return this->device().sparse().ilu0(matrix).get(); });
}
CONFORMANCE_TEST(IterativeConformance, ic0) {
  if (this->is_missing()) return;
  this->covers("sparse", "ic0");
  this->try_whole_factors([&](const SparseMatrix& matrix) { return this->device().sparse().ic0(matrix).get(); });
}

CONFORMANCE_TEST(IterativeConformance, power) {
  if (this->is_missing()) return;
  this->covers("sparse", "power");
  const T largest = T(-9);
  std::vector<Triplet<T>> elements;
  for (std::int64_t i = 0; i < 30; ++i) elements.push_back({i, i, i == 11 ? largest : T(static_cast<float>(i) / 10)});
  const SparseMatrix matrix = value(this->device().sparse().template from_triplets<T>(30, 30, elements));
  const Array<T> x = this->filled_randomly(30);
  const FoundEigenvalue end =
      value(this->device().sparse().power(matrix, x, {.tolerance = this->kTolerance, .rounds_per_op = 4}).get());
  EXPECT_TRUE(end.converged());
  EXPECT_NEAR(end.value.real(), -9, 1e-3);
  this->count_case();
  EXPECT_NEAR(std::abs(this->read(x)[11]), 1, 1e-4);
}

CONFORMANCE_TEST(IterativeConformance, lanczos) {
  if (this->is_missing()) return;
  this->covers("sparse", "lanczos");
  // Eigenvalues of the second difference are known: 2 - 2 cos(k pi / (n + 1)).
  const std::int64_t n = 120;
  std::vector<Triplet<T>> elements;
  for (std::int64_t i = 0; i < n; ++i) {
    elements.push_back({i, i, T(2)});
    if (i > 0) elements.push_back({i, i - 1, T(-1)});
    if (i + 1 < n) elements.push_back({i, i + 1, T(-1)});
  }
  const SparseMatrix matrix = value(this->device().sparse().template from_triplets<T>(n, n, elements));
  const Array<T> vectors = value(this->device().template array<T>({3, n}));
  const double tolerance = std::max(this->kTolerance, 1e-10);
  for (const Extreme which : {Extreme::largest, Extreme::smallest}) {
    const FoundEigenvalues end =
        value(this->device().sparse().lanczos(matrix, vectors, {.tolerance = tolerance, .which = which}).get());
    EXPECT_TRUE(end.converged()) << name(end.stopped) << " " << end.residual;
    ASSERT_EQ(end.values.size(), 3U);
    this->count_case();
    const std::vector<T> got = this->read(vectors);
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::int64_t k = which == Extreme::smallest ? i + 1 : n - i;
      const double want = 2 - 2 * std::cos(static_cast<double>(k) * std::acos(-1.0) / static_cast<double>(n + 1));
      EXPECT_NEAR(end.values[static_cast<std::size_t>(i)], want, 20 * tolerance);
      double size = 0;
      for (std::int64_t j = 0; j < n; ++j)
        size += static_cast<double>(std::norm(got[static_cast<std::size_t>(i * n + j)]));
      EXPECT_NEAR(size, 1, 1e-4);
    }
  }
}

}  // namespace
}  // namespace troupe::conformance
