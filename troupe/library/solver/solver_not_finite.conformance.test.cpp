// What every solver does with a NaN or an infinity, wherever it is, and with finite numbers whose result does not fit:
// it ends in `numerical_error` and says so. Nothing that ended well is anything but finite.
#include <functional>
#include <utility>

#include "troupe/library/solver/solver.test.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::conformance {
namespace {

template <class T>
class SolverNotFinite : public SolverFixture<T> {
 protected:
  using Base = SolverFixture<T>;
  using Real = detail::RealType<T>;
  using Ends = std::vector<std::pair<std::string, Result<void>>>;

  Solver solver() const { return this->device().solver(); }

  /// NaN and both infinities; of complex numbers each of them as one part.
  static std::vector<T> bad_numbers() {
    std::vector<T> bad;
    for (const Real part : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity(),
                            -std::numeric_limits<Real>::infinity()}) {
      if constexpr (detail::kIsComplex<T>) {
        bad.push_back(T(part, 1));
        bad.push_back(T(1, part));
      } else {
        bad.push_back(part);
      }
    }
    return bad;
  }
  /// Rows and columns of an n by n matrix: its corners and two places in between.
  static std::vector<std::pair<std::int64_t, std::int64_t>> places(std::int64_t n) {
    return {{0, 0}, {0, n - 1}, {n - 1, 0}, {n - 1, n - 1}, {n / 2, n / 3}, {n / 3, n / 2}};
  }
  /// One element of matrix `which` of a batch becomes `bad`.
  static void spoil(Sample<T>& a, std::int64_t which, std::int64_t rows, std::int64_t columns,
                    std::pair<std::int64_t, std::int64_t> place, T bad) {
    std::vector<T> values = a.values();
    values[static_cast<std::size_t>((which * rows + place.first) * columns + place.second)] = bad;
    a.write(values);
  }

  Sample<T> identities(std::int64_t batch, std::int64_t n) {
    Sample<T> sample = this->random(batch_shape(batch, n, n));
    std::vector<T> values(sample.values().size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::int64_t>(i) % (n * n) % (n + 1) == 0 ? T(1) : T(0);
    sample.write(values);
    return sample;
  }
  Sample<std::int32_t> no_exchanges(std::int64_t batch, std::int64_t n) {
    std::vector<std::int32_t> pivots;
    for (std::int64_t i = 0; i < count_of(batch) * n; ++i) pivots.push_back(static_cast<std::int32_t>(i % n));
    return Sample<std::int32_t>(this->device(), batch_shape(batch, n), Layout::dense, pivots);
  }

  /// All solvers that read the whole of a square matrix.
  Ends solve_general(const Sample<T>& a, std::int64_t batch, std::int64_t n) {
    Sample<T> b = this->random(batch_shape(batch, n, 2));
    Sample<T> x = this->poisoned(batch_shape(batch, n, 2));
    Sample<T> out = this->poisoned(batch_shape(batch, n, n));
    Sample<T> other = this->poisoned(batch_shape(batch, n, n));
    auto s = this->template poisoned_of<Real>(batch_shape(batch, n));
    auto pivots = this->template poisoned_of<std::int32_t>(batch_shape(batch, n));
    const auto given_pivots = no_exchanges(batch, n);
    const Solver by = solver();
    Ends ends;
    const auto add = [&](const char* name, Call<void> call) { ends.emplace_back(name, std::move(call).get()); };
    add("solve", by.solve(a.array(), b.array(), x.array()));
    add("inverse", by.inverse(a.array(), out.array()));
    if (batch < 0) {
      const Result<T> determinant = by.determinant(a.array()).get();
      ends.emplace_back("determinant", determinant ? Result<void>() : fail(determinant.error()));
    } else {
      add("determinants", by.determinants(a.array(), this->poisoned({batch}).array()));
    }
    add("lu", by.lu(a.array(), out.array(), pivots.array()));
    add("lu_solve", by.lu_solve(a.array(), given_pivots.array(), b.array(), x.array()));
    add("qr", by.qr(a.array(), out.array(), other.array()));
    add("least_squares", by.least_squares(a.array(), b.array(), x.array()));
    for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::jacobi}) {
      add("svd", by.svd(a.array(), out.array(), s.array(), other.array(), {.method = method}));
      add("singular_values", by.singular_values(a.array(), s.array(), {.method = method}));
    }
    return ends;
  }
  /// All that read the lower triangle of a Hermitian one.
  Ends solve_hermitian(const Sample<T>& a, std::int64_t batch, std::int64_t n) {
    Sample<T> b = this->random(batch_shape(batch, n, 2));
    Sample<T> x = this->poisoned(batch_shape(batch, n, 2));
    Sample<T> out = this->poisoned(batch_shape(batch, n, n));
    Sample<T> turned = this->poisoned(batch_shape(batch, n, n), Layout::transposed);
    Sample<T> good = identities(batch, n);
    auto w = this->template poisoned_of<Real>(batch_shape(batch, n));
    const Solver by = solver();
    Ends ends;
    const auto add = [&](const char* name, Call<void> call) { ends.emplace_back(name, std::move(call).get()); };
    add("solve_positive", by.solve_positive(a.array(), b.array(), x.array()));
    add("cholesky", by.cholesky(a.array(), out.array()));
    add("cholesky, by columns", by.cholesky(a.array(), turned.array()));
    add("cholesky_solve", by.cholesky_solve(a.array(), b.array(), x.array()));
    add("eigh", by.eigh(a.array(), w.array(), out.array()));
    add("eigenvalues", by.eigenvalues(a.array(), w.array()));
    add("eigh, generalized", by.eigh(a.array(), good.array(), w.array(), out.array()));
    add("eigh, generalized by", by.eigh(good.array(), a.array(), w.array(), out.array()));
    return ends;
  }

  void expect_all(const Ends& ends, std::int64_t word, const std::string& words) {
    for (const auto& [name, end] : ends) {
      SCOPED_TRACE(name);
      this->count_case();
      ASSERT_FALSE(end) << "it went well";
      EXPECT_EQ(end.error().kind(), ErrorKind::numerical_error) << end.error().to_string();
      EXPECT_EQ(end.error().origin().native_code, word) << end.error().to_string();
      EXPECT_NE(end.error().message().find(words), std::string::npos) << end.error().to_string();
    }
  }
  void expect_end(const Result<void>& end, std::int64_t word, const std::string& words) {
    expect_all({{"", end ? Result<void>() : fail(end.error())}}, word, words);
  }
};
CONFORMANCE_SUITE(SolverNotFinite, FourTypes);

CONFORMANCE_TEST(SolverNotFinite, no_solver_takes_a_matrix_with_a_nan_or_an_infinity) {
  for (const T bad : this->bad_numbers())
    for (const auto& place : this->places(5)) {
      SCOPED_TRACE(std::to_string(place.first) + " " + std::to_string(place.second));
      Sample<T> a = this->near_identity(-1, 5, Layout::dense);
      this->spoil(a, 0, 5, 5, place, bad);
      this->expect_all(this->solve_general(a, -1, 5), op::kNotFinite, "the matrix contains a NaN or an infinity");
      if (place.first < place.second) continue;
      Sample<T> h = this->hermitian(-1, 5, true, Layout::dense);
      this->spoil(h, 0, 5, 5, place, bad);
      this->expect_all(this->solve_hermitian(h, -1, 5), op::kNotFinite, "the matrix contains a NaN or an infinity");
    }
}

CONFORMANCE_TEST(SolverNotFinite, zeros_hide_nothing) {
  for (const T bad : this->bad_numbers())
    for (const auto& place : this->places(4)) {
      SCOPED_TRACE(std::to_string(place.first) + " " + std::to_string(place.second));
      Sample<T> a = this->identities(-1, 4);
      this->spoil(a, 0, 4, 4, place, bad);
      this->expect_all(this->solve_general(a, -1, 4), op::kNotFinite, "contains a NaN");
      if (place.first >= place.second)
        this->expect_all(this->solve_hermitian(a, -1, 4), op::kNotFinite, "contains a NaN");
    }
}

CONFORMANCE_TEST(SolverNotFinite, a_large_matrix_is_no_exception) {
  const T nan = this->bad_numbers().front();
  constexpr std::int64_t kSize = 300;
  for (const auto& place : this->places(kSize)) {
    Sample<T> a = this->near_identity(-1, kSize, Layout::dense);
    this->spoil(a, 0, kSize, kSize, place, nan);
    this->expect_all(this->solve_general(a, -1, kSize), op::kNotFinite, "contains a NaN");
    if (place.first < place.second) continue;
    Sample<T> h = this->hermitian(-1, kSize, true, Layout::dense);
    this->spoil(h, 0, kSize, kSize, place, nan);
    this->expect_all(this->solve_hermitian(h, -1, kSize), op::kNotFinite, "contains a NaN");
  }
}

CONFORMANCE_TEST(SolverNotFinite, a_batch_says_which_matrix) {
  for (const T bad : this->bad_numbers()) {
    Sample<T> a = this->near_identity(4, 3, Layout::dense);
    this->spoil(a, 2, 3, 3, {1, 0}, bad);
    this->expect_all(this->solve_general(a, 4, 3), op::kNotFinite,
                     "matrix 2 of the batch contains a NaN or an infinity; 1 of 4 failed");
    Sample<T> h = this->hermitian(4, 3, true, Layout::dense);
    this->spoil(h, 2, 3, 3, {1, 0}, bad);
    this->expect_all(this->solve_hermitian(h, 4, 3), op::kNotFinite,
                     "matrix 2 of the batch contains a NaN or an infinity; 1 of 4 failed");
  }
}

CONFORMANCE_TEST(SolverNotFinite, nor_does_a_matrix_that_is_not_square_hide_any) {
  for (const T bad : this->bad_numbers())
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{6, 3}, {3, 6}})
      for (const auto& place :
           {std::pair<std::int64_t, std::int64_t>{0, 0}, {rows - 1, 0}, {0, columns - 1}, {rows - 1, columns - 1}}) {
        SCOPED_TRACE(std::to_string(rows) + ": " + std::to_string(place.first) + " " + std::to_string(place.second));
        const std::int64_t k = 3;
        Sample<T> a = this->random({rows, columns});
        this->spoil(a, 0, rows, columns, place, bad);
        Sample<T> b = this->random({rows});
        Sample<T> x = this->poisoned({columns});
        Sample<T> q = this->poisoned({rows, k});
        Sample<T> r = this->poisoned({k, columns});
        Sample<T> lu = this->poisoned({rows, columns});
        auto pivots = this->template poisoned_of<std::int32_t>({k});
        const Solver by = this->solver();
        const std::string words = "contains a NaN or an infinity";
        this->expect_end(by.qr(a.array(), q.array(), r.array()).get(), op::kNotFinite, words);
        this->expect_end(by.lu(a.array(), lu.array(), pivots.array()).get(), op::kNotFinite, words);
        this->expect_end(by.least_squares(a.array(), b.array(), x.array()).get(), op::kNotFinite, words);
      }
}

CONFORMANCE_TEST(SolverNotFinite, nor_do_right_hand_sides) {
  const std::string words = "right-hand sides with a NaN or an infinity";
  for (const T bad : this->bad_numbers())
    for (const std::int64_t row : {0, 2}) {
      Sample<T> a = this->near_identity(-1, 3, Layout::dense);
      Sample<T> h = this->hermitian(-1, 3, true, Layout::dense);
      Sample<T> one = this->identities(-1, 3);
      Sample<T> b = this->random({3, 2});
      this->spoil(b, 0, 3, 2, {row, 1}, bad);
      Sample<T> x = this->poisoned({3, 2});
      const auto pivots = this->no_exchanges(-1, 3);
      const Solver by = this->solver();
      this->expect_end(by.solve(a.array(), b.array(), x.array()).get(), op::kSidesNotFinite, words);
      this->expect_end(by.solve_positive(h.array(), b.array(), x.array()).get(), op::kSidesNotFinite, words);
      this->expect_end(by.lu_solve(one.array(), pivots.array(), b.array(), x.array()).get(), op::kSidesNotFinite,
                       words);
      this->expect_end(by.cholesky_solve(one.array(), b.array(), x.array()).get(), op::kSidesNotFinite, words);
      this->expect_end(by.least_squares(a.array(), b.array(), x.array()).get(), op::kSidesNotFinite, words);
      Sample<T> column(this->device(), {3, 1}, Layout::dense,
                       {T(1), T(0), T(0)});  // b's last element counts for nothing
      Sample<T> number = this->poisoned({1, 2});
      this->expect_end(by.least_squares(column.array(), b.array(), number.array()).get(), op::kSidesNotFinite, words);
    }
}

CONFORMANCE_TEST(SolverNotFinite, what_does_not_fit_the_type_is_no_result) {
  const std::string words = "too large for its type";
  const auto huge = std::sqrt(std::numeric_limits<detail::RealType<T>>::max()) * 8;
  const T large(std::numeric_limits<detail::RealType<T>>::max());
  const auto matrix = [&](T a, T b, T c, T d) {
    return Sample<T>(this->device(), {2, 2}, Layout::dense, {a, b, c, d});
  };
  const Solver by = this->solver();
  Sample<T> out = this->poisoned({2, 2});
  Sample<T> other = this->poisoned({2, 2});
  auto pivots = this->template poisoned_of<std::int32_t>({2});
  const Sample<T> small = matrix(T(1 / huge), T(0), T(0), T(1 / huge));
  const Sample<T> sides = matrix(T(huge), T(0), T(0), T(huge));
  this->expect_end(by.solve(small.array(), sides.array(), out.array()).get(), op::kOverflow, words);
  this->expect_end(by.solve_positive(small.array(), sides.array(), out.array()).get(), op::kOverflow, words);
  this->expect_end(by.least_squares(small.array(), sides.array(), out.array()).get(), op::kOverflow, words);
  const Sample<T> grows = matrix(T(1), large, T(-1), large);
  this->expect_end(by.lu(grows.array(), out.array(), pivots.array()).get(), op::kOverflow, words);
  this->expect_end(by.solve(grows.array(), sides.array(), out.array()).get(), op::kOverflow, words);
  const Sample<T> long_columns = matrix(large, large, large, T(1));
  this->expect_end(by.qr(long_columns.array(), out.array(), other.array()).get(), op::kOverflow, words);
  const Result<T> determinant = by.determinant(sides.array()).get();
  ASSERT_FALSE(determinant) << "the determinant does not fit";
  EXPECT_EQ(determinant.error().origin().native_code, op::kOverflow) << determinant.error().to_string();
}

CONFORMANCE_TEST(SolverNotFinite, a_determinant_is_not_0_because_of_a_nan) {
  const T nan = this->bad_numbers().front();
  for (const std::vector<T>& elements : {std::vector<T>{nan, T(0), T(0), T(0)},
                                         {T(0), nan, T(0), T(0)},
                                         {T(0), T(0), T(0), nan},
                                         {nan, nan, nan, nan}}) {
    Sample<T> a(this->device(), {2, 2}, Layout::dense, elements);
    const Result<T> determinant = this->solver().determinant(a.array()).get();
    ASSERT_FALSE(determinant) << std::abs(*determinant);
    EXPECT_EQ(determinant.error().origin().native_code, op::kNotFinite) << determinant.error().to_string();
  }
  Sample<T> singular(this->device(), {2, 2}, Layout::dense, {T(1), T(2), T(2), T(4)});
  EXPECT_EQ(value(this->solver().determinant(singular.array()).get()), T(0));
}

}  // namespace
}  // namespace troupe::conformance
