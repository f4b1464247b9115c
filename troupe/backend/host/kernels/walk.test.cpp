#include "troupe/backend/host/kernels/walk.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "troupe/backend/host/kernels/guarded_array.test.hpp"

namespace troupe::host {
namespace {

struct Call {
  Steps<2> steps;
  std::int64_t count;
};

std::vector<Call> calls_of(const HostView& in, const HostView& out) {
  std::vector<Call> calls;
  walk<2>({&in, &out},
          [&](const Pointers<2>&, const Steps<2>& steps, std::int64_t count) { calls.push_back({steps, count}); });
  return calls;
}

TEST(Walk, meets_every_pair_of_elements_once) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 1, 5}, Shape{4, 97}, Shape{97, 4}, Shape{33, 65},
                             Shape{3, 33, 35}, Shape{200, 300}, Shape{2, 3, 2, 2, 2, 3, 2, 2}}) {
    for (const NamedStrides& in_layout : layouts(shape)) {
      for (const NamedStrides& out_layout : layouts(shape)) {
        SCOPED_TRACE(shape.to_string() + " " + in_layout.name + " to " + out_layout.name);
        GuardedArray in(DType::i32, shape, in_layout.strides);
        GuardedArray out(DType::i64, shape, out_layout.strides);
        for (std::int64_t i = 0; i < in.count(); ++i) in.set(i, op::Scalar(i));
        const HostView from = in.view();
        const HostView to = out.view();
        std::int64_t met = 0;
        walk<2>({&from, &to}, [&](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) {
          met += count;
          for (std::int64_t i = 0; i < count; ++i)
            store<std::int64_t>(at[1] + i * step[1], load<std::int32_t>(at[0] + i * step[0]));
        });
        EXPECT_EQ(met, out.count());
        EXPECT_EQ(in.numbers(), out.numbers());
        EXPECT_TRUE(out.guards_are_whole());
      }
    }
  }
}

TEST(Walk, by_a_team_meets_every_pair_of_elements_once) {
  Team team(3);
  for (const Shape& shape : {Shape{}, Shape{0, 4}, Shape{1000}, Shape{4, 97}, Shape{97, 4}, Shape{33, 65},
                             Shape{3, 33, 35}, Shape{2, 3, 2, 2, 2, 3, 2, 2}}) {
    for (const NamedStrides& in_layout : layouts(shape)) {
      SCOPED_TRACE(shape.to_string() + " " + in_layout.name);
      GuardedArray in(DType::i32, shape, in_layout.strides);
      GuardedArray out(DType::i64, shape);
      for (std::int64_t i = 0; i < in.count(); ++i) in.set(i, op::Scalar(i));
      const HostView from = in.view();
      const HostView to = out.view();
      for (const std::int64_t grain : {1, 10, 64}) {
        std::atomic<std::int64_t> met = 0;
        Walk<2>({&from, &to})
            .run(team, Grain::of_items(grain),
                 [&](const Pointers<2>& at, const Steps<2>& step, std::int64_t count) noexcept {
                   met += count;
                   for (std::int64_t i = 0; i < count; ++i)
                     store<std::int64_t>(at[1] + i * step[1], load<std::int32_t>(at[0] + i * step[0]));
                 });
        EXPECT_EQ(met.load(), out.count());
        EXPECT_EQ(in.numbers(), out.numbers());
        EXPECT_TRUE(out.guards_are_whole());
      }
    }
  }
}

/// sum = 3 a + b, of any type of integers.
void expect_sums(const Shape& shape, const NamedStrides& a_layout, const NamedStrides& b_layout,
                 const NamedStrides& out_layout, Team& team) {
  SCOPED_TRACE(shape.to_string() + " " + a_layout.name + ", " + b_layout.name + " to " + out_layout.name);
  GuardedArray a(DType::u8, shape, a_layout.strides);
  GuardedArray b(DType::i64, shape, b_layout.strides);
  GuardedArray out(DType::i32, shape, out_layout.strides);
  for (std::int64_t i = 0; i < a.count(); ++i) {
    a.set(i, op::Scalar(i % 251));
    b.set(i, op::Scalar(i));
  }
  const HostView from_a = a.view();
  const HostView from_b = b.view();
  const HostView to = out.view();
  Walk<3>({&from_a, &from_b, &to})
      .run(team, Grain::of_items(100), [](const Pointers<3>& at, const Steps<3>& step, std::int64_t count) noexcept {
        for (std::int64_t i = 0; i < count; ++i)
          store(at[2] + i * step[2], static_cast<std::int32_t>(3 * load<std::uint8_t>(at[0] + i * step[0]) +
                                                               load<std::int64_t>(at[1] + i * step[1])));
      });
  const std::vector<Wide> of_a = a.numbers();
  const std::vector<Wide> of_b = b.numbers();
  const std::vector<Wide> sums = out.numbers();
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], 3.0 * of_a[i] + of_b[i]) << i;
  EXPECT_TRUE(out.guards_are_whole());
}

TEST(Walk, by_a_team_meets_the_same_elements_of_inputs_that_lie_in_different_ways) {
  Team team(3);
  Random random;
  SCOPED_TRACE(random.trace());
  for (const Shape& shape : {Shape{70, 3}, Shape{3, 70}, Shape{150, 140}, Shape{20, 33, 35}, Shape{6, 5, 4, 3}})
    for (const NamedStrides& a : input_layouts(shape))
      for (const NamedStrides& out : {layouts(shape).front(), random.one_of(layouts(shape))})
        expect_sums(shape, a, random.one_of(input_layouts(shape)), out, team);
}

TEST(Walk, by_a_team_gives_long_rows_where_the_output_has_short_ones_side_by_side) {
  GuardedArray in(DType::f32, {1000, 3}, {0, 1});
  GuardedArray out(DType::f32, {1000, 3});
  const HostView from = in.view();
  const HostView to = out.view();
  std::int64_t calls = 0;
  walk<2>({&from, &to}, Team::of_one(), [&](const Pointers<2>&, const Steps<2>& step, std::int64_t) noexcept {
    EXPECT_EQ(step, (Steps<2>{4, 4}));
    ++calls;
  });
  EXPECT_LE(calls, 2);
}

TEST(Walk, takes_a_contiguous_array_in_one_call) {
  GuardedArray in(DType::f32, {4, 5, 6});
  GuardedArray out(DType::f64, {4, 5, 6});
  const std::vector<Call> calls = calls_of(in.view(), out.view());
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].count, 120);
  EXPECT_EQ(calls[0].steps, (Steps<2>{4, 8}));
}

TEST(Walk, takes_arrays_that_run_backwards_together_forwards_in_one_call) {
  GuardedArray in(DType::f32, {4, 5}, {-5, -1});
  GuardedArray out(DType::f32, {4, 5}, {-5, -1});
  const std::vector<Call> calls = calls_of(in.view(), out.view());
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].steps, (Steps<2>{4, 4}));
}

TEST(Walk, runs_along_the_outputs_densest_dimension) {
  GuardedArray in(DType::u8, {3, 100}, {100, 1});
  GuardedArray out(DType::u8, {3, 100}, {1, 3});
  const std::vector<Call> calls = calls_of(in.view(), out.view());
  ASSERT_EQ(calls.size(), 100u);
  EXPECT_EQ(calls[0].count, 3);
  EXPECT_EQ(calls[0].steps, (Steps<2>{100, 1}));
}

TEST(Walk, leaves_empty_arrays_alone) {
  GuardedArray in(DType::u8, {3, 0, 2});
  GuardedArray out(DType::u8, {3, 0, 2});
  EXPECT_TRUE(calls_of(in.view(), out.view()).empty());
}

TEST(HostView, is_checked_for_shapes_and_strides_that_do_not_fit) {
  const auto kind = [](const Result<void>& result) { return result.error().kind(); };
  EXPECT_EQ(kind(check(HostView{nullptr, DType::u8, {-1}, {1}})), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(check(HostView{nullptr, DType::u8, {2, 3}, {1}})), ErrorKind::invalid_argument);
  EXPECT_TRUE(check(HostView{nullptr, DType::u8, {2, 3}, {3, 1}}));
}

}  // namespace
}  // namespace troupe::host
