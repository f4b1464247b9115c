// What the kernels of tensor_kernels.cu are called with: known to the worker and to the code on the GPU. Plain types
// only. Axes are without those of extent 1, merged where they lie side by side, and the last one changes fastest.
#pragma once

#include "troupe/backend/cuda/kernels/kernel_arguments.hpp"

namespace troupe::cuda {

/// Axes that `n` arrays share, in elements.
template <int n>
struct KernelAxes {
  long long count;  // of elements
  long long shape[kMaxKernelRank];
  long long strides[n][kMaxKernelRank];
  int rank;
};

/// out = f(factors[0] in[0], ...). Strides are those of the inputs, and then the output's.
struct ElementwiseArguments {
  void* out;
  const void* in[3];
  Bytes16 factors[3];  // of the type that is computed with
  KernelAxes<4> axes;
  int function;
  unsigned numbers;    // bit i: input i is its factor
  unsigned scaled;     // bit i: its factor is not 1
  bool is_dense;       // all side by side
  bool is_aligned;     // and all to 16 bytes
  bool has_condition;  // the first input is bool
};

/// An array into the order of another, through tiles in which one side is dense in the input and one in the output.
struct PermuteArguments {
  const void* in;
  void* out;
  long long x_extent;  // dense in the output
  long long y_extent;  // dense in the input
  long long x_in, x_out, y_in, y_out;
  KernelAxes<2> outer;  // of the input and the output
};
/// A step of an expression: a function of one, two or three operands. An operand's high bits say what it is (an input,
/// a number, an earlier step), its low six bits which.
struct ExpressionStep {
  unsigned char arity;
  unsigned char function;
  unsigned char operands[3];
};
/// out = the last of the steps. Strides are those of the inputs, and then the output's.
struct EvaluateArguments {
  static constexpr int kMaxInputs = 8;
  static constexpr int kMaxNumbers = 32;
  static constexpr int kMaxSteps = 64;
  void* out;
  const void* in[kMaxInputs];
  KernelAxes<kMaxInputs + 1> axes;
  Bytes16 numbers[kMaxNumbers];  // of the type that is computed with
  ExpressionStep steps[kMaxSteps];
  int inputs;
  int step_count;
  int types[kMaxInputs];  // a DType
  int out_type;
};

inline constexpr int kPermuteTile = 32;
inline constexpr int kPermuteRows = 8;  // threads of a block: this many times a tile's side

/// out = alpha f(a) + beta out, or f of the products a b. The terms of an output are cut into chunks; where there are
/// several, each gives a partial result, and these are combined in their order: the same result every time.
struct ReduceArguments {
  const void* a;
  const void* b;
  void* out;
  void* partials;  // accumulators, [chunk][output]
  Bytes16 alpha;   // an accumulator, likewise beta
  Bytes16 beta;
  KernelAxes<3> kept;     // of a, b and out
  KernelAxes<2> reduced;  // of a and b
  long long chunk_terms;
  long long chunks;
  int function;
  bool out_differs;  // in type: the real type of complex numbers, f32 for small floats
  bool reads_out;
};
inline constexpr int kReduceThreads = 256;

}  // namespace troupe::cuda
