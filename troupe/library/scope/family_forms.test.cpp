// What the functions of a scope make of the families: shapes, types and values; and views.
#include <cmath>

#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class FamilyForms : public DeviceTest {
 protected:
  template <class X>
  std::vector<detail::TypeOf<X>> values(const X& x) {
    using T = detail::TypeOf<X>;
    const Result<HostArray<T>> read = on.read(x).get();
    if (!read) ADD_FAILURE() << read.error().to_string();
    return read ? std::vector<T>(read->begin(), read->end()) : std::vector<T>();
  }
  template <Element T>
  void expect(const Array<T>& x, const Shape& shape, const std::vector<T>& expected) {
    EXPECT_EQ(x.shape(), shape);
    EXPECT_EQ(values(x), expected);
  }
  template <Element T>
  void expect_near(const Array<T>& x, const Shape& shape, const std::vector<T>& expected) {
    EXPECT_EQ(x.shape(), shape);
    const std::vector<T> got = values(x);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(std::abs(got[i] - expected[i]), 0, 1e-5) << "element " << i;
  }
  /// The largest distance of two expressions.
  template <class A, class B>
  double distance(const A& one, const B& other) {
    return static_cast<double>(values(on.max(abs(one - other)))[0]);
  }
  template <class Make>
  void expect_refused(const Make& make, std::string_view text, ErrorKind kind = ErrorKind::invalid_argument) {
    Scope bad_one(device);
    make(bad_one);
    const Result<void> end = bad_one.end().get();
    ASSERT_FALSE(end) << text;
    EXPECT_EQ(end.error().kind(), kind) << end.error().to_string();
    EXPECT_NE(end.error().message().find(text), std::string_view::npos) << end.error().to_string();
    EXPECT_NE(std::string_view(end.error().origin().where.file_name()).find("family_forms.test.cpp"),
              std::string_view::npos);
  }

  Device device = open();
  Scope on{device};
  const Array<float> a = on.from(std::vector<float>{4, 1, 1, 3}, {2, 2});
  const Array<float> b = on.from(std::array{1.0f, 2.0f}, {2});
  const Array<float> tall = on.from(std::vector<float>{1, 0, 1, 1, 1, 2}, {3, 2});
};

TEST_F(FamilyForms, views_copies_and_casts) {
  const auto x = on.from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  expect(on.copy(on.slice(x, -1, 1, 3)), {2, 2}, {2, 3, 5, 6});
  expect(on.copy(on.slice(x, 0, -1, -1, -1)), {2, 3}, {4, 5, 6, 1, 2, 3});
  expect(on.copy(on.select(x, 1, -1)), {2}, {3, 6});
  expect(on.reshape(x, {3, -1}), {3, 2}, {1, 2, 3, 4, 5, 6});
  expect(on.copy(on.permute(x, {1, 0})), {3, 2}, {1, 4, 2, 5, 3, 6});
  expect(on.copy(on.broadcast(b, {2, 2})), {2, 2}, {1, 2, 1, 2});
  EXPECT_TRUE(on.copy(x.transpose()).is_contiguous());
  expect(on.cast<std::int32_t>(on.from(std::array{1.7, -2.2}, {2})), {2}, {1, -2});
  EXPECT_EQ(on.slice(x, 0, 0, 1).view().address, x.view().address) << "nothing is copied";
}

TEST_F(FamilyForms, products_with_an_epilogue) {
  const auto y = on.matmul(a, a - 5.0f, {.activation = Activation::relu, .bias = &b});
  expect(y, {2, 2}, {0, 0, 0, 0});
  expect(on.matmul(a, a, {.alpha = 2, .bias = &b}), {2, 2}, {35, 16, 15, 22});
  const auto batch = on.full<float>({3, 2, 2}, 1.0f);
  EXPECT_EQ(on.matmul(batch, a, {.alpha = 0.5}).shape(), (Shape{3, 2, 2}));
}

TEST_F(FamilyForms, products_with_half_a_matrix) {
  const auto lower = on.from(std::array{4.0f, 0.0f, 1.0f, 3.0f}, {2, 2});
  expect(on.symm(lower, lower), {2, 2}, {17, 3, 7, 9});  // a times it
  expect(on.symm(lower, tall * 2, {.side = Side::right}), {3, 2}, {8, 2, 10, 8, 12, 14});
  expect(on.trmm(lower, a), {2, 2}, {16, 4, 7, 10});
  expect(on.trmm(lower, a, {.alpha = 2, .side = Side::right}), {2, 2}, {34, 6, 14, 18});
  expect_refused([&](Scope& one) { (void)one.symm(a, tall); }, "symm: ");
  expect_refused([&](Scope& one) { (void)one.trmm(tall, a); }, "trmm: ");
}

TEST_F(FamilyForms, einsums) {
  expect(on.einsum("ij->ji", tall), {2, 3}, {1, 1, 1, 0, 1, 2});
  expect(on.einsum("ii->", a), {}, {7});
  expect(on.einsum("ik,kj->ij", tall, a), {3, 2}, {4, 1, 5, 4, 6, 7});
  expect(on.einsum("ik,k->i", a * 2, b, {.alpha = 0.5f}), {2}, {6, 7});
  expect(on.einsum("ij,jk,k->i", {tall, a, b}), {3}, {6, 13, 20});
  const std::vector<Array<float>> list{tall, a};
  expect(on.einsum("ij,jk->k", std::span<const Array<float>>(list)), {2}, {15, 12});
}

TEST_F(FamilyForms, linear_systems) {
  expect_near(on.solve(a, b), {2}, {1.0f / 11, 7.0f / 11});
  expect_near(on.solve_positive(a, b), {2}, {1.0f / 11, 7.0f / 11});
  expect_near(on.matmul(a, on.solve(a, a * 2)), {2, 2}, {8, 2, 2, 6});
  expect_near(on.matmul(a, on.inverse(a)), {2, 2}, {1, 0, 0, 1});
  expect_near(on.determinant(a), {1}, {11});
  const auto batch = on.copy(on.broadcast(a, {3, 2, 2}));
  expect_near(on.determinant(batch), {3}, {11, 11, 11});
  EXPECT_EQ(on.solve(batch, on.full<float>({3, 2}, 1.0f)).shape(), (Shape{3, 2}));
  EXPECT_EQ(on.solve(batch, on.full<float>({3, 2, 5}, 1.0f)).shape(), (Shape{3, 2, 5}));
  expect_near(on.least_squares(tall, on.from(std::array{1.0f, 3.0f, 5.0f}, {3})), {2}, {1, 2});
  const auto factors = on.lu(a);
  static_assert(std::same_as<decltype(factors.second), Array<std::int32_t>>);
  expect_near(on.lu_solve(factors, b), {2}, {1.0f / 11, 7.0f / 11});
  const auto l = on.cholesky(a);
  EXPECT_LT(distance(on.matmul(l, l.transpose()), a), 1e-5);
  expect_near(on.cholesky_solve(l, b), {2}, {1.0f / 11, 7.0f / 11});
  expect_near(on.matmul(l, on.solve_triangular(l, b)), {2}, {1, 2});
  const auto wide = on.full<float>({3, 2}, 1.0f);
  EXPECT_LT(distance(on.matmul(on.solve_triangular(l, wide, {.side = Side::right}), l), wide), 1e-5);
}

TEST_F(FamilyForms, factors_and_spectra) {
  const auto [q, r] = on.qr(tall);
  EXPECT_EQ(q.shape(), (Shape{3, 2}));
  EXPECT_EQ(r.shape(), (Shape{2, 2}));
  EXPECT_LT(distance(on.matmul(q, r), tall), 1e-5);
  const auto [u, s, vt] = on.svd(tall);
  EXPECT_EQ(s.shape(), (Shape{2}));
  EXPECT_LT(distance(on.matmul(u * s, vt), tall), 1e-5);
  EXPECT_LT(distance(on.singular_values(tall), s), 1e-5);
  const auto [w, v] = on.eigh(a);
  EXPECT_LT(distance(on.matmul(a, v), w * v), 1e-5);
  EXPECT_LT(distance(on.eigenvalues(a), w), 1e-5);
  const auto [w2, v2] = on.eigh(a, a);
  expect_near(w2, {2}, {1, 1});
  using C = std::complex<double>;
  const auto h = on.from(std::vector<C>{2, C(0, 1), C(0, -1), 2}, {2, 2});
  const auto [wh, vh] = on.eigh(h);
  static_assert(std::same_as<decltype(wh), const Array<double>>);
  EXPECT_NEAR(values(wh)[0], 1, 1e-12);
  EXPECT_NEAR(values(wh)[1], 3, 1e-12);
}

TEST_F(FamilyForms, sparse_matrices) {
  const std::vector<Triplet<float>> elements{{0, 0, 2}, {1, 0, 1}, {1, 1, 4}, {2, 1, 3}};
  const SparseMatrix matrix = value(device.sparse().from_triplets(3, 2, elements));
  expect(on.to_dense<float>(matrix), {3, 2}, {2, 0, 1, 4, 0, 3});
  expect(on.multiply(matrix, b), {3}, {2, 9, 6});
  expect(on.multiply(matrix, a + 0, {.alpha = 2.0f}), {3, 2}, {16, 4, 16, 26, 6, 18});
  expect(on.multiply(matrix, on.full<float>({3}, 1.0f), {.transpose = true}), {2}, {3, 7});
  const std::vector<Triplet<float>> lower{{0, 0, 2}, {1, 0, 1}, {1, 1, 4}};
  const SparseMatrix triangle = value(device.sparse().from_triplets(2, 2, lower));
  expect(on.solve(triangle, b), {2}, {0.5f, 0.375f});
}

TEST_F(FamilyForms, primitives) {
  const auto x = on.from(std::array{3.0f, 1.0f, 2.0f, 5.0f, 6.0f, 4.0f}, {2, 3});
  expect(on.sort(x), {2, 3}, {1, 2, 3, 4, 5, 6});
  expect(on.sort(x + 1, {.order = SortOrder::descending, .axis = 0}), {2, 3}, {6, 7, 5, 4, 2, 3});
  const auto [sorted, moved] = on.sort_pairs(x, -1.0f * x);
  expect(moved, {2, 3}, {-1, -2, -3, -4, -5, -6});
  const auto [best, places] = on.top_k(x, 2);
  static_assert(std::same_as<decltype(places), const Array<std::int64_t>>);
  expect(best, {2, 2}, {3, 2, 6, 5});
  EXPECT_EQ(values(places), (std::vector<std::int64_t>{0, 2, 1, 0}));
  EXPECT_EQ(values(on.argsort(x)), (std::vector<std::int64_t>{1, 2, 0, 2, 0, 1}));
  EXPECT_EQ(values(on.argmax(x)), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(values(on.argmin(x, {.axis = 0})), (std::vector<std::int64_t>{0, 0, 0}));
  expect(on.scan(Combine::sum, x, {.exclusive = true}), {2, 3}, {0, 3, 4, 0, 5, 11});
  const auto line = on.from(std::array{1.0f, 2.0f, 2.0f}, {3});
  EXPECT_EQ(values(on.lower_bound(line, x)), (std::vector<std::int64_t>{3, 0, 1, 3, 3, 3}));
  EXPECT_EQ(values(on.upper_bound(line, x)), (std::vector<std::int64_t>{3, 1, 3, 3, 3, 3}));
  EXPECT_EQ(values(on.histogram(x, 0, 6, 3)), (std::vector<std::int64_t>{1, 2, 3}));
  const auto rows = on.from(std::array<std::int64_t, 3>{1, 0, 1}, {3});
  expect(on.gather(x, rows), {3, 3}, {5, 6, 4, 3, 1, 2, 5, 6, 4});
  expect(on.gather(x, rows, {.axis = 1}), {2, 3}, {1, 3, 1, 6, 5, 6});
  expect(on.gather(x, on.argsort(x), {.axis = 1}), {2, 3}, {1, 2, 3, 4, 5, 6});
}

TEST_F(FamilyForms, what_does_not_fit_fails_the_scope_with_the_families_own_sentence) {
  expect_refused([&](Scope& one) { (void)one.solve(tall, b); }, "solve: a is [3, 2]; it must be square");
  expect_refused([&](Scope& one) { (void)one.solve(a, tall); }, "solve: b is [3, 2]");
  expect_refused([&](Scope& one) { (void)one.solve(Array<float>(), b); }, "solve: a is an empty handle");
  expect_refused([&](Scope& one) { (void)one.inverse(b); }, "inverse: a is [2]");
  expect_refused([&](Scope& one) { (void)one.determinant(b); }, "determinant: a is [2]");
  expect_refused([&](Scope& one) { (void)one.qr(b); }, "qr: a is [2]");
  expect_refused([&](Scope& one) { (void)one.eigh(tall); }, "eigh: a is [3, 2]");
  expect_refused([&](Scope& one) { (void)one.einsum("ij,jk->ik", tall, tall); }, "'j' is 2 in operand 1 and 3 in");
  expect_refused([&](Scope& one) { (void)one.einsum("ij,jk->", a); }, "operand");
  expect_refused([&](Scope& one) { (void)one.einsum("ij->i", Array<float>()); }, "operand 1 is an empty handle");
  expect_refused([&](Scope& one) { (void)one.slice(a, 2, 0, 1); }, "it has no dimension 2");
  expect_refused([&](Scope& one) { (void)one.reshape(a, {3}); }, "both must have as many elements");
  expect_refused([&](Scope& one) { (void)one.matmul(tall, tall, {.alpha = 2}); }, "a has 2 columns and b 3 rows");
  expect_refused([&](Scope& one) { (void)one.multiply(SparseMatrix(), b); }, "empty");
  expect_refused([&](Scope& one) { (void)one.sort(a, {.axis = 2}); }, "sort: keys is [2, 2]; it has no axis 2");
  expect_refused([&](Scope& one) { (void)one.top_k(a, 3); }, "top_k: best is [2, 3], 3 of each row");
  const auto singular = on.full<float>({2, 2}, 1.0f);
  expect_refused([&](Scope& one) { (void)one.solve(singular, b); }, "is singular", ErrorKind::numerical_error);
}

}  // namespace
}  // namespace troupe
