// The rows of the table of refusals that are of tensors. refusals.test.cpp says what a row is.
#include <limits>

#include "troupe/op/refusals.test.hpp"
#include "troupe/op/tensor.hpp"

namespace troupe::op {
namespace {

using enum DType;
using Complex = std::complex<double>;

const double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr ErrorKind kUnsupported = ErrorKind::unsupported;

}  // namespace

std::vector<Refusal> tensor_refusals() {
  return {
      {bad<UnaryOp>([](UnaryOp& op) { retype(i32, op.in[0], op.out); }),
       "exp: a is i32, so out must be f64; it is i32"},
      {bad<UnaryOp>([](UnaryOp& op) { retype(f8e4m3, op.in[0], op.out); }),
       "exp: a is f8e4m3; it must be f32, f64, f16, bf16, c64, c128, bool, i8, u8, i16, u16, i32, u32, i64 or u64",
       kUnsupported},
      {bad<UnaryOp>([](UnaryOp& op) {
         op.function = Unary::neg;
         retype(boolean, op.in[0], op.out);
       }),
       "neg: a is bool; it must be f32, f64, f16, bf16, c64, c128, i8, u8, i16, u16, i32, u32, i64 or u64",
       kUnsupported},
      {bad<UnaryOp>([](UnaryOp& op) { op.function = Unary::bit_not; }),
       "bit_not: a is f32; it must be bool, i8, u8, i16, u16, i32, u32, i64 or u64", kUnsupported},
      {bad<UnaryOp>([](UnaryOp& op) {
         op.function = Unary::relu;
         retype(c64, op.in[0], op.out);
       }),
       "relu: a is c64; it must be f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64 or u64", kUnsupported},
      {bad<UnaryOp>([](UnaryOp& op) { op.numbers = 2; }),
       "exp: numbers is 2; it must be below 2, one bit for each operand"},
      {bad<BinaryOp>([](BinaryOp& op) { op.factors[0] = Scalar(kNaN); }), "add: alpha is NaN; it must be a number"},
      {bad<BinaryOp>([](BinaryOp& op) { op.factors[1] = Scalar(Complex(0, 1)); }),
       "add: b is 0+1i; arrays of f32 need a real b"},
      {bad<BinaryOp>([](BinaryOp& op) {
         retype(i8, op.in[0], op.out);
         op.factors[1] = Scalar(0.5);
       }),
       "add: b is 0.5; with i8 it must be a whole number from -128 to 127"},
      {bad<BinaryOp>([](BinaryOp& op) {
         retype(i8, op.in[0], op.out);
         op.factors[0] = Scalar(kNaN);
       }),
       "add: alpha is NaN; it must be a number"},
      {bad<BinaryOp>([](BinaryOp& op) {
         retype(u64, op.in[0], op.out);
         op.factors[1] = Scalar(std::int64_t{-1});
       }),
       "add: b is -1; with u64 it must be a whole number from 0 to 18446744073709551615"},
      {bad<BinaryOp>([](BinaryOp& op) { op.function = Binary::less; }),
       "less: a is f32, so out must be bool; it is f32"},
      {bad<BinaryOp>([](BinaryOp& op) {
         op.function = Binary::less;
         op.in[0].dtype = c64;
         op.out.dtype = boolean;
       }),
       "less: a is c64; it must be f32, f64, f16, bf16, bool, i8, u8, i16, u16, i32, u32, i64 or u64", kUnsupported},
      {bad<BinaryOp>([](BinaryOp& op) {
         op.numbers = 0;
         op.in[1] = op.in[0];
         op.in[1].dtype = i32;
       }),
       "add: a is f32 and b is i32, so out must be f64; it is f32"},
      {bad<BinaryOp>([](BinaryOp& op) {
         op.function = Binary::sub;
         op.numbers = 0;
         op.in[1] = op.in[0];
         retype(boolean, op.in[0], op.in[1], op.out);
       }),
       "sub: a is bool and b is bool; they must be f32, f64, f16, bf16, c64, c128, i8, u8, i16, u16, i32, u32, i64 or "
       "u64",
       kUnsupported},
      {bad<BinaryOp>([](BinaryOp& op) {
         op.function = Binary::div;
         op.numbers = 3;
         op.out.dtype = i32;
       }),
       "div: out is i32; it must be f32, f64, f16, bf16, c64 or c128", kUnsupported},
      {bad<BinaryOp>([](BinaryOp& op) { op.in[0].dtype = f64; }), "add: a is f64, so out must be f64; it is f32"},
      {bad<BinaryOp>([](BinaryOp& op) { reshape(op.in[0], {3, 2}); }), "add: a is [3, 2]; it must be [2, 3]"},
      {bad<TernaryOp>([](TernaryOp& op) {
         op.function = Ternary::clamp;
         retype(i8, op.in[1], op.out);
       }),
       "clamp: a is bool, b is i8 and c is f32, so out must be f32; it is i8"},
      {bad<TernaryOp>([](TernaryOp& op) {
         op.function = Ternary::fma;
         retype(boolean, op.in[1], op.in[2], op.out);
       }),
       "fma: a is bool, b is bool and c is bool; they must be f32, f64, f16, bf16, c64, c128, i8, u8, i16, u16, i32, "
       "u32, "
       "i64 or u64",
       kUnsupported},
      {bad<TernaryOp>([](TernaryOp& op) { op.in[0].dtype = u8; }), "select: a is u8; it must be bool"},
      {bad<TernaryOp>([](TernaryOp& op) { op.numbers = 1; }),
       "select: a, the condition, is a number; it must be an array of bool"},
      {bad<Reduce>([](Reduce& op) { retype(f8e5m2, op.in, op.out); }),
       "sum: in is f8e5m2; it must be f32, f64, f16, bf16, c64, c128, bool, i8, u8, i16, u16, i32, u32, i64 or u64",
       kUnsupported},
      {bad<Reduce>([](Reduce& op) { op.function = Reduction::any; }), "any: in is f32; it must be bool", kUnsupported},
      {bad<Reduce>([](Reduce& op) { op.out.dtype = f64; }), "sum: in is f32, so out must be f32; it is f64"},
      {bad<Reduce>([](Reduce& op) { op.in.dtype = u8; }), "sum: in is u8, so out must be u8 or u64; it is f32"},
      {bad<Reduce>([](Reduce& op) {
         retype(i64, op.in, op.out);
         op.alpha = Scalar(0.5);
       }),
       "sum: alpha is 0.5; with i64 it must be a whole number from -9223372036854775808 to 9223372036854775807"},
      {bad<Reduce>([](Reduce& op) { op.alpha = Scalar(kNaN); }), "sum: alpha is NaN; it must be a number"},
      {bad<Reduce>([](Reduce& op) { reshape(op.out, {2, 2}); }),
       "sum: in is [2, 3] and out is [2, 2]; each extent of out must be that of in, or 1 where it is reduced"},
      {bad<Reduce>([](Reduce& op) {
         op.function = Reduction::max;
         reshape(op.in, {2, 0});
       }),
       "max: in is [2, 0]; it must have at least one element"},
      {bad<Contract>([](Contract& op) { op.b.dtype = f64; }),
       "einsum: a is f32 and b is f64; they must have the same type"},
      {bad<Contract>([](Contract& op) { retype(i32, op.a, op.b, op.c); }),
       "einsum: c is i32; it must be f32, f64, f16, bf16, c64 or c128", kUnsupported},
      {bad<Contract>([](Contract& op) { op.groups.batch = 1; }),
       "einsum: a is [2, 3], b is [3, 4] and c is [2, 4]; they must have as many axes as the groups say"},
      {bad<Contract>([](Contract& op) { reshape(op.b, {5, 4}); }),
       "einsum: a is [2, 3], b is [5, 4] and c is [2, 4]; an axis that two of them share must have one extent"},

      {bad<Evaluate>([](Evaluate& op) { op.steps.clear(); }),
       "evaluate: there are 0 bytes of steps; there must be 1 to 64 steps of 5"},
      {bad<Evaluate>([](Evaluate& op) { op.numbers.resize(33 * 16); }),
       "evaluate: there are 528 bytes of numbers; there may be 32 numbers of 16"},
      {bad<Evaluate>([](Evaluate& op) { op.steps[0] = std::byte{4}; }),
       "evaluate: step 0 is function 2 of 4 operands; there is none"},
      {bad<Evaluate>([](Evaluate& op) { op.steps[6] = std::byte{28}; }),
       "evaluate: step 1 is function 28 of 1 operands; there is none"},
      {bad<Evaluate>([](Evaluate& op) { op.steps[6] = static_cast<std::byte>(Unary::bit_not); }),
       "evaluate: bit_not takes integers and bool only, and expressions compute in floating point", kUnsupported},
      {bad<Evaluate>([](Evaluate& op) { op.steps[9] = std::byte{1}; }),
       "evaluate: step 1 has more operands than its function"},
      {bad<Evaluate>([](Evaluate& op) { op.steps[2] = std::byte{1}; }),
       "evaluate: operand 0 of step 0 is input 1; there are 1 before it"},
      {bad<Evaluate>([](Evaluate& op) { op.steps[3] = std::byte{65}; }),
       "evaluate: operand 1 of step 0 is number 1; there are 1 before it"},
      {bad<Evaluate>([](Evaluate& op) { op.steps[7] = std::byte{129}; }),
       "evaluate: operand 0 of step 1 is step 1; there are 1 before it"},
      {bad<Evaluate>([](Evaluate& op) { op.steps[7] = std::byte{200}; }),
       "evaluate: operand 0 of step 1 is nothing: its code is 200"},
      {bad<Evaluate>([](Evaluate& op) { op.inputs.resize(9, op.inputs[0]); }),
       "evaluate: there are 9 arrays; an expression takes 1 to 8"},
      {bad<Evaluate>([](Evaluate& op) { op.inputs[0].access = Access::write; }),
       "evaluate: x0 is written; an expression reads its arrays"},
      {bad<Evaluate>([](Evaluate& op) { op.inputs[0].view.dtype = f8e4m3; }),
       "evaluate: x0 is f8e4m3; expressions have no floats of 8 bits", kUnsupported},
      {bad<Evaluate>([](Evaluate& op) { op.inputs[0].view.dtype = c64; }),
       "evaluate: x0 is c64 and out is f32; out must be complex, too", kUnsupported},
      {bad<Evaluate>([](Evaluate& op) { op.out.dtype = u8; }),
       "evaluate: out is u8; it must be f32, f64, f16, bf16, c64, c128 or bool", kUnsupported},
      {bad<Evaluate>([](Evaluate& op) { reshape(op.inputs[0].view, {3, 2}); }),
       "evaluate: x0 is [3, 2]; it must be [2, 3]"},
      {bad<Evaluate>([](Evaluate& op) { op.numbers.back() = std::byte{0x40}; }),
       "evaluate: the number (2 + 2i) is complex, and out is f32"},
      {bad<Evaluate>([](Evaluate& op) {
         op.out.dtype = c64;
         op.steps[6] = static_cast<std::byte>(Unary::relu);
       }),
       "evaluate: relu takes no complex numbers, and out is c64", kUnsupported},
      {bad<EvaluateReduce>([](EvaluateReduce& op) { op.steps.clear(); }),
       "sum: there are 0 bytes of steps; there must be 1 to 64 steps of 5"},
      {bad<EvaluateReduce>([](EvaluateReduce& op) { op.inputs.clear(); }),
       "sum: operand 0 of step 0 is input 0; there are 0 before it"},
      {bad<EvaluateReduce>([](EvaluateReduce& op) { op.out.dtype = boolean; }),
       "sum: out is bool; it must be f32, f64, f16, bf16, c64 or c128", kUnsupported},
      {bad<EvaluateReduce>([](EvaluateReduce& op) { op.function = Reduction::any; }),
       "any: expressions of f32 have none", kUnsupported},
      {bad<EvaluateReduce>([](EvaluateReduce& op) { op.inputs[0].view.dtype = c64; }),
       "sum: x0 is c64 and out is f32; out must be complex, too", kUnsupported},
      {bad<EvaluateReduce>([](EvaluateReduce& op) {
         op.function = Reduction::max;
         op.out.dtype = c64;
       }),
       "max: expressions of c64 have none", kUnsupported},
      {bad<EvaluateReduce>([](EvaluateReduce& op) {
         op.function = Reduction::norm;
         op.inputs[0].view.dtype = c64;
         op.out.dtype = f16;
       }),
       "norm: out is f16; the norm of complex numbers is f32 or f64"},
      {bad<EvaluateReduce>([](EvaluateReduce& op) {
         op.function = Reduction::norm;
         op.inputs[0].view.dtype = c64;
         op.steps[6] = static_cast<std::byte>(Unary::relu);
       }),
       "norm: relu takes no complex numbers, and there are some", kUnsupported},
      {bad<EvaluateReduce>([](EvaluateReduce& op) { reshape(op.out, {2, 2}); }),
       "sum: the expression is [2, 3] and out is [2, 2]; each extent of out must be that of the expression, or 1 where "
       "it is reduced"},
      {bad<EvaluateReduce>([](EvaluateReduce& op) {
         op.function = Reduction::mean;
         reshape(op.inputs[0].view, {2, 0});
       }),
       "mean: the expression is [2, 0]; it must have at least one element"},
  };
}

}  // namespace troupe::op
