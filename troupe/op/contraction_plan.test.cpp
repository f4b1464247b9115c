#include "troupe/op/contraction_plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace troupe::op {
namespace {

View dense(const Shape& shape) { return {0, DType::f32, shape, contiguous_strides(shape)}; }

/// The contraction of one matrix product for each of `batch`.
Contract matrices(std::int64_t batch, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  Contract op;
  op.groups = {.batch = 1, .rows = 1, .columns = 1, .depth = 1};
  op.a = dense({batch, rows, depth});
  op.b = dense({batch, depth, columns});
  op.c = dense({batch, rows, columns});
  return op;
}

ContractionPlan plan(const Contract& op, TensorEngine engine = TensorEngine::automatic,
                     const ContractionRates& rates = kHostRates) {
  EXPECT_TRUE(check(op));
  return value(plan_contraction(axes_of(op), op.c.dtype, engine, rates));
}

TEST(ContractionPlan, takes_plain_matrices_as_they_are) {
  const ContractionPlan made = plan(matrices(1, 64, 32, 128));
  EXPECT_EQ(made.engine, TensorEngine::gemm);
  EXPECT_FALSE(made.packs_a || made.packs_b || made.packs_c);
  EXPECT_EQ(made.rows.extent, 64);
  EXPECT_EQ(made.columns.extent, 32);
  EXPECT_EQ(made.depth.extent, 128);
  EXPECT_EQ(made.calls, 1);
  EXPECT_EQ(made.flops, 2.0 * 64 * 32 * 128);
  EXPECT_EQ(made.bytes_moved, 0);
}

TEST(ContractionPlan, calls_once_for_each_batch_where_the_library_has_none) {
  EXPECT_EQ(plan(matrices(10, 64, 64, 64)).calls, 10);
  EXPECT_EQ(plan(matrices(10, 64, 64, 64), TensorEngine::gemm, kGpuRates).calls, 1);
}

TEST(ContractionPlan, merges_what_lies_side_by_side) {
  // a[i, j, k, l], b[k, l, m], c[i, j, m]: rows (i, j), depth (k, l)
  Contract op;
  op.groups = {.batch = 0, .rows = 2, .columns = 1, .depth = 2};
  op.a = dense({3, 4, 50, 6});
  op.b = dense({50, 6, 70});
  op.c = dense({3, 4, 70});
  const ContractionPlan made = plan(op, TensorEngine::gemm);
  EXPECT_EQ(made.rows.extent, 12);
  EXPECT_EQ(made.depth.extent, 300);
  EXPECT_EQ(made.columns.extent, 70);
  EXPECT_EQ(made.bytes_moved, 0);
}

TEST(ContractionPlan, packs_the_smaller_operand_whose_axes_lie_in_another_order) {
  // depth (k, l) in a, (l, k) in b
  Contract op;
  op.groups = {.batch = 0, .rows = 1, .columns = 1, .depth = 2};
  op.a = dense({500, 32, 32});
  op.b = View{0, DType::f32, {32, 32, 20}, {20, 640, 1}};
  op.c = dense({500, 20});
  const ContractionPlan made = plan(op);
  EXPECT_EQ(made.engine, TensorEngine::gemm);
  EXPECT_FALSE(made.packs_a);
  EXPECT_TRUE(made.packs_b);
  EXPECT_FALSE(made.packs_c);
  EXPECT_EQ(made.bytes_moved, 2.0 * 32 * 32 * 20 * 4);
  EXPECT_EQ(packed_axes(made, Packed::b).size(), 3U);
}

TEST(ContractionPlan, prefers_a_few_calls_to_moving_much) {
  // Rows (i, j) with a gap after each i: two products, or a copy of the large operand.
  Contract op;
  op.groups = {.batch = 0, .rows = 2, .columns = 1, .depth = 1};
  op.a = View{0, DType::f32, {2, 1000, 400}, {500'000, 400, 1}};
  op.b = dense({400, 40});
  op.c = dense({2, 1000, 40});
  const ContractionPlan made = plan(op);
  EXPECT_EQ(made.bytes_moved, 0);
  EXPECT_EQ(made.calls, 2);
  EXPECT_EQ(made.rows.extent, 1000);
}

TEST(ContractionPlan, leaves_what_is_small_or_no_product_of_matrices_to_loops) {
  EXPECT_EQ(plan(matrices(1, 2, 2, 2)).engine, TensorEngine::loops);
  EXPECT_EQ(plan(matrices(100'000, 1, 1, 1)).engine, TensorEngine::loops);
  EXPECT_EQ(plan(matrices(1, 1, 1, 1 << 20), TensorEngine::automatic, kGpuRates).engine, TensorEngine::loops);
  EXPECT_EQ(plan(matrices(1, 512, 512, 512), TensorEngine::automatic, kGpuRates).engine, TensorEngine::gemm);
}

TEST(ContractionPlan, does_what_it_is_told) {
  EXPECT_EQ(plan(matrices(1, 2, 2, 2), TensorEngine::gemm).engine, TensorEngine::gemm);
  EXPECT_EQ(plan(matrices(1, 500, 500, 500), TensorEngine::loops).engine, TensorEngine::loops);
  const Contract op = matrices(1, 2, 2, 2);
  EXPECT_EQ(plan_contraction(axes_of(op), DType::f32, TensorEngine::cutensor, kHostRates).error().kind(),
            ErrorKind::unsupported);
}

TEST(ContractionPlan, keeps_to_the_limit_of_scratch_memory) {
  Contract op = matrices(1, 64, 64, 64);
  op.groups = {.batch = 0, .rows = 1, .columns = 1, .depth = 2};
  op.a = dense({64, 64, 64});
  op.b = View{0, DType::f32, {64, 64, 64}, {64, 4096, 1}};
  op.c = dense({64, 64});
  ContractionRates rates = kHostRates;
  rates.max_scratch_bytes = 1000;
  EXPECT_EQ(plan(op, TensorEngine::automatic, rates).engine, TensorEngine::loops);
  EXPECT_EQ(plan_contraction(axes_of(op), DType::f32, TensorEngine::gemm, rates).error().kind(),
            ErrorKind::unsupported);
}

/// c[i, j] of a[k, i, l] and b[l, j, k]: both must be permuted, and that takes longer than the product.
Contract permuted(std::int64_t extent, std::int64_t depth) {
  Contract op;
  op.groups = {.batch = 0, .rows = 1, .columns = 1, .depth = 2};
  op.a = {0, DType::f32, {extent, depth, depth}, {depth, extent * depth, 1}};
  op.b = {0, DType::f32, {depth, depth, extent}, {1, extent * depth, depth}};
  op.c = dense({extent, extent});
  return op;
}

TEST(ContractionPlan, leaves_to_cutensor_what_would_be_permuted_at_length) {
  const Contract large = permuted(64, 512);
  EXPECT_TRUE(plan(large, TensorEngine::automatic, kGpuRates).takes_cutensor);
  EXPECT_EQ(plan(large, TensorEngine::automatic, kGpuRates).engine, TensorEngine::gemm) << "where it has not";
  EXPECT_FALSE(plan(large, TensorEngine::gemm, kGpuRates).takes_cutensor);
  EXPECT_FALSE(plan(large, TensorEngine::automatic, kHostRates).takes_cutensor);
  EXPECT_FALSE(plan(permuted(8, 64), TensorEngine::automatic, kGpuRates).takes_cutensor) << "which is over soon";
  EXPECT_FALSE(plan(matrices(1, 4096, 4096, 4096), TensorEngine::automatic, kGpuRates).takes_cutensor);
  const ContractionPlan asked = plan(large, TensorEngine::cutensor, kGpuRates);
  EXPECT_EQ(asked.engine, TensorEngine::cutensor);
  EXPECT_EQ(asked.flops, 2.0 * 64 * 64 * 512 * 512);
}

TEST(ContractionPlan, knows_which_axes_lie_one_inside_the_other) {
  const auto axes_with = [](std::initializer_list<std::pair<std::int64_t, std::int64_t>> extents_and_strides) {
    AxisList axes;
    for (const auto& [extent, step] : extents_and_strides)
      axes.add({.extent = extent, .a = step, .b = 0, .c = 0, .role = AxisRole::row});
    return axes;
  };
  const auto nested = [&](auto... axes) { return is_nested(axes_with({axes...}), Packed::a); };
  using Axis = std::pair<std::int64_t, std::int64_t>;
  EXPECT_TRUE(nested());
  EXPECT_TRUE(nested(Axis{3, 4}, Axis{4, 1}));
  EXPECT_TRUE(nested(Axis{4, 2}, Axis{3, 9})) << "any order, and gaps";
  EXPECT_FALSE(nested(Axis{3, 3}, Axis{4, 1})) << "windows of a row";
  EXPECT_FALSE(nested(Axis{3, 4}, Axis{4, -1}));
  EXPECT_FALSE(nested(Axis{3, 0}, Axis{4, 1}));
  EXPECT_TRUE(is_nested(axes_with({{3, 0}}), Packed::b)) << "which has no rows";
}

TEST(ContractionPlan, makes_an_operand_dense_and_leaves_the_others) {
  AxisList axes;
  axes.add({.extent = 3, .a = -1, .b = 0, .c = 7, .role = AxisRole::row});
  axes.add({.extent = 4, .a = 0, .b = 5, .c = 0, .role = AxisRole::depth});
  axes.add({.extent = 5, .a = 30, .b = 2, .c = 1, .role = AxisRole::batch});
  axes.add({.extent = 6, .a = 0, .b = 9, .c = 8, .role = AxisRole::column});
  const AxisList dense = made_dense(axes, Packed::a);
  EXPECT_EQ(dense[2].a, 12) << "what had the longest stride has it still";
  EXPECT_EQ(dense[0].a, 4);
  EXPECT_EQ(dense[1].a, 1);
  EXPECT_TRUE(is_nested(dense, Packed::a));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    EXPECT_EQ(dense[i].b, axes[i].b);
    EXPECT_EQ(dense[i].c, axes[i].c);
    EXPECT_EQ(dense[i].extent, axes[i].extent);
  }
}

// ---- plans carried out ----

/// What a plan says, done on numbers: packs, multiplies, unpacks, with memory as maps from offsets to numbers.
class Machine {
 public:
  using Memory = std::map<std::int64_t, double>;

  explicit Machine(const ContractionPlan& plan) : plan_(plan) {}

  Memory run(Memory a, Memory b) const {
    if (plan_.packs_a) a = packed(a, Packed::a);
    if (plan_.packs_b) b = packed(b, Packed::b);
    Memory c;
    const AxisList& batch = plan_.batch;
    for_each(batch, [&](const std::array<std::int64_t, 3>& at) {
      for (std::int64_t i = 0; i < plan_.rows.extent; ++i)
        for (std::int64_t j = 0; j < plan_.columns.extent; ++j) {
          double& sum = c[at[2] + i * plan_.rows.c + j * plan_.columns.c];
          for (std::int64_t k = 0; k < plan_.depth.extent; ++k)
            sum += a.at(at[0] + i * plan_.rows.a + k * plan_.depth.a) *
                   b.at(at[1] + k * plan_.depth.b + j * plan_.columns.b);
        }
    });
    return plan_.packs_c ? unpacked(c) : c;
  }

  template <class F>
  static void for_each(const AxisList& axes, F&& f, std::size_t depth = 0, std::array<std::int64_t, 3> at = {}) {
    if (depth == axes.size()) return f(at);
    const ContractionAxis& axis = axes[depth];
    for (std::int64_t i = 0; i < axis.extent; ++i)
      for_each(axes, f, depth + 1, {at[0] + i * axis.a, at[1] + i * axis.b, at[2] + i * axis.c});
  }

 private:
  Memory packed(const Memory& from, Packed operand) const {
    Memory to;
    std::int64_t next = 0;
    for_each(packed_axes(plan_, operand), [&](const std::array<std::int64_t, 3>& at) {
      to[next++] = from.at(at[static_cast<std::size_t>(operand)]);
    });
    return to;
  }
  Memory unpacked(const Memory& from) const {
    Memory to;
    std::int64_t next = 0;
    for_each(packed_axes(plan_, Packed::c),
             [&](const std::array<std::int64_t, 3>& at) { to[at[2]] = from.at(next++); });
    return to;
  }
  const ContractionPlan& plan_;
};

/// Axes at random, each operand's in an order of its own with gaps.
AxisList random_axes(std::mt19937& random) {
  const auto number = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  AxisList axes;
  const int count = number(0, 6);
  for (int i = 0; i < count; ++i) {
    ContractionAxis axis;
    axis.extent = number(2, 3);
    axis.role = static_cast<AxisRole>(number(0, 3));
    axes.add(axis);
  }
  const auto lay_out = [&](auto has, auto stride) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (has(axes[i].role)) order.push_back(i);
    if (number(0, 1) == 0) std::shuffle(order.begin(), order.end(), random);
    std::int64_t step = number(0, 3) == 0 ? 2 : 1;
    for (const std::size_t i : order) {
      stride(axes[i]) = step;
      step *= axes[i].extent;
      if (number(0, 3) == 0) ++step;
    }
  };
  lay_out([](AxisRole role) { return role != AxisRole::column; }, [](ContractionAxis& x) -> auto& { return x.a; });
  lay_out([](AxisRole role) { return role != AxisRole::row; }, [](ContractionAxis& x) -> auto& { return x.b; });
  lay_out([](AxisRole role) { return role != AxisRole::depth; }, [](ContractionAxis& x) -> auto& { return x.c; });
  return axes;
}

TEST(ContractionPlan, of_any_axes_computes_the_contraction) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const AxisList axes = random_axes(random);
    Machine::Memory a, b, want;
    Machine::for_each(axes, [&](const std::array<std::int64_t, 3>& at) {
      a.try_emplace(at[0], std::uniform_int_distribution<int>(-9, 9)(random));
      b.try_emplace(at[1], std::uniform_int_distribution<int>(-9, 9)(random));
      want[at[2]] += a.at(at[0]) * b.at(at[1]);
    });
    for (const ContractionRates& rates : {kHostRates, kGpuRates}) {
      const ContractionPlan made = value(plan_contraction(axes, DType::f64, TensorEngine::gemm, rates));
      ASSERT_EQ(Machine(made).run(a, b), want) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace troupe::op
