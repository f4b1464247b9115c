// Operands of several types: an op that mixes them gives what it gives of operands that were cast to the promoted type
// first. And comparisons of floats and complex numbers, with their NaNs.
#include "troupe/library/conformance.test.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::conformance {
namespace {

using AllTypes =
    Types<float, double, f16, bf16, std::complex<float>, std::complex<double>, bool, std::int8_t, std::uint8_t,
          std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;

using enum DType;  // hides the types of the same names
constexpr std::array kNumberTypes{f32, f64, DType::f16, DType::bf16, c64, c128, boolean, i8,
                                  u8,  i16, u16,        i32,         u32, i64,  u64};

template <class T>
class TensorMixedConformance : public Conformance<T> {
 protected:
  using Number = T;

  AnyArray array(DType dtype, const Shape& shape) { return value(this->device().array(dtype, shape)); }
  /// Whole numbers from 0 to 9, as any type has them, in every second place of a row.
  AnyArray numbers(DType dtype, Shape shape) {
    Sample<std::uint8_t> sample = this->template random_of<std::uint8_t>(shape);
    shape[shape.rank() - 1] *= 2;
    const AnyArray out = value(array(dtype, shape).slice(shape.rank() - 1, 0, shape[shape.rank() - 1], 2));
    value(this->device().cast(sample.array(), out).get());
    return out;
  }
  AnyArray cast_to(DType dtype, const AnyArray& from) {
    const AnyArray to = array(dtype, from.shape());
    value(this->device().cast(from, to).get());
    return to;
  }
  std::vector<std::byte> bytes(const AnyArray& array) {
    std::vector<std::byte> all(static_cast<std::size_t>(array.element_count() * size_bytes(array.dtype())));
    value(this->device().read_bytes(array, all).get());
    return all;
  }
  void expect_same(const AnyArray& got, const AnyArray& want) {
    this->count_case();
    EXPECT_TRUE(bytes(got) == bytes(want));
  }
};
CONFORMANCE_SUITE(TensorMixedConformance, AllTypes);

CONFORMANCE_TEST(TensorMixedConformance, two_types) {
  this->covers("tensor", "mixed types");
  const Tensor tensor = this->device().tensor();
  const Shape shape{7, 45};
  for (const DType other : kNumberTypes) {
    const AnyArray a = this->numbers(dtype_of<T>, shape);
    const AnyArray b = this->numbers(other, Shape{45});
    const AnyArray chooses = this->numbers(boolean, shape);
    const DType all = op::promoted(a.dtype(), b.dtype());
    const AnyArray wide_a = this->cast_to(all, a);
    const AnyArray wide_b = this->cast_to(all, b);
    for (int i = 0; i <= static_cast<int>(Binary::kLast); ++i) {
      const auto function = static_cast<Binary>(i);
      const DType computed = op::computed_in(function, all);
      if (!op::takes(function, computed)) continue;
      SCOPED_TRACE(std::string(name(function)) + " of " + std::string(name(a.dtype())) + " and " +
                   std::string(name(other)));
      const DType made = detail::is_comparison(function) ? boolean : computed;
      const AnyArray got = this->array(made, shape);
      const AnyArray want = this->array(made, shape);
      value(tensor.binary(function, a, b, got).get());
      value(tensor.binary(function, wide_a, wide_b, want).get());
      this->expect_same(got, want);
    }
    const AnyArray got = this->array(all, shape);
    const AnyArray want = this->array(all, shape);
    value(tensor.ternary(Ternary::select, chooses, a, b, got).get());
    value(tensor.ternary(Ternary::select, chooses, wide_a, wide_b, want).get());
    this->expect_same(got, want);
    if (all == boolean) continue;
    value(tensor.ternary(Ternary::fma, a, b, a, got).get());
    value(tensor.ternary(Ternary::fma, wide_a, wide_b, wide_a, want).get());
    this->expect_same(got, want);
  }
}

CONFORMANCE_TEST(TensorMixedConformance, a_factor_is_of_the_promoted_type) {
  if constexpr (!detail::kIsComplex<T>) {
    const Tensor tensor = this->device().tensor();
    const AnyArray a = this->numbers(dtype_of<T>, {133});
    const AnyArray b = this->numbers(f64, {133});
    const AnyArray got = this->array(f64, {133});
    const AnyArray want = this->array(f64, {133});
    value(tensor.binary(Binary::add, a, b, got, {.alpha = 0.5}).get());
    value(tensor.binary(Binary::add, this->cast_to(f64, a), b, want, {.alpha = 0.5}).get());
    this->expect_same(got, want);
  }
}

/// One number less than, equal to and greater than another, and NaN.
CONFORMANCE_TEST(TensorMixedConformance, comparisons) {
  this->covers("tensor", "compare");
  const Tensor tensor = this->device().tensor();
  std::vector<T> numbers{T(0), T(1)};
  if constexpr (!std::same_as<T, bool>) numbers.push_back(T(2));
  if constexpr (!std::integral<T>) numbers.push_back(poison<T>());
  if constexpr (detail::kIsComplex<T>) numbers.push_back(T(1, 2));
  const auto count = static_cast<std::int64_t>(numbers.size());
  Sample<T> a(this->device(), {count, 1}, Layout::dense, numbers);
  Sample<T> b(this->device(), {count}, Layout::sliced, numbers);
  Sample<bool> out = this->template poisoned_of<bool>({count, count}, Layout::padded);
  for (int i = static_cast<int>(Binary::equal); i <= static_cast<int>(Binary::greater_equal); ++i) {
    const auto function = static_cast<Binary>(i);
    if (detail::kIsComplex<T> && !detail::takes_complex(function)) continue;
    SCOPED_TRACE(name(function));
    value(tensor.binary(function, a.array(), b.array(), out.array()).get());
    std::vector<bool> want;
    for (const T first : numbers)
      for (const T second : numbers) {
        const auto x = widen(first), y = widen(second);
        if (function == Binary::equal) want.push_back(x == y);
        if (function == Binary::not_equal) want.push_back(x != y);
        if constexpr (!detail::kIsComplex<T>) {
          if (function == Binary::less) want.push_back(x < y);
          if (function == Binary::less_equal) want.push_back(x <= y);
          if (function == Binary::greater) want.push_back(x > y);
          if (function == Binary::greater_equal) want.push_back(x >= y);
        }
      }
    EXPECT_EQ(out.read(), want);
    this->count_case();
  }
}

CONFORMANCE_TEST(TensorMixedConformance, expressions) {
  const Device& device = this->device();
  const AnyArray a = this->numbers(dtype_of<T>, {7, 45});
  const AnyArray b = this->numbers(i8, {45});
  if constexpr (!detail::kIsComplex<T>) {
    this->covers("tensor", "evaluate");
    Sample<bool> is_less = this->template poisoned_of<bool>({7, 45}, Layout::sliced);
    Sample<bool> want = this->template poisoned_of<bool>({7, 45});
    value(device.tensor().evaluate(less(a, b), is_less.array()).get());
    value(device.tensor().binary(Binary::less, a, b, want.array()).get());
    EXPECT_EQ(is_less.read(), want.read());
    Sample<double> sum = this->template poisoned_of<double>({7, 45});
    Sample<double> same = this->template poisoned_of<double>({7, 45});
    value(device.tensor().evaluate(select(less(a, b), a, b) + 1, sum.array()).get());
    value(device.tensor().binary(Binary::min, this->cast_to(f64, a), this->cast_to(f64, b), same.array()).get());
    for (std::size_t i = 0; i < same.read().size(); ++i) EXPECT_EQ(sum.read()[i], same.values()[i] + 1);
    this->count_case();
  }
}

}  // namespace
}  // namespace troupe::conformance
