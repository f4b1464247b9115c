#include "troupe/backend/host/memory/memory_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "troupe/backend/host/kernels/guarded_array.test.hpp"
#include "troupe/core/sanitized.hpp"

namespace troupe::host {
namespace {

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kAll{Shape{},        Shape{0},       Shape{1},       Shape{31},
                                       Shape{3, 0, 2}, Shape{1, 1},    Shape{13, 7},   Shape{64, 33},
                                       Shape{2, 101},  Shape{5, 3, 7}, Shape{4, 1, 9}, Shape{3, 34, 35}};
  return kAll;
}
const Shape kLarge{30011};

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  for (int i = 0; i < kDTypes; ++i) all.push_back(static_cast<DType>(i));
  return all;
}

void expect_filled(GuardedArray out, const Shape& shape, const op::Scalar& element, Team& team = Team::of_one()) {
  GuardedArray expected(out.dtype(), shape);
  for (std::int64_t i = 0; i < expected.count(); ++i) expected.set(i, element);
  ASSERT_TRUE(fill(out.view(), element, team));
  EXPECT_EQ(differences(out, expected), 0);
  EXPECT_TRUE(out.guards_are_whole());
}

void expect_copied(GuardedArray in, GuardedArray out, Random& random, Team& team = Team::of_one()) {
  random.fill_with_bits(in);
  ASSERT_TRUE(copy(in.view(), out.view(), team));
  EXPECT_EQ(differences(in, out), 0);
  EXPECT_TRUE(out.guards_are_whole());
}

void expect_cast(GuardedArray in, GuardedArray out, const Shape& shape) {
  GuardedArray expected = converted(in, out.dtype(), shape);
  ASSERT_TRUE(cast(in.view(), out.view()));
  EXPECT_EQ(differences_but_nan(out, expected), 0);
  EXPECT_TRUE(out.guards_are_whole());
}

template <class T>
class MemoryKernels : public RandomTest {
 public:
  static constexpr DType kDType = dtype_of<T>;
};
template <class Tuple>
struct TestTypesOf;
template <class... Ts>
struct TestTypesOf<std::tuple<Ts...>> {
  using type = testing::Types<Ts...>;
};
TYPED_TEST_SUITE(MemoryKernels, TestTypesOf<detail::ElementTypes>::type, DTypeNames);

TYPED_TEST(MemoryKernels, fill_sets_every_element_and_nothing_else) {
  for (const Shape& shape : shapes()) {
    for (const NamedStrides& layout : layouts(shape)) {
      SCOPED_TRACE(shape.to_string() + " " + layout.name);
      expect_filled(GuardedArray(this->kDType, shape, layout.strides), shape, this->random.element(this->kDType));
    }
  }
  expect_filled(GuardedArray(this->kDType, kLarge), kLarge, this->random.element(this->kDType));
}

TYPED_TEST(MemoryKernels, fill_converts_its_value) {
  for (const DType from : all_dtypes()) {
    SCOPED_TRACE(name(from));
    expect_filled(GuardedArray(this->kDType, {3}), {3}, this->random.element(from));
  }
}

TYPED_TEST(MemoryKernels, copy_moves_every_byte_between_all_layouts) {
  for (const Shape& shape : shapes()) {
    for (const NamedStrides& in : input_layouts(shape)) {
      for (const NamedStrides& out : layouts(shape)) {
        SCOPED_TRACE(shape.to_string() + " " + in.name + " to " + out.name);
        expect_copied(GuardedArray(this->kDType, shape, in.strides), GuardedArray(this->kDType, shape, out.strides),
                      this->random);
      }
    }
  }
  expect_copied(GuardedArray(this->kDType, kLarge), GuardedArray(this->kDType, kLarge), this->random);
}

// They depend on the size of an element alone. Small elements are many, and a sanitizer looks at each of them.
TEST(MemoryKernelsWithTeam, fill_and_copy_are_the_same_as_without) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const DType dtype : {DType::f32, DType::f64, DType::c128}) {
    if (kSanitized && size_bytes(dtype) < 8) continue;
    const std::int64_t row = 2 * Grain::kBlockBytes / size_bytes(dtype) + 77;  // two parts and a little
    for (const int size : kSanitized ? std::vector{3} : std::vector{1, 3}) {
      Team team(size);
      for (const NamedStrides& layout : layouts({row})) {
        SCOPED_TRACE(std::to_string(size) + " threads, " + layout.name);
        expect_filled(GuardedArray(dtype, {row}, layout.strides), {row}, random.element(dtype), team);
        expect_copied(GuardedArray(dtype, {row}), GuardedArray(dtype, {row}, layout.strides), random, team);
      }
      expect_copied(GuardedArray(dtype, {row}, {0}), GuardedArray(dtype, {row}), random, team);
      EXPECT_EQ(team.threads(), size - 1);
    }
  }
}

TEST(MemoryKernelsWithTeam, copy_permutes_axes_that_are_long_and_short) {
  Random random;
  SCOPED_TRACE(random.trace());
  std::array<Team, 3> teams{Team(1), Team(2), Team(3)};
  std::size_t turn = 0;
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64, DType::c128})
    for (const Shape& in : {Shape{40, 30, 3}, Shape{40, 30, 4}, Shape{3, 40, 30}, Shape{2, 37, 1, 35},
                            Shape{2, 3, 8, 33}, Shape{7, 0, 3}, Shape{20, 130, 5}}) {
      std::vector<int> order(static_cast<std::size_t>(in.rank()));
      std::iota(order.begin(), order.end(), 0);
      while (std::ranges::next_permutation(order).found) {
        Shape out = in;
        Strides strides = contiguous_strides(in);
        const Strides before = strides;
        std::string text;
        for (int i = 0; i < in.rank(); ++i) {
          const int axis = order[static_cast<std::size_t>(i)];
          out[i] = in[axis];
          strides[i] = before[axis];
          text += std::to_string(axis);
        }
        Team& team = teams[turn++ % teams.size()];
        SCOPED_TRACE(in.to_string() + " " + text + ", " + std::to_string(team.size()) + " threads");
        expect_copied(GuardedArray(dtype, out, strides), GuardedArray(dtype, out), random, team);
      }
    }
}

TYPED_TEST(MemoryKernels, copy_turns_rows_into_columns) {
  for (const Shape& shape : {Shape{2, 2}, Shape{16, 16}, Shape{37, 19}, Shape{3, 70}, Shape{66, 33}}) {
    const Strides rows{shape[1] + 3, 1};
    const Strides columns{1, shape[0] + 5};
    SCOPED_TRACE(shape.to_string());
    expect_copied(GuardedArray(this->kDType, shape, rows), GuardedArray(this->kDType, shape, columns), this->random);
    expect_copied(GuardedArray(this->kDType, shape, columns), GuardedArray(this->kDType, shape, rows), this->random);
    expect_copied(GuardedArray(this->kDType, shape, {-(shape[1] + 3), 1}), GuardedArray(this->kDType, shape, columns),
                  this->random);
  }
}

TYPED_TEST(MemoryKernels, cast_converts_to_every_type) {
  const auto expect = [this](DType to, const Shape& shape, const NamedStrides& in_layout) {
    const NamedStrides out_layout = this->random.one_of(layouts(shape));
    SCOPED_TRACE(std::string(name(to)) + " " + shape.to_string() + " " + in_layout.name + " to " + out_layout.name);
    GuardedArray in(this->kDType, shape, in_layout.strides);
    this->random.coin() ? this->random.fill_with_bits(in) : this->random.fill(in);
    expect_cast(in, GuardedArray(to, shape, out_layout.strides), shape);
  };
  for (const DType to : all_dtypes()) {
    for (const Shape& shape : {Shape{}, Shape{0, 3}, Shape{1}, Shape{257}}) expect(to, shape, layouts(shape).front());
    for (const NamedStrides& layout : input_layouts({5, 3, 7})) expect(to, {5, 3, 7}, layout);
  }
}

TYPED_TEST(MemoryKernels, cast_converts_any_bits_of_contiguous_arrays) {
  for (const DType to : all_dtypes()) {
    SCOPED_TRACE(name(to));
    GuardedArray in(this->kDType, {259});
    this->random.fill_with_bits(in);
    expect_cast(in, GuardedArray(to, {259}), {259});
  }
}

TYPED_TEST(MemoryKernels, cast_keeps_numbers_that_every_type_has) {
  for (const DType to : all_dtypes()) {
    GuardedArray in(this->kDType, {40});
    GuardedArray out(to, {40});
    const bool some_bool = this->kDType == DType::boolean || to == DType::boolean;
    for (std::int64_t i = 0; i < 40; ++i) in.set(i, op::Scalar(i % (some_bool ? 2 : 9)));
    ASSERT_TRUE(cast(in.view(), out.view()));
    EXPECT_EQ(in.numbers(), out.numbers()) << name(to);
  }
}

TEST(MemoryKernelsOnBool, any_byte_but_zero_is_true_and_casts_to_one) {
  GuardedArray in(DType::boolean, {256});
  for (std::int64_t i = 0; i < 256; ++i) *in.at(i) = static_cast<std::byte>(i);
  for (const DType dtype : {DType::boolean, DType::u8}) {
    GuardedArray out(dtype, {256});
    ASSERT_TRUE(cast(in.view(), out.view()));
    for (std::int64_t i = 0; i < 256; ++i) EXPECT_EQ(*out.at(i), static_cast<std::byte>(i != 0));
  }
}

TEST(MemoryKernelsOnUnalignedMemory, cast_works) {
  std::array<std::byte, 64> memory{};
  for (std::int64_t i = 0; i < 5; ++i) store(memory.data() + 1 + 4 * i, static_cast<float>(i));
  const HostView in{memory.data() + 1, DType::f32, {5}, {1}};
  const HostView out{memory.data() + 23, DType::f64, {5}, {1}};
  ASSERT_TRUE(cast(in, out));
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(load<double>(out.data + 8 * i), static_cast<double>(i));
}

TEST(MemoryKernelsOnWrongViews, answer_invalid_argument) {
  GuardedArray a(DType::f32, {2, 3});
  GuardedArray other_shape(DType::f32, {3, 2});
  GuardedArray other_type(DType::i32, {2, 3});
  HostView no_strides = a.view();
  no_strides.strides = Strides{};
  const auto kind = [](const Result<void>& result) { return result ? ErrorKind::internal : result.error().kind(); };
  EXPECT_EQ(kind(copy(a.view(), other_shape.view())), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(copy(a.view(), other_type.view())), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(cast(a.view(), other_shape.view())), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(cast(a.view(), no_strides)), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(fill(no_strides, op::Scalar(1.0))), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace troupe::host
