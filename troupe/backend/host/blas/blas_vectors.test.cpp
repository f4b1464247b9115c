#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "troupe/backend/host/blas/blas_ops.hpp"
#include "troupe/backend/host/kernels/op_memory.test.hpp"

namespace troupe::host {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::c64, DType::c128};
constexpr int kTeams[] = {1, 2, 3, 16};

DType real_type(DType dtype) {
  if (dtype == DType::c64) return DType::f32;
  return dtype == DType::c128 ? DType::f64 : dtype;
}

/// The bytes of what an op leaves in one element.
template <class Op>
std::vector<std::byte> result_of(Op op, DType dtype, OpMemory& memory, Team& team) {
  op.out = memory.place(dtype, {}, {});
  EXPECT_TRUE(run_op(op, memory.here(team)));
  const std::byte* const data = memory.here()(op.out).data;
  return {data, data + size_bytes(dtype)};
}

Wide number_in(const std::vector<std::byte>& bytes, DType dtype) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) { return convert<Wide>(load<T>(bytes.data())); });
}

class BlasVectors : public RandomTest {
 public:
  /// Long enough for several threads, and for vectors that OpenBLAS would share out itself.
  const std::vector<Shape> shapes{Shape{},        Shape{0},        Shape{1},        Shape{1000},
                                  Shape{200'003}, Shape{300, 401}, Shape{7, 90, 31}};
  OpMemory memory;
};

TEST_F(BlasVectors, dot_has_the_same_bits_with_every_team) {
  for (const DType dtype : kTypes)
    for (const Shape& shape : shapes) {
      const NamedStrides x_layout = random.one_of(input_layouts(shape));
      const NamedStrides y_layout = random.one_of(input_layouts(shape));
      SCOPED_TRACE(std::string(name(dtype)) + " " + shape.to_string() + " " + x_layout.name + ", " + y_layout.name);
      memory.clear();
      GuardedArray x(dtype, shape);
      GuardedArray y(dtype, shape);
      random.fill(x);
      random.fill(y);
      op::Dot op;
      op.conjugates = random.coin();
      op.x = memory.place(x, shape, x_layout.strides);
      op.y = memory.place(y, shape, y_layout.strides);
      ASSERT_TRUE(copy(memory.here()(op.x), x.view()));  // where elements repeat, what was written last
      ASSERT_TRUE(copy(memory.here()(op.y), y.view()));
      Wide expected = 0;
      const std::vector<Wide> of_x = x.numbers();
      const std::vector<Wide> of_y = y.numbers();
      for (std::size_t i = 0; i < of_x.size(); ++i)
        expected += (op.conjugates ? std::conj(of_x[i]) : of_x[i]) * of_y[i];
      const std::vector<std::byte> alone = result_of(op, dtype, memory, Team::of_one());
      EXPECT_LE(std::abs(number_in(alone, dtype) - expected), 1e-5 * static_cast<double>(x.count()) + 1e-30);
      for (const int size : kTeams) {
        Team team(size);
        EXPECT_EQ(result_of(op, dtype, memory, team), alone) << size << " threads";
      }
    }
}

TEST_F(BlasVectors, norms_and_sums_have_the_same_bits_with_every_team) {
  for (const DType dtype : kTypes)
    for (const Shape& shape : shapes)
      for (const auto what : {op::Measure::What::nrm2, op::Measure::What::asum}) {
        const NamedStrides layout = random.one_of(input_layouts(shape));
        SCOPED_TRACE(std::string(name(dtype)) + " " + shape.to_string() + " " + layout.name);
        memory.clear();
        GuardedArray x(dtype, shape);
        random.fill(x);
        op::Measure op;
        op.what = what;
        op.x = memory.place(x, shape, layout.strides);
        ASSERT_TRUE(copy(memory.here()(op.x), x.view()));
        double expected = 0;
        for (const Wide& number : x.numbers())
          expected +=
              what == op::Measure::What::nrm2 ? std::norm(number) : std::abs(number.real()) + std::abs(number.imag());
        if (what == op::Measure::What::nrm2) expected = std::sqrt(expected);
        const DType real = real_type(dtype);
        const std::vector<std::byte> alone = result_of(op, real, memory, Team::of_one());
        EXPECT_NEAR(number_in(alone, real).real(), expected, 1e-5 * expected);
        for (const int size : kTeams) {
          Team team(size);
          EXPECT_EQ(result_of(op, real, memory, team), alone) << size << " threads";
        }
      }
}

}  // namespace
}  // namespace troupe::host
