// What the functions of a scope make: shapes, types and values. How it fails is tested beside the device.
#include "troupe/device/device_fixture.test.hpp"

namespace troupe {
namespace {

class ScopeForms : public DeviceTest {
 protected:
  template <class X>
  std::vector<detail::TypeOf<X>> values(const X& x) {
    using T = detail::TypeOf<X>;
    const Result<HostArray<T>> read = on.read(x).get();
    if (!read) ADD_FAILURE() << read.error().to_string();
    return read ? std::vector<T>(read->begin(), read->end()) : std::vector<T>();
  }
  template <class X>
  void expect(const X& x, const Shape& shape, const std::vector<detail::TypeOf<X>>& expected) {
    const auto array = on.eval(x + detail::TypeOf<X>(0));
    EXPECT_EQ(array.shape(), shape);
    EXPECT_EQ(values(x), expected);
  }
  template <class Make>
  void expect_refused(const Make& make, std::string_view text) {
    Scope bad_one(device);
    make(bad_one);
    const Result<void> end = bad_one.end().get();
    ASSERT_FALSE(end) << text;
    EXPECT_EQ(end.error().kind(), ErrorKind::invalid_argument);
    EXPECT_NE(end.error().message().find(text), std::string_view::npos) << end.error().to_string();
    EXPECT_NE(end.error().origin().where.line(), 0U);
  }

  Device device = open();
  Scope on{device};
  const Array<float> a = on.from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const Array<float> b = on.from(std::array{1.0f, 0.0f, 0.0f, 1.0f, 1.0f, 1.0f}, {3, 2});
};

TEST_F(ScopeForms, products_of_matrices_and_vectors) {
  expect(on.matmul(a, b), {2, 2}, {4, 5, 10, 11});
  const auto v = on.from(std::vector<float>{1, 1, 2}, {3});
  expect(on.matmul(a, v), {2}, {9, 21});
  expect(on.matmul(v, b), {2}, {3, 3});
  expect(on.matmul(a + 1, b.transpose().transpose()), {2, 2}, {6, 7, 12, 13});
  const auto batch = on.full<float>({4, 2, 3}, 1.0f);
  expect(on.sum(on.matmul(batch, b), {1, 2}), {4}, {8, 8, 8, 8});
  using C = std::complex<double>;
  const auto c = on.full<C>({2, 2}, C(0, 1));
  expect(on.matmul(c, c), {2, 2}, {-2, -2, -2, -2});
}

TEST_F(ScopeForms, operators_know_their_type) {
  static_assert(std::same_as<decltype(a + 1), ExpressionOf<float>>);
  static_assert(std::same_as<decltype(2.0 * a - b), ExpressionOf<float>>);
  static_assert(std::same_as<decltype(a < b), ExpressionOf<bool>>);
  static_assert(std::same_as<decltype((a < 3) * a), ExpressionOf<float>>);
  const Array<std::int32_t> i = on.full<std::int32_t>({2}, 7);
  static_assert(std::same_as<decltype(i + 1), ExpressionOf<std::int32_t>>);
  static_assert(std::same_as<decltype(i / 2), Expression>, "whole numbers or fractions? A person must say it");
  static_assert(std::same_as<decltype(i + a), Expression>);
  static_assert(std::same_as<decltype(i * 2.5), Expression> && std::same_as<decltype((a < 3) * 0.5), Expression>);
  static_assert(std::same_as<decltype(2.5 * a), ExpressionOf<float>>);
  static_assert(std::same_as<decltype(select(a < 3, 1, 0)), Expression>);
  expect(on.eval<double>(i / 2), {2}, {3.5, 3.5});
  expect((a < 3) * a, {2, 3}, {1, 2, 0, 0, 0, 0});
  expect(where(a >= 3, a, -a), {2, 3}, {-1, -2, 3, 4, 5, 6});
  EXPECT_EQ(values(a > 4), (std::vector<bool>{false, false, false, false, true, true}));
}

TEST_F(ScopeForms, reductions) {
  expect(on.sum(a), {}, {21});
  expect(on.sum(a, 0), {3}, {5, 7, 9});
  expect(on.sum(a, -1), {2}, {6, 15});
  expect(on.sum(a * a, 1, {.keep_axes = true}), {2, 1}, {14, 77});
  expect(on.mean(a, 1), {2}, {2, 5});
  expect(on.max(a, 0), {3}, {4, 5, 6});
  expect(on.min(-a), {}, {-6});
  expect(on.norm(on.full<std::complex<float>>({2}, std::complex<float>(3, 4)) * 1.0f), {}, {std::sqrt(50.0f)});
  const auto i = on.from(std::vector<std::int8_t>{100, 100}, {2});
  static_assert(std::same_as<decltype(on.sum(i)), Array<std::int64_t>>);
  EXPECT_EQ(values(on.sum(i)), std::vector<std::int64_t>{200});
  EXPECT_EQ(values(on.mean(i)), std::vector<double>{100});
}

TEST_F(ScopeForms, whole_numbers) {
  const auto i = on.from(std::vector<std::int32_t>{7, -8, 2'000'000'000}, {3});
  EXPECT_EQ(values(i + 1), (std::vector<std::int32_t>{8, -7, 2'000'000'001}));
  EXPECT_EQ(values(on.eval<std::int32_t>(i / 2)), (std::vector<std::int32_t>{3, -4, 1'000'000'000}));
  EXPECT_EQ(values(on.eval<std::int8_t>(i * 2.0)), (std::vector<std::int8_t>{14, -16, 127}));
  EXPECT_EQ(values(on.sum(2 * i)), std::vector<std::int64_t>{3'999'999'998});
  on.assign(i, i - 1);
  EXPECT_EQ(values(i), (std::vector<std::int32_t>{6, -9, 1'999'999'999}));
}

TEST_F(ScopeForms, softmax_and_concat) {
  const std::vector<float> s = values(on.sum(on.softmax(a), -1));
  EXPECT_NEAR(s[0], 1.0f, 1e-6f);
  EXPECT_NEAR(s[1], 1.0f, 1e-6f);
  expect(on.max(on.softmax(on.full<float>({2, 4}, 1000.0f))), {}, {0.25f});
  expect(on.concat({a, a}), {4, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  expect(on.concat({a, on.full<float>({2, 1}, 0.0f)}, -1), {2, 4}, {1, 2, 3, 0, 4, 5, 6, 0});
}

TEST_F(ScopeForms, in_place) {
  on.assign(a, a * 2 + 1);
  expect(a, {2, 3}, {3, 5, 7, 9, 11, 13});
}

TEST_F(ScopeForms, what_does_not_go_together_fails_the_scope_with_a_sentence) {
  expect_refused([&](Scope& one) { (void)one.matmul(a, a); }, "a has 3 columns and b 2 rows");
  expect_refused([&](Scope& one) { (void)one.matmul(one.sum(a, 0), one.sum(a, 0)); }, "at least one must be a matrix");
  expect_refused([&](Scope& one) { (void)one.eval(a + b); }, "evaluate");
  expect_refused([&](Scope& one) { (void)one.sum(a, 2); }, "it has no axis 2");
  expect_refused([&](Scope& one) { (void)one.sum(a, {0, -2}); }, "given twice");
  expect_refused([&](Scope& one) { (void)one.concat({a, b}); }, "array 1 is [3, 2]");
  expect_refused([&](Scope& one) { (void)one.concat({a, b}, 7); }, "no axis 7");
  expect_refused([&](Scope& one) { (void)one.sum(Array<float>()); }, "empty");
  expect_refused([&](Scope& one) { (void)one.matmul(Array<float>(), a); }, "empty");
}

}  // namespace
}  // namespace troupe
