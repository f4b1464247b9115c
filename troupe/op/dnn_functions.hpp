// What each activation computes, and its slope, for the CPU and the GPU alike: one definition, so that both mean the
// same. Numbers are f32 or f64.
#pragma once

#include "troupe/core/dnn_kinds.hpp"
#include "troupe/op/tensor_functions.hpp"

namespace troupe::inline v0::dnn {

/// Within [low, high]; NaN stays NaN.
template <class C>
TROUPE_EVERYWHERE C within(C x, C low, C high) {
  return x < low ? low : x > high ? high : x;
}

template <class C>
TROUPE_EVERYWHERE C mish(C x) {
  // tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2) with e = exp(x), by exp(-|x|), which never overflows
  const C e = std::exp(-std::fabs(x));
  const C above = x < 0 ? e * e + 2 * e : 1 + 2 * e;
  return x * (above / (above + 2 * (x < 0 ? C(1) : e * e)));
}
template <class C>
TROUPE_EVERYWHERE C mish_slope(C x) {
  const C e = std::exp(-std::fabs(x));
  const C above = x < 0 ? e * e + 2 * e : 1 + 2 * e;
  const C share = above / (above + 2 * (x < 0 ? C(1) : e * e));
  const C bend = (1 - share) * (1 + share) * tensor::apply<Unary::sigmoid>(x);
  return bend == C(0) ? share : share + x * bend;
}

/// The distribution function of x, plus x times its density.
template <class C>
TROUPE_EVERYWHERE C gelu_slope(C x) {
  constexpr C kRootOfHalf = static_cast<C>(0.70710678118654752440L);
  constexpr C kDensity = static_cast<C>(0.39894228040143267794L);  // 1 / sqrt(2 pi)
  const C density = kDensity * std::exp(-x * x / 2);
  return std::erfc(-x * kRootOfHalf) / 2 + (density == C(0) ? C(0) : x * density);
}

template <class C>
TROUPE_EVERYWHERE C activated(DnnActivation function, C x, C alpha) {
  switch (function) {
    case DnnActivation::none: return x;
    case DnnActivation::relu: return relu(x);
    case DnnActivation::leaky_relu: return x < 0 ? alpha * x : x;
    case DnnActivation::elu: return x < 0 ? alpha * std::expm1(x) : x;
    case DnnActivation::gelu: return tensor::apply<Unary::gelu>(x);
    case DnnActivation::gelu_tanh: return gelu_tanh(x);
    case DnnActivation::silu: return tensor::apply<Unary::silu>(x);
    case DnnActivation::sigmoid: return tensor::apply<Unary::sigmoid>(x);
    case DnnActivation::tanh: return std::tanh(x);
    case DnnActivation::softplus: return tensor::apply<Unary::softplus>(x);
    case DnnActivation::mish: return mish(x);
    case DnnActivation::relu6: return within(x, C(0), C(6));
    case DnnActivation::hard_sigmoid: return within((x + 3) / 6, C(0), C(1));
    case DnnActivation::hard_silu: return x * within((x + 3) / 6, C(0), C(1));
    case DnnActivation::hard_tanh: return within(x, C(-1), C(1));
  }
  return x;
}

/// 1 inside, 0 at the borders and outside; at a NaN it is the NaN.
template <class C>
TROUPE_EVERYWHERE C inside(C x, C low, C high) {
  return x > low && x < high ? C(1) : x <= low || x >= high ? C(0) : x;
}

/// The slope at x. Where a function has a corner, it is the one to the left of it.
template <class C>
TROUPE_EVERYWHERE C slope(DnnActivation function, C x, C alpha) {
  switch (function) {
    case DnnActivation::none: return x == x ? C(1) : x;
    case DnnActivation::relu: return relu_slope(x);
    case DnnActivation::leaky_relu: return x > 0 ? C(1) : x <= 0 ? alpha : x;
    case DnnActivation::elu: return x > 0 ? C(1) : alpha * std::exp(x);
    case DnnActivation::gelu: return gelu_slope(x);
    case DnnActivation::gelu_tanh: return gelu_tanh_slope(x);
    case DnnActivation::silu: {
      const C share = tensor::apply<Unary::sigmoid>(x);
      const C bend = share * tensor::apply<Unary::sigmoid>(-x);
      return bend == C(0) ? share : share + x * bend;
    }
    case DnnActivation::sigmoid: return tensor::apply<Unary::sigmoid>(x) * tensor::apply<Unary::sigmoid>(-x);
    case DnnActivation::tanh: {
      const C height = std::tanh(x);
      return (1 - height) * (1 + height);
    }
    case DnnActivation::softplus: return tensor::apply<Unary::sigmoid>(x);
    case DnnActivation::mish: return mish_slope(x);
    case DnnActivation::relu6: return inside(x, C(0), C(6));
    case DnnActivation::hard_sigmoid: return inside(x, C(-3), C(3)) / 6;
    case DnnActivation::hard_silu: return x <= -3 ? C(0) : x >= 3 ? C(1) : (2 * x + 3) / 6;
    case DnnActivation::hard_tanh: return inside(x, C(-1), C(1));
  }
  return C(1);
}

}  // namespace troupe::inline v0::dnn
