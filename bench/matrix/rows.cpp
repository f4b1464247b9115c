#include "bench/matrix/rows.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "bench/matrix/layouts.hpp"
#include "troupe/core/enum_names.hpp"

namespace troupe::bench::matrix {
namespace {

using Types = std::span<const DType>;
using Extents = std::span<const std::int64_t>;

constexpr std::int64_t kSizes[] = {1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28, 1 << 30};

constexpr DType kF32[] = {DType::f32};
constexpr DType kWide[] = {DType::f32, DType::f64};
constexpr DType kFloats[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
constexpr DType kStored[] = {DType::f32, DType::f64, DType::f16, DType::i32, DType::u8};
constexpr DType kPermuted[] = {DType::f32, DType::f64, DType::bf16};

/// Indices are made of f32, which has all whole numbers up to here.
constexpr std::int64_t kMostTaken = 1 << 24;

constexpr Range kAround{-2, 2};
constexpr Range kPositive{0.5, 2};

template <class E>
std::string op_name(E function) {
  return std::string(enum_names<E>()[static_cast<std::size_t>(function)]);
}

// ---- element by element ----

struct UnaryGroup {
  Unary function;
  Range range;
  Types types;
};
constexpr UnaryGroup kUnary[] = {
    {Unary::neg, kAround, kFloats},       {Unary::abs, kAround, kFloats},   {Unary::relu, kAround, kFloats},
    {Unary::exp, kAround, kFloats},       {Unary::log, kPositive, kFloats}, {Unary::sqrt, kPositive, kFloats},
    {Unary::rsqrt, kPositive, kFloats},   {Unary::tanh, kAround, kFloats},  {Unary::sigmoid, kAround, kFloats},
    {Unary::gelu, kAround, kFloats},      {Unary::silu, kAround, kFloats},  {Unary::sin, kAround, kFloats},
    {Unary::erf, kAround, kFloats},       {Unary::cos, kAround, kWide},     {Unary::tan, kAround, kWide},
    {Unary::expm1, kAround, kWide},       {Unary::log1p, kPositive, kWide}, {Unary::softplus, kAround, kWide},
    {Unary::reciprocal, kPositive, kF32}, {Unary::square, kAround, kF32},   {Unary::sign, kAround, kF32},
    {Unary::floor, kAround, kF32},        {Unary::round, kAround, kF32},
};
/// Those that are also done to memory with gaps.
constexpr UnaryGroup kUnaryLaidOut[] = {{Unary::neg, kAround, kF32}, {Unary::exp, kAround, kF32}};
constexpr Layout kUnaryLayouts[] = {Layout::strided, Layout::padded, Layout::transposed};

struct BinaryGroup {
  Binary function;
  Range left, right;
  Types types;
};
constexpr BinaryGroup kBinary[] = {
    {Binary::add, kAround, kAround, kFloats}, {Binary::sub, kAround, kAround, kFloats},
    {Binary::mul, kAround, kAround, kFloats}, {Binary::div, kAround, kPositive, kFloats},
    {Binary::max, kAround, kAround, kFloats}, {Binary::pow, kPositive, kAround, kFloats},
};
/// Those whose second operand is also something else than an array like the first.
constexpr BinaryGroup kBinaryLaidOut[] = {{Binary::add, kAround, kAround, kWide},
                                          {Binary::mul, kAround, kAround, kF32},
                                          {Binary::pow, kPositive, kPositive, kF32}};
constexpr Layout kBinaryLayouts[] = {Layout::row,     Layout::column, Layout::number,
                                     Layout::strided, Layout::padded, Layout::transposed};

struct Cast {
  DType from, to;
};
constexpr Cast kCasts[] = {
    {DType::f32, DType::f64},  {DType::f64, DType::f32},  {DType::f32, DType::f16},  {DType::f16, DType::f32},
    {DType::f32, DType::bf16}, {DType::bf16, DType::f32}, {DType::f16, DType::bf16}, {DType::f32, DType::i32},
    {DType::i32, DType::f32},  {DType::f32, DType::u8},   {DType::u8, DType::f32},   {DType::u8, DType::i32},
    {DType::i32, DType::f64},  {DType::i32, DType::u8},
};

/// A row of that size whose largest elements are of this type: its two-dimensional output is made, its inputs are not.
Row sized(Kind kind, std::string op, DType dtype, std::string layout, std::int64_t size) {
  return {.kind = kind,
          .op = std::move(op),
          .dtype = dtype,
          .layout = std::move(layout),
          .size = size,
          .output = {.dtype = dtype, .shape = split(size / size_bytes(dtype), 2)}};
}

void add_memory(std::vector<Row>& rows) {
  for (const DType dtype : kStored)
    for (const std::int64_t size : kSizes) rows.push_back(sized(Kind::fill, "fill", dtype, "contiguous", size));
  for (const DType dtype : kStored)
    for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::strided, Layout::padded})
      for (const std::int64_t size : kSizes) {
        Row row = sized(Kind::copy, "copy", dtype, name(layout), size);
        row.inputs = {operand(layout, dtype, row.output.shape, {0, 100})};
        rows.push_back(std::move(row));
      }
  for (const Cast& cast : kCasts)
    for (const std::int64_t size : kSizes) {
      Row row = sized(Kind::cast, "cast", cast.from, "to_" + std::string(name(cast.to)), size);
      row.output = {.dtype = cast.to, .shape = split(size / std::max(size_bytes(cast.from), size_bytes(cast.to)), 2)};
      row.inputs = {operand(Layout::contiguous, cast.from, row.output.shape, {0, 100})};
      rows.push_back(std::move(row));
    }
}

void add_permutations(std::vector<Row>& rows) {
  const std::vector<int> orders[] = {{2, 1, 0}, {1, 0, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}};
  for (const std::vector<int>& order : orders)
    for (const DType dtype : kPermuted)
      for (const std::int64_t size : kSizes) {
        Row row = sized(Kind::permute, "permute", dtype, "", size);
        for (const int axis : order) row.layout += std::to_string(axis);
        const Operand in{
            .dtype = dtype, .shape = split(size / size_bytes(dtype), static_cast<int>(order.size())), .order = order};
        row.axes = order;
        row.output.shape = in.view_shape();
        row.inputs = {{.dtype = dtype, .shape = in.shape}};
        rows.push_back(std::move(row));
      }
}

void add_unary(std::vector<Row>& rows, std::span<const UnaryGroup> groups, std::span<const Layout> layouts) {
  for (const UnaryGroup& group : groups)
    for (const Layout layout : layouts)
      for (const DType dtype : group.types)
        for (const std::int64_t size : kSizes) {
          Row row = sized(Kind::unary, op_name(group.function), dtype, name(layout), size);
          row.inputs = {operand(layout, dtype, row.output.shape, group.range)};
          rows.push_back(std::move(row));
        }
}

void add_binary(std::vector<Row>& rows, std::span<const BinaryGroup> groups, std::span<const Layout> layouts) {
  for (const BinaryGroup& group : groups)
    for (const Layout layout : layouts)
      for (const DType dtype : group.types)
        for (const std::int64_t size : kSizes) {
          Row row = sized(Kind::binary, op_name(group.function), dtype, name(layout), size);
          row.inputs = {operand(Layout::contiguous, dtype, row.output.shape, group.left),
                        operand(layout, dtype, row.output.shape, group.right)};
          rows.push_back(std::move(row));
        }
}

void add_ternary(std::vector<Row>& rows) {
  const auto add = [&](Ternary function, DType dtype, const char* layout, const auto& inputs) {
    for (const std::int64_t size : kSizes) {
      Row row = sized(Kind::ternary, op_name(function), dtype, layout, size);
      row.inputs = inputs(row.output.shape);
      rows.push_back(std::move(row));
    }
  };
  using Shape = std::vector<std::int64_t>;
  for (const DType dtype : kFloats) {
    const auto array = [dtype](const Shape& shape) { return operand(Layout::contiguous, dtype, shape, kAround); };
    add(Ternary::fma, dtype, "contiguous",
        [&](const Shape& shape) { return std::vector{array(shape), array(shape), array(shape)}; });
    add(Ternary::clamp, dtype, "number",
        [&](const Shape& shape) { return std::vector{array(shape), Operand{.number = -1}, Operand{.number = 1}}; });
    add(Ternary::select, dtype, "contiguous", [&](const Shape& shape) {
      return std::vector{operand(Layout::contiguous, DType::boolean, shape, {0, 2}), array(shape), array(shape)};
    });
  }
}

void add_expressions(std::vector<Row>& rows) {
  for (const char* const op : {"one_step", "five_steps", "five_short_steps"})
    for (const Layout layout : {Layout::contiguous, Layout::row})
      for (const DType dtype : kFloats)
        for (const std::int64_t size : kSizes) {
          Row row = sized(Kind::expression, op, dtype, name(layout), size);
          row.inputs = {operand(Layout::contiguous, dtype, row.output.shape, kAround),
                        operand(layout, dtype, row.output.shape, kAround)};
          rows.push_back(std::move(row));
        }
}

// ---- reductions ----

struct Reduced {
  const char* layout;
  int rank;
  std::vector<int> axes;
};

/// Expressions that end in one.
void add_reduced_expressions(std::vector<Row>& rows) {
  const Reduced ways[] = {{"all", 2, {0, 1}}, {"rows", 2, {1}}, {"columns", 2, {0}}};
  for (const Reduced& way : ways)
    for (const DType dtype : kFloats)
      for (const std::int64_t size : kSizes) {
        Row row = sized(Kind::expression, "sum_of_squares", dtype, way.layout, size);
        const std::vector<std::int64_t> shape = split(size / size_bytes(dtype), way.rank);
        row.inputs = {operand(Layout::contiguous, dtype, shape, kAround),
                      operand(Layout::contiguous, dtype, shape, kAround)};
        row.axes = way.axes;
        row.output.shape = left_out(shape, way.axes);
        rows.push_back(std::move(row));
      }
}

void add_reductions(std::vector<Row>& rows) {
  const Reduced ways[] = {{"all", 2, {0, 1}}, {"rows", 2, {1}}, {"columns", 2, {0}}, {"middle", 3, {1}}};
  for (const Reduction function : {Reduction::sum, Reduction::mean, Reduction::max, Reduction::norm})
    for (const Reduced& way : ways)
      for (const DType dtype : function == Reduction::sum || function == Reduction::max ? Types(kFloats) : Types(kWide))
        for (const std::int64_t size : kSizes) {
          Row row = sized(Kind::reduce, op_name(function), dtype, way.layout, size);
          const std::vector<std::int64_t> shape = split(size / size_bytes(dtype), way.rank);
          row.inputs = {operand(Layout::contiguous, dtype, shape, kAround)};
          row.axes = way.axes;
          row.output.shape = left_out(shape, way.axes);
          rows.push_back(std::move(row));
        }
}

// ---- products ----

constexpr std::int64_t kCpuExtents[] = {32, 64, 128, 256, 512, 1024, 2048};
constexpr std::int64_t kGpuExtents[] = {32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
/// A CPU has no fast products of these types everywhere.
constexpr std::int64_t kCpuSmallTypes[] = {32, 64, 128, 256, 512};
constexpr std::int64_t kVectorExtents[] = {256, 1024, 4096, 8192};
constexpr std::int64_t kSmallExtents[] = {8, 16, 32, 64};
constexpr std::int64_t kMiddleExtents[] = {32, 64, 128, 256};
constexpr std::int64_t kScoreExtents[] = {32, 64, 128, 256, 512};

/// A product whose operands have these shapes, all of them of one type.
Row product(Kind kind, DType dtype, std::string layout, std::int64_t n,
            std::initializer_list<std::vector<std::int64_t>> inputs, std::vector<std::int64_t> output) {
  Row row{.kind = kind,
          .op = name(kind),
          .dtype = dtype,
          .layout = std::move(layout),
          .size = n,
          .is_extent = true,
          .output = {.dtype = dtype, .shape = std::move(output)}};
  for (const std::vector<std::int64_t>& shape : inputs) row.inputs.push_back({.dtype = dtype, .shape = shape});
  return row;
}

void add_gemm(std::vector<Row>& rows, Hardware hardware) {
  const Extents all = hardware == Hardware::cpu ? Extents(kCpuExtents) : Extents(kGpuExtents);
  for (const DType dtype : kFloats) {
    const bool is_wide = size_bytes(dtype) >= 4;
    const Extents extents = hardware == Hardware::cpu && !is_wide ? Extents(kCpuSmallTypes) : all;
    for (const std::int64_t n : extents)
      rows.push_back(product(Kind::gemm, dtype, "square", n, {{n, n}, {n, n}}, {n, n}));
    for (const std::int64_t n : extents) {
      rows.push_back(product(Kind::gemm, dtype, "second_transposed", n, {{n, n}, {n, n}}, {n, n}));
      rows.back().inputs[1].order = {1, 0};
    }
    for (const std::int64_t n : extents)
      rows.push_back(product(Kind::layer, dtype, "bias_and_relu", n, {{n, n}, {n, n}, {n}}, {n, n}));
  }
  for (const DType dtype : kWide) {
    for (const std::int64_t n : all)
      rows.push_back(product(Kind::gemm, dtype, "by_16_columns", n, {{n, n}, {n, 16}}, {n, 16}));
    for (const std::int64_t n : kSmallExtents)
      rows.push_back(product(Kind::gemm, dtype, "4096_of_them", n, {{4096, n, n}, {4096, n, n}}, {4096, n, n}));
    for (const std::int64_t n : kMiddleExtents)
      rows.push_back(product(Kind::gemm, dtype, "64_of_them", n, {{64, n, n}, {64, n, n}}, {64, n, n}));
  }
}

void add_vectors(std::vector<Row>& rows) {
  for (const DType dtype : kWide) {
    for (const std::int64_t n : kVectorExtents) {
      rows.push_back(product(Kind::gemv, dtype, "square", n, {{n, n}, {n}}, {n}));
      rows.push_back(product(Kind::gemv, dtype, "transposed", n, {{n, n}, {n}}, {n}));
      rows.back().inputs[0].order = {1, 0};
    }
    for (const std::int64_t size : kSizes) {
      const std::int64_t count = size / size_bytes(dtype);
      Row dot = sized(Kind::dot, "dot", dtype, "contiguous", size);
      dot.inputs = {operand(Layout::contiguous, dtype, {count}, kAround),
                    operand(Layout::contiguous, dtype, {count}, kAround)};
      dot.output.shape = {};
      rows.push_back(std::move(dot));
      Row axpy = sized(Kind::axpy, "axpy", dtype, "contiguous", size);
      axpy.inputs = {operand(Layout::contiguous, dtype, {count}, kAround)};
      axpy.output.shape = {count};
      axpy.updates = true;
      rows.push_back(std::move(axpy));
    }
  }
}

void add_einsums(std::vector<Row>& rows) {
  const auto add = [&](const char* layout, const char* text, std::int64_t n,
                       std::initializer_list<std::vector<std::int64_t>> inputs, std::vector<std::int64_t> output) {
    rows.push_back(product(Kind::einsum, DType::f32, layout, n, inputs, std::move(output)));
    rows.back().text = text;
  };
  for (const std::int64_t n : kScoreExtents)
    add("bhqf,bhkf->bhqk", "bhqf,bhkf->bhqk", n, {{4, 8, n, 64}, {4, 8, n, 64}}, {4, 8, n, n});
  for (const std::int64_t n : kScoreExtents)
    add("bqhf,bkhf->bhqk", "bqhf,bkhf->bhqk", n, {{4, n, 8, 64}, {4, n, 8, 64}}, {4, 8, n, n});
  for (const std::int64_t n : {8, 16, 32})
    add("abcd,cdef->abef", "abcd,cdef->abef", n, {{n, n, n, n}, {n, n, n, n}}, {n, n, n, n});
  for (const std::int64_t n : kScoreExtents) add("ij,jk->ki", "ij,jk->ki", n, {{n, n}, {n, n}}, {n, n});
}

// ---- primitives ----

/// Named as PyTorch has them: `cumsum` and so on along the last axis, `take` at random indices.
void add_primitives(std::vector<Row>& rows) {
  constexpr DType kSorted[] = {DType::f32, DType::f64, DType::i32, DType::u8};
  const auto add = [&](const char* op, DType dtype, const char* layout, std::int64_t size, Operand in, Operand out) {
    Row row = sized(Kind::primitive, op, dtype, layout, size);
    row.inputs = {std::move(in)};
    row.output = std::move(out);
    rows.push_back(std::move(row));
  };
  for (const DType dtype : kSorted)
    for (const std::int64_t size : kSizes) {
      const std::int64_t count = size / size_bytes(dtype);
      const std::vector<std::int64_t> line{count}, square = split(count, 2);
      const auto numbers = [&](const std::vector<std::int64_t>& shape) {
        return operand(Layout::contiguous, dtype, shape, {0, dtype == DType::u8 ? 255.0 : 16'000'000.0});
      };
      const auto of = [](DType type, const std::vector<std::int64_t>& shape) {
        return Operand{.dtype = type, .shape = shape};
      };
      add("sort", dtype, "line", size, numbers(line), of(dtype, line));
      add("sort", dtype, "rows", size, numbers(square), of(dtype, square));
      if (dtype == DType::f32) add("argsort", dtype, "line", size, numbers(line), of(dtype, line));
      if (dtype == DType::f32 || dtype == DType::f64) {
        add("cumsum", dtype, "line", size, numbers(line), of(dtype, line));
        add("cumsum", dtype, "rows", size, numbers(square), of(dtype, square));
      }
      if (dtype == DType::f32 && square[1] >= 64)
        add("topk", dtype, "64_of_rows", size, numbers(square), of(dtype, {square[0], 64}));
      if (dtype == DType::f32) {
        add("take", dtype, "line", size, numbers(line), of(dtype, line));
        rows.back().inputs.push_back(
            operand(Layout::contiguous, DType::i32, line, {0, static_cast<double>(std::min(count, kMostTaken))}));
      }
    }
}

}  // namespace

std::vector<Row> all_rows(Hardware hardware) {
  constexpr Layout kContiguous[] = {Layout::contiguous};
  std::vector<Row> rows;
  add_memory(rows);
  add_permutations(rows);
  add_unary(rows, kUnary, kContiguous);
  add_unary(rows, kUnaryLaidOut, kUnaryLayouts);
  add_binary(rows, kBinary, kContiguous);
  add_binary(rows, kBinaryLaidOut, kBinaryLayouts);
  add_ternary(rows);
  add_expressions(rows);
  add_reduced_expressions(rows);
  add_reductions(rows);
  add_gemm(rows, hardware);
  add_vectors(rows);
  add_einsums(rows);
  add_primitives(rows);
  return rows;
}

}  // namespace troupe::bench::matrix
