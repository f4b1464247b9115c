// The matrix product of every type through both engines: a BLAS, and our own loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "troupe/backend/host/blas/blas_kernels.hpp"
#include "troupe/backend/host/kernels/guarded_array.test.hpp"

namespace troupe::host {
namespace {

struct Extents {
  std::int64_t m, n, k;
};

struct Layouts {
  NamedStrides a, b, c;
};

/// Which part of the scalars counts depends on the type: for real ones, the real part.
struct Scalars {
  Wide alpha;
  Wide beta;
};

/// A sum, and that of its terms without their signs.
struct Term {
  Wide exact;
  double size = 0.0;
};

/// The product of a row and a column whose elements are `stride` apart. Plain doubles: sanitizers are slow on others.
Term dot(const Wide* row, const Wide* column, std::size_t count, std::size_t stride) {
  double real = 0.0;
  double imaginary = 0.0;
  double size = 0.0;
  for (std::size_t p = 0; p < count; ++p) {
    const auto& x = reinterpret_cast<const double(&)[2]>(row[p]);  // as std::complex promises
    const auto& y = reinterpret_cast<const double(&)[2]>(column[p * stride]);
    real += x[0] * y[0] - x[1] * y[1];
    imaginary += x[0] * y[1] + x[1] * y[0];
    size += std::abs(x[0] * y[0]) + std::abs(x[1] * y[1]) + std::abs(x[0] * y[1]) + std::abs(x[1] * y[0]);
  }
  return {{real, imaginary}, size};
}

/// Whether sums that are too large become the largest number instead of infinity.
bool saturates(DType dtype) { return size_bytes(dtype) == 1; }
double largest(DType dtype) { return dtype == DType::f8e4m3 ? 448.0 : 57344.0; }

/// A product of random matrices; what is not to be read is NaN.
struct Product {
  Product(DType dtype, const Extents& e, const Layouts& layouts, const Scalars& by, Random& random)
      : extents(e),
        scalars(by),
        a(dtype, {e.m, e.k}, layouts.a.strides),
        b(dtype, {e.k, e.n}, layouts.b.strides),
        c(dtype, {e.m, e.n}, layouts.c.strides) {
    if (!is_complex(dtype)) scalars = {by.alpha.real(), by.beta.real()};
    random.fill(a);
    random.fill(b);
    if (scalars.beta != 0.0) random.fill(c);
  }

  Result<void> run(const BlasLibrary* engine) {
    return gemm_with(engine, op::Scalar(scalars.alpha), op::Scalar(scalars.beta), a.view(), b.view(), c.view(),
                     Team::of_one());
  }

  /// How many elements of c are further from sums in double than rounding explains.
  std::int64_t wrong(GuardedArray& c_before) {
    const std::vector<Wide> wide_a = a.numbers();
    const std::vector<Wide> wide_b = b.numbers();
    const std::vector<Wide> before = c_before.numbers();
    const std::vector<Wide> after = c.numbers();
    const auto steps = static_cast<double>(2 * extents.k + 8);
    const auto n = static_cast<std::size_t>(extents.n);
    const auto k = static_cast<std::size_t>(extents.k);
    std::int64_t count = 0;
    for (std::size_t at = 0; at < after.size(); ++at) {
      Term sum;
      if (scalars.alpha != 0.0 && k != 0) sum = dot(wide_a.data() + at / n * k, wide_b.data() + at % n, k, n);
      Wide exact = scalars.alpha * sum.exact;
      double size = std::abs(scalars.alpha) * sum.size;
      if (scalars.beta != 0.0) exact += scalars.beta * before[at];
      if (scalars.beta != 0.0) size += std::abs(scalars.beta * before[at]);
      if (saturates(c.dtype())) exact = std::clamp(exact.real(), -largest(c.dtype()), largest(c.dtype()));
      const double allowed =
          2 * rounding(c.dtype(), std::abs(exact)) + steps * rounding(compute_dtype(c.dtype()), size);
      count += !(std::abs(after[at] - exact) <= allowed);  // a NaN is wrong
    }
    return count;
  }

  Extents extents;
  Scalars scalars;
  GuardedArray a, b, c;
};

void expect_product(const BlasLibrary* engine, DType dtype, const Extents& e, const Layouts& layouts, const Scalars& by,
                    Random& random) {
  const std::string extents = Shape{e.m, e.n, e.k}.to_string();
  SCOPED_TRACE(extents + " " + layouts.a.name + ", " + layouts.b.name + ", " + layouts.c.name);
  Product product(dtype, e, layouts, by, random);
  GuardedArray before = product.c;
  const Result<void> done = product.run(engine);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(product.wrong(before), 0);
  EXPECT_TRUE(product.c.guards_are_whole());
}

template <Element T, bool use_openblas>
struct Case {
  static constexpr DType kDType = dtype_of<T>;
  static constexpr bool kUseBlas = use_openblas;
};
struct CaseNames {
  template <class C>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's name
    return std::string(name(C::kDType)) + (C::kUseBlas ? "_blas" : "_loops");
  }
};
template <class... Ts>
using BothEngines = testing::Types<Case<Ts, true>..., Case<Ts, false>...>;

template <class C>
class Gemm : public RandomTest {
 public:
  static constexpr DType kDType = C::kDType;

  void SetUp() override {
    if (C::kUseBlas && open_blas() == nullptr) GTEST_SKIP() << "there is no BLAS, or TROUPE_BLAS says not to use one";
  }
  static const BlasLibrary* engine() { return C::kUseBlas ? open_blas() : nullptr; }
  void expect(const Extents& e, const Layouts& layouts, const Scalars& by) {
    expect_product(engine(), kDType, e, layouts, by, random);
  }
};
using Cases = BothEngines<double, float, f16, bf16, f8e4m3, f8e5m2, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Gemm, Cases, CaseNames);

Layouts all_contiguous(const Extents& e) {
  return {layouts({e.m, e.k}).front(), layouts({e.k, e.n}).front(), layouts({e.m, e.n}).front()};
}

TYPED_TEST(Gemm, multiplies_all_layouts_of_a_small_product) {
  const Extents e{5, 7, 6};
  const Scalars by{{1.5, -0.5}, {0.5, 0.25}};
  for (const NamedStrides& a : input_layouts({e.m, e.k}))
    for (const NamedStrides& b : input_layouts({e.k, e.n}))
      this->expect(e, {a, b, this->random.one_of(layouts({e.m, e.n}))}, by);
  for (const NamedStrides& c : layouts({e.m, e.n}))
    this->expect(e, {layouts({e.m, e.k}).front(), layouts({e.k, e.n}).front(), c}, by);
}

TYPED_TEST(Gemm, multiplies_extents_that_cross_every_block_and_leave_odd_rests) {
  for (const Extents& e :
       {Extents{1, 1, 1}, Extents{1, 31, 19}, Extents{37, 1, 11}, Extents{17, 13, 1}, Extents{64, 16, 8},
        Extents{131, 37, 29}, Extents{5, 6, 521}, Extents{1031, 3, 2}, Extents{2, 1033, 3}, Extents{1, 2, 2053}}) {
    this->expect(e, all_contiguous(e), {1.0, 0.0});
    this->expect(e,
                 {this->random.one_of(input_layouts({e.m, e.k})), this->random.one_of(input_layouts({e.k, e.n})),
                  this->random.one_of(layouts({e.m, e.n}))},
                 {{-0.5, 1.0}, {0.5, -1.0}});
  }
}

TYPED_TEST(Gemm, reads_only_what_alpha_and_beta_let_count) {
  const Extents e{6, 5, 9};
  for (const NamedStrides& c : layouts({e.m, e.n})) {
    Layouts all = all_contiguous(e);
    all.c = c;
    this->expect(e, all, {{2.0, 1.0}, 0.0});
    this->expect(e, all, {0.0, {2.0, 1.0}});
    this->expect(e, all, {0.0, 1.0});
    this->expect(e, all, {0.0, 0.0});
    this->expect(e, all, {1.0, 1.0});
  }
}

TYPED_TEST(Gemm, takes_empty_matrices) {
  for (const Extents& e : {Extents{0, 3, 4}, Extents{3, 0, 4}, Extents{0, 0, 0}, Extents{3, 4, 0}}) {
    this->expect(e, all_contiguous(e), {1.0, 0.0});
    this->expect(e, all_contiguous(e), {1.0, {0.5, 0.5}});
  }
}

TYPED_TEST(Gemm, lets_nan_through) {
  const Extents e{9, 9, 9};
  Product product(this->kDType, e, all_contiguous(e), {1.0, 0.0}, this->random);
  product.a.set(3 * 9 + 4, op::Scalar(std::nan("")));
  ASSERT_TRUE(product.run(this->engine()));
  for (std::int64_t i = 0; i < 81; ++i) EXPECT_EQ(std::isnan(product.c.number(i).real()), i / 9 == 3) << i;
}

TYPED_TEST(Gemm, takes_unaligned_memory) {
  std::array<std::byte, 64> memory{};
  const std::int64_t size = size_bytes(this->kDType);
  const auto element = [&](std::int64_t i) {
    return HostView{memory.data() + 1 + i * size, this->kDType, {1, 1}, {1, 1}};
  };
  GuardedArray numbers(this->kDType, {2, 1, 1});
  for (std::int64_t i = 0; i < 2; ++i) {
    numbers.set(i, op::Scalar(2.0 + static_cast<double>(i)));
    std::memcpy(element(i).data, numbers.at(i), static_cast<std::size_t>(size));
  }
  ASSERT_TRUE(
      gemm_with(this->engine(), op::Scalar(1.0), op::Scalar(0.0), element(0), element(1), element(2), Team::of_one()));
  std::memcpy(numbers.at(0), element(2).data, static_cast<std::size_t>(size));
  EXPECT_EQ(numbers.number(0), 6.0);
}

TEST(GemmOnSmallFloats, keeps_sums_in_f32_and_rounds_once) {
  GuardedArray a(DType::f16, {1, 4097});
  GuardedArray b(DType::f16, {4097, 1});
  GuardedArray c(DType::f16, {1, 1});
  for (std::int64_t i = 0; i < 4097; ++i) {
    a.set(i, op::Scalar(1.0));
    b.set(i, op::Scalar(1.0));
  }
  for (const BlasLibrary* engine : {open_blas(), static_cast<const BlasLibrary*>(nullptr)}) {
    ASSERT_TRUE(gemm_with(engine, op::Scalar(1.0), op::Scalar(0.0), a.view(), b.view(), c.view(), Team::of_one()));
    EXPECT_EQ(c.number(0), 4096.0);  // sums in f16 would stop at 2048
  }
}

TEST(GemmOnIntegers, of_8_bits_gives_32_bits_and_nothing_else) {
  GuardedArray a(DType::i8, {2, 2});
  GuardedArray c(DType::i8, {2, 2});
  const Result<void> result = gemm(op::Scalar(1.0), op::Scalar(0.0), a.view(), a.view(), c.view(), Team::of_one());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::unsupported);
  EXPECT_NE(result.error().message().find("i32"), std::string::npos);
}

TEST(GemmOnIntegers, is_unsupported_and_names_the_types_that_work) {
  for (const DType dtype :
       {DType::u8, DType::i16, DType::u16, DType::i32, DType::u32, DType::i64, DType::u64, DType::boolean}) {
    GuardedArray a(dtype, {2, 2});
    GuardedArray c(dtype, {2, 2});
    const Result<void> result = gemm(op::Scalar(1.0), op::Scalar(0.0), a.view(), a.view(), c.view(), Team::of_one());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind(), ErrorKind::unsupported);
    EXPECT_NE(result.error().message().find("f64 f32 f16"), std::string::npos);
    EXPECT_NE(result.error().message().find(name(dtype)), std::string::npos);
  }
}

TEST(GemmOnWrongViews, answers_invalid_argument) {
  GuardedArray a(DType::f32, {2, 3});
  GuardedArray b(DType::f32, {3, 4});
  GuardedArray c(DType::f32, {2, 4});
  GuardedArray other_type(DType::f64, {3, 4});
  GuardedArray cube(DType::f32, {3, 4, 1});
  const auto kind = [](GuardedArray& x, GuardedArray& y, GuardedArray& z) {
    const Result<void> result = gemm(op::Scalar(1.0), op::Scalar(0.0), x.view(), y.view(), z.view(), Team::of_one());
    return result ? ErrorKind::internal : result.error().kind();
  };
  EXPECT_EQ(kind(a, a, c), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(a, b, a), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(b, b, c), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(a, other_type, c), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(a, cube, c), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace troupe::host
