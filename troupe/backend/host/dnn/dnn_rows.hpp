// Activations of rows of numbers: by the vectors of the tensor family where it has the function, else by a loop over
// the definition (op/dnn_functions.hpp).
#pragma once

#include "troupe/backend/host/tensor/tensor_numbers.hpp"
#include "troupe/backend/host/tensor/tensor_rows.hpp"
#include "troupe/op/dnn_functions.hpp"

namespace troupe::host {

/// The tensor family's name of it, or identity.
constexpr Unary unary_of(DnnActivation function) noexcept {
  switch (function) {
    case DnnActivation::relu: return Unary::relu;
    case DnnActivation::gelu: return Unary::gelu;
    case DnnActivation::gelu_tanh: return Unary::gelu_tanh;
    case DnnActivation::silu: return Unary::silu;
    case DnnActivation::sigmoid: return Unary::sigmoid;
    case DnnActivation::tanh: return Unary::tanh;
    case DnnActivation::softplus: return Unary::softplus;
    default: return Unary::identity;
  }
}

/// Calls `f` with the function as a constant, so that the loop inside knows it.
template <class F>
void with_activation(DnnActivation function, const F& f) {
  [&]<std::uint8_t... numbers>(std::integer_sequence<std::uint8_t, numbers...>) {
    ((function == static_cast<DnnActivation>(numbers)
          ? f(std::integral_constant<DnnActivation, static_cast<DnnActivation>(numbers)>{})
          : void()),
     ...);
  }(std::make_integer_sequence<std::uint8_t, static_cast<std::uint8_t>(DnnActivation::kLast) + 1>{});
}

/// out[i] = f(in[i]); the rows do not overlap.
template <class C>
void activate_row(DnnActivation function, C alpha, const C* in, C* out, std::int64_t count) noexcept {
  if (const Unary unary = unary_of(function); unary != Unary::identity)
    return number_rows<C>().unary[static_cast<std::size_t>(unary)](in, out, count);
  with_activation(function, [&](auto constant) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = dnn::activated(decltype(constant)::value, in[i], alpha);
  });
}
/// The same in place.
template <class C>
void activate_row(DnnActivation function, C alpha, C* row, std::int64_t count) noexcept {
  if (function == DnnActivation::none) return;
  Block<C> block;
  for (std::int64_t done = 0; done < count; done += kRowBlock) {
    const std::int64_t length = std::min(kRowBlock, count - done);
    activate_row(function, alpha, row + done, block.data(), length);
    std::copy_n(block.data(), length, row + done);
  }
}

constexpr double ns_of(DnnActivation function) noexcept { return function <= DnnActivation::leaky_relu ? 0.2 : 3; }

}  // namespace troupe::host
