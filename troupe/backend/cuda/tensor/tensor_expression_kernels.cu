// The kernel of expressions, which takes their steps one after another. What each function computes is the host's own
// code, op/tensor_functions.hpp.
#include "troupe/backend/cuda/kernels/kernel_index.cuh"
#include "troupe/backend/cuda/tensor/tensor_elementwise.cuh"

namespace troupe::cuda {
namespace {

/// An element of any type as a number. Needs a type that is promoted to `C`.
template <class C>
__device__ C load_as(const void* in, long long at, DType type) {
  return load_promoted<C, 1>(in, at, 1, Way::strided, 1, type).items[0];
}

template <class C>
__device__ void store_as(void* out, long long at, DType type, C number) {
  if (type == DType::boolean) {
    static_cast<bool*>(out)[at] = number != C(0);
  } else if constexpr (detail::kIsComplex<C>) {
    if (type == DType::c64)
      static_cast<std::complex<float>*>(out)[at] = {static_cast<float>(number.real()),
                                                    static_cast<float>(number.imag())};
    else
      static_cast<std::complex<double>*>(out)[at] = {number.real(), number.imag()};
  } else if (type == DType::f64) {
    static_cast<double*>(out)[at] = number;
  } else if (type == DType::f32) {
    static_cast<float*>(out)[at] = static_cast<float>(number);
  } else if (type == DType::f16) {
    static_cast<f16*>(out)[at] = converted<f16>(number);
  } else {
    static_cast<bf16*>(out)[at] = converted<bf16>(number);
  }
}

template <class C>
__device__ C applied(const ExpressionStep& step, C a, C b, C c) {
  C result{};
  if (step.arity == 1)
    tensor::with_function<C>(static_cast<Unary>(step.function),
                             [&](auto function) { result = tensor::apply<decltype(function)::value>(a); });
  else if (step.arity == 2)
    tensor::with_function<C>(static_cast<Binary>(step.function),
                             [&](auto function) { result = tensor::apply<decltype(function)::value>(a, b); });
  else
    tensor::with_function<C>(static_cast<Ternary>(step.function),
                             [&](auto function) { result = tensor::apply<decltype(function)::value>(a, b, c); });
  return result;
}

template <class C>
__device__ void evaluate(const EvaluateArguments& m) {
  constexpr int kArrays = EvaluateArguments::kMaxInputs + 1;
  for (long long i = first_index(); i < m.axes.count; i += index_step()) {
    const ArrayOffsets<kArrays> at = offsets_of(m.axes, i);
    C inputs[EvaluateArguments::kMaxInputs];
    C steps[EvaluateArguments::kMaxSteps];
    for (int v = 0; v < m.inputs; ++v) inputs[v] = load_as<C>(m.in[v], at.at[v], static_cast<DType>(m.types[v]));
    for (int s = 0; s < m.step_count; ++s) {
      const ExpressionStep& step = m.steps[s];
      C operands[3] = {};
      for (int o = 0; o < step.arity; ++o) {
        const int which = step.operands[o] & 0x3f;
        const int from = step.operands[o] >> 6;
        operands[o] = from == 0   ? inputs[which]
                      : from == 1 ? *reinterpret_cast<const C*>(&m.numbers[which])
                                  : steps[which];
      }
      steps[s] = applied<C>(step, operands[0], operands[1], operands[2]);
    }
    store_as<C>(m.out, at.at[kArrays - 1], static_cast<DType>(m.out_type), steps[m.step_count - 1]);
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
