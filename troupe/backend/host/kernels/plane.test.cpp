#include "troupe/backend/host/kernels/plane.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "troupe/backend/host/kernels/guarded_array.test.hpp"

namespace troupe::host {
namespace {

/// One type of each size.
constexpr DType kSizes[] = {DType::u8, DType::f16, DType::f32, DType::f64, DType::c128};

void expect_copied(DType dtype, const Shape& shape, const Strides& in_strides, const Strides& out_strides,
                   Random& random) {
  GuardedArray in(dtype, shape, in_strides);
  GuardedArray out(dtype, shape, out_strides);
  random.fill_with_bits(in);
  const std::int64_t size = size_bytes(dtype);
  copy_plane({.in = in.view().data,
              .in_row = in_strides[0] * size,
              .in_column = in_strides[1] * size,
              .out = out.view().data,
              .out_row = out_strides[0] * size,
              .out_column = out_strides[1] * size,
              .rows = shape[0],
              .columns = shape[1]},
             size);
  EXPECT_EQ(differences(in, out), 0);
  EXPECT_TRUE(out.guards_are_whole());
}

TEST(Plane, is_copied_between_all_layouts) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const DType dtype : kSizes)
    for (const Shape& shape : {Shape{1, 1}, Shape{1, 40}, Shape{40, 1}, Shape{3, 200}, Shape{200, 3}, Shape{16, 16},
                               Shape{64, 64}, Shape{70, 81}, Shape{33, 129}, Shape{0, 5}, Shape{5, 0}})
      for (const NamedStrides& in : input_layouts(shape))
        for (const NamedStrides& out : layouts(shape)) {
          SCOPED_TRACE(std::string(name(dtype)) + " " + shape.to_string() + " " + in.name + " to " + out.name);
          expect_copied(dtype, shape, in.strides, out.strides, random);
        }
}

TEST(Plane, is_copied_with_gaps_between_rows_and_columns) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const DType dtype : kSizes)
    for (const std::int64_t step : {-3, -2, -1, 2, 3}) {
      SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(step));
      expect_copied(dtype, {20, 70}, {300, step}, {70, 1}, random);
      expect_copied(dtype, {20, 70}, {1, 25 * step}, {75, 1}, random);
      expect_copied(dtype, {20, 70}, {step, 80}, {90, 1}, random);
      expect_copied(dtype, {20, 70}, {70, 1}, {300, step}, random);
    }
}

TEST(Plane, is_copied_in_elements_of_any_size) {
  Random random;
  SCOPED_TRACE(random.trace());
  const std::int64_t rows = 11;
  const std::int64_t columns = 13;
  for (const std::int64_t size : {1, 2, 3, 4, 5, 8, 12, 15, 16, 17, 31, 48, 100, 256, 257, 1024}) {
    SCOPED_TRACE(std::to_string(size) + " bytes");
    GuardedArray in(DType::u8, {columns, rows, size});
    GuardedArray transposed(DType::u8, {rows, columns, size});
    GuardedArray padded(DType::u8, {columns, rows, size}, {rows * (size + 3), size + 3, 1});
    random.fill_with_bits(in);
    const Plane plane{.in = in.view().data,
                      .in_row = size,
                      .in_column = rows * size,
                      .out = transposed.view().data,
                      .out_row = columns * size,
                      .out_column = size,
                      .rows = rows,
                      .columns = columns};
    copy_plane(plane, size);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        ASSERT_EQ(std::memcmp(transposed.at((i * columns + j) * size), in.at((j * rows + i) * size),
                              static_cast<std::size_t>(size)),
                  0);
    EXPECT_TRUE(transposed.guards_are_whole());
    Plane gaps = plane;
    gaps.out = padded.view().data;
    gaps.out_row = size + 3;
    gaps.out_column = rows * (size + 3);
    copy_plane(gaps, size);
    EXPECT_EQ(differences(in, padded), 0);
    EXPECT_TRUE(padded.guards_are_whole());
  }
}

}  // namespace
}  // namespace troupe::host
