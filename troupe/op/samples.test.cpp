// The samples of the families that have no test file of their own in this folder.
#include "troupe/op/samples.test.hpp"

#include "troupe/op/blas.hpp"
#include "troupe/op/control.hpp"
#include "troupe/op/families.hpp"
#include "troupe/op/jit.hpp"
#include "troupe/op/matmul.hpp"
#include "troupe/op/memory.hpp"
#include "troupe/op/plugin.hpp"
#include "troupe/op/solver.hpp"
#include "troupe/op/sparse.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::op {

#define TROUPE_FAMILY(name, lane) void add_##name##_samples(Samples& add);
TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY

std::map<Kind, AnyOp> sample_ops() {
  Samples add;
#define TROUPE_FAMILY(name, lane) add_##name##_samples(add);
  TROUPE_FAMILIES(TROUPE_FAMILY)
#undef TROUPE_FAMILY
  return add.take();
}

namespace {

SparseView csr(Samples& add, std::int64_t rows, std::int64_t columns, std::int64_t stored) {
  return {.format = SparseFormat::csr,
          .rows = rows,
          .columns = columns,
          .block = 1,
          .structure = 7,
          .offsets = add.view({rows + 1}, DType::i32),
          .indices = add.view({stored}, DType::i32),
          .values = add.view({stored})};
}

View verdict(Samples& add, std::int64_t words) { return add.view({words}, DType::i32); }

/// The second op of an iteration, of two rounds.
template <class Op>
void add_iteration(Samples& add, std::int64_t state_vectors, std::int64_t scratch_vectors) {
  Op op;
  op.tolerance = 0.5;
  op.is_first = false;
  op.rounds = 2;
  op.matrix = csr(add, 3, 3, 5);
  if constexpr (Op::kSolves) {
    op.preconditioning = Preconditioning::ilu0;
    op.preconditioner = add.view({5});
    op.b = add.view({3});
  }
  op.state = add.view({state_vectors, 3});
  op.report = add.view({kReportWords + 2}, DType::f64);
  op.next_state = add.view({state_vectors, 3});
  op.next_report = add.view({kReportWords + 2}, DType::f64);
  op.scratch = add.view({scratch_vectors, 3});
  add(op);
}

}  // namespace

void add_control_samples(Samples& add) { add(Nop{}); }

void add_memory_samples(Samples& add) {
  const Scalar two(2.0);
  add(Fill{.out = add.view({3}), .value = two});
  add(Copy{.in = add.view({2, 3}), .out = add.view({2, 3})});
  add(Cast{.in = add.view({2, 3}), .out = add.view({2, 3}, DType::f64)});
  add(Ready{.in = add.view({3})});
}

void add_plugin_samples(Samples& add) {
  add(PluginCall{.path = "libsort.so",
                 .function = "sort",
                 .arrays = {{Access::read, add.view({4})}, {Access::write, add.view({4})}},
                 .parameters = {std::byte{1}, std::byte{2}}});
}

void add_jit_samples(Samples& add) {
  Launch launch{.plan = {.program = {.name = 5, .address = address_of(2, 64), .size_bytes = 100},
                         .blocks = {4, 2, 1},
                         .threads = {64, 2, 1},
                         .cluster = {2, 1, 1},
                         .together = kCooperative,
                         .shared_bytes = 16},
                .kernel = "scale",
                .symbol = "_Z5scalePff",
                .arrays = {{Access::update, add.view({4})}, {Access::read, add.view({3})}},
                .order = {std::byte{0}, std::byte{16}},
                .scalars = std::vector<std::byte>(16),
                .pointers = {std::byte{8}, std::byte{0}},
                .variables = {{Access::read, add.view({5}, DType::u8)}},
                .symbols = "weights"};
  add(std::move(launch));
  add(SetVariable{.program = {.name = 5, .address = address_of(2, 64), .size_bytes = 100},
                  .variable = "weights",
                  .symbol = "weights",
                  .from = add.view({5}),
                  .kept = add.view({5})});
}

void add_blas_samples(Samples& add) {
  const Scalar one(1.0), two(2.0);
  add(Axpy{.alpha = two, .x = add.view({4}), .y = add.view({4})});
  add(Gemm{.alpha = one, .beta = two, .a = add.view({2, 3}), .b = add.view({3, 4}), .c = add.view({2, 4})});
  add(Scal{.alpha = two, .x = add.view({4})});
  add(Rot{.swaps = false, .cosine = one, .sine = two, .x = add.view({4}), .y = add.view({4})});
  add(Dot{.conjugates = false, .x = add.view({4}), .y = add.view({4}), .out = add.view({1})});
  add(Measure{.what = Measure::What::iamax, .x = add.view({4}), .out = add.view({1}, DType::i64)});
  add(Symm{.alpha = one, .beta = one, .a = add.view({3, 3}), .b = add.view({3, 4}), .c = add.view({3, 4})});
  add(Syrk{
      .alpha = one, .beta = one, .has_b = true, .a = add.view({3, 2}), .b = add.view({3, 2}), .c = add.view({3, 3})});
  add(Triangular{.alpha = one,
                 .solves = true,
                 .a = add.view({3, 3}),
                 .b = add.view({3, 2}),
                 .out = add.view({3, 2}),
                 .verdict = verdict(add, 1)});
  add(Geam{.alpha = one, .beta = one, .a = add.view({2, 3}), .b = add.view({2, 3}), .c = add.view({2, 3})});
  add(GemmGroup{
      .alpha = one,
      .beta = Scalar(0.0),
      .matrices = {
          {Access::read, add.view({2, 3})}, {Access::read, add.view({3, 4})}, {Access::write, add.view({2, 4})}}});
}

void add_matmul_samples(Samples& add) {
  add(Matmul{.beta = 1,
             .activation = Activation::relu,
             .has_c = true,
             .has_bias = true,
             .keeps_pre = true,
             .a = add.view({2, 3}),
             .b = add.view({3, 4}),
             .c = add.view({2, 4}),
             .bias = add.view({4}),
             .pre = add.view({2, 4}),
             .d = add.view({2, 4})});
  add(MatmulGradient{.activation = Activation::gelu_tanh,
                     .has_pre = true,
                     .sums_columns = true,
                     .a = add.view({2, 3}),
                     .b = add.view({3, 4}),
                     .pre = add.view({2, 4}),
                     .d = add.view({2, 4}),
                     .sums = add.view({4})});
}

void add_solver_samples(Samples& add) {
  const Shape square{2, 3, 3}, sides{2, 3, 1};
  add(Solve{.a = add.view(square), .b = add.view(sides), .x = add.view(sides), .verdict = verdict(add, 2)});
  add(Inverse{.a = add.view(square), .out = add.view(square), .verdict = verdict(add, 2)});
  add(Determinant{.a = add.view(square), .out = add.view({2}), .verdict = verdict(add, 2)});
  add(Lu{.a = add.view({2, 3, 4}),
         .lu = add.view({2, 3, 4}),
         .pivots = add.view({2, 3}, DType::i32),
         .verdict = verdict(add, 2)});
  add(LuSolve{.lu = add.view(square),
              .pivots = add.view({2, 3}, DType::i32),
              .b = add.view(sides),
              .x = add.view(sides),
              .verdict = verdict(add, 2)});
  add(Cholesky{.a = add.view(square), .l = add.view(square), .verdict = verdict(add, 2)});
  add(CholeskySolve{.l = add.view(square), .b = add.view(sides), .x = add.view(sides), .verdict = verdict(add, 2)});
  add(Qr{.a = add.view({2, 4, 3}), .q = add.view({2, 4, 3}), .r = add.view({2, 3, 3}), .verdict = verdict(add, 2)});
  add(LeastSquares{
      .a = add.view({2, 4, 3}), .b = add.view({2, 4, 1}), .x = add.view({2, 3, 1}), .verdict = verdict(add, 2)});
  add(Svd{.a = add.view({2, 4, 3}),
          .s = add.view({2, 3}),
          .u = add.view({2, 4, 3}),
          .vt = add.view({2, 3, 3}),
          .verdict = verdict(add, 2)});
  add(Eigh{.is_generalized = true,
           .a = add.view(square),
           .b = add.view(square),
           .w = add.view({2, 3}),
           .v = add.view(square),
           .verdict = verdict(add, 2)});
}

void add_sparse_samples(Samples& add) {
  const Scalar one(1.0), two(2.0);
  const SparseView bare{.rows = 3,
                        .columns = 4,
                        .offsets = add.view({4}, DType::i32),
                        .indices = add.view({5}, DType::i32),
                        .values = {}};
  add(SparseAdopt{.offsets = add.view({4}, DType::i32),
                  .indices = add.view({5}, DType::i32),
                  .matrix = bare,
                  .verdict = verdict(add, kSparseVerdictWords)});
  add(SparseMultiply{
      .alpha = one, .beta = two, .matrix = csr(add, 3, 4, 5), .x = add.view({4, 2}), .y = add.view({3, 2})});
  add(SparseSolve{.alpha = one,
                  .matrix = csr(add, 3, 3, 5),
                  .b = add.view({3}),
                  .x = add.view({3}),
                  .verdict = verdict(add, kSparseVerdictWords)});
  add(SparseSddmm{
      .alpha = one, .beta = two, .a = add.view({3, 2}), .b = add.view({2, 4}), .matrix = csr(add, 3, 4, 5)});
  SparseView columns = csr(add, 4, 3, 5);
  columns.format = SparseFormat::csc;
  std::swap(columns.rows, columns.columns);
  columns.structure = 0;
  add(SparseConvert{.from = csr(add, 3, 4, 5), .to = columns});
  add(SparseToDense{.matrix = csr(add, 3, 4, 5), .out = add.view({3, 4})});
  add(SparseCountDense{
      .dense = add.view({3, 4}), .offsets = add.view({4}, DType::i32), .total = add.view({1}, DType::i64)});
  SparseView filled = csr(add, 3, 4, 5);
  filled.structure = 0;
  add(SparseFillDense{.dense = add.view({3, 4}), .matrix = filled, .verdict = verdict(add, kSparseVerdictWords)});
  SparseView counted = csr(add, 4, 4, 5);
  counted.values = {};
  add(SparseCountBlocks{
      .block = 2, .matrix = counted, .offsets = add.view({3}, DType::i32), .total = add.view({1}, DType::i64)});
  add(SparseFillBlocks{.from = csr(add, 4, 4, 5),
                       .to = {.format = SparseFormat::bsr,
                              .rows = 4,
                              .columns = 4,
                              .block = 2,
                              .offsets = add.view({3}, DType::i32),
                              .indices = add.view({2}, DType::i32),
                              .values = add.view({2, 2, 2})}});
  add(SparseCountProduct{.a = csr(add, 3, 4, 5), .b = csr(add, 4, 2, 5), .total = add.view({1}, DType::i64)});
  SparseView product = csr(add, 3, 2, 4);
  product.structure = 0;
  add(SparseFillProduct{.a = csr(add, 3, 4, 5), .b = csr(add, 4, 2, 5), .c = product});
  add_iteration<SparseCg>(add, 3, 2);
  add_iteration<SparseBicgstab>(add, 5, 3);
  add_iteration<SparseGmres>(add, 1, 5);
  add_iteration<SparsePower>(add, 1, 1);
  add(SparseLanczos{.tolerance = 0.5,
                    .is_first = false,
                    .wanted = 1,
                    .basis = 2,
                    .matrix = csr(add, 3, 3, 5),
                    .state = add.view({2, 3}),
                    .report = add.view({kReportWords + 2}, DType::f64),
                    .next_state = add.view({2, 3}),
                    .next_report = add.view({kReportWords + 2}, DType::f64),
                    .scratch = add.view({4, 3})});
  add(SparseJacobi{.matrix = csr(add, 3, 3, 5), .out = add.view({3}), .verdict = verdict(add, kSparseVerdictWords)});
  add(SparseIlu0{.matrix = csr(add, 3, 3, 5), .out = add.view({5}), .verdict = verdict(add, kSparseVerdictWords)});
  add(SparseIc0{.matrix = csr(add, 3, 3, 5), .out = add.view({5}), .verdict = verdict(add, kSparseVerdictWords)});
}

void add_tensor_samples(Samples& add) {
  const Scalar one(1.0), two(2.0);
  UnaryOp unary;
  unary.function = Unary::exp;
  unary.factors = {one};
  unary.in = {add.view({2, 3})};
  unary.out = add.view({2, 3});
  add(unary);
  BinaryOp binary;
  binary.numbers = 2;
  binary.factors = {one, two};
  binary.in[0] = add.view({2, 3});
  binary.out = add.view({2, 3});
  add(binary);
  TernaryOp ternary;
  ternary.function = Ternary::select;
  ternary.factors = {one, one, one};
  ternary.in = {add.view({2, 3}, DType::boolean), add.view({2, 3}), add.view({2, 3})};
  ternary.out = add.view({2, 3});
  add(ternary);
  Reduce reduce;
  reduce.alpha = one;
  reduce.beta = one;
  reduce.in = add.view({2, 3});
  reduce.out = add.view({2, 1});
  add(reduce);
  Contract contract;
  contract.alpha = one;
  contract.beta = one;
  contract.tunes = true;
  contract.groups = {.rows = 1, .columns = 1, .depth = 1};
  contract.a = add.view({2, 3});
  contract.b = add.view({3, 4});
  contract.c = add.view({2, 4});
  add(contract);
  using enum Operand::From;
  const std::array<Step, 2> steps{
      Step{2, static_cast<std::uint8_t>(Binary::mul), {Operand::of(input, 0), Operand::of(number, 0), {}}},
      Step{1, static_cast<std::uint8_t>(Unary::tanh), {Operand::of(step, 0), {}, {}}}};
  const std::array<std::complex<double>, 1> numbers{2.0};
  Evaluate evaluate;
  evaluate.set(steps, numbers);
  evaluate.inputs = {{Access::read, add.view({2, 3})}};
  evaluate.out = add.view({2, 3});
  add(evaluate);
  EvaluateReduce evaluate_reduce;
  evaluate_reduce.set(steps, numbers);
  evaluate_reduce.function = Reduction::sum;
  evaluate_reduce.inputs = {{Access::read, add.view({2, 3})}};
  evaluate_reduce.out = add.view({2, 1});
  add(evaluate_reduce);
}

}  // namespace troupe::op
