// What the kernels of compiled expressions, and of expressions that end in a reduction, are called with: known to the
// worker, to our own kernels and to the code that NVRTC compiles. Plain types only.
#pragma once

#include "troupe/backend/cuda/tensor/tensor_arguments.hpp"

namespace troupe::cuda {

/// out = the last of the steps, which the kernel has itself, as it has the types. A thread takes a group of `axes`;
/// those of the inputs come first, and the last ones are the output's.
struct CompiledArguments {
  static constexpr int kMaxInputs = 8;
  static constexpr int kMaxNumbers = 32;
  void* out;
  const void* in[kMaxInputs];
  unsigned zero;  // always; see `rounded`
  GroupAxes<kMaxInputs + 1> axes;
  Bytes16 numbers[kMaxNumbers];  // of the type that is computed with
};

/// How many elements a thread of a reduction takes at a time, by the size of the type that is computed with: the same
/// for the kernel that interprets and for a compiled one, so that both put together the same terms in the same order.
constexpr int reduced_items(int size_bytes) noexcept { return 16 / size_bytes; }

/// Partial results of what an expression is reduced to: [chunk][output]. Strides are those of the inputs. Groups are of
/// terms (`reduced`), or of outputs (`kept`), as those of `ReduceArguments`.
struct ExpressionReduceArguments {
  static constexpr int kMaxInputs = CompiledArguments::kMaxInputs;
  const void* in[kMaxInputs];
  void* partials;
  long long first;    // of the outputs that these are, or of the groups of outputs
  long long outputs;  // that these are
  long long groups;   // of outputs
  long long chunk_steps;
  unsigned lanes;  // threads that share an output, or a group of them: a power of two
  unsigned zero;   // always; see `rounded`
  Way ways[kMaxInputs];
  GroupAxes<kMaxInputs> kept;
  GroupAxes<kMaxInputs> reduced;
  Bytes16 numbers[CompiledArguments::kMaxNumbers];
  // For the kernel that interprets.
  int function;  // a Reduction; no mean, which is a sum until the end
  int inputs;
  int step_count;
  int types[kMaxInputs];  // a DType
  ExpressionStep steps[EvaluateArguments::kMaxSteps];
};
static_assert(sizeof(ExpressionReduceArguments) <= 4096, "a kernel takes no more");

/// From partial results to results: out = the chunks of each output, put together and finished.
struct FinishReduceArguments {
  void* out;
  const void* partials;
  long long first;
  long long outputs;
  long long chunks;
  long long terms;     // of an output
  int function;        // a Reduction
  int out_type;        // a DType
  unsigned lanes;      // threads that share an output: a power of two
  KernelAxes<1> axes;  // of all outputs
};

}  // namespace troupe::cuda
