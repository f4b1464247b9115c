// One hidden number of one step of an LSTM or a GRU, forward and backward, for the CPU and the GPU alike: one
// definition, so that both mean the same. Numbers are f32 or f64. `in` and `back` are what the gates have from the
// input and from the state before, each with its bias; gates are i, f, g, o, or r, z, n.
//
// What is kept of a step, and what `before` is: an LSTM's i, f, g, o after their functions and c; a GRU's r, z, n, what
// n has from the state before, and h. Behind the end of a sequence it is 0.
#pragma once

#include <cmath>

#include "troupe/op/complex_functions.hpp"  // TROUPE_EVERYWHERE

namespace troupe::inline v0::dnn {

template <class C>
TROUPE_EVERYWHERE C sigmoid_of(C x) {
  return 1 / (1 + std::exp(-x));
}

template <class C>
struct KeptStep {
  C of[5];
};
/// h after a step.
template <class C>
TROUPE_EVERYWHERE C hidden_of(bool is_lstm, const KeptStep<C>& kept) {
  return is_lstm ? kept.of[3] * std::tanh(kept.of[4]) : kept.of[4];
}

/// `before` is c of the step before.
template <class C>
TROUPE_EVERYWHERE KeptStep<C> lstm_step(const C in[4], const C back[4], C before) {
  const C i = sigmoid_of(in[0] + back[0]), f = sigmoid_of(in[1] + back[1]);
  const C g = std::tanh(in[2] + back[2]), o = sigmoid_of(in[3] + back[3]);
  return {{i, f, g, o, f * before + i * g}};
}
/// `before` is h of the step before.
template <class C>
TROUPE_EVERYWHERE KeptStep<C> gru_step(const C in[3], const C back[3], C before) {
  const C r = sigmoid_of(in[0] + back[0]), z = sigmoid_of(in[1] + back[1]);
  const C n = std::tanh(in[2] + r * back[2]);
  return {{r, z, n, back[2], (1 - z) * n + z * before}};
}

/// The gradients of what a step was given; `h` is what goes to the state before on no other way than by the gates.
template <class C>
struct StepSlopes {
  C in[4];
  C back[4];
  C h;
  C c;
};
/// From those of h and of c.
template <class C>
TROUPE_EVERYWHERE StepSlopes<C> lstm_slopes(const KeptStep<C>& kept, C before, C dh, C dc) {
  const C i = kept.of[0], f = kept.of[1], g = kept.of[2], o = kept.of[3], bent = std::tanh(kept.of[4]);
  dc += dh * o * (1 - bent * bent);
  const C di = dc * g * i * (1 - i), df = dc * before * f * (1 - f);
  const C dg = dc * i * (1 - g * g), d_o = dh * bent * o * (1 - o);
  return {{di, df, dg, d_o}, {di, df, dg, d_o}, C(0), dc * f};
}
/// From that of h.
template <class C>
TROUPE_EVERYWHERE StepSlopes<C> gru_slopes(const KeptStep<C>& kept, C before, C dh) {
  const C r = kept.of[0], z = kept.of[1], n = kept.of[2];
  const C dn = dh * (1 - z) * (1 - n * n), dz = dh * (before - n) * z * (1 - z);
  const C dr = dn * kept.of[3] * r * (1 - r);
  return {{dr, dz, dn, C(0)}, {dr, dz, dn * r, C(0)}, dh * z, C(0)};
}

}  // namespace troupe::inline v0::dnn
