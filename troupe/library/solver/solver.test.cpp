// What solvers refuse before anything is submitted, and how a call ends when its matrix has no solution, on every
// backend.
#include "troupe/library/solver/solver.hpp"

#include "troupe/library/solver/solver.test.hpp"
#include "troupe/op/solver.hpp"

namespace troupe::conformance {
namespace {

template <class R>
ErrorKind kind_of(const Result<R>& result) {
  return result ? ErrorKind::internal : result.error().kind();
}
template <class R>
std::string text_of(const Result<R>& result) {
  return result ? "no error" : result.error().to_string();
}

// ---- input that cannot be ----

class SolverInput : public SolverFixture<float> {
 protected:
  template <Element T = float>
  Array<T> array(const Shape& shape) {
    return value(device().template array<T>(shape));
  }
  Solver solver() const { return device().solver(); }
  /// Nothing was submitted for it.
  template <class R>
  void expect_refused(Call<R> call, ErrorKind kind, const std::string& words) {
    const std::uint64_t submitted = device().stats().submitted;
    const Result<R> result = std::move(call).get();
    EXPECT_EQ(kind_of(result), kind) << text_of(result);
    EXPECT_NE(text_of(result).find(words), std::string::npos) << text_of(result);
    EXPECT_EQ(device().stats().submitted, submitted);
  }
};

TEST_F(SolverInput, a_matrix_that_is_not_square) {
  const Array<float> a = array({3, 4});
  expect_refused(solver().solve(a, array({3}), array({3})), ErrorKind::invalid_argument, "solve: a is [3, 4]");
  expect_refused(solver().inverse(a, array({3, 4})), ErrorKind::invalid_argument, "it must be square");
  expect_refused(solver().determinant(a), ErrorKind::invalid_argument, "it must be square");
  expect_refused(solver().lu_solve(a, array<std::int32_t>({3}), array({3}), array({3})), ErrorKind::invalid_argument,
                 "it must be square");
  expect_refused(solver().cholesky(a, array({3, 4})), ErrorKind::invalid_argument, "it must be square");
  expect_refused(solver().eigh(a, array({3}), array({3, 3})), ErrorKind::invalid_argument, "it must be square");
}

TEST_F(SolverInput, shapes_that_do_not_fit) {
  const Array<float> a = array({3, 3});
  expect_refused(solver().solve(a, array({4}), array({3})), ErrorKind::invalid_argument, "b is [4, 1]");
  expect_refused(solver().solve(a, array({3, 2}), array({3, 1})), ErrorKind::invalid_argument, "it must be [3, 2]");
  expect_refused(solver().inverse(a, array({2, 2})), ErrorKind::invalid_argument, "it must be [3, 3]");
  expect_refused(solver().lu(array({5, 3}), array({5, 5}), array<std::int32_t>({3})), ErrorKind::invalid_argument,
                 "it must be [5, 3]");
  expect_refused(solver().lu(array({5, 3}), array({5, 3}), array<std::int32_t>({5})), ErrorKind::invalid_argument,
                 "it must be [3]");
  expect_refused(solver().qr(array({5, 3}), array({5, 4}), array({4, 3})), ErrorKind::invalid_argument, "q is [5, 4]");
  expect_refused(solver().qr(array({5, 3}), array({5, 5}), array({3, 3})), ErrorKind::invalid_argument, "[5, 3]");
  expect_refused(solver().least_squares(array({5, 3}), array({5}), array({5})), ErrorKind::invalid_argument,
                 "it must be [3, 1]");
  expect_refused(solver().svd(array({5, 3}), array({5, 5}), array({3}), array({2, 3})), ErrorKind::invalid_argument,
                 "it must be [3, 3]");
  expect_refused(solver().singular_values(array({5, 3}), array({5})), ErrorKind::invalid_argument, "it must be [3]");
  expect_refused(solver().eigenvalues(a, array({3, 2}), array({3})), ErrorKind::invalid_argument, "b is [3, 2]");
}

TEST_F(SolverInput, ranks_and_batches_that_do_not_fit) {
  const Array<float> batch = array({4, 3, 3});
  expect_refused(solver().solve(array({3}), array({3}), array({3})), ErrorKind::invalid_argument,
                 "it must be a matrix");
  expect_refused(solver().inverse(array({2, 2, 2, 2}), array({2, 2, 2, 2})), ErrorKind::invalid_argument, "matrix");
  expect_refused(solver().inverse(batch, array({5, 3, 3})), ErrorKind::invalid_argument, "a is a batch of 4");
  expect_refused(solver().inverse(batch, array({3, 3})), ErrorKind::invalid_argument, "it must be a matrix");
  expect_refused(solver().determinant(batch), ErrorKind::invalid_argument, "determinants");
  expect_refused(solver().determinants(batch, array({3})), ErrorKind::invalid_argument, "a batch of 4");
  expect_refused(solver().eigh(batch, array({3}), batch), ErrorKind::invalid_argument, "vector");
}

TEST_F(SolverInput, types) {
  const Array<float> a = array({3, 3});
  expect_refused(solver().inverse(array<std::int32_t>({3, 3}), array<std::int32_t>({3, 3})), ErrorKind::unsupported,
                 "f32, f64, c64 or c128");
  expect_refused(solver().determinant(array<f16>({3, 3})), ErrorKind::unsupported, "it must be f32");
  expect_refused(solver().inverse(a, array<double>({3, 3})), ErrorKind::invalid_argument, "f64");
  expect_refused(solver().lu(a, array({3, 3}), array<std::int64_t>({3})), ErrorKind::invalid_argument, "i32");
  const auto complex = array<std::complex<float>>({3, 3});
  expect_refused(solver().eigh(complex, array<std::complex<float>>({3}), complex), ErrorKind::invalid_argument, "f32");
}

TEST_F(SolverInput, outputs_that_overlap_something) {
  const Array<float> a = array({3, 3});
  expect_refused(solver().inverse(a, a), ErrorKind::invalid_argument, "overlap");
  expect_refused(solver().inverse(a, a.transpose()), ErrorKind::invalid_argument, "overlap");
  expect_refused(solver().qr(a, array({3, 3}), a), ErrorKind::invalid_argument, "overlap");
  const Array<float> out = array({3, 3});
  expect_refused(solver().svd(a, out, array({3}), out), ErrorKind::invalid_argument, "overlap");
  const Array<float> repeated = value(array({1, 3}).broadcast({3, 3}));
  expect_refused(solver().inverse(a, repeated), ErrorKind::invalid_argument, "overlap each other");
}

TEST_F(SolverInput, handles_without_memory) {
  expect_refused(solver().inverse(Array<float>(), array({3, 3})), ErrorKind::invalid_argument, "inverse");
  expect_refused(solver().qr(array({3, 3}), Array<float>(), array({3, 3})), ErrorKind::invalid_argument, "qr");
}

TEST_F(SolverInput, may_repeat_one_matrix_in_a_batch) {
  Sample<float> a(device(), {1, 2, 2}, Layout::dense, {2, 0, 0, 4});
  Sample<float> b(device(), {3, 2}, Layout::dense, {2, 4, 4, 8, 6, 12});
  Sample<float> x = poisoned({3, 2});
  value(solver().solve(value(a.array().broadcast({3, 2, 2})), b.array(), x.array()).get());
  expect_equal(x.read(), {1, 1, 2, 2, 3, 3});
}

TEST_F(SolverInput, is_run_again_when_the_worker_dies_under_it) {
  if (device().worker_pid() == 0) GTEST_SKIP() << "the worker is a thread";
  constexpr std::int64_t kSize = 400;
  Sample<float> a = hermitian(-1, kSize, false, Layout::dense);
  Sample<float> w = poisoned({kSize});
  Sample<float> v = poisoned({kSize, kSize});
  value(solver().eigh(a.array(), w.array(), v.array()).submit());
  EXPECT_TRUE(device().kill_worker());
  value(device().wait_for(v.array()).get());
  double trace = 0;
  double sum = 0;
  for (std::int64_t i = 0; i < kSize; ++i) trace += a.values()[static_cast<std::size_t>(i * (kSize + 1))];
  for (const float eigenvalue : w.read()) sum += eigenvalue;
  EXPECT_NEAR(sum, trace, 0.05);
  expect_orthonormal_columns(matrix_of(v.read(), kSize, kSize), 8 * kSize);
}

// ---- matrices that do not allow it ----

template <class T>
class SolverVerdicts : public SolverFixture<T> {
 protected:
  using Base = SolverFixture<T>;
  using typename Base::Number;
  using typename Base::RealNumber;

  Solver solver() const { return this->device().solver(); }
  Sample<Number> matrix(const std::vector<double>& elements) { return numbers({3, 3}, elements); }
  Sample<Number> numbers(const Shape& shape, const std::vector<double>& elements) {
    std::vector<Number> converted;
    for (const double element : elements) converted.push_back(Number(static_cast<RealNumber>(element)));
    return Sample<Number>(this->device(), shape, Layout::dense, converted);
  }
  template <class U>
  void expect_numerical_error(const Result<U>& result, std::int64_t info, const std::string& words) {
    EXPECT_EQ(kind_of(result), ErrorKind::numerical_error) << text_of(result);
    if (!result) {
      EXPECT_EQ(result.error().origin().native_code, info) << text_of(result);
    }
    EXPECT_NE(text_of(result).find(words), std::string::npos) << text_of(result);
  }
  void expect_tainted(const AnyArray& array) {
    EXPECT_EQ(kind_of(this->device().wait_for(array).get()), ErrorKind::buffer_tainted);
  }
  /// Never a success, whether or not the taint came in time.
  void expect_no_success(const Result<void>& result) {
    EXPECT_TRUE(kind_of(result) == ErrorKind::buffer_tainted || kind_of(result) == ErrorKind::numerical_error)
        << text_of(result);
  }
};
CONFORMANCE_SUITE(SolverVerdicts, Types<float, std::complex<double>>);

const std::vector<double> kIdentity{1, 0, 0, 0, 1, 0, 0, 0, 1};
const std::vector<double> kSingular{1, 2, 3, 2, 4, 6, 1, 0, 1};     // the second row is twice the first
const std::vector<double> kIndefinite{4, 0, 0, 0, -1, 0, 0, 0, 4};  // from the second minor on

CONFORMANCE_TEST(SolverVerdicts, a_singular_matrix_says_which_pivot_and_taints_what_was_written) {
  auto a = this->matrix(kSingular);
  auto b = this->random({3, 1});
  auto x = this->poisoned({3, 1});
  this->expect_numerical_error(this->solver().solve(a.array(), b.array(), x.array()).get(), 3, "singular: pivot 3");
  this->expect_tainted(x.array());
  auto out = this->poisoned({3, 3});
  this->expect_numerical_error(this->solver().inverse(a.array(), out.array()).get(), 3, "singular");
  this->expect_tainted(out.array());
  a = this->matrix(kIdentity);
  value(this->solver().solve(a.array(), b.array(), x.array()).get());  // written whole, it is good again
  this->expect_equal(x.read(), b.values());
}

CONFORMANCE_TEST(SolverVerdicts, lu_of_a_matrix_without_full_rank_says_which_pivot_whatever_its_shape) {
  const std::vector<double> wide{1, 2, 4, 2, 4, 8};  // the second row is twice the first
  const std::vector<double> tall{1, 2, 2, 4, 4, 8};  // the second column is
  for (const auto& [shape, elements] : {std::pair(Shape{2, 3}, wide), std::pair(Shape{3, 2}, tall)}) {
    auto a = this->numbers(shape, elements);
    auto lu = this->poisoned(shape);
    auto pivots = this->template poisoned_of<std::int32_t>({2});
    this->expect_numerical_error(this->solver().lu(a.array(), lu.array(), pivots.array()).get(), 2, "pivot 2");
    this->expect_tainted(lu.array());
    this->expect_tainted(pivots.array());
  }
}

CONFORMANCE_TEST(SolverVerdicts, factors_of_a_singular_matrix_solve_nothing) {
  for (int round = 0; round < 20; ++round) {
    auto a = this->matrix(kSingular);
    auto lu = this->poisoned({3, 3});
    auto pivots = this->template poisoned_of<std::int32_t>({3});
    Sample<T> b = this->random({3, 2});
    Sample<T> x = this->poisoned({3, 2});
    Sample<T> y = this->poisoned({3, 2});
    (void)this->solver().lu(a.array(), lu.array(), pivots.array()).submit();  // its error may be known at once
    (void)this->solver().lu_solve(lu.array(), pivots.array(), b.array(), x.array()).submit();
    this->expect_no_success(this->solver().lu_solve(lu.array(), pivots.array(), x.array(), y.array()).get());
    this->expect_tainted(lu.array());
    this->expect_tainted(x.array());
    this->expect_tainted(y.array());
  }
}

CONFORMANCE_TEST(SolverVerdicts, a_matrix_that_is_not_positive_definite_says_which_minor) {
  auto a = this->matrix(kIndefinite);
  auto l = this->poisoned({3, 3});
  Sample<T> b = this->random({3, 2});
  Sample<T> x = this->poisoned({3, 2});
  this->expect_numerical_error(this->solver().solve_positive(a.array(), b.array(), x.array()).get(), 2,
                               "leading minor of order 2");
  (void)this->solver().cholesky(a.array(), l.array()).submit();
  this->expect_no_success(this->solver().cholesky_solve(l.array(), b.array(), x.array()).get());
  this->expect_tainted(l.array());
  this->expect_numerical_error(this->solver().cholesky(a.array(), l.array()).get(), 2, "not positive definite");
}

CONFORMANCE_TEST(SolverVerdicts, a_batch_says_which_matrix_and_how_many_failed) {
  std::vector<double> elements{1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1};  // 1 and 3 of 5
  auto a = this->numbers({5, 2, 2}, elements);
  Sample<T> out = this->poisoned({5, 2, 2});
  this->expect_numerical_error(this->solver().inverse(a.array(), out.array()).get(), 2, "matrix 1 of the batch");
  this->expect_numerical_error(this->solver().cholesky(a.array(), out.array()).get(), 2, "2 of 5 failed");
  this->expect_tainted(out.array());
}

CONFORMANCE_TEST(SolverVerdicts, pivots_of_nothing_are_noticed) {
  auto lu = this->matrix(kIdentity);
  Sample<T> b = this->random({3, 1});
  Sample<T> x = this->poisoned({3, 1});
  for (const std::vector<std::int32_t>& wrong :
       {std::vector<std::int32_t>{0, 1, 3}, {0, -1, 2}, {1'000'000, 1, 2}, {0, 0, 2}}) {
    Sample<std::int32_t> pivots(this->device(), {3}, Layout::dense, wrong);
    this->expect_numerical_error(this->solver().lu_solve(lu.array(), pivots.array(), b.array(), x.array()).get(),
                                 op::kNotPivots, "pivots");
  }
}

CONFORMANCE_TEST(SolverVerdicts, columns_that_depend_on_each_other_have_no_least_squares) {
  auto tall = this->numbers({4, 2}, {1, 2, 3, 6, 5, 10, 7, 14});
  Sample<T> b = this->random({4});
  Sample<T> x = this->poisoned({2});
  this->expect_numerical_error(this->solver().least_squares(tall.array(), b.array(), x.array()).get(),
                               op::kRankDeficient, "depend on each other");
  Sample<T> b_wide = this->random({2});
  Sample<T> x_wide = this->poisoned({4});
  this->expect_numerical_error(
      this->solver().least_squares(tall.array().transpose(), b_wide.array(), x_wide.array()).get(), op::kRankDeficient,
      "depend on each other");
}

CONFORMANCE_TEST(SolverVerdicts, a_nan_has_no_singular_values_and_no_eigenvalues) {
  using R = detail::RealType<T>;
  auto a = this->matrix({1, 0, 0, 0, std::nan(""), 0, 0, 0, 1});
  auto w = this->template poisoned_of<R>({3});
  for (const SvdMethod method : {SvdMethod::automatic, SvdMethod::jacobi})
    this->expect_numerical_error(this->solver().singular_values(a.array(), w.array(), {.method = method}).get(),
                                 op::kNotFinite, "NaN");
  this->expect_numerical_error(this->solver().eigenvalues(a.array(), w.array()).get(), op::kNotFinite, "NaN");
  auto b = this->matrix(kIdentity);
  b.write(a.values());
  this->expect_numerical_error(this->solver().eigenvalues(b.array(), a.array(), w.array()).get(), op::kNotFinite,
                               "NaN");
}

CONFORMANCE_TEST(SolverVerdicts, a_generalized_problem_wants_a_positive_definite_b) {
  using R = detail::RealType<T>;
  auto a = this->matrix(kIdentity);
  auto b = this->matrix(kIndefinite);
  auto w = this->template poisoned_of<R>({3});
  this->expect_numerical_error(this->solver().eigenvalues(a.array(), b.array(), w.array()).get(), 5,
                               "not positive definite");
}

}  // namespace
}  // namespace troupe::conformance
