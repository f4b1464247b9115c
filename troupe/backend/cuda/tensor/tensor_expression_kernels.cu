// The kernel of expressions that takes their steps one after another.
#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/backend/cuda/tensor/expression_interpreter.cuh"

namespace troupe::cuda {
namespace {

template <class C>
__device__ void evaluate(const EvaluateArguments& m) {
  constexpr int kArrays = EvaluateArguments::kMaxInputs + 1;
  for (long long i = first_index(); i < m.axes.count; i += index_step()) {
    const ArrayOffsets<kArrays> at = offsets_of(m.axes, i);
    store_as<C>(m.out, at.at[kArrays - 1], static_cast<DType>(m.out_type), interpreted<C>(m, at.at));
  }
}

}  // namespace
}  // namespace troupe::cuda

using namespace troupe;  // for the names that the worker looks up
using namespace troupe::cuda;

#define TROUPE_EVALUATE(dtype, C) \
  extern "C" __global__ void troupe_evaluate_##dtype(EvaluateArguments m) { evaluate<C>(m); }
TROUPE_EVALUATE(f32, float)
TROUPE_EVALUATE(f64, double)
TROUPE_EVALUATE(c64, std::complex<float>)
TROUPE_EVALUATE(c128, std::complex<double>)
