// An expression computed step by step, for kernels that take any: which functions they are, the arguments say. What each
// function computes is the host's own code, op/tensor_functions.hpp. Only for code on the GPU.
#pragma once

#include "troupe/backend/cuda/tensor/tensor_elementwise.cuh"

namespace troupe::cuda {

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

/// The last step, of the elements that lie there in the inputs. `Arguments` have the inputs, the numbers and the steps.
template <class C, class Arguments>
__device__ C interpreted(const Arguments& m, const long long* at) {
  C inputs[EvaluateArguments::kMaxInputs];
  C steps[EvaluateArguments::kMaxSteps];
  for (int v = 0; v < m.inputs; ++v) inputs[v] = load_as<C>(m.in[v], at[v], static_cast<DType>(m.types[v]));
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
  return steps[m.step_count - 1];
}

}  // namespace troupe::cuda
