// One good op of every kind: what the tests over the whole table begin with. A new op needs one here, and a test says
// so when it has none.
#pragma once

#include <map>

#include "troupe/op/blas.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/jit.hpp"
#include "troupe/op/matmul.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/plugin.hpp"
#include "troupe/op/solver.hpp"
#include "troupe/op/sparse.hpp"
#include "troupe/op/table.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::op {

/// Views that do not overlap, one behind another.
class Places {
 public:
  View operator()(const Shape& shape, DType dtype = DType::f32) {
    const View view{address_of(1, offset_), dtype, shape, contiguous_strides(shape)};
    offset_ += 4096;
    return view;
  }
  SparseView csr(std::int64_t rows, std::int64_t columns, std::int64_t stored) {
    return {.format = SparseFormat::csr,
            .rows = rows,
            .columns = columns,
            .block = 1,
            .structure = 7,
            .offsets = (*this)({rows + 1}, DType::i32),
            .indices = (*this)({stored}, DType::i32),
            .values = (*this)({stored})};
  }
  View verdict(std::int64_t words) { return (*this)({words}, DType::i32); }

 private:
  std::uint64_t offset_ = 4096;
};

/// By kind.
inline std::map<Kind, AnyOp> sample_ops() {
  std::map<Kind, AnyOp> samples;
  Places at;
  const Scalar one(1.0), two(2.0);
  const auto add = [&]<class Op>(Op op) { samples.emplace(Op::kKind, AnyOp(std::move(op))); };
  add(Nop{});
  add(Fill{.out = at({3}), .value = two});
  add(Copy{.in = at({2, 3}), .out = at({2, 3})});
  add(Cast{.in = at({2, 3}), .out = at({2, 3}, DType::f64)});
  add(Ready{.in = at({3})});
  add(PluginCall{.path = "libsort.so",
                 .function = "sort",
                 .arrays = {{Access::read, at({4})}, {Access::write, at({4})}},
                 .parameters = {std::byte{1}, std::byte{2}}});
  Launch launch{.plan = {.program = {.name = 5, .address = address_of(2, 64), .size_bytes = 100},
                         .blocks = {4, 2, 1},
                         .threads = {64, 2, 1},
                         .shared_bytes = 16},
                .kernel = "scale",
                .arrays = {{Access::update, at({4})}},
                .order = {std::byte{0}, std::byte{4}},
                .scalars = std::vector<std::byte>(4)};
  add(std::move(launch));

  add(Axpy{.alpha = two, .x = at({4}), .y = at({4})});
  add(Gemm{.alpha = one, .beta = two, .a = at({2, 3}), .b = at({3, 4}), .c = at({2, 4})});
  add(Scal{.alpha = two, .x = at({4})});
  add(Rot{.swaps = false, .cosine = one, .sine = two, .x = at({4}), .y = at({4})});
  add(Dot{.conjugates = false, .x = at({4}), .y = at({4}), .out = at({1})});
  add(Measure{.what = Measure::What::iamax, .x = at({4}), .out = at({1}, DType::i64)});
  add(Symm{.alpha = one, .beta = one, .a = at({3, 3}), .b = at({3, 4}), .c = at({3, 4})});
  add(Syrk{.alpha = one, .beta = one, .has_b = true, .a = at({3, 2}), .b = at({3, 2}), .c = at({3, 3})});
  add(Triangular{
      .alpha = one, .solves = true, .a = at({3, 3}), .b = at({3, 2}), .out = at({3, 2}), .verdict = at.verdict(1)});
  add(Geam{.alpha = one, .beta = one, .a = at({2, 3}), .b = at({2, 3}), .c = at({2, 3})});
  add(GemmGroup{.alpha = one,
                .beta = Scalar(0.0),
                .matrices = {{Access::read, at({2, 3})}, {Access::read, at({3, 4})}, {Access::write, at({2, 4})}}});

  add(Matmul{.beta = 1,
             .activation = Activation::relu,
             .has_c = true,
             .has_bias = true,
             .keeps_pre = true,
             .a = at({2, 3}),
             .b = at({3, 4}),
             .c = at({2, 4}),
             .bias = at({4}),
             .pre = at({2, 4}),
             .d = at({2, 4})});
  add(MatmulGradient{.activation = Activation::gelu,
                     .has_pre = true,
                     .sums_columns = true,
                     .a = at({2, 3}),
                     .b = at({3, 4}),
                     .pre = at({2, 4}),
                     .d = at({2, 4}),
                     .sums = at({4})});

  const Shape square{2, 3, 3}, sides{2, 3, 1};
  add(Solve{.a = at(square), .b = at(sides), .x = at(sides), .verdict = at.verdict(2)});
  add(Inverse{.a = at(square), .out = at(square), .verdict = at.verdict(2)});
  add(Determinant{.a = at(square), .out = at({2})});
  add(Lu{.a = at({2, 3, 4}), .lu = at({2, 3, 4}), .pivots = at({2, 3}, DType::i32), .verdict = at.verdict(2)});
  add(LuSolve{
      .lu = at(square), .pivots = at({2, 3}, DType::i32), .b = at(sides), .x = at(sides), .verdict = at.verdict(2)});
  add(Cholesky{.a = at(square), .l = at(square), .verdict = at.verdict(2)});
  add(CholeskySolve{.l = at(square), .b = at(sides), .x = at(sides), .verdict = at.verdict(2)});
  add(Qr{.a = at({2, 4, 3}), .q = at({2, 4, 3}), .r = at({2, 3, 3})});
  add(LeastSquares{.a = at({2, 4, 3}), .b = at({2, 4, 1}), .x = at({2, 3, 1}), .verdict = at.verdict(2)});
  add(Svd{.a = at({2, 4, 3}), .s = at({2, 3}), .u = at({2, 4, 3}), .vt = at({2, 3, 3}), .verdict = at.verdict(2)});
  add(Eigh{.is_generalized = true,
           .a = at(square),
           .b = at(square),
           .w = at({2, 3}),
           .v = at(square),
           .verdict = at.verdict(2)});

  const SparseView bare{
      .rows = 3, .columns = 4, .offsets = at({4}, DType::i32), .indices = at({5}, DType::i32), .values = {}};
  add(SparseAdopt{.offsets = at({4}, DType::i32),
                  .indices = at({5}, DType::i32),
                  .matrix = bare,
                  .verdict = at.verdict(kSparseVerdictWords)});
  add(SparseMultiply{.alpha = one, .beta = two, .matrix = at.csr(3, 4, 5), .x = at({4, 2}), .y = at({3, 2})});
  add(SparseSolve{
      .alpha = one, .matrix = at.csr(3, 3, 5), .b = at({3}), .x = at({3}), .verdict = at.verdict(kSparseVerdictWords)});
  add(SparseSddmm{.alpha = one, .beta = two, .a = at({3, 2}), .b = at({2, 4}), .matrix = at.csr(3, 4, 5)});
  SparseView columns = at.csr(4, 3, 5);
  columns.format = SparseFormat::csc;
  std::swap(columns.rows, columns.columns);
  columns.structure = 0;
  add(SparseConvert{.from = at.csr(3, 4, 5), .to = columns});
  add(SparseToDense{.matrix = at.csr(3, 4, 5), .out = at({3, 4})});
  add(SparseCountDense{.dense = at({3, 4}), .offsets = at({4}, DType::i32), .total = at({1}, DType::i64)});
  SparseView filled = at.csr(3, 4, 5);
  filled.structure = 0;
  add(SparseFillDense{.dense = at({3, 4}), .matrix = filled, .verdict = at.verdict(kSparseVerdictWords)});
  SparseView counted = at.csr(4, 4, 5);
  counted.values = {};
  add(SparseCountBlocks{.block = 2, .matrix = counted, .offsets = at({3}, DType::i32), .total = at({1}, DType::i64)});
  add(SparseFillBlocks{.from = at.csr(4, 4, 5),
                       .to = {.format = SparseFormat::bsr,
                              .rows = 4,
                              .columns = 4,
                              .block = 2,
                              .offsets = at({3}, DType::i32),
                              .indices = at({2}, DType::i32),
                              .values = at({2, 2, 2})}});
  add(SparseCountProduct{.a = at.csr(3, 4, 5), .b = at.csr(4, 2, 5), .total = at({1}, DType::i64)});
  SparseView product = at.csr(3, 2, 4);
  product.structure = 0;
  add(SparseFillProduct{.a = at.csr(3, 4, 5), .b = at.csr(4, 2, 5), .c = product});

  UnaryOp unary;
  unary.function = Unary::exp;
  unary.factors = {one};
  unary.in = {at({2, 3})};
  unary.out = at({2, 3});
  add(unary);
  BinaryOp binary;
  binary.numbers = 2;
  binary.factors = {one, two};
  binary.in[0] = at({2, 3});
  binary.out = at({2, 3});
  add(binary);
  TernaryOp ternary;
  ternary.function = Ternary::select;
  ternary.factors = {one, one, one};
  ternary.in = {at({2, 3}, DType::boolean), at({2, 3}), at({2, 3})};
  ternary.out = at({2, 3});
  add(ternary);
  Reduce reduce;
  reduce.alpha = one;
  reduce.beta = one;
  reduce.in = at({2, 3});
  reduce.out = at({2, 1});
  add(reduce);
  Contract contract;
  contract.alpha = one;
  contract.beta = one;
  contract.groups = {.rows = 1, .columns = 1, .depth = 1};
  contract.a = at({2, 3});
  contract.b = at({3, 4});
  contract.c = at({2, 4});
  add(contract);
  return samples;
}

}  // namespace troupe::op
