// Every level that this CPU has computes what the plain definitions do: the same bits where no function of the C
// library is called, and within two units in the last place where one is.
#include "troupe/backend/host/vectors/vector_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "troupe/backend/host/vectors/sleef.hpp"
#include "troupe/core/enum_names.hpp"
#include "troupe/core/sanitized.hpp"
#include "troupe/core/seed.test.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::host {
namespace {

std::vector<VectorLevel> levels() {
  std::vector<VectorLevel> found;
  for (int i = 0; i < kVectorLevels; ++i)
    if (has(static_cast<VectorLevel>(i))) found.push_back(static_cast<VectorLevel>(i));
  return found;
}
/// Whether functions of f32 are those of float_rows.inc.
bool has_fused(VectorLevel level) {
#ifdef __x86_64__
  return level != VectorLevel::basic;
#else
  return true;
#endif
}
template <class T>
const NumberRows<T>& rows_of(VectorLevel level) {
  if constexpr (std::same_as<T, float>)
    return vector_rows(level).f32;
  else
    return vector_rows(level).f64;
}

/// Zeros, infinities, NaN, the least and greatest numbers, powers of ten with both signs, and many in between.
template <class T>
std::vector<T> hard_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> numbers{T{0},
                         Limits::denorm_min(),
                         Limits::min(),
                         Limits::max(),
                         Limits::infinity(),
                         Limits::quiet_NaN(),
                         T{1},
                         T(0.5),
                         T(1.5),
                         T(2.5)};
  for (int power = -45; power <= 38; ++power) numbers.push_back(static_cast<T>(std::pow(10.0, power)));
  for (int i = 1; i < 400; ++i) {
    numbers.push_back(static_cast<T>(i * 0.25));
    numbers.push_back(static_cast<T>(i * 1.5707963267948966));
    numbers.push_back(static_cast<T>(i * 0.001));
  }
  std::mt19937_64 random(test_seed());
  std::uniform_real_distribution<double> exponents(-30, 30);
  for (int i = 0; i < 20'000; ++i) numbers.push_back(static_cast<T>(std::exp2(exponents(random))));
  const std::size_t half = numbers.size();
  for (std::size_t i = 0; i < half; ++i) numbers.push_back(-numbers[i]);
  return numbers;
}

/// How many numbers lie between two; 0 for two NaNs, and for zeros of any sign. Subnormal numbers count as one number
/// for so many of them: they have fewer digits, and a function that has rounded on its way has lost those.
constexpr std::int64_t kSubnormalsInOne = 8;
template <class T>
std::int64_t distance(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : 1 << 30;
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const auto place = [](T number) {
    const auto bits = std::bit_cast<Bits>(number);
    return bits < 0 ? std::numeric_limits<Bits>::min() - bits : bits;
  };
  const auto far = static_cast<std::uint64_t>(place(a)) - static_cast<std::uint64_t>(place(b));
  const std::int64_t numbers = std::abs(static_cast<std::int64_t>(far));
  const bool is_subnormal = std::fabs(b) < std::numeric_limits<T>::min();
  return is_subnormal ? numbers / kSubnormalsInOne : numbers;
}

/// Calls `f` with every function of a kind that floats have, as a constant.
template <class F, class Call>
void each(Call&& call) {
  const auto attempt = [&]<F function>(std::integral_constant<F, function> known) {
    if constexpr (detail::takes_floats(function)) call(known);
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (attempt(std::integral_constant<F, static_cast<F>(i)>{}), ...);
  }(std::make_index_sequence<kFunctionsOf<F>>{});
}
std::int64_t length_of(const auto& row) { return static_cast<std::int64_t>(row.size()); }

template <class T>
class VectorRowsOf : public testing::Test {};
using Reals = testing::Types<float, double>;
class RealNames {
 public:
  template <class T>
  static std::string GetName(int) {
    return sizeof(T) == 4 ? "f32" : "f64";
  }
};
TYPED_TEST_SUITE(VectorRowsOf, Reals, RealNames);

/// Functions that call none of the C library's are exact to the bit.
constexpr std::int64_t allowed(Unary function) {
  switch (function) {
    case Unary::exp:
    case Unary::log:
    case Unary::sin:
    case Unary::cos:
    case Unary::tan:
    case Unary::tanh:
    case Unary::expm1:
    case Unary::log1p:
    case Unary::erf: return 2;
    case Unary::sigmoid:
    case Unary::silu:
    case Unary::softplus: return 3;      // the same formula, of values that may differ
    case Unary::gelu: return 8;          // as far as its erfc, where that is nearly 0; ours are tested below
    case Unary::gelu_tanh: return 2000;  // where it vanishes, its exp magnifies how its argument was rounded
    default: return 0;
  }
}

/// The largest distance between `found` and what `expected(i)` gives.
template <class T, class Expected>
void expect_near(const std::vector<T>& found, std::int64_t limit, const Expected& expected) {
  std::int64_t worst = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::int64_t far = distance(found[i], expected(i));
    if (far > worst) where = i;
    worst = std::max(worst, far);
  }
  EXPECT_LE(worst, limit) << "element " << where << " is " << std::hexfloat << found[where] << " and not "
                          << expected(where);
}

TYPED_TEST(VectorRowsOf, compute_functions_of_one_number_as_they_are_defined) {
  using T = TypeParam;
  const std::vector<T> in = hard_numbers<T>();
  for (const VectorLevel level : levels())
    each<Unary>([&]<Unary function>(std::integral_constant<Unary, function>) {
      SCOPED_TRACE(std::string(name(level)) + " " + std::string(enum_name<function>()));
      std::vector<T> out(in.size());
      rows_of<T>(level).unary[static_cast<std::size_t>(function)](in.data(), out.data(), length_of(in));
      if (function == Unary::gelu && sizeof(T) == 4 && has_fused(level)) return;
      expect_near(out, allowed(function), [&](std::size_t i) { return tensor::apply<function>(in[i]); });
    });
}

/// Floats of all sizes and signs, infinities and NaN among them: each one of so many.
std::vector<float> every_float(std::uint64_t step) {
  std::vector<float> numbers;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += step)
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return numbers;
}

// The definition of gelu rounds the argument of erfc, which far below 0 costs it more than that.
TEST(VectorRows, compute_functions_of_f32_to_a_few_units_over_the_whole_range) {
  std::vector<float> in = every_float(kSanitized ? 99'991 : 9'973);
  const std::vector<float> hard = hard_numbers<float>();  // among them 1 and -1, where the formulas of gelu meet
  in.insert(in.end(), hard.begin(), hard.end());
  std::vector<float> out(in.size());
  for (const VectorLevel level : levels()) {
    if (!has_fused(level)) continue;
    const auto expect = [&](Unary function, std::int64_t limit, double (*exact)(double)) {
      SCOPED_TRACE(std::string(name(level)) + ", function " + std::to_string(static_cast<int>(function)));
      vector_rows(level).f32.unary[static_cast<std::size_t>(function)](in.data(), out.data(), length_of(in));
      expect_near(out, limit, [&](std::size_t i) { return static_cast<float>(exact(in[i])); });
    };
    expect(Unary::exp, 1, [](double x) { return std::exp(x); });
    expect(Unary::tanh, 2, [](double x) { return std::tanh(x); });
    expect(Unary::erf, 1, [](double x) { return std::erf(x); });
    expect(Unary::gelu, 4, [](double x) { return x / 2 * std::erfc(-x * 0.70710678118654752440); });
  }
}

TEST(VectorRows, keep_the_sign_of_zero) {
  for (const VectorLevel level : levels())
    for (const Unary function : {Unary::tanh, Unary::erf, Unary::gelu, Unary::silu}) {
      const float in = -0.0F;
      float out = 1;
      vector_rows(level).f32.unary[static_cast<std::size_t>(function)](&in, &out, 1);
      EXPECT_TRUE(out == 0 && std::signbit(out)) << name(level) << ", function " << static_cast<int>(function);
    }
}

TYPED_TEST(VectorRowsOf, leave_every_number_as_it_is_to_the_power_of_1) {
  using T = TypeParam;
  const std::vector<T> a = hard_numbers<T>();
  const std::vector<T> ones(a.size(), T{1});
  for (const VectorLevel level : levels()) {
    std::vector<T> out(a.size());
    rows_of<T>(level).binary[static_cast<std::size_t>(Binary::pow)](a.data(), ones.data(), out.data(), length_of(a));
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_TRUE(out[i] == a[i] || (std::isnan(out[i]) && std::isnan(a[i]))) << name(level) << ", " << a[i];
  }
}

TYPED_TEST(VectorRowsOf, compute_functions_of_two_and_three_numbers_as_they_are_defined) {
  using T = TypeParam;
  const std::vector<T> a = hard_numbers<T>();
  std::vector<T> b = a;
  std::vector<T> c = a;
  std::ranges::shuffle(b, std::mt19937_64(test_seed()));
  std::ranges::shuffle(c, std::mt19937_64(test_seed() + 1));
  for (const VectorLevel level : levels()) {
    std::vector<T> out(a.size());
    each<Binary>([&]<Binary function>(std::integral_constant<Binary, function>) {
      SCOPED_TRACE(std::string(name(level)) + " " + std::string(enum_name<function>()));
      rows_of<T>(level).binary[static_cast<std::size_t>(function)](a.data(), b.data(), out.data(), length_of(a));
      expect_near(out, function == Binary::pow ? 2 : 0,
                  [&](std::size_t i) { return tensor::apply<function>(a[i], b[i]); });
    });
    each<Ternary>([&]<Ternary function>(std::integral_constant<Ternary, function>) {
      SCOPED_TRACE(std::string(name(level)) + " " + std::string(enum_name<function>()));
      rows_of<T>(level).ternary[static_cast<std::size_t>(function)](a.data(), b.data(), c.data(), out.data(),
                                                                    length_of(a));
      expect_near(out, 0, [&](std::size_t i) { return tensor::apply<function>(a[i], b[i], c[i]); });
    });
  }
}

TYPED_TEST(VectorRowsOf, write_as_many_numbers_as_they_are_asked_for) {
  using T = TypeParam;
  const std::vector<T> in = hard_numbers<T>();
  for (const VectorLevel level : levels())
    for (const Unary function : {Unary::neg, Unary::exp})
      for (std::int64_t count = 0; count < 70; ++count) {
        std::vector<T> out(80, T{7});
        rows_of<T>(level).unary[static_cast<std::size_t>(function)](in.data() + 1, out.data(), count);
        ASSERT_EQ(std::ranges::count(out.begin() + count, out.end(), T{7}), 80 - count) << name(level);
      }
}

/// The bits of a number; of all NaNs the same.
std::uint64_t bits_of(double number) {
  return std::bit_cast<std::uint64_t>(std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number);
}

TEST(VectorRows, fold_to_the_same_bits_at_every_level) {
  const std::vector<double> in = hard_numbers<double>();
  each<Reduction>([&]<Reduction function>(std::integral_constant<Reduction, function>) {
    for (const std::int64_t first : {0, 20, 4000})  // with infinities and NaN, and without
      for (const std::int64_t count : {0, 1, 31, 32, 33, 256, 1001}) {
        const auto fold = [&](VectorLevel level) {
          return vector_rows(level).fold.fold[static_cast<std::size_t>(function)](in.data() + first, count);
        };
        for (const VectorLevel level : levels())
          EXPECT_EQ(bits_of(fold(level)), bits_of(fold(VectorLevel::basic)))
              << name(level) << " " << enum_name<function>() << " of " << count;
      }
  });
}

TEST(VectorRows, fold_floats_as_the_doubles_that_they_are) {
  const std::vector<float> in = hard_numbers<float>();
  const std::vector<double> wide(in.begin(), in.end());
  for (const VectorLevel level : levels())
    each<Reduction>([&]<Reduction function>(std::integral_constant<Reduction, function>) {
      const FoldRows<double>& rows = vector_rows(level).fold;
      constexpr auto kNumber = static_cast<std::size_t>(function);
      for (const std::int64_t first : {0, 20, 4000})
        for (const std::int64_t count : {0, 1, 31, 33, 256, 1001})
          EXPECT_EQ(bits_of(rows.fold_f32[kNumber](in.data() + first, count)),
                    bits_of(rows.fold[kNumber](wide.data() + first, count)))
              << name(level) << " " << enum_name<function>() << " of " << count;
      std::vector<double> sums(1000, 0.5);
      std::vector<double> expected = sums;
      rows.gather_f32[kNumber](sums.data(), in.data() + 4000, 1000);
      rows.gather[kNumber](expected.data(), wide.data() + 4000, 1000);
      EXPECT_EQ(sums, expected) << name(level) << " " << enum_name<function>();
    });
}

/// Bytes of every kind, those of numbers among them.
std::vector<std::byte> many_bytes(DType dtype, std::size_t count) {
  std::vector<std::byte> bytes(count * static_cast<std::size_t>(size_bytes(dtype)));
  std::mt19937_64 random(test_seed());
  const std::vector<double> numbers = hard_numbers<double>();
  visit(dtype, [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t bits = random();
      T element;
      std::memcpy(static_cast<void*>(&element), &bits, std::min(sizeof(T), sizeof(bits)));
      if constexpr (std::same_as<T, bool>) element = (bits & 1) != 0;
      if constexpr (!detail::kIsComplex<T>)
        if (i % 2 == 0) element = convert<T>(numbers[bits % numbers.size()]);
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
  });
  return bytes;
}

template <class From, class To>
void expect_converted(VectorLevel level, const std::vector<std::byte>& in, std::size_t count) {
  const ConvertRow row =
      vector_rows(level).convert[static_cast<std::size_t>(dtype_of<From>)][static_cast<std::size_t>(dtype_of<To>)];
  if (row == nullptr) return;
  std::vector<std::byte> out(count * sizeof(To) + 1);
  row(in.data(), out.data() + 1, static_cast<std::int64_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(static_cast<void*>(&from), in.data() + i * sizeof(From), sizeof(From));
    const To expected = convert<To>(from);
    // The payload of a NaN that widens is the CPU's own business.
    if constexpr (std::floating_point<To>)
      if (std::isnan(expected)) {
        To found;
        std::memcpy(static_cast<void*>(&found), out.data() + 1 + i * sizeof(To), sizeof(To));
        ASSERT_TRUE(std::isnan(found));
        continue;
      }
    ASSERT_EQ(std::memcmp(&expected, out.data() + 1 + i * sizeof(To), sizeof(To)), 0)
        << name(level) << " " << name(dtype_of<From>) << " to " << name(dtype_of<To>) << ", element " << i;
  }
}

TEST(VectorRows, convert_as_the_rules_say) {
  constexpr std::size_t kCount = 4099;
  for (int from = 0; from < kDTypes; ++from) {
    const std::vector<std::byte> in = many_bytes(static_cast<DType>(from), kCount);
    for (const VectorLevel level : levels())
      for (int to = 0; to < kDTypes; ++to)
        visit(static_cast<DType>(from), [&]<class From>(std::type_identity<From>) {
          visit(static_cast<DType>(to),
                [&]<class To>(std::type_identity<To>) { expect_converted<From, To>(level, in, kCount); });
        });
  }
}

TEST(VectorRows, take_every_second_element_and_read_none_behind_the_last) {
  for (const VectorLevel level : levels())
    for (std::size_t size = 1; size <= 16; size *= 2)
      for (std::size_t count = 0; count < 150; ++count) {
        SCOPED_TRACE(std::string(name(level)) + ", " + std::to_string(count) + " of " + std::to_string(size) +
                     " bytes");
        std::vector<std::byte> in(count == 0 ? 0 : (2 * count - 1) * size);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i % 251);
        std::vector<std::byte> out(count * size);
        vector_rows(level).halve[std::countr_zero(size)](in.data(), out.data(), static_cast<std::int64_t>(count));
        for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], in[i / size * 2 * size + i % size]);
      }
}

TEST(VectorLevels, are_the_best_up_to_a_limit) {
  EXPECT_EQ(best_level("basic"), VectorLevel::basic);
  EXPECT_EQ(best_level(nullptr), levels().back());
  EXPECT_EQ(best_level("no such level"), levels().back());
  EXPECT_TRUE(has(vector_level()));
}

TEST(Sleef, says_why_it_is_not_there) {
  EXPECT_EQ(load_sleef("none").error().message(), "TROUPE_SLEEF=none: SLEEF is switched off");
  EXPECT_NE(load_sleef("/nowhere/libsleef.so").error().message().find("/nowhere/libsleef.so"), std::string_view::npos);
  EXPECT_NE(load_sleef("libc.so.6").error().message().find("it has no Sleef_exp"), std::string_view::npos);
}

}  // namespace
}  // namespace troupe::host
