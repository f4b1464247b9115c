// What the kernels of the tensor family are called with: known to the worker and to the code on the GPU. Plain types
// only.
#pragma once

#include "troupe/backend/cuda/kernels/group_axes.hpp"

namespace troupe::cuda {

/// How many elements of that size a thread of an elementwise kernel takes at a time, and how often.
constexpr int group_items(int size_bytes) noexcept { return 16 / size_bytes; }
constexpr int groups_of_thread(int size_bytes) noexcept { return size_bytes == 8 ? 2 : 1; }

/// out = f(factors[0] in[0], ...). The arrays are the inputs, and then the output.
template <int n>
struct ElementwiseArguments {
  void* out;
  const void* in[n];
  unsigned scaled;     // bit i: input i's factor is not 1
  unsigned plain;      // so many groups, the first ones, lie one after another in all arrays, each to be read at once
  int function;        // for kernels that have several
  int types[n];        // of the inputs, a DType each, for kernels that take several
  Bytes16 factors[n];  // of the type that is computed with; an input that is a number is its factor
  GroupAxes<n + 1> axes;
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

inline constexpr int kReduceThreads = 256;

/// What becomes of the terms of an output once they are combined: out = alpha f(terms) + beta out. They are cut into
/// chunks; where there are several, each gives a partial result, and these are combined in their order: the same result
/// every time.
struct ReduceEnd {
  void* out;
  void* partials;  // accumulators, [chunk][output]
  Bytes16 alpha;   // an accumulator, likewise beta
  Bytes16 beta;
  long long outputs;
  long long terms;  // of an output
  long long chunks;
  int function;
  bool out_differs;  // in type: the real type of complex numbers, f32 for small floats
  bool reads_out;
};

/// Where neighbours along the axis that changes fastest are terms of one output, groups are of terms (`reduce_rows`);
/// where they are of several, of outputs (`reduce_columns`).
struct ReduceArguments {
  ReduceEnd end;
  const void* in;
  GroupAxes<2> kept;      // of in and out
  GroupAxes<1> reduced;   // of in
  long long chunk_steps;  // of a chunk: groups of terms, or terms
  unsigned lanes;         // threads that share an output, or a group of them: a power of two
  bool is_whole;          // what a thread reads at a time
};

/// The partial results of chunks.
struct CombineArguments {
  ReduceEnd end;
  KernelAxes<1> out;
  unsigned lanes;  // threads that share an output: a power of two
};

/// The sums of the products a b.
struct ContractArguments {
  ReduceEnd end;
  const void* a;
  const void* b;
  KernelAxes<3> kept;     // of a, b and out
  KernelAxes<2> reduced;  // of a and b
  long long chunk_terms;
};

}  // namespace troupe::cuda
